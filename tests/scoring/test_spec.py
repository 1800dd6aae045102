"""How answers may be declared, and what is refused with which words."""

from typing import Any

import pytest

from qeval.scoring import AnswerSpec, Column, OrderKey, Policy


@pytest.mark.parametrize(
    ("given", "column"),
    [
        ("a", Column("a")),
        (("a",), Column("a")),
        (("a", "int"), Column("a", "int")),
        (["a", "decimal", 2], Column("a", "decimal", scale=2)),
        ({"name": "a", "type": "list", "ordered": True}, Column("a", "list", ordered=True)),
        (Column("a", "date"), Column("a", "date")),
    ],
)
def test_columns_in_every_form(given: Any, column: Column) -> None:
    assert AnswerSpec([given]).columns == (column,)


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        ("a", [OrderKey("a")]),
        ("-a", [OrderKey("a", descending=True)]),
        (("a", "desc"), [OrderKey("a", descending=True)]),
        (("a", "b"), [OrderKey("a"), OrderKey("b")]),
        (["-a", ("b", "asc")], [OrderKey("a", descending=True), OrderKey("b")]),
        ({"column": "a", "descending": True}, [OrderKey("a", descending=True)]),
        (OrderKey("b"), [OrderKey("b")]),
        ([("a", True)], [OrderKey("a", descending=True)]),
    ],
)
def test_order_in_every_form(given: Any, keys: list[OrderKey]) -> None:
    assert AnswerSpec(["a", "b"], order_by=given).order_by == tuple(keys)


def test_specs_are_values() -> None:
    assert AnswerSpec(["a"], "a", 3) == AnswerSpec((Column("a"),), (OrderKey("a"),), 3)
    assert hash(AnswerSpec(["a"])) == hash(AnswerSpec(("a",)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": "abc"}, "`columns` must be a list"),
        ({"columns": [5]}, "an answer column is a name"),
        ({"columns": [("a", "decimel")]}, "Did you mean 'decimal'"),
        ({"columns": [("a", "int", 2)]}, "`scale` goes with type decimal, found int"),
        ({"columns": [("a", "decimal", -1)]}, "`scale` must be 0 to 100, found -1"),
        ({"columns": [{"name": "a", "tpye": "int"}]}, "no key 'tpye'.*Did you mean 'type'"),
        ({"columns": [{"type": "int"}]}, "needs the key 'name'"),
        (
            {"columns": [{"name": "a", "type": "int", "items": "int"}]},
            "`items` goes with type list",
        ),
        ({"columns": [{"name": "a", "ordered": True}]}, "`ordered` goes with type list"),
        ({"columns": [{"name": "a", "type": "int", "tolerance": 1}]}, "`tolerance` goes with"),
        ({"columns": [{"name": "a", "tolerance": -1}]}, "finite number of at least 0, found -1"),
        ({"columns": ["total"], "order_by": "totl"}, "Did you mean 'total'"),
        ({"columns": ["a", "a"], "order_by": "a"}, "more than once"),
        ({"order_by": [3]}, "an `order_by` key is"),
        ({"top_k": 0}, "`top_k` must be a whole number of at least 1, found 0"),
        ({"top_k": True}, "`top_k` must be a whole number"),
        ({"top_k": 2.0}, "`top_k` must be a whole number"),
    ],
)
def test_wrong_declarations_are_told(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AnswerSpec(**arguments)


@pytest.mark.parametrize("value", [-1e-9, float("nan"), float("inf"), "1e-9", True])
def test_policy_refuses_wrong_tolerances(value: Any) -> None:
    with pytest.raises(ValueError, match="`relative_tolerance` must be a finite number"):
        Policy(relative_tolerance=value)
