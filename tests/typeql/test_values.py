"""Values: calendars, decimals, regular expressions, printing."""

from __future__ import annotations

import re
from datetime import date, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.typeql.errors import TypeQLError
from qeval.typeql.values import Date, DateTime, Duration, decimals, show
from qeval.typeql.values.arithmetic import resolve
from qeval.typeql.values.kinds import ValueType
from qeval.typeql.values.reading import read_count, read_literal
from qeval.typeql.values.regex import compile_regex
from qeval.typeql.values.temporal import (
    MAX_YEAR,
    MIN_YEAR,
    between,
    civil_from_days,
    days_from_civil,
    shift,
)

if TYPE_CHECKING:
    from decimal import Decimal

EPOCH = date(1970, 1, 1).toordinal()
moments = st.integers(-(10**18), 4 * 10**18).map(DateTime)
steps = st.builds(
    Duration, st.integers(0, 1200), st.integers(0, 4000), st.integers(0, 10**15)
)  # fmt: skip
fixed = st.decimals(min_value=-(10**9), max_value=10**9, places=12)


@given(st.dates())
def test_days_agree_with_pythons_calendar(day: date) -> None:
    days = day.toordinal() - EPOCH
    assert days_from_civil(day.year, day.month, day.day) == days
    assert civil_from_days(days) == (day.year, day.month, day.day)
    assert str(Date(days)) == day.isoformat()


@given(st.integers(MIN_YEAR, MAX_YEAR), st.integers(1, 12), st.integers(1, 28))
def test_days_round_trip_over_the_whole_range(year: int, month: int, day: int) -> None:
    assert civil_from_days(days_from_civil(year, month, day)) == (year, month, day)


@given(moments, moments)
def test_difference_added_again_gives_the_later_moment(one: DateTime, other: DateTime) -> None:
    earlier, later = sorted([one, other])
    assert shift(earlier, between(earlier, later), 1) == later


@given(moments, st.integers(0, 4000), st.integers(0, 10**15))
def test_shift_without_months_is_plain_addition(moment: DateTime, days: int, nanos: int) -> None:
    moved = shift(moment, Duration(0, days, nanos), 1)
    assert (
        moved.nanos - moment.nanos
        == timedelta(days=days) // timedelta(microseconds=1) * 1000 + nanos
    )
    assert shift(moved, Duration(0, days, nanos), -1) == moment


@given(steps)
def test_durations_read_back(step: Duration) -> None:
    assert read_literal("duration", str(step)) == step


@given(fixed, fixed)
def test_decimal_product_is_rounded_at_the_nineteenth_digit(one: Decimal, other: Decimal) -> None:
    exact = Fraction(one) * Fraction(other)
    assert abs(Fraction(decimals.multiply(one, other)) - exact) <= Fraction(1, 2 * 10**19)


@given(fixed)
def test_decimals_read_back(value: Decimal) -> None:
    assert read_literal("decimal", str(show(value))) == value


@pytest.mark.parametrize(
    ("op", "left", "right", "code"),
    [
        ("+", 2**63 - 1, 1, "EEV2"),
        ("*", -(2**63), -1, "EEV2"),
        ("/", 1, 0, "EEV4"),
        ("%", 1, 0, "EEV4"),
    ],
)
def test_integer_faults(op: str, left: int, right: int, code: str) -> None:
    resolved = resolve(op, ValueType.INTEGER, ValueType.INTEGER)
    assert resolved is not None
    with pytest.raises(TypeQLError) as caught:
        resolved[1](left, right)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("9223372036854775808", "integer", "LIT1"),
        ("1.0e309", "double", "LIT11"),
        ("2023-02-29", "date", "LIT3"),
        ("2024-01-01T25:00:00", "datetime", "LIT4"),
        ("2024-03-31T02:30:00 Europe/Berlin", "datetime-tz", "LIT10"),
        ("2024-10-27T02:30:00 Europe/Berlin", "datetime-tz", "LIT9"),
        ("2024-01-01T00:00:00 Mars/Base", "datetime-tz", "LIT7"),
        ("P524287Y", "duration", "LIT11"),
        ("9" * 5000, "integer", "LIT1"),
        ("-" + "9" * 5000, "integer", "LIT1"),
        ("9" * 5000 + ".5dec", "decimal", "LIT1"),
        ("+" + "9" * 5000 + "-01-01", "date", "LIT3"),
        ("P" + "9" * 5000 + "Y", "duration", "LIT11"),
        ("PT" + "9" * 5000 + "S", "duration", "LIT11"),
    ],
)
def test_literals_without_a_value(text: str, kind: str, code: str) -> None:
    with pytest.raises(TypeQLError) as caught:
        read_literal(kind, text)
    assert caught.value.code == code


def test_leading_zeros_say_nothing() -> None:
    assert read_literal("integer", "-" + "0" * 5000 + "7") == -7
    assert read_count("0" * 5000 + "7") == 7


@pytest.mark.parametrize(
    ("pattern", "text", "holds"),
    [
        ("b+", "abbc", True),
        ("^b", "abc", False),
        (r"^\d+$", "٣٤", True),  # digits of any script, as in Rust
        (r"\w\s\W", "é —", True),
        (r"\u{E9}\x41A", "éAA", True),
        ("[a-c[x-z]]{2}", "by", True),
        ("a**", "", True),
        ("(?x) a  b # spaced", "ab", True),
        ("(?i)straße", "STRASSE", False),
        ("a{,2}b", "aab", True),
        (r"\p{Greek}", "σ", True),
        ("(?<year>[0-9]{4})", "in 2024", True),
    ],
)
def test_regular_expressions(pattern: str, text: str, holds: bool) -> None:  # noqa: FBT001
    assert compile_regex(pattern)(text) is holds


@pytest.mark.parametrize(
    "pattern", ["(", "a{2,1}", "(?=a)", "(?<!a)", r"(a)\1", "a{", "*a", r"\q", "[z-a]", "(?P>x)"]
)
def test_expressions_the_server_refuses(pattern: str) -> None:
    with pytest.raises(TypeQLError) as caught:
        compile_regex(pattern)
    assert caught.value.code == "REP51"


@given(st.text(max_size=20), st.text(max_size=20))
def test_escaped_text_matches_itself_only(one: str, other: str) -> None:
    escaped = re.sub(r"[][(){}.*+?|^$\\&~#-]", r"\\\g<0>", one)
    matches = compile_regex(f"^{escaped}$")
    assert matches(one)
    assert matches(other) is (one == other)
