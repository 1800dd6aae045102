"""The built-in functions of expressions: ``abs ceil floor round len min max``."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any, TypeAlias

from qeval.typeql.values.arithmetic import INT_MAX, INT_MIN, wrap_integer
from qeval.typeql.values.decimals import absolute
from qeval.typeql.values.kinds import ValueType

Function: TypeAlias = Callable[..., Any]

_T = ValueType

ARITY = {"abs": 1, "ceil": 1, "floor": 1, "round": 1, "len": 1, "min": 2, "max": 2}


def resolve_builtin(name: str, argument: ValueType) -> tuple[ValueType, Function] | None:
    """Return the result type and the function of a built-in for an argument type, None if none.

    For ``min`` and ``max`` both arguments have that type.
    """
    return _TABLE.get((name, argument))


def _saturated(value: float) -> int:
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return INT_MAX if value > 0 else INT_MIN
    return min(max(int(value), INT_MIN), INT_MAX)


def _rounder(step: Callable[[float], float]) -> Function:
    return lambda value: _saturated(step(value) if math.isfinite(value) else value)


def _decimal_rounder(rounding: str) -> Function:
    return lambda value: wrap_integer(int(value.to_integral_value(rounding=rounding)))


def _least(left: float, right: float) -> float:
    """Return the smaller double; a NaN gives way to the other, as in IEEE ``fmin``."""
    if math.isnan(left):
        return right
    return left if math.isnan(right) or left <= right else right


def _greatest(left: float, right: float) -> float:
    if math.isnan(left):
        return right
    return left if math.isnan(right) or left >= right else right


def _decimal_min(left: Decimal, right: Decimal) -> Decimal:
    return min(left, right)


def _decimal_max(left: Decimal, right: Decimal) -> Decimal:
    return max(left, right)


_TABLE: dict[tuple[str, ValueType], tuple[ValueType, Function]] = {
    ("abs", _T.INTEGER): (_T.INTEGER, lambda value: wrap_integer(abs(value))),
    ("abs", _T.DOUBLE): (_T.DOUBLE, abs),
    ("abs", _T.DECIMAL): (_T.DECIMAL, absolute),
    ("ceil", _T.DOUBLE): (_T.INTEGER, _rounder(math.ceil)),
    ("ceil", _T.DECIMAL): (_T.INTEGER, _decimal_rounder(ROUND_CEILING)),
    ("floor", _T.DOUBLE): (_T.INTEGER, _rounder(math.floor)),
    ("floor", _T.DECIMAL): (_T.INTEGER, _decimal_rounder(ROUND_FLOOR)),
    ("round", _T.DOUBLE): (_T.INTEGER, _rounder(round)),
    ("round", _T.DECIMAL): (_T.INTEGER, _decimal_rounder(ROUND_HALF_EVEN)),
    ("len", _T.STRING): (_T.INTEGER, len),
    ("min", _T.INTEGER): (_T.INTEGER, min),
    ("min", _T.DOUBLE): (_T.DOUBLE, _least),
    ("min", _T.DECIMAL): (_T.DECIMAL, _decimal_min),
    ("max", _T.INTEGER): (_T.INTEGER, max),
    ("max", _T.DOUBLE): (_T.DOUBLE, _greatest),
    ("max", _T.DECIMAL): (_T.DECIMAL, _decimal_max),
}
