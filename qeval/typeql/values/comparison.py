"""Comparison of values: equality, order, ``contains`` and ``like``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

from qeval.typeql.values.arithmetic import as_double
from qeval.typeql.values.decimals import floor_step
from qeval.typeql.values.kinds import NUMERIC, ValueType
from qeval.typeql.values.regex import compile_regex
from qeval.typeql.values.temporal import Date, DateTime, DateTimeTz
from qeval.typeql.values.zones import is_zone

Test: TypeAlias = Callable[[Any, Any], bool]

_OPERATORS: dict[str, Test] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_T = ValueType


def mirrored(op: str) -> str | None:
    """Return the operator with its sides exchanged; None for ``contains`` and ``like``."""
    return None if op in ("contains", "like") else _MIRRORED.get(op, op)


@cache
def comparison(op: str, left: ValueType, right: ValueType) -> Test | None:
    """Return the test of ``left op right`` for two types; None if it never holds.

    Numbers meet as doubles or decimals, a date meets a datetime as its midnight.
    """
    if op in ("contains", "like"):
        return _text_test(op) if left is right is _T.STRING else None
    test = _OPERATORS[op]
    if left is right:
        return _same_type(op, test, left)
    kinds = {left, right}
    if kinds == {_T.INTEGER, _T.DECIMAL}:
        return test
    if kinds <= NUMERIC:
        return lambda a, b: test(as_double(a), as_double(b))
    if kinds == {_T.DATE, _T.DATETIME}:
        return lambda a, b: test(_moment(a), _moment(b))
    return None


@cache
def attribute_comparison(op: str, attribute: ValueType, value: ValueType) -> Test | None:
    """Return the test of an attribute against a computed or literal value.

    The value is brought to the attribute's type, never the other way round: a datetime does not
    meet a date attribute. A double with a fraction meets decimals below it only up to the bound
    described at :func:`~qeval.typeql.values.decimals.floor_step`. At one instant, a time in a
    named zone counts as before one with a fixed offset, which ``<=`` and ``>=`` notice.
    """
    if attribute is _T.DATE and value is _T.DATETIME:
        return None
    test = comparison(op, attribute, value)
    if test is not None and attribute is _T.DATETIME_TZ and op in ("<=", ">="):
        return _not_after if op == "<=" else _not_before
    if test is None or (attribute, value) != (_T.DECIMAL, _T.DOUBLE):
        return test
    if op in ("==", "<", "<="):
        return lambda a, b: test(a, b) and a <= floor_step(b)
    return test


def lookup_value(attribute: ValueType, value: Any) -> tuple[Any] | None:
    """Return in a tuple the one value an attribute must have to equal ``value``.

    None means that equality has to be tested attribute by attribute. Called only where
    ``attribute_comparison("==", …)`` exists.
    """
    kind = value.__class__
    if attribute is _T.DATETIME_TZ:
        return (value,)
    if attribute is _T.DOUBLE:
        return (as_double(value),)
    if attribute is _T.DECIMAL and kind is not float:
        return (Decimal(value),)
    if attribute is _T.INTEGER and kind is not int:
        return None
    if attribute is _T.DECIMAL:
        return None
    return (_moment(value),) if attribute is _T.DATETIME else (value,)


def _same_type(op: str, test: Test, kind: ValueType) -> Test | None:
    if op in ("==", "!="):
        return test
    if kind is _T.DURATION:
        return None
    if kind is _T.DATETIME_TZ:
        return lambda a, b: test(a.nanos, b.nanos)
    return test


def _not_after(one: DateTimeTz, other: DateTimeTz) -> bool:
    if one.nanos != other.nanos:
        return one.nanos < other.nanos
    return is_zone(one.zone) or not is_zone(other.zone)


def _not_before(one: DateTimeTz, other: DateTimeTz) -> bool:
    if one.nanos != other.nanos:
        return one.nanos > other.nanos
    return is_zone(other.zone) or not is_zone(one.zone)


def _text_test(op: str) -> Test:
    if op == "like":
        return lambda text, pattern: compile_regex(pattern)(text)
    return lambda text, part: part.casefold() in text.casefold()


def _moment(value: Date | DateTime) -> DateTime:
    return DateTime.of(value, 0) if isinstance(value, Date) else value
