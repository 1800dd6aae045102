"""The labelled pairs for judges: their files, how they are chosen, and the committed sets."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from qeval.cells import Cell, build_cell, build_engine
from qeval.configuration import compose
from qeval.errors import InputError
from qeval.judge.calibration_build import build_set, by_size, run_layer
from qeval.judge.calibration_set import Pair, load_pairs, read_set, set_file, write_set
from qeval.suite import Suite
from qeval.suites import load_suite
from qeval.suites.check import Bench
from qeval.suites.loader import suite_folder
from qeval.suites.mutants import Equivalent, golds_digest
from qeval.suites.rewrites import Rewrite, read_rewrites
from qeval.suites.trials import TrialSettings

SUITE = load_suite("ecommerce")
FOLDER = suite_folder("ecommerce")
BUILT = [language for language in SUITE.languages if set_file(FOLDER, language).exists()]


def test_sql_pairs_are_built() -> None:
    assert "sql" in BUILT


@pytest.mark.parametrize("language", BUILT)
def test_the_committed_set_belongs_to_the_golds(language: str) -> None:
    """Built anew by: qeval check --calibration --record."""
    found = read_set(FOLDER, language)
    assert found is not None
    assert found.golds == golds_digest(SUITE, language), "qeval check --calibration --record"
    assert set(found.instances) == set(SUITE.instances)
    assert load_pairs(FOLDER, language, suite=SUITE) == found.pairs
    golds = {case.id: case.gold[language] for case in SUITE.cases}
    rewrites = {(one.case, one.query) for one in read_rewrites(FOLDER, SUITE, language)}
    for pair in found.pairs:
        assert pair.query != golds[pair.case]
        assert pair.origin == "mutant" or (pair.case, pair.query) in rewrites
        assert (pair.decided_by is None) or pair.label == "different"
        assert not pair.lucky or pair.decided_by != "base"


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def test_own_pairs_of_a_user_come_after_those_of_the_suite(tmp_path: Path) -> None:
    own = "pairs:\n- {id: a-1, case: ec-e01, label: different, query: SELECT 1}\n"
    assert load_pairs(tmp_path, "sql") == ()
    extra = write(tmp_path / "mine.yaml", own)
    expected = Pair("a-1", "ec-e01", "sql", "SELECT 1", "different")
    assert load_pairs(tmp_path, "sql", extra=[extra], suite=SUITE) == (expected,)
    first = load_pairs(FOLDER, "sql")
    assert load_pairs(FOLDER, "sql", extra=[extra]) == (*first, expected)


def test_faulty_pairs_are_told_by_file_line_and_key(tmp_path: Path) -> None:
    own = "pairs:\n- {id: a-1, case: ec-e01, label: different, query: SELECT 1}\n"
    first = write(tmp_path / "first.yaml", own)
    second = write(tmp_path / "second.yaml", own.replace("ec-e01", "ec-e001"))
    with pytest.raises(InputError) as caught:
        load_pairs(tmp_path, "sql", extra=[first, second], suite=SUITE)
    assert f"{second}:2: pairs[0].id: 'a-1' is already used in first.yaml" in str(caught.value)
    assert "of a case 'ec-e001'. Did you mean 'ec-e01'?" in str(caught.value)
    write(first, own.replace("different", "same"))
    with pytest.raises(InputError, match=r"first.yaml:2: pairs\[0\].label: found 'same'"):
        load_pairs(tmp_path, "sql", extra=[first])
    write(set_file(tmp_path, "sql"), own)
    with pytest.raises(InputError, match="missing golds, instances, seed"):
        read_set(tmp_path, "sql")


@pytest.fixture(scope="module")
def cell() -> Cell:
    return build_cell(compose(["model=gold", "language=sql"]))


@pytest.fixture(scope="module")
def bench(cell: Cell) -> Iterator[Bench]:
    engine = build_engine(cell.engine_config)
    engine.start()
    yield Bench(cell.language, engine)
    engine.stop()


GOLD = "SELECT follower_id FROM follows WHERE followed_id = 3 AND since < '2025-07-01'"


def small_suite() -> Suite:
    case = next(case for case in SUITE.cases if case.id == "ec-e05")
    names = ("base", "variant-2", "variant-1")
    return replace(SUITE, cases=(replace(case, gold={"sql": GOLD}),), instances=names)


def test_a_set_is_built_proven_and_read_as_it_was_written(
    cell: Cell, bench: Bench, tmp_path: Path
) -> None:
    suite, settings = small_suite(), TrialSettings(cell.limits, cell.policy, workers=2)
    assert by_size(suite, "sql") == ["variant-2", "variant-1", "base"]
    right = "SELECT follower_id FROM follows WHERE '2025-07-01' > since AND followed_id = 3"
    kit = [Rewrite("ec-e05", "sql", "mirrored", right)]
    declared = [Equivalent("ec-e05", "sql", "filter", "without since < '2025-07-01'", "no later")]
    built = build_set(suite, bench, kit, declared, settings)
    assert build_set(suite, bench, kit, declared, settings) == built
    write_set(tmp_path, built)
    assert read_set(tmp_path, "sql") == built
    kinds = Counter((pair.label, pair.origin, pair.decided_by is None) for pair in built.pairs)
    # The bounds that no date in the data reaches: not declared, so told as what nothing decides.
    assert kinds["equivalent", "rewrite", True] == 1
    assert kinds["different", "mutant", False] == 1
    open_ones = [pair for pair in built.pairs if pair.label == "different" and not pair.decided_by]
    assert {pair.kind for pair in open_ones} == {"boundary", "literal"}
    report = run_layer(suite, bench, built.pairs, built.instances, settings)
    assert (report.refuted, report.wrong) == ((), tuple(open_ones))
    (decided,) = [pair for pair in built.pairs if pair.decided_by]
    assert report.deciding == {decided.id: decided.decided_by}
    assert report.share == pytest.approx(2 / (2 + len(open_ones)))


def test_the_layer_tells_wrong_labels_and_pairs_without_rows(cell: Cell, bench: Bench) -> None:
    suite, settings = small_suite(), TrialSettings(cell.limits, cell.policy)
    wrong = Pair("w", "ec-e05", "sql", GOLD.replace("= 3", "= 2"), "equivalent")
    alike = Pair("a", "ec-e05", "sql", f"SELECT * FROM ({GOLD}) AS s", "different")
    report = run_layer(suite, bench, [wrong, alike], ["variant-2", "base"], settings)
    assert report.refuted == (wrong,)
    assert report.wrong == (wrong, alike)
    assert report.lucky == (alike,)
    assert report.deciding == {"w": "variant-2"}
    assert report.share == 0
    nothing = replace(suite, cases=(replace(suite.cases[0], gold={"sql": f"{GOLD} AND 1 > 2"}),))
    empty = Pair("e", "ec-e05", "sql", "SELECT 1 AS follower_id WHERE 2 < 1", "equivalent")
    assert run_layer(nothing, bench, [empty], ["base"], settings).undecided == (empty,)
    assert run_layer(suite, bench, [], ["base"], settings).share is None
