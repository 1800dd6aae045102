"""From the text of a literal to its value, and to the type in which it is stored."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from qeval.typeql.faults import Fault
from qeval.typeql.syntax.literals import decode_string
from qeval.typeql.values.arithmetic import INT_MAX, INT_MIN
from qeval.typeql.values.decimals import FRACTION_DIGITS
from qeval.typeql.values.kinds import Value, ValueType, value_type_of
from qeval.typeql.values.temporal import (
    MAX_MONTHS,
    NANOS_PER_SECOND,
    Date,
    DateTime,
    DateTimeTz,
    Duration,
    OutOfRangeError,
    in_range,
)
from qeval.typeql.values.zones import instants_of, known_zone

if TYPE_CHECKING:
    from collections.abc import Callable

_DATE = re.compile(r"([+-]?\d{4,})-(\d\d)-(\d\d)")
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?")
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
_DURATION = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?"
    r"(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?"
)

_MOST_DIGITS = 40


def read_literal(value_type: str, text: str) -> Value:
    """Return the value a literal stands for.

    Raises ``TypeQLError`` with the server's code: LIT1 (a number that does not fit), LIT2
    (exponent in a decimal), LIT3 (no such date), LIT4 (no such time), LIT5 (bad escape), LIT7 (no
    such zone), LIT8 (no such offset), LIT9 and LIT10 (a local
    time that clocks show twice or never), LIT11 (out of range).
    """
    return _READERS[ValueType(value_type)](text)


def converted(value: Value, value_type: ValueType) -> Value:
    """Bring a value to an attribute's type; raises INF4 if it is of another kind.

    An integer becomes a double or a decimal, a date a datetime; nothing else changes.
    """
    kind = value_type_of(value)
    if kind is value_type:
        return value
    if kind is ValueType.DATE and value_type is ValueType.DATETIME:
        assert isinstance(value, Date)
        return DateTime.of(value, 0)
    widen = _WIDENING.get((kind, value_type))
    if widen is None:
        raise Fault("INF4", f"a value of type {kind} where {value_type} is stored")
    return widen(value)


def read_count(text: str) -> int:
    """Read the number of ``limit`` and ``offset`` (0 to 2^64 - 1)."""
    count = _whole(text)
    if count >= 2**64:
        raise Fault("LIT1", f"not a number of rows: {text}")
    return count


def _whole(text: str) -> int:
    """The number that digits stand for, which may have a sign.

    Python refuses to read thousands of digits; forty are beyond whatever TypeDB can hold.
    """
    sign = text[0] if text[0] in "+-" else ""
    return int(sign + (text.removeprefix(sign).lstrip("0")[:_MOST_DIGITS] or "0"))


def _boolean(text: str) -> bool:
    return text == "true"


def _integer(text: str) -> int:
    value = _whole(text)
    if INT_MIN <= value <= INT_MAX:
        return value
    raise Fault("LIT1", f"{text} does not fit into 64 bits")


def _double(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise Fault("LIT11", f"{text} does not fit into a double")
    return value


def _decimal(text: str) -> Decimal:
    digits = text.removesuffix("dec")
    if "e" in digits or "E" in digits:
        raise Fault("LIT2", f"a decimal takes no exponent: {text}")
    whole, _, fraction = digits.partition(".")
    if not INT_MIN <= _whole(whole) <= INT_MAX or len(fraction) > FRACTION_DIGITS:
        raise Fault("LIT1", f"{text} does not fit into a decimal")
    return Decimal(digits)


def _date(text: str) -> Date:
    match = _DATE.fullmatch(text)
    if match is None:
        raise Fault("LIT3", f"not a date: {text}")
    try:
        return Date.of(*map(_whole, match.groups()))
    except OutOfRangeError as error:
        raise Fault("LIT3", f"no such date: {text}") from error


def _datetime(text: str) -> DateTime:
    day, _, clock = text.partition("T")
    match = _TIME.fullmatch(clock)
    if match is None:
        raise Fault("LIT4", f"not a time: {clock}")
    hour, minute, second, fraction = match.groups(default="0")
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second)
    if int(hour) > 23 or int(minute) > 59 or int(second) > 59:  # noqa: PLR2004
        raise Fault("LIT4", f"no such time: {clock}")
    return DateTime.of(_date(day), seconds * NANOS_PER_SECOND + int(fraction.ljust(9, "0")))


def _datetime_tz(text: str) -> DateTimeTz:
    local, separator, zone = text.partition(" ")
    if separator:
        if not known_zone(zone):
            raise Fault("LIT7", f"unknown time zone: {zone}")
        return _zoned(_datetime(local), zone)
    if text.endswith("Z"):
        return _zoned(_datetime(text[:-1]), "+00:00")
    cut = max(text.rfind("+"), text.rfind("-"))
    match = _OFFSET.fullmatch(text[cut:])
    if match is None or int(match[2]) > 23 or int(match[3]) > 59:  # noqa: PLR2004
        raise Fault("LIT8", f"not a time zone offset: {text[cut:]}")
    return _zoned(_datetime(text[:cut]), f"{match[1]}{match[2]}:{match[3]}")


def _zoned(local: DateTime, zone: str) -> DateTimeTz:
    """Place a wall-clock time in a zone; the clock must show it exactly once."""
    instants = [nanos for nanos in instants_of(local.nanos, zone) if in_range(DateTime(nanos))]
    if len(instants) != 1:
        code, why = ("LIT9", "occurs twice") if instants else ("LIT10", "does not occur")
        raise Fault(code, f"the local time {local} {why} in {zone}")
    return DateTimeTz(instants[0], zone)


def _duration(text: str) -> Duration:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise Fault("LIT1", f"not a duration: {text}")
    years, months, weeks, days, hours, minutes, seconds = (
        _whole(part) for part in match.groups(default="0")[:7]
    )
    nanos = int((match[8] or "").ljust(9, "0"))
    total_months, total_days = years * 12 + months, weeks * 7 + days
    clock = hours * 3600 + minutes * 60 + seconds
    if total_months > MAX_MONTHS or total_days >= 2**32 or clock * NANOS_PER_SECOND >= 2**64:
        raise Fault("LIT11", f"a part of {text} is too large")
    return Duration(total_months, total_days, clock * NANOS_PER_SECOND + nanos)


_READERS: dict[ValueType, Callable[[str], Value]] = {
    ValueType.BOOLEAN: _boolean,
    ValueType.INTEGER: _integer,
    ValueType.DOUBLE: _double,
    ValueType.DECIMAL: _decimal,
    ValueType.STRING: decode_string,
    ValueType.DATE: _date,
    ValueType.DATETIME: _datetime,
    ValueType.DATETIME_TZ: _datetime_tz,
    ValueType.DURATION: _duration,
}
_WIDENING: dict[tuple[ValueType, ValueType], Callable[[Any], Value]] = {
    (ValueType.INTEGER, ValueType.DOUBLE): float,
    (ValueType.INTEGER, ValueType.DECIMAL): Decimal,
}
