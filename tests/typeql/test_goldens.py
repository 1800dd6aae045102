"""The engine gives the recorded answers of a real server, all but the listed ones."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from qeval.typeql import TypeQLError
from tests.typeql.golden_cases import DATASETS, compared, judge, load_cases, load_database

if TYPE_CHECKING:
    from qeval.typeql import Database

# Differences that docs/typeql-conformance.md explains.
KNOWN = {"tiny-sort-hand-142d4b3c"}

FAMILIES: dict[str, list[dict[str, Any]]] = defaultdict(list)
for _case in load_cases():
    FAMILIES[_case["family"]].append(_case)


@pytest.fixture(scope="module")
def databases() -> dict[str, Database]:
    return {dataset: load_database(dataset) for dataset in DATASETS}


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_family(databases: dict[str, Database], family: str) -> None:
    wrong = []
    for case in FAMILIES[family]:
        if not compared(case) or case["id"] in KNOWN:
            continue
        verdict = judge(databases[case["dataset"]], case)
        if not (verdict.answer and verdict.code):
            wrong.append(f"{case['id']}: {case['query']}\n  {verdict.detail}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("outcome", ["server_crashes", "server_hangs"])
def test_what_breaks_the_server_gets_an_answer_or_a_clean_error(
    databases: dict[str, Database], outcome: str
) -> None:
    for case in (case for family in FAMILIES.values() for case in family):
        if case["outcome"] != outcome:
            continue
        code = ""
        try:
            databases[case["dataset"]].query(case["query"], timeout_s=5.0)
        except TypeQLError as error:
            code = error.code
        assert not code.startswith("LIM"), case["query"]


def test_positions_of_errors_are_the_servers(databases: dict[str, Database]) -> None:
    compared_positions = wrong = 0
    for case in (case for family in FAMILIES.values() for case in family):
        at = case.get("error_at")
        if case["outcome"] != "error" or at is None or case["error_code"].startswith("TQL"):
            continue
        with pytest.raises(TypeQLError) as caught:
            databases[case["dataset"]].query(case["query"])
        compared_positions += 1
        wrong += (caught.value.line, caught.value.column) != tuple(at)
    assert compared_positions > 200
    assert not wrong
