"""Cells of a sweep that give the same query share what it got, but for what may not last."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from qeval.configuration import compose
from qeval.languages.base import Language
from qeval.record import InstanceOutcome, Record
from qeval.scoring.verdict import Verdict
from qeval.sharing import SharedOutcomes, repeatable
from qeval.suites import load_suite
from qeval.sweep import evaluate_cells

GOLDS = [
    (language, query)
    for case in load_suite("ecommerce").cases
    for language, query in case.gold.items()
]


def _language(name: str) -> Language:
    from qeval.cells import construct
    from qeval.paths import shipped

    settings = yaml.safe_load((shipped("conf") / "language" / f"{name}.yaml").read_text())
    settings.pop("defaults", None)
    built: Language = construct(settings, "language", without=("engine",))
    return built


LANGUAGES = {name: _language(name) for name in ("sql", "cypher", "typeql")}


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("sql", "SELECT random()"),
        ("sql", "SELECT id FROM users WHERE created_at > NOW() - interval '1 day'"),
        ("sql", "SELECT count(*) FROM orders WHERE placed_at > CURRENT_DATE - 30"),
        ("sql", "SELECT 'today'::date"),
        ("sql", "SELECT localtimestamp"),
        ("sql", "SELECT age(birth_date) FROM users"),
        ("sql", "SELECT gen_random_uuid()"),
        ("sql", "SELECT ctid FROM users LIMIT 1"),
        ("sql", "SELECT * FROM users TABLESAMPLE system (10)"),
        ("cypher", "MATCH (u:User) RETURN u ORDER BY rand() LIMIT 1"),
        ("cypher", "RETURN date()"),
        ("cypher", "RETURN datetime( )"),
        ("cypher", "RETURN date.transaction()"),
        ("cypher", "RETURN datetime({timezone: 'Asia/Tokyo'})"),
        ("cypher", "RETURN timestamp()"),
        ("cypher", "RETURN randomUUID()"),
        ("cypher", "MATCH (u) RETURN id(u)"),
        ("cypher", "MATCH (u) RETURN elementId(u)"),
        ("cypher", "RETURN \\u0072and()"),
    ],
)
def test_clocks_chance_and_places_are_run_each_time(language: str, query: str) -> None:
    assert not repeatable(LANGUAGES[language], query)


@pytest.mark.parametrize("name", sorted(LANGUAGES))
def test_golds_are_repeatable(name: str) -> None:
    golds = [query for language, query in GOLDS if language == name]
    assert len(golds) == 120
    assert [query for query in golds if not repeatable(LANGUAGES[name], query)] == []


def test_a_language_that_can_not_tell_shares_nothing() -> None:
    class Silent:
        name = title = "silent"
        fences: tuple[str, ...] = ()
        keywords: tuple[str, ...] = ()

        def check_safety(self, query: str) -> None: ...

    assert not repeatable(Silent(), "SELECT 1")


def test_who_comes_first_runs_and_the_others_wait() -> None:
    shared, runs = SharedOutcomes(), list[int]()
    release = threading.Event()

    def run() -> InstanceOutcome:
        runs.append(1)
        release.wait()
        return InstanceOutcome("base", Verdict.CORRECT, rows=3)

    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(shared.once, "a", run) for _ in range(8)]
        release.set()
        found = {answer.result() for answer in answers}
    assert found == {InstanceOutcome("base", Verdict.CORRECT, rows=3)}
    assert len(runs) == 1


@pytest.mark.parametrize("verdict", [Verdict.TIMEOUT, Verdict.RUNTIME_ERROR, Verdict.GOLD_ERROR])
def test_what_may_not_last_is_run_again(verdict: Verdict) -> None:
    shared, runs = SharedOutcomes(), list[int]()

    def run() -> InstanceOutcome:
        runs.append(1)
        return InstanceOutcome("base", verdict if len(runs) == 1 else Verdict.CORRECT)

    assert shared.once("a", run).verdict is verdict
    assert shared.once("a", run).verdict is Verdict.CORRECT
    assert shared.once("a", run).verdict is Verdict.CORRECT
    assert len(runs) == 2


def test_an_error_is_its_own_and_leaves_nothing_behind() -> None:
    shared = SharedOutcomes()

    def broken() -> InstanceOutcome:
        raise RuntimeError("lost")

    for _ in range(2):
        with pytest.raises(RuntimeError, match="lost"):
            shared.once("a", broken)
    outcome = InstanceOutcome("base", Verdict.CORRECT)
    assert shared.once("a", lambda: outcome) is outcome


def test_those_who_waited_for_a_failure_run_for_themselves() -> None:
    shared, started, release = SharedOutcomes(), threading.Event(), threading.Event()

    def failing() -> InstanceOutcome:
        started.set()
        release.wait()
        return InstanceOutcome("base", Verdict.TIMEOUT)

    right = InstanceOutcome("base", Verdict.CORRECT)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(shared.once, "a", failing)
        started.wait()
        second = pool.submit(shared.once, "a", lambda: right)
        release.set()
        assert first.result().verdict is Verdict.TIMEOUT
        assert second.result() is right


def test_the_oldest_goes_first_and_a_copy_is_empty() -> None:
    shared, runs = SharedOutcomes(most=2), list[str]()

    def ask(key: str) -> None:
        def run() -> InstanceOutcome:
            runs.append(key)
            return InstanceOutcome("base", Verdict.CORRECT)

        shared.once(key, run)

    for key in ("a", "b", "a", "c", "a", "b"):
        ask(key)
    assert runs == ["a", "b", "c", "b"]
    copy = pickle.loads(pickle.dumps(shared))
    assert copy.once("a", lambda: InstanceOutcome("base", Verdict.TIMEOUT)).verdict == "timeout"


def _grid(folder: Path, *words: str) -> dict[tuple[str, str], Record]:
    cells = [
        compose(
            [
                "model=mock", f"model.seed={seed}", "language=typeql", "difficulty=easy",
                f"prompt_strategy={strategy}", "tracking=none", f"runs_dir={folder}", *words,
            ]
        )
        for seed in (0, 1)
        for strategy in ("zero_shot", "few_shot")
    ]  # fmt: skip
    result = evaluate_cells(cells, quiet=True)
    found = {}
    for cell in result.cells:
        for record in cell.records:
            found[cell.folder.name, record.case_id] = record.without_times()
    return found


def test_records_are_the_same_with_and_without_sharing(tmp_path: Path) -> None:
    shared = _grid(tmp_path / "shared")
    own = _grid(tmp_path / "own", "share_runs=false")
    assert len(shared) == 160
    assert shared == own
