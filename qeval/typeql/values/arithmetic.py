"""The operators of expressions: which types they take, what they return, how they compute.

The table is that of TypeDB 3.12: integers with doubles give doubles; integers with decimals stay
decimal for ``+ - *``; everything else on numbers goes through doubles; ``/`` and ``^`` always do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from qeval.typeql.budget import hold_text
from qeval.typeql.faults import Fault
from qeval.typeql.values import decimals
from qeval.typeql.values.kinds import NUMERIC, ValueType
from qeval.typeql.values.temporal import (
    Date,
    DateTime,
    DateTimeTz,
    OutOfRangeError,
    between,
    between_dates,
    between_zoned,
    shift,
    shift_zoned,
)

if TYPE_CHECKING:
    from qeval.typeql.values.temporal import Duration

Operation: TypeAlias = Callable[[Any, Any], Any]

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
# Repeated `+` doubles a text each time: beyond this length (characters) it can only be an attack.
MAX_STRING = 1_000_000

_T = ValueType


def resolve(op: str, left: ValueType, right: ValueType) -> tuple[ValueType, Operation] | None:
    """Return the result type and the function of ``left op right``; None if there is none.

    ``op`` is one of ``+ - * / % ^``. The function raises ``TypeQLError`` with the server's code
    for overflow (EEV2), division by zero (EEV4) and differences that would be negative (EEV9).
    """
    if left in NUMERIC and right in NUMERIC:
        return _resolve_numeric(op, left, right)
    return _TEMPORAL.get((op, left, right))


def wrap_integer(value: int) -> int:
    """Reduce to 64 bits with wrap-around, as unchecked machine arithmetic does."""
    return (value + 2**63) % 2**64 - 2**63


def as_double(value: float | Decimal) -> float:
    """Convert any number to a double the way the server does."""
    return decimals.to_double(value) if isinstance(value, Decimal) else float(value)


def _resolve_numeric(
    op: str, left: ValueType, right: ValueType
) -> tuple[ValueType, Operation] | None:
    kinds = {left, right}
    if kinds == {_T.INTEGER}:
        return _INTEGER[op]
    if _T.DOUBLE not in kinds and op in _DECIMAL:
        return _T.DECIMAL, _DECIMAL[op]
    compute = _DOUBLE[op]
    if kinds == {_T.DOUBLE}:
        return _T.DOUBLE, compute
    return _T.DOUBLE, lambda a, b: compute(as_double(a), as_double(b))


def _checked(compute: Callable[[int, int], int], name: str) -> Operation:
    def run(left: int, right: int) -> int:
        result = compute(left, right)
        if INT_MIN <= result <= INT_MAX:
            return result
        raise Fault("EEV2", f"integer overflow: {left} {name} {right}")

    return run


def _divide(left: float, right: float) -> float:
    result = left / right if right else math.inf
    if math.isfinite(result):
        return result
    raise Fault("EEV4", f"cannot divide {left} by {right}")


def _integer_modulo(left: int, right: int) -> int:
    if right == 0:
        raise Fault("EEV4", f"cannot divide {left} by 0")
    return left % abs(right)


def _double_modulo(left: float, right: float) -> float:
    if right == 0 or math.isinf(left) or math.isnan(left) or math.isnan(right):
        return math.nan
    rest = math.fmod(left, right)
    return rest + abs(right) if rest < 0 else rest


def power(base: float, exponent: float) -> float:
    """Raise to a power with the results of IEEE ``pow``: infinite or NaN instead of an error."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        odd = exponent == math.trunc(exponent) and exponent % 2 == 1
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:  # a pole at zero, or the root of a negative number
        return math.inf if base == 0 else math.nan


def _concatenate(left: str, right: str) -> str:
    if len(left) + len(right) > MAX_STRING:
        raise Fault("LIM4", f"a text would be longer than {MAX_STRING} characters")
    text = left + right
    hold_text(text)
    return text


def _subtract_dates(left: Date, right: Date) -> Duration:
    if right > left:
        raise _negative(left, right)
    return between_dates(right, left)


def _subtract_datetimes(left: DateTime, right: DateTime) -> Duration:
    if right > left:
        raise _negative(left, right)
    return between(right, left)


def _subtract_date(left: DateTime, right: Date) -> Duration:
    return _subtract_datetimes(left, DateTime.of(right, 0))


def _subtract_instants(left: DateTimeTz, right: DateTimeTz) -> Duration:
    if right.nanos > left.nanos:
        raise _negative(left, right)
    return between_zoned(right, left)


def _negative(left: object, right: object) -> Fault:
    return Fault("EEV9", f"{left} - {right} would be a negative duration")


def _ranged(compute: Operation, name: str) -> Operation:
    def run(left: Any, right: Any) -> Any:
        try:
            return compute(left, right)
        except OutOfRangeError as error:
            raise Fault("EEV2", f"{left} {name} {right}: {error}") from error

    return run


_INTEGER: dict[str, tuple[ValueType, Operation]] = {
    "+": (_T.INTEGER, _checked(lambda a, b: a + b, "+")),
    "-": (_T.INTEGER, _checked(lambda a, b: a - b, "-")),
    "*": (_T.INTEGER, _checked(lambda a, b: a * b, "*")),
    "/": (_T.DOUBLE, _divide),
    "%": (_T.INTEGER, _integer_modulo),
    "^": (_T.DOUBLE, power),
}
_DECIMAL: dict[str, Operation] = {
    "+": lambda a, b: decimals.add(Decimal(a), Decimal(b)),
    "-": lambda a, b: decimals.subtract(Decimal(a), Decimal(b)),
    "*": lambda a, b: decimals.multiply(Decimal(a), Decimal(b)),
}
_DOUBLE: dict[str, Operation] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": _double_modulo,
    "^": power,
}
_TEMPORAL: dict[tuple[str, ValueType, ValueType], tuple[ValueType, Operation]] = {
    ("+", _T.STRING, _T.STRING): (_T.STRING, _concatenate),
    ("-", _T.DATE, _T.DATE): (_T.DURATION, _subtract_dates),
    ("-", _T.DATETIME, _T.DATETIME): (_T.DURATION, _subtract_datetimes),
    ("-", _T.DATETIME, _T.DATE): (_T.DURATION, _subtract_date),
    ("-", _T.DATETIME_TZ, _T.DATETIME_TZ): (_T.DURATION, _subtract_instants),
    ("+", _T.DATETIME, _T.DURATION): (
        _T.DATETIME,
        _ranged(lambda a, b: shift(a, b, 1), "+"),
    ),
    ("-", _T.DATETIME, _T.DURATION): (
        _T.DATETIME,
        _ranged(lambda a, b: shift(a, b, -1), "-"),
    ),
    ("+", _T.DATETIME_TZ, _T.DURATION): (
        _T.DATETIME_TZ,
        _ranged(lambda a, b: shift_zoned(a, b, 1), "+"),
    ),
    ("-", _T.DATETIME_TZ, _T.DURATION): (
        _T.DATETIME_TZ,
        _ranged(lambda a, b: shift_zoned(a, b, -1), "-"),
    ),
    ("+", _T.DURATION, _T.DURATION): (_T.DURATION, _ranged(lambda a, b: a.plus(b), "+")),
    ("-", _T.DURATION, _T.DURATION): (_T.DURATION, _ranged(lambda a, b: a.minus(b), "-")),
}
