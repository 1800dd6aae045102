"""How a mismatch is told: each kind, and which of two wins."""

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from qeval.scoring import AnswerSpec, Difference, Table, compare
from qeval.scoring import assignment as search
from qeval.scoring.difference import KINDS, SAMPLE_ROWS, SAMPLE_TEXT


def difference(
    gold: list[tuple[Any, ...]],
    predicted: list[tuple[Any, ...]],
    spec: AnswerSpec | None = None,
    names: str = "abcdef",
) -> Difference:
    width = len(gold[0]) if gold else 1
    wide = len(predicted[0]) if predicted else width
    found = compare(
        Table(names[:width], gold), Table(names[:wide], predicted), spec or AnswerSpec()
    )
    assert not found.equal
    assert found.difference is not None
    return found.difference


GOLD: list[tuple[Any, ...]] = [("x", 1), ("y", 2), ("y", 2), ("z", None)]


@pytest.mark.parametrize(
    ("kind", "gold", "predicted"),
    [
        ("extra_columns", GOLD, [(*row, 9) for row in GOLD]),
        ("empty", GOLD, []),
        ("missing_columns", GOLD, [row[:1] for row in GOLD]),
        ("duplicates", GOLD, [GOLD[0], GOLD[1], GOLD[3]]),
        ("duplicates", GOLD, [*GOLD, GOLD[0]]),
        ("duplicates", GOLD, [GOLD[0], GOLD[0], GOLD[1], GOLD[3]]),
        ("subset", GOLD, [GOLD[3], GOLD[1], GOLD[1]]),
        ("superset", GOLD, [("w", 5), *GOLD]),
        ("superset", [], [("w",)]),
        ("case_or_space", [("Apple ", 1)], [("apple", 1)]),
        ("type", [("7", 1)], [(7, 1)]),
        ("type", [(True, 1)], [("true", 1)]),
        ("type", [(1, "2024-01-01")], [(1, date(2024, 1, 1))]),
        ("scale", [("a", 0.25), ("b", 0.5)], [("a", 25), ("b", 50)]),
        ("scale", [("a", 1500)], [("a", 1.5)]),
        ("scale", [("a", Decimal("3.14159"))], [("a", 3.14)]),
        ("scale", [("a", 2.75)], [("a", 2)]),
        ("null", [("a", None), ("b", 1)], [("a", 0), ("b", 1)]),
        ("null", [("a", None), ("b", 1)], [("a", "none given"), ("b", 1)]),
        ("other", [("a", 1), ("b", 2)], [("a", 2), ("b", 1)]),
        ("other", GOLD, [("v", 8)]),
    ],
)
def test_kinds(kind: str, gold: list[tuple[Any, ...]], predicted: list[tuple[Any, ...]]) -> None:
    assert difference(gold, predicted).kind == kind
    turned = [row[::-1] for row in reversed(predicted)]
    assert difference(gold, turned).kind == kind  # whatever the order of columns and rows


def test_order() -> None:
    spec = AnswerSpec(["a", "b"], order_by="b")
    found = difference([("x", 1), ("y", 2)], [("y", 2), ("x", 1)], spec)
    assert found.kind == "order"
    assert (found.missing, found.extra) == ((), ())
    top = AnswerSpec(["a", "b"], order_by="b", top_k=2)
    gold = [("x", 1), ("y", 2), ("z", 2)]
    assert difference(gold, [("z", 2), ("x", 1)], top).kind == "order"
    assert difference(gold, [("x", 1)], top).kind == "subset"
    assert difference(gold, [*gold, ("w", 3)], top).kind == "superset"
    assert difference(gold, gold, top).kind == "superset"


def test_kinds_are_tried_in_the_published_order() -> None:
    """Each of these fits two kinds; the earlier in `KINDS` is told."""
    assert difference([("A", 1), ("a", 1)], [("a", 1), ("a", 1)]).kind == "case_or_space"
    assert difference([(0,), (1,)], [(1,), (1,)]).kind == "other"
    assert difference([(None,), (None,)], [(None,)]).kind == "duplicates"
    assert list(KINDS).index("duplicates") < list(KINDS).index("subset")


def test_rows_that_differ_are_shown_in_the_answers_columns() -> None:
    found = difference(
        [("x", 1), ("y", 2), ("z", 3)], [(1, "x"), (2, "y"), (4, "z")], AnswerSpec(["n", "v"])
    )
    assert found.columns == ("n", "v")
    assert found.mapping == ("b", "a")
    assert (found.missing, found.extra) == ((("z", 3),), (("z", 4),))
    assert (found.missing_count, found.extra_count) == (1, 1)


def test_close_numbers_are_not_shown_as_different() -> None:
    found = difference([("x", 0.3), ("y", 1.0)], [("x", 0.1 + 0.2), ("y", 2.0)])
    assert found.missing == (("y", 1.0),)


def test_ties_that_are_free_are_not_missing() -> None:
    spec = AnswerSpec(["a", "b"], order_by="-b", top_k=2)
    found = difference([("x", 3), ("y", 2), ("z", 2)], [("w", 3), ("y", 2)], spec)
    assert found.missing == (("x", 3),)
    assert found.extra == (("w", 3),)


def test_a_missing_column_still_shows_rows() -> None:
    found = difference([("x", 1), ("y", 2)], [("x",), ("q",)])
    assert found.mapping == ("a", "")
    assert found.missing == (("y", ""),)


def test_json_is_bounded_and_plain() -> None:
    gold = [(i, "é" * 10_000, 10**5000, float("inf"), [1, 2], None) for i in range(1000)]
    found = difference(gold, [(-1, "", 0, 0.0, [], None)] * 999)
    text = json.dumps(found.to_json(), allow_nan=False)
    assert len(text) < SAMPLE_ROWS * 2 * 7 * (SAMPLE_TEXT + 20) * 6
    data = found.to_json()
    assert data["missing_count"] == 1000
    assert len(data["missing"]) == SAMPLE_ROWS
    assert data["missing"][0][3:] == ["inf", "[1, 2]", None]


def test_messages_speak() -> None:
    found = difference(GOLD, [row[:1] for row in GOLD])
    assert str(found) == "missing_columns: 1 column where 2 are asked for"
    found = difference([("x", 1)], [("y", 1, 0)])
    assert found.message.endswith("; 1 column more than asked for")


def test_giving_up_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "WORK", 10)
    monkeypatch.setattr(search, "PASSES", 0)
    gold = Table("abcd", [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 1)])
    turned = Table("abcd", [(1, 0, 0, 0), (0, 1, 1, 0), (0, 0, 0, 1)])
    found = compare(gold, turned)
    assert not found.equal
    assert found.difference is not None
    assert found.difference.kind == "undecided"
    monkeypatch.undo()
    assert compare(gold, turned).equal
