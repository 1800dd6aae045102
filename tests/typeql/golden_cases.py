"""The recorded answers of a real TypeDB server, and how to compare (see goldens/README.md)."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qeval.typeql import Answer, Database, TypeQLError
from qeval.typeql.values import show

if TYPE_CHECKING:
    from qeval.typeql.concepts import Concept

GOLDENS = Path(__file__).parent / "goldens"
DATASETS = ("org", "shop", "tiny")
SIGNIFICANT = 9  # digits in which doubles must agree


@dataclass(frozen=True)
class Verdict:
    """How an answer compares: ``answer`` (rows, documents, rejected or not) and ``code``."""

    answer: bool
    code: bool
    detail: str = ""


RIGHT = Verdict(answer=True, code=True)


def load_cases() -> list[dict[str, Any]]:
    with gzip.open(GOLDENS / "cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def load_database(dataset: str) -> Database:
    database = Database()
    database.define((GOLDENS / f"{dataset}.schema.tql").read_text(encoding="utf-8"))
    database.load((GOLDENS / f"{dataset}.data.tql").read_text(encoding="utf-8"))
    return database


def compared(case: dict[str, Any]) -> bool:
    """Whether the server gave an answer that can be compared at all."""
    return case["outcome"] in ("rows", "docs", "error") and not case.get("cut")


def judge(database: Database, case: dict[str, Any], timeout_s: float = 10.0) -> Verdict:
    codes = _accepted_codes(case)
    try:
        answer = database.query(case["query"], timeout_s=timeout_s)
    except TypeQLError as error:
        if not codes:
            return Verdict(answer=False, code=True, detail=f"refused: {error} {error.codes}")
        right = error.code in codes
        return Verdict(answer=True, code=right, detail="" if right else f"{error.codes}: {error}")
    if case["outcome"] == "error" and not case.get("outcomes"):
        return Verdict(answer=False, code=False, detail=f"{len(answer.rows)} rows, no {codes}")
    return _judge_answer(case, answer)


def _accepted_codes(case: dict[str, Any]) -> set[str]:
    codes = set(case.get("error_codes", ()))
    if "error_code" in case:
        codes.add(case["error_code"])
    return codes


def _judge_answer(case: dict[str, Any], answer: Answer) -> Verdict:
    if case["outcome"] == "docs":
        got: list[Any] = [_canonical(document) for document in answer.documents]
        want: list[Any] = [_canonical(document) for document in case["docs"]]
    else:
        if list(answer.columns) != case["columns"]:
            return Verdict(answer=False, code=True, detail=f"columns {answer.columns}")
        got = [tuple(_cell(concept) for concept in row) for row in answer.rows]
        want = [_row(row) for row in case.get("rows", ())]
    return _compare(case, got, want)


def _compare(  # noqa: PLR0911 - one a way of comparing
    case: dict[str, Any], got: list[Any], want: list[Any]
) -> Verdict:
    ordered = case["ordered"]
    if case.get("quirk") == "or-duplicates":
        if "set_count" in case:
            return _verdict(set(map(repr, got)), set(map(repr, want)))
        want = [_row(row) for row in case["set_rows"]]
        ordered = False
    elif case.get("quirk") == "plan-duplicates":
        return _verdict(set(got), set(want))
    elif "of" in case:
        pool = Counter(_row(row) for row in case["of"]["rows"])
        right = len(got) == case["row_count"] and not Counter(got) - pool
        return Verdict(answer=right, code=True, detail="" if right else f"{len(got)} rows")
    elif "alternatives" in case:
        bags = [Counter(_row(row) for row in bag) for bag in case["alternatives"]]
        right = Counter(got) in bags
        return Verdict(answer=right, code=True, detail="" if right else f"got {got[:3]}")
    elif case.get("nondeterministic"):
        right = len(got) == case["row_count"]
        return Verdict(answer=right, code=True, detail="" if right else f"{len(got)} rows")
    if ordered:
        return _verdict(got, want)
    return _verdict(Counter(got), Counter(want))


def _verdict(got: Any, want: Any) -> Verdict:
    if got == want:
        return RIGHT
    if isinstance(got, Counter):
        more, less = list((got - want).elements()), list((want - got).elements())
        detail = f"{len(more)} too many {more[:2]}; {len(less)} missing {less[:2]}"
    else:
        detail = f"got {list(got)[:3]}, want {list(want)[:3]}"
    return Verdict(answer=False, code=True, detail=detail)


def _row(row: list[Any]) -> tuple[Any, ...]:
    return tuple(_wanted(cell) for cell in row)


def _wanted(cell: dict[str, Any] | None) -> Any:
    if cell is None:
        return None
    if cell["t"] == "type":
        return ("type", cell["label"])
    if cell["t"] in ("entity", "relation"):
        return (cell["t"], cell["type"], _frozen(cell["key"]))
    return (cell["t"], _number(cell["v"]), cell["attr"])


def _cell(concept: Concept | None) -> Any:
    if concept is None:
        return None
    if concept.is_type():
        return ("type", concept.get_label())
    if concept.is_attribute() or concept.is_value():
        value = concept.try_get_value()
        assert value is not None
        label = concept.get_label() if concept.is_attribute() else None
        return (concept.try_get_value_type(), _number(show(value)), label)
    kind = "entity" if concept.is_entity() else "relation"
    return (kind, concept.get_label(), _frozen(_key(concept._held)))


def _key(thing: Any) -> Any:
    for attribute, ownership in thing.type.owns.items():
        if ownership.key:
            return show(thing.has[attribute][0].value)
    players = [
        [role.name, player.type.label, _key(player)]
        for role, ends in thing.players.items()
        for player in ends
    ]
    return sorted(players, key=json.dumps)


def _frozen(key: Any) -> Any:
    return tuple(_frozen(item) for item in key) if isinstance(key, list) else key


def _number(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return float(f"{value:.{SIGNIFICANT}g}")
    return value


def _canonical(document: Any) -> str:
    """Write a document so that keys and the items of lists may come in any order."""
    return json.dumps(_ordered(document), sort_keys=True)


def _ordered(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: _ordered(item) for key, item in document.items()}
    if isinstance(document, list):
        return sorted(
            (_ordered(item) for item in document), key=lambda d: json.dumps(d, sort_keys=True)
        )
    return _number(document)
