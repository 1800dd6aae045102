"""The rewrite kit: its files, what its check finds, and the built-in rewrites on real engines."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from qeval.cells import Cell, build_cell, build_engine
from qeval.configuration import compose
from qeval.engines.base import Engine
from qeval.errors import InputError, QevalError
from qeval.suites import load_suite
from qeval.suites.check import Bench
from qeval.suites.loader import suite_folder
from qeval.suites.rewrites import LEAST, Rewrite, check_rewrites, read_rewrites, same_text
from qeval.suites.trials import TrialSettings

SUITE = load_suite("ecommerce")
FOLDER = suite_folder("ecommerce")


@pytest.mark.parametrize(
    ("language", "first", "second", "expected"),
    [
        ("sql", "SELECT id FROM users", "select  id\nfrom users -- all", True),
        ("sql", "SELECT u.id AS n FROM users AS u", "SELECT v.id m FROM users v;", True),
        ("sql", "SELECT count(*) AS users FROM users", "SELECT count(*) AS n FROM users", True),
        ("sql", "SELECT 1 AS a WHERE 1 < 2", "SELECT 1 AS a WHERE 2 > 1", False),
        ("sql", "SELECT 'a' AS a", "SELECT 'A' AS a", False),
        ("sql", "SELECT 1.0 AS a", "SELECT 1 AS a", False),
        ("sql", "SELECT a.x FROM t a, t b", "SELECT d.x FROM t c, t d", False),  # another source
        ("sql", "SELECT x FROM t WHERE x > 1", "SELECT x FROM t WHERE 1 < x", False),
        ("cypher", "MATCH (a)-->(b) RETURN a", "MATCH (x)-->(y) RETURN x // all", True),
        ("cypher", "MATCH (a)-->(b) RETURN a", "MATCH (a)--(b) RETURN a", False),
        ("cypher", "MATCH (a)-[:R]->(b) RETURN a", "MATCH (b)<-[:R]-(a) RETURN a", False),
        ("typeql", "match $u isa user; # who", "match $x isa user;", True),
        ("typeql", 'match $u has name "A";', 'match $u has name "a";', False),
        ("typeql", "match $a isa x; $b isa y;", "match $b isa y; $a isa x;", False),
    ],
)
def test_when_two_queries_are_the_same_text(
    language: str, first: str, second: str, *, expected: bool
) -> None:
    assert same_text(language, first, second) is expected
    assert same_text(language, second, first) is expected


def test_a_faulty_file_is_told_by_file_line_and_key(tmp_path: Path) -> None:
    assert read_rewrites(tmp_path, SUITE, "sql") == ()
    (tmp_path / "rewrites").mkdir()
    file = tmp_path / "rewrites" / "sql.yaml"
    file.write_text("rewrites:\n- {case: ec-e01, kind: Not A Slug, qery: SELECT 1}\n")
    with pytest.raises(InputError) as caught:
        read_rewrites(tmp_path, SUITE, "sql")
    assert f"{file}:2: rewrites[0]: missing 'query'" in str(caught.value)
    assert "rewrites[0].qery: unknown key. Did you mean 'query'?" in str(caught.value)
    assert "rewrites[0].kind: found 'Not A Slug'" in str(caught.value)
    file.write_text("rewrites:\n- case: ec-e99\n  kind: x\n  query: SELECT 1\n")
    with pytest.raises(InputError, match=r"sql.yaml:2: rewrites\[0\].case: .* no case 'ec-e99'"):
        read_rewrites(tmp_path, SUITE, "sql")
    file.write_text("rewrites:\n- {case: ec-e01, kind: x, query: ' SELECT 1 '}\n")
    assert read_rewrites(tmp_path, SUITE, "sql") == (Rewrite("ec-e01", "sql", "x", "SELECT 1"),)
    bare = replace(SUITE, cases=(replace(SUITE.cases[0], gold={"cypher": "RETURN 1"}),))
    with pytest.raises(InputError, match="case 'ec-e01' has no sql gold"):
        read_rewrites(tmp_path, bare, "sql")


KITS = [name for name in SUITE.languages if read_rewrites(FOLDER, SUITE, name)]


@pytest.mark.parametrize("language", KITS)
def test_every_gold_has_rewrites_that_differ_in_text(language: str) -> None:
    kit = read_rewrites(FOLDER, SUITE, language)
    for case in SUITE.cases:
        texts = [case.gold[language], *(one.query for one in kit if one.case == case.id)]
        assert len(texts) > LEAST, case.id
        for first, second in combinations(texts, 2):
            assert not same_text(language, first, second), (case.id, second)


@pytest.fixture(scope="module")
def cell() -> Cell:
    return build_cell(compose(["model=gold", "language=sql"]))


@pytest.fixture(scope="module")
def engine(cell: Cell) -> Iterator[Engine]:
    started = build_engine(cell.engine_config)
    started.start()
    yield started
    started.stop()


def test_what_the_check_of_rewrites_finds(cell: Cell, engine: Engine) -> None:
    case = next(case for case in SUITE.cases if case.id == "ec-e05")
    gold = "SELECT follower_id FROM follows WHERE followed_id = 3 AND since < '2024-01-01'"
    suite = replace(SUITE, cases=(replace(case, gold={"sql": gold}),))
    right = "SELECT f.follower_id FROM follows f WHERE '2024-01-01' > f.since AND f.followed_id = 3"
    made = {
        "right": right,
        "boundary": gold.replace("_id = 3", "_id >= 3"),
        "renamed": gold.replace("follower_id", "f.follower_id").replace("follows", "follows f"),
        "again": right.replace("f.", "g.").replace("follows f", "follows AS g"),
        "unsafe": "DELETE FROM follows RETURNING follower_id",
        "broken": "SELECT follower FROM follows",
        "dividing": f"{gold} AND 1 / (follower_id - follower_id) = 1",
    }
    kit = [Rewrite("ec-e05", "sql", kind, query) for kind, query in made.items()]
    settings = TrialSettings(cell.limits, cell.policy, workers=2)
    bench = Bench(cell.language, engine)
    report = check_rewrites(suite, bench, kit, ["variant-1", "variant-3"], settings)
    found = {(problem.instance, problem.kind, problem.message.partition(":")[0])
             for problem in report.problems}  # fmt: skip
    assert {("", "same", "again"), ("", "unsafe", "unsafe")} <= found
    for instance in ("variant-1", "variant-3"):
        kinds = {(kind, name) for place, kind, name in found if place == instance}
        assert kinds == {("refused", "broken"), ("failed", "dividing"), ("different", "boundary")}
    executed = len(kit) - 1  # never what is unsafe
    assert (report.golds, report.cases, report.executions) == (1, 1, 2 * executed)


def test_a_gold_that_fails_is_told(cell: Cell, engine: Engine) -> None:
    case = next(case for case in SUITE.cases if case.id == "ec-e05")
    suite = replace(SUITE, cases=(replace(case, gold={"sql": "SELECT 1 / 0 AS n"}),))
    kit = [Rewrite("ec-e05", "sql", "mirrored", "SELECT 1 AS n")]
    settings = TrialSettings(cell.limits, cell.policy)
    with pytest.raises(QevalError, match="the sql gold of ec-e05 fails on variant-1: division"):
        check_rewrites(suite, Bench(cell.language, engine), kit, ["variant-1"], settings)


def test_too_few_rewrites_and_those_without_rows_are_told(cell: Cell, engine: Engine) -> None:
    case = next(case for case in SUITE.cases if case.id == "ec-e05")
    suite = replace(SUITE, cases=(replace(case, gold={"sql": "SELECT 1 AS n WHERE 1 > 2"}),))
    kit = [Rewrite("ec-e05", "sql", "mirrored", "SELECT 1 AS n WHERE 2 < 1")]
    settings = TrialSettings(cell.limits, cell.policy)
    report = check_rewrites(suite, Bench(cell.language, engine), kit, ["variant-1"], settings)
    (problem,) = report.problems
    assert problem.message == "1 golds have fewer than 3 rewrites: ec-e05 1"
    assert report.empty == tuple(kit)


def test_every_sql_rewrite_is_judged_correct(cell: Cell, engine: Engine) -> None:
    """On base and two variants; on all of them by: qeval check --rewrites --variants 8."""
    kit = read_rewrites(FOLDER, SUITE, "sql")
    settings = TrialSettings(replace(cell.limits, timeout_s=60.0), cell.policy, workers=2)
    bench = Bench(cell.language, engine)
    report = check_rewrites(SUITE, bench, kit, ["base", "variant-1", "variant-7"], settings)
    assert report.problems == ()
    assert report.empty == ()
    assert len(kit) >= 3 * len(SUITE.cases)


def test_every_typeql_rewrite_is_judged_correct() -> None:
    """On three small variants; on all instances by the command, as this language takes longer."""
    own = build_cell(compose(["model=gold", "language=typeql", "engine=auto"]))
    started = build_engine(own.engine_config)
    started.start()
    kit = read_rewrites(FOLDER, SUITE, "typeql")
    settings = TrialSettings(replace(own.limits, timeout_s=60.0), own.policy, workers=2)
    names = ["variant-2", "variant-6", "variant-9"]
    report = check_rewrites(SUITE, Bench(own.language, started), kit, names, settings)
    started.stop()
    assert report.problems == ()
    assert len(kit) >= 3 * len(SUITE.cases)
