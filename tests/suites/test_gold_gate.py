"""The gold gate on a real PostgreSQL: what it lets through, and each fault that it names."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qeval.cells import Cell, build_cell, build_engine
from qeval.configuration import compose
from qeval.engines.base import Engine
from qeval.suites import load_suite
from qeval.suites.check import Bench, GateReport, GateSettings, check_suite
from qeval.suites.leaks import leaks

SUITE = """\
name: shelf
version: "1"
reference_date: 2024-02-29
languages:
  sql: {schema: schema.sql}
data:
  tables:
    - name: books
      key: [id]
      fields:
        - {name: id, type: int}
        - {name: title, type: string}
        - {name: price, type: decimal, scale: 2, nullable: true}
        - {name: bought_on, type: date}
instances:
  base: {folder: base}
  variant-1: {folder: variant}
cases: [cases.yaml]
examples: [examples.yaml]
"""
SCHEMA = """\
CREATE TABLE books (
  id integer PRIMARY KEY, title text NOT NULL, price numeric(6, 2), bought_on date NOT NULL
)
"""
HEADER = "id,title,price,bought_on\n"
BASE = HEADER + "".join(
    f"{n},Book {n % 40},{n % 9}.50,2024-02-{1 + n % 28:02d}\n" for n in range(400)
)
VARIANT = HEADER + "1,One,,2024-01-01\n2,Two,2.00,2024-01-01\n"
EXAMPLES = """\
examples:
  - id: ex-1
    question: {en: Which titles are there?}
    gold: {sql: SELECT DISTINCT title FROM books}
    answer: {columns: [{name: title, type: string}]}
"""

ID = "[{name: id, type: int}]"
FAULTS = {
    "nothing": ("SELECT id FROM books", ID, "", set()),
    "syntax": ("SELEC id FROM books", ID, "", {"syntax_error"}),
    "schema": ("SELECT id FROM book", ID, "", {"schema_error"}),
    "runtime": ("SELECT 1 / (id - id) FROM books", ID, "", {"runtime_error"}),
    "unsafe": ("DELETE FROM books RETURNING id", ID, "", {"unsafe"}),
    "slow": ("SELECT 1 AS id FROM (SELECT pg_sleep(0.4)) AS s", ID, "", {"slow"}),
    "empty": ("SELECT id FROM books WHERE id < 0", ID, "", {"empty"}),
    "empty-ok": ("SELECT id FROM books WHERE id < 0", ID, "empty_ok: true", set()),
    "columns": ("SELECT id, title FROM books", ID, "", {"columns"}),
    "type": ("SELECT title AS id FROM books", ID, "", {"type"}),
    "clock": ("SELECT id FROM books WHERE bought_on < current_date", ID, "", {"clock"}),
    "chance": ("SELECT id FROM books ORDER BY random() LIMIT 3", ID, "",
               {"clock", "cut", "again", "shuffled"}),
    "cut": ("SELECT id FROM books ORDER BY id LIMIT 3", ID, "", {"cut"}),
    "physical": ("SELECT id FROM books LIMIT 5", ID, "", {"cut", "shuffled"}),
    "word": ("SELECT id FROM books WHERE title <> 'no limit 3, now()'", ID, "", set()),
    "order": ("SELECT id FROM books ORDER BY id DESC", f"{ID}, order_by: [{{column: id}}]", "",
              {"order"}),
    "null-order": ("SELECT price FROM books ORDER BY price",
                   "[{name: price, type: decimal, scale: 2}], order_by: [{column: price}]", "",
                   {"order"}),
    "ties": ("SELECT bought_on FROM books ORDER BY bought_on FETCH FIRST 3 ROWS WITH TIES",
             "[{name: bought_on, type: date}], order_by: [{column: bought_on}], top_k: 3", "",
             set()),
    "top-k": ("SELECT id FROM books ORDER BY id",
              f"{ID}, order_by: [{{column: id}}], top_k: 3", "", {"top_k"}),
    "rounding": ("SELECT avg(price) AS mean FROM books WHERE id IN (1, 10)",
                 "[{name: mean, type: decimal, scale: 0}]", "", {"rounding"}),
}  # fmt: skip


def write_suite(folder: Path, names: list[str]) -> Path:
    for place, rows in (("base", BASE), ("variant", VARIANT)):
        (folder / place).mkdir(parents=True)
        (folder / place / "books.csv").write_text(rows)
    cases = [
        f"  - id: c-{name}\n    difficulty: easy\n    question: {{en: About {name}?}}\n"
        f'    gold: {{sql: "{gold}"}}\n    answer: {{columns: {answer}}}\n'
        + (f"    {more}\n" if more else "")
        for name in names
        for gold, answer, more, _ in [FAULTS[name]]
    ]
    (folder / "suite.yaml").write_text(SUITE)
    (folder / "schema.sql").write_text(SCHEMA)
    (folder / "cases.yaml").write_text("cases:\n" + "".join(cases))
    (folder / "examples.yaml").write_text(EXAMPLES)
    return folder


@pytest.fixture(scope="module")
def cell() -> Cell:
    return build_cell(compose(["model=gold", "language=sql"]))


@pytest.fixture(scope="module")
def engine(cell: Cell) -> Iterator[Engine]:
    started = build_engine(cell.engine_config)
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def report(cell: Cell, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> GateReport:
    folder = write_suite(tmp_path_factory.mktemp("suite") / "shelf", list(FAULTS))
    settings = GateSettings(cell.limits, cell.policy, max_seconds=0.3, workers=2)
    bench = Bench(cell.language, engine)
    return check_suite(load_suite(folder), {"sql": bench}, ["base", "variant-1"], settings)


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named(report: GateReport, name: str) -> None:
    found = {problem.kind for problem in report.problems if problem.entry == f"c-{name}"}
    assert found == FAULTS[name][3]


def test_every_execution_is_counted(report: GateReport) -> None:
    runs = [run for run in report.runs if run.entry == "c-nothing"]
    assert [(run.instance, run.rows) for run in runs] == (
        [("base", 400)] * 2 + [("variant-1", 2)] * 2
    )
    assert {run.entry for run in report.runs} >= {"ex-1"}


def test_golds_of_two_languages_are_compared(cell: Cell, engine: Engine, tmp_path: Path) -> None:
    """Two names for one engine stand in for two languages: the cases differ on one of them."""
    folder = write_suite(tmp_path / "shelf", ["nothing", "cut"])
    suite, cases = folder / "suite.yaml", folder / "cases.yaml"
    suite.write_text(SUITE.replace("sql: {", "cypher: {schema: schema.sql}\n  sql: {"))
    both = cases.read_text().replace('sql: "SELECT id FROM books"',
                                     'sql: "SELECT id FROM books", '
                                     'cypher: "SELECT id FROM books WHERE price > 0"')  # fmt: skip
    cases.write_text(both)
    settings = GateSettings(cell.limits, cell.policy, max_seconds=1.0, workers=2)
    bench = Bench(cell.language, engine)
    found = check_suite(
        load_suite(folder), {"sql": bench, "cypher": bench}, ["base", "variant-1"], settings
    )
    differing = [p for p in found.problems if p.kind == "languages"]
    assert [(p.entry, p.instance) for p in differing] == [("c-nothing", "variant-1")]
    assert found.missing == {"sql": (), "cypher": ("c-cut", "ex-1")}
    assert {p.kind for p in found.problems if p.entry == "ex-1"} == set()


def test_an_example_that_gives_a_case_away_is_told(tmp_path: Path) -> None:
    folder = write_suite(tmp_path / "shelf", ["nothing"])
    examples = folder / "examples.yaml"
    assert list(leaks(load_suite(folder), 0.75)) == []
    examples.write_text(EXAMPLES.replace("SELECT DISTINCT title", "select  id"))
    assert list(leaks(load_suite(folder), 0.75)) == [
        ("ex-1", "has the same sql gold as case c-nothing")
    ]
    examples.write_text(EXAMPLES.replace("DISTINCT title FROM books", "b.id AS x FROM books AS b"))
    assert [name for name, _ in leaks(load_suite(folder), 0.75)] == ["ex-1"]
    examples.write_text(EXAMPLES.replace("DISTINCT title", "id + 1"))
    assert list(leaks(load_suite(folder), 0.75)) == []
    examples.write_text(EXAMPLES.replace("Which titles are there?", "About nothing really?"))
    assert list(leaks(load_suite(folder), 0.6)) == [
        ("ex-1", "shares 67% of the words (en) with case c-nothing")
    ]


def test_no_built_in_example_gives_a_case_away() -> None:
    assert list(leaks(load_suite("ecommerce"), 0.75)) == []


def run_check(*words: str) -> subprocess.CompletedProcess[str]:
    program = "import sys; from qeval.app import main; sys.exit(main(['check', *sys.argv[1:]]))"
    return subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )


def test_the_command_reports_and_exits_by_what_it_finds(tmp_path: Path) -> None:
    good = write_suite(tmp_path / "good", ["nothing", "ties"])
    passed = run_check(f"suite.path={good}", "lang=sql")
    assert (passed.returncode, "keeps its promises" in passed.stdout) == (0, True), passed.stderr
    bad = write_suite(tmp_path / "bad", ["nothing", "columns"])
    failed = run_check(f"suite.path={bad}", "--variants", "1")
    assert failed.returncode == 1
    assert "c-columns" in failed.stdout
    (bad / "cases.yaml").write_text("cases: 3\n")
    wrong = run_check(f"suite.path={bad}")
    assert wrong.returncode == 2
    assert "cases.yaml:1: cases: found 3, expected a list" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_missing_golds_are_told_and_refused_on_demand(tmp_path: Path) -> None:
    folder = write_suite(tmp_path / "shelf", ["nothing", "ties"])
    head, cases = folder / "suite.yaml", folder / "cases.yaml"
    head.write_text(SUITE.replace("sql: {", "cypher: {schema: schema.sql}\n  sql: {"))
    other = 'gold: {cypher: "RETURN 1 AS id"}'
    cases.write_text(cases.read_text().replace('gold: {sql: "SELECT id FROM books"}', other))
    grown = run_check(f"suite.path={folder}", "lang=sql", "--variants", "1")
    assert "1 cases and 0 examples have no sql gold" in grown.stdout
    assert grown.returncode == 0, grown.stdout
    complete = run_check(f"suite.path={folder}", "lang=sql", "--variants", "1", "--complete")
    assert "there is no sql gold" in complete.stdout
    assert complete.returncode == 1


def test_the_command_measures_mutants_and_records_them(tmp_path: Path) -> None:
    folder = write_suite(tmp_path / "shelf", ["ties", "empty-ok"])
    words = (f"suite.path={folder}", "lang=sql", "--variants", "1", "--mutants", "--record")
    weak = run_check(*words, "--least-killed", "1")
    assert "Mutants of the sql golds" in weak.stdout
    assert "survived: c-empty-ok literal: 0 → -1 in id < 0" in weak.stdout
    assert weak.returncode == 1
    assert "of the mutants are refuted" in " ".join(weak.stdout.split())
    assert (folder / "mutants" / "sql.yaml").exists()
    declared = folder / "mutants" / "equivalent.sql.yaml"
    declared.write_text(
        "equivalent:\n"
        "  - {case: c-empty-ok, operator: literal, change: 0 → -1 in id < 0,"
        " reason: no id is negative}\n"
        "  - {case: c-empty-ok, operator: literal, change: 0 → 9 in id < 0,"
        " reason: no such mutant}\n"
    )
    told = run_check(*words, "--least-killed", "0")
    (listed,) = [line for line in told.stdout.splitlines() if line.startswith("│ c-empty")]
    assert "equivale" in listed  # the second declaration; the first one is no problem
    assert told.returncode == 1
