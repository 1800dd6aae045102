"""The TypeQL golds of the built-in suite: same rows as SQL's, fast, and with the right scope."""

import re
from collections.abc import Iterator

import pytest

from qeval.cells import Cell, build_cell, build_engine
from qeval.configuration import compose
from qeval.suite import Case, Example
from qeval.suites import load_suite
from qeval.suites.check import Bench, GateReport, GateSettings, check_suite
from qeval.typeql import Database

SUITE = load_suite("ecommerce")
SCHEMA = SUITE.instance("typeql", "base").schema
SMALL = "variant-2"


def labels() -> frozenset[str]:
    """Entity and relation types of the schema."""
    database = Database()
    database.define(SCHEMA)
    found = set()
    for kind in ("entity", "relation"):
        rows = database.query(f"match {kind} $t;").rows
        found |= {str(row[0].get_label()) for row in rows if row[0] is not None}
    return frozenset(found)


LABELS = labels()


@pytest.fixture(scope="module")
def report() -> Iterator[GateReport]:
    cells: dict[str, Cell] = {
        language: build_cell(compose(["model=gold", f"language={language}", "engine=auto"]))
        for language in ("sql", "typeql")
    }
    benches = {}
    for language, cell in cells.items():
        engine = build_engine(cell.engine_config)
        engine.start()
        benches[language] = Bench(cell.language, engine)
    limits, policy = cells["sql"].limits, cells["sql"].policy
    # No bound on seconds here: a test machine may be busy. `qeval check` has one.
    settings = GateSettings(limits, policy, max_seconds=60.0, workers=2)
    yield check_suite(SUITE, benches, [SMALL], settings)
    for bench in benches.values():
        bench.engine.stop()


def test_every_gold_gives_the_rows_of_the_sql_gold(report: GateReport) -> None:
    assert [str(problem) for problem in report.problems] == []
    assert report.comparisons["languages"] == len(SUITE.cases) + len(SUITE.examples)


@pytest.mark.parametrize("case", SUITE.cases, ids=lambda case: case.id)
def test_the_scope_holds_what_the_gold_names(case: Case) -> None:
    named = set(re.findall(r"[\w-]+", re.sub(r"\$[\w-]+|\"[^\"]*\"|\w+:", "", case.gold["typeql"])))
    scope = set(case.scope["typeql"])
    assert scope <= LABELS
    assert named & LABELS <= scope


@pytest.mark.parametrize("entry", [*SUITE.cases, *SUITE.examples], ids=lambda entry: entry.id)
def test_golds_are_written_alike(entry: Case | Example) -> None:
    gold = entry.gold["typeql"]
    assert gold.startswith(("match\n", "with fun "))
    assert gold.endswith(";")
    assert all(len(line) <= 100 for line in gold.splitlines())
    declared = {column.name for column in entry.answer.columns}
    last = gold.rpartition("match\n")[2]
    assert declared <= set(re.findall(r"\$(\w+)", gold))
    assert "fetch" not in last
