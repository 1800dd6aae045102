"""Values that only a hostile query returns: a verdict about the prediction, never a breakdown."""

from decimal import Decimal
from typing import Any

import pytest

from qeval.engines.base import Execution
from qeval.scoring import AnswerSpec, Policy, Table, compare
from qeval.scoring.outcome import judge_instance
from qeval.scoring.verdict import Verdict


def one(value: Any) -> Table:
    return Table(["a"], [(value,)])


def nested(depth: int, wrap: Any) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize(
    "text", ["P" + "9" * 100_000 + "D", "PT" + "9" * 5_000 + "S", "P-" + "9" * 5_000 + "M"]
)
def test_a_duration_of_many_digits_is_wrong_and_no_fault_of_the_gold(text: str) -> None:
    spec = AnswerSpec([("a", "duration")])
    outcome = judge_instance("base", one("P1D"), Execution(one(text), 0.0), spec, Policy())
    assert outcome.verdict is Verdict.WRONG_RESULT


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"a": v}])
@pytest.mark.parametrize("gold", [1, [1], "x", {"a": 1}])
def test_values_nested_without_end_are_wrong(wrap: Any, gold: Any) -> None:
    found = compare(one(gold), one(nested(5_000, wrap)))
    assert (found.equal, found.relaxed_equal) == (False, False)
    assert found.difference is not None
    assert found.difference.kind == "undecided"


@pytest.mark.parametrize("scale", [0, 2, 20])
def test_numbers_too_long_to_be_scaled_keep_apart(scale: int) -> None:
    spec = AnswerSpec([("a", "decimal", scale)])
    for exponent in (999, 1_000, 1_001, 99_999):
        power = Decimal(f"1e{exponent}")
        assert compare(one(power), one(10**exponent), spec).equal
        assert compare(one(10**exponent), one(power), spec).equal
        assert not compare(one(power), one(power.scaleb(scale + 1)), spec).equal
        assert not compare(one(10**exponent), one(10 ** (exponent + scale + 1)), spec).equal
        assert not compare(one(power), one(-power), spec).equal


def test_many_long_numbers_are_told_from_short_ones() -> None:
    table = Table(["a"], [(Decimal(f"{i}e99990"),) for i in range(1, 201)])
    gold = Table(["a"], [(Decimal(i) / 4,) for i in range(200)])
    assert not compare(gold, table, AnswerSpec([("a", "decimal", 2)])).equal


def test_digits_of_other_scripts_make_no_date() -> None:
    gold = one("2024-01-01T00:00:00.5")
    assert not compare(
        gold, one("2024-01-01T00:00:00.\u0665"), AnswerSpec([("a", "datetime")])
    ).equal
