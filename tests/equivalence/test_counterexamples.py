"""Predictions that are right on base by luck: refuted, and shown on rows that a person can read."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import qeval
from qeval.cells import build_cell, build_engine, compose
from qeval.commands import explain
from qeval.engines.base import EngineLostError
from qeval.equivalence import finding
from qeval.equivalence.counterexample import (
    COUNTEREXAMPLES,
    Counterexample,
    CounterexampleFile,
    read_counterexamples,
)
from qeval.equivalence.finding import Duel, find_counterexample
from qeval.errors import InputError
from qeval.exit_codes import ExitCode
from qeval.journal import read_journal
from qeval.judge.row_sets import dataset_of
from qeval.results import CellResult, SweepResult
from qeval.scoring.verdict import Verdict
from qeval.suites import load_suite
from qeval.tracking import failures

SUITE = load_suite("ecommerce")
CASES = {case.id: case for case in SUITE.cases}
# Four files where three are asked for: on base the third and the fourth have the same size.
LUCKY = {"sql": ("FIRST 3 ROWS", "FIRST 4 ROWS"), "typeql": ("limit 3;", "limit 4;")}


def predictions(folder: Path, language: str) -> Path:
    """A file of answers: one lucky, one right, one wrong."""
    right = CASES["ec-e02"].gold[language]
    lucky = CASES["ec-e20"].gold[language].replace(*LUCKY[language])
    assert lucky != CASES["ec-e20"].gold[language]
    answers = {"ec-e20": lucky, "ec-e02": right, "ec-e03": right}
    folder.mkdir(exist_ok=True)
    file = folder / f"{language}.jsonl"
    lines = [{"case_id": case, "repeat": 0, "query": query} for case, query in answers.items()]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def run(folder: Path, language: str, *words: str) -> CellResult:
    """The cell of a sweep over the three answers."""
    return sweep(folder, language, *words).cells[0]


def sweep(folder: Path, language: str, *words: str) -> SweepResult:
    """One sweep over the three answers."""
    done = qeval.run(
        [
            f"lang={language}",
            "model=replay",
            f"model.file={predictions(folder, language)}",
            "difficulty.ids=[ec-e20,ec-e02,ec-e03]",
            "scoring.counterexample_s=60",
            "tracking=none",
            f"runs_dir={folder / 'runs'}",
            *words,
        ]
    )
    assert done.exit_code is ExitCode.DONE
    return done


@pytest.fixture(scope="module", params=sorted(LUCKY))
def cell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CellResult:
    """The finished cell in each language."""
    return run(tmp_path_factory.mktemp("lucky"), request.param)


def language_of(cell: CellResult) -> str:
    return str(cell.header["config"]["language"]["name"])


def found_in(cell: CellResult) -> Counterexample:
    (found,) = read_counterexamples(cell.folder).values()
    return found


@pytest.fixture(scope="module")
def duel(cell: CellResult) -> Iterator[Duel]:
    """The lucky answer and its gold on an engine of the test's own."""
    language = language_of(cell)
    built = build_cell(compose([f"lang={language}", "model=gold", "tracking=none"]))
    engine = build_engine(built.engine_config)
    engine.start()
    (record,) = [r for r in cell.records if r.case_id == "ec-e20"]
    assert record.query is not None
    yield Duel(built, CASES["ec-e20"], record.query, engine)
    engine.stop()


def test_a_lucky_query_is_refuted_and_points_at_its_counterexample(cell: CellResult) -> None:
    records = {record.case_id: record for record in cell.records}
    assert records["ec-e02"].verdict is Verdict.CORRECT
    assert records["ec-e03"].verdict is Verdict.WRONG_RESULT
    lucky = records["ec-e20"]
    assert lucky.verdict is Verdict.REFUTED
    assert lucky.outcomes[0].verdict is Verdict.CORRECT
    assert lucky.outcomes[-1].verdict is Verdict.WRONG_RESULT
    assert [r.counterexample for r in records.values() if r is not lucky] == ["", ""]
    assert found_in(cell).key == lucky.counterexample


def test_metrics_tell_who_decided_and_how_many_base_had_accepted(cell: CellResult) -> None:
    refuted = cell.metrics.behaviour["refuted_share"]
    assert (refuted.numerator, refuted.denominator) == (1, 2)
    assert refuted.low < 0.5 < refuted.high
    robust = cell.metrics.overall["robust_accuracy"]
    assert (robust.numerator, robust.denominator) == (1, 3)
    # The gold's own text needs no variant; the lucky one had to be run on some.
    assert cell.metrics.layers == {"base": 2, "instances": 1}
    summary = json.loads((cell.folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["metrics"]["layers"] == {"base": 2, "instances": 1}


def test_the_counterexample_is_small_and_tells_the_two_apart(cell: CellResult, duel: Duel) -> None:
    """Built anew from its file, without any row it no longer does."""
    found = found_in(cell)
    assert found.cut
    assert found.minimal
    assert found.rows == sum(len(table["rows"]) for table in found.tables.values()) <= 12
    assert len(found.tables["digital_products"]["rows"]) == 4
    model = SUITE.instance(language_of(cell), "variant-2").dataset()
    row_set = [{"table": name, **table} for name, table in found.tables.items()]
    dataset = dataset_of(row_set, model, most=found.rows)
    assert sum(map(len, dataset.rows.values())) == found.rows
    outcome = duel.on_rows(dataset)
    assert outcome is not None
    assert outcome.verdict is Verdict.WRONG_RESULT
    assert (outcome.kind, outcome.message) == (found.kind, found.message)
    for leaf in range(4):
        rows = dataset.rows["digital_products"]
        fewer = {**dataset.rows, "digital_products": [*rows[:leaf], *rows[leaf + 1 :]]}
        less = duel.on_rows(replace(dataset, rows=fewer))
        assert less is not None
        assert (less.verdict, less.kind) != (found.kind and Verdict.WRONG_RESULT, found.kind)


def test_where_the_time_is_up_early_the_rows_are_not_kept(
    cell: CellResult, duel: Duel, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = next(r for r in cell.records if r.case_id == "ec-e20")
    monkeypatch.setattr(finding, "_MOST_KEPT", 10**9)
    whole = find_counterexample(duel, record.outcomes[-1], "k", 0.0)
    assert (whole.cut, whole.minimal) == (True, False)
    monkeypatch.setattr(finding, "_MOST_KEPT", whole.rows - 1)
    found = find_counterexample(duel, record.outcomes[-1], "k", 0.0)
    assert (found.cut, found.minimal, found.tables) == (False, False, {})
    assert "could not be cut down" in found.text()


def test_rows_that_the_engine_refuses_tell_nothing(cell: CellResult, duel: Duel) -> None:
    """The file of a product that is not there."""
    model = SUITE.instance(language_of(cell), "variant-2").dataset()
    rows: dict[str, list[tuple[object, ...]]] = {table.name: [] for table in model.tables}
    rows["digital_products"] = [(1, 5, None)]
    assert duel.on_rows(replace(model, rows=rows)) is None


def test_people_can_read_it(cell: CellResult, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.main([str(cell.folder), "ec-e20"]) == 0
    text = capsys.readouterr().out
    assert "ec-e20: refuted: superset" in text
    assert "digital_products (product_id | file_size_mb | license)" in text
    assert "rows too many (1):" in text
    assert explain.main([str(cell.folder), "ec-e02"]) == 0
    assert "counterexample" not in capsys.readouterr().out
    with pytest.raises(InputError, match="Did you mean 'ec-e20'"):
        explain.main([str(cell.folder), "ec-e2"])


def test_a_lost_counterexample_is_sought_again_and_a_kept_one_is_not(tmp_path: Path) -> None:
    """As after a kill during the search: a half-written line, and all records in the journal."""
    cell = run(tmp_path, "sql")
    file = cell.folder / COUNTEREXAMPLES
    first = found_in(cell)
    kept = file.read_bytes()
    journal = (cell.folder / "journal.jsonl").read_bytes()
    run(tmp_path, "sql")
    assert file.read_bytes() == kept
    file.write_bytes(kept[:100])
    again = found_in(run(tmp_path, "sql"))
    assert replace(again, seconds=0) == replace(first, seconds=0)
    assert file.read_bytes().count(b"\n") == 1
    assert (cell.folder / "journal.jsonl").read_bytes() == journal


def test_which_are_sought_is_a_setting(tmp_path: Path) -> None:
    none = run(tmp_path / "none", "sql", "scoring.counterexamples=none")
    assert not (none.folder / COUNTEREXAMPLES).exists()
    assert {record.counterexample for record in none.records} == {""}
    every = run(tmp_path / "all", "sql", "scoring.counterexamples=all")
    cases = {found.case_id: found for found in read_counterexamples(every.folder).values()}
    assert set(cases) == {"ec-e20", "ec-e03"}
    assert cases["ec-e03"].rows <= 3  # one user without birth date is counted as an order
    with pytest.raises(InputError, match="Did you mean 'refuted'"):
        build_cell(compose(["scoring.counterexamples=refute"]))


def test_cells_that_compare_differently_share_none(tmp_path: Path) -> None:
    """The tiers differ only where case counts; where it does not, later members are too many."""
    late = "SELECT user_id, upper(tier), since FROM premium_users WHERE since >= '2025-01-01'"
    (tmp_path / "late.jsonl").write_text(json.dumps({"case_id": "ec-e22", "query": late}), "utf-8")
    done = qeval.run(
        [
            "lang=sql",
            "model=replay",
            f"model.file={tmp_path / 'late.jsonl'}",
            "difficulty.ids=[ec-e22]",
            "scoring.ignore_case=false,true",
            "scoring.counterexamples=all",
            "tracking=none",
            f"runs_dir={tmp_path / 'runs'}",
        ]
    )
    strict, relaxed = (found_in(cell) for cell in done.cells)
    assert strict.key != relaxed.key
    assert (strict.kind, relaxed.kind) == tuple(cell.records[0].kind for cell in done.cells)
    (row,) = relaxed.tables["premium_users"]["rows"]
    assert row[relaxed.tables["premium_users"]["columns"].index("since")] > "2025-03-31"


def test_without_variants_nothing_is_robust_and_nothing_refuted(tmp_path: Path) -> None:
    cell = run(tmp_path, "sql", "scoring.variants=0")
    assert {str(record.verdict) for record in cell.records} == {"correct", "wrong_result"}
    assert "robust_accuracy" not in cell.metrics.overall
    assert "refuted_share" not in cell.metrics.behaviour
    assert cell.metrics.layers == {}


def test_variants_are_all_some_or_refused() -> None:
    names = build_cell(compose([])).instances
    assert names == SUITE.instances
    assert names[0] == "base"
    assert build_cell(compose(["scoring.variants=2"])).instances == names[:3]
    # A Neo4j server of the user's own would load anew for every case and variant.
    own = ["lang=cypher", "language.engine.uri=bolt://localhost:7687"]
    assert build_cell(compose(own)).instances == ("base",)
    assert build_cell(compose([*own, "scoring.variants=2"])).instances == names[:3]
    assert build_cell(compose(["lang=cypher"])).instances == names
    with pytest.raises(InputError, match="a whole number or all"):
        build_cell(compose(["scoring.variants=many"]))


@pytest.mark.parametrize("damage", ["junk", '{"key": 3}'])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: str) -> None:
    cell = run(tmp_path, "sql")
    before = read_counterexamples(cell.folder)
    (cell.folder / COUNTEREXAMPLES).write_text(damage + "\n", encoding="utf-8")

    again = run(tmp_path, "sql")

    assert again.folder == cell.folder
    assert read_counterexamples(cell.folder).keys() == before.keys() != set()


def test_a_file_that_cant_be_written_costs_a_note_and_nothing_else(tmp_path: Path) -> None:
    cell = run(tmp_path, "sql")
    (cell.folder / COUNTEREXAMPLES).unlink()
    (cell.folder / COUNTEREXAMPLES).mkdir()

    again = sweep(tmp_path, "sql")

    assert again.cells[0].metrics == cell.metrics
    assert read_counterexamples(cell.folder) == {}
    (note,) = again.notes
    assert note.startswith("a counterexample of ec-e20 could not be sought: can't write")


def test_a_damaged_file_names_its_line(tmp_path: Path) -> None:
    file = CounterexampleFile(tmp_path)
    file.append(Counterexample("0" * 16, "c", "variant-1", 0, minimal=True, tables={}))
    file.close()
    assert read_counterexamples(tmp_path)["0" * 16].case_id == "c"
    with (tmp_path / COUNTEREXAMPLES).open("a", encoding="utf-8") as more:
        more.write('{"key": "1"}\n')
    with pytest.raises(InputError, match=r"counterexamples\.jsonl:2"):
        read_counterexamples(tmp_path)


def test_a_lost_engine_costs_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search is given up with a note; the same command seeks it again."""
    from qeval.equivalence import finding

    def lost(*_: object) -> None:
        raise EngineLostError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(finding, "find_counterexample", lost)
        cell = run(tmp_path, "sql")
    assert not (cell.folder / COUNTEREXAMPLES).exists()
    assert len(read_journal(cell.folder)[1]) == 3
    assert found_in(run(tmp_path, "sql")).case_id == "ec-e20"


def test_mlflows_page_of_failures_shows_it(cell: CellResult) -> None:
    known = read_counterexamples(cell.folder)
    table = failures.table([r for r in cell.records if r.case_id == "ec-e20"], known)
    (row,) = (dict(zip(table["columns"], row, strict=True)) for row in table["data"])
    assert row["counterexample"].startswith("they differ on ")
    assert "digital_products (product_id | file_size_mb | license)" in row["counterexample"]
    page = failures.page("x", table["data"], 3)
    assert "<h3>counterexample</h3>" in page
    without = failures.table(cell.records)
    assert {row[without["columns"].index("counterexample")] for row in without["data"]} == {""}
