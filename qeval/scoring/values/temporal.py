"""Temporal values that Python's own types can't hold: nanoseconds, far years, calendar months.

Everything is counted from 1970-01-01T00:00 UTC in the proleptic Gregorian calendar.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

NANOS = 1_000_000_000
DAY_NANOS = 86_400 * NANOS
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A moment that `datetime` can't hold: nanoseconds since the epoch, or an infinity."""

    nanos: int | float

    def __str__(self) -> str:
        if isinstance(self.nanos, float):
            return "infinity" if self.nanos > 0 else "-infinity"
        days, rest = divmod(self.nanos, DAY_NANOS)
        seconds, nanos = divmod(rest, NANOS)
        clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        return f"{Day(days)}T{clock}.{nanos:09d}Z"


@dataclass(frozen=True, slots=True, order=True)
class Day:
    """A date that `date` can't hold: days since the epoch, or an infinity."""

    days: int | float

    def __str__(self) -> str:
        if isinstance(self.days, float):
            return "infinity" if self.days > 0 else "-infinity"
        try:
            return date.fromordinal(int(self.days) + _EPOCH_DAY).isoformat()
        except (ValueError, OverflowError):
            return f"epoch{self.days:+d}d"


@dataclass(frozen=True, slots=True, order=True)
class Clock:
    """A time of day: nanoseconds since midnight, and seconds east of UTC if it has a zone."""

    nanos: int
    offset: int | None = None

    def __str__(self) -> str:
        seconds, nanos = divmod(self.nanos, NANOS)
        text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        if nanos:
            text += f".{nanos:09d}".rstrip("0")
        if self.offset is None:
            return text
        sign, east = ("-", -self.offset) if self.offset < 0 else ("+", self.offset)
        return f"{text}{sign}{east // 3600:02d}:{east // 60 % 60:02d}"


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A period: calendar months, and nanoseconds in which a day is 24 hours.

    Every instant is UTC, so a day always has 24 hours and `P1D` equals `PT24H`; a month has no
    fixed length and `P1M` differs from `P30D`. A year is 12 months.
    """

    months: int = 0
    nanos: int = 0

    @classmethod
    def of(cls, months: int = 0, days: int = 0, seconds: int = 0, nanos: int = 0) -> "Duration":
        """Build from the parts that drivers give."""
        return cls(months, days * DAY_NANOS + seconds * NANOS + nanos)

    def __str__(self) -> str:
        if not self.months and not self.nanos:
            return "PT0S"
        sign = "-" if self.months <= 0 and self.nanos <= 0 else ""
        months, nanos = (-self.months, -self.nanos) if sign else (self.months, self.nanos)
        text = f"{months}M" if months else ""
        below = "-" if nanos < 0 else ""
        days, rest = divmod(abs(nanos), DAY_NANOS)
        seconds, fraction = divmod(rest, NANOS)
        if days:
            text += f"{below}{days}D"
        if rest:
            part = f".{fraction:09d}".rstrip("0") if fraction else ""
            text += f"T{below}{seconds}{part}S"
        return f"{sign}P{text}"


def instant(nanos: float) -> datetime | Instant:
    """Return the `datetime` (UTC) of an epoch count, or an `Instant` where none can hold it."""
    if isinstance(nanos, float) or nanos % 1000:
        return Instant(nanos)
    try:
        return _EPOCH + timedelta(microseconds=nanos // 1000)
    except OverflowError:
        return Instant(nanos)


def epoch_nanos(moment: datetime) -> int:
    """Count nanoseconds from the epoch to an aware `datetime`, or to a naive one read as UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return (aware - _EPOCH) // _MICROSECOND * 1000


def day(days: float) -> date | Day:
    """Return the `date` of an epoch count, or a `Day` where none can hold it."""
    if isinstance(days, float):
        return Day(days)
    try:
        return date.fromordinal(days + _EPOCH_DAY)
    except (ValueError, OverflowError):
        return Day(days)


def epoch_days(year: int, month: int, of_month: int) -> int:
    """Count days from the epoch to a date of any year.

    Years begin in March here, so that the leap day comes last: a month's first day is then
    `(153·m + 2) // 5` days into the year.
    """
    year -= month <= 2  # noqa: PLR2004
    into_year = (153 * ((month + 9) % 12) + 2) // 5 + of_month - 1
    return 365 * year + year // 4 - year // 100 + year // 400 + into_year - 719_468


_LONGEST_DURATION = 200
"""Characters; no engine writes that many, and Python refuses to read some thousand digits."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATETIME = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(.*)", re.DOTALL | re.ASCII
)
_ZONE = re.compile(r"\s*(?:Z|[+-]\d\d(?::?\d\d)?)?")
_DURATION = re.compile(
    r"(?P<sign>-)?P(?=[-\dT])(?:(?P<Y>-?\d+)Y)?(?:(?P<M>-?\d+)M)?(?:(?P<W>-?\d+)W)?"
    r"(?:(?P<D>-?\d+)D)?"
    r"(?:T(?=[-\d])(?:(?P<h>-?\d+)H)?(?:(?P<m>-?\d+)M)?"
    r"(?:(?P<s>-?\d+)(?:\.(?P<f>\d{1,9}))?S)?)?",
    re.ASCII,
)


def parse_date(text: str) -> date | None:
    """Read `YYYY-MM-DD`; None for anything else."""
    if not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def parse_instant(text: str) -> datetime | Instant | None:
    """Read an ISO date and time (`T` or a blank between, offset optional: UTC); else None."""
    found = _DATETIME.fullmatch(text)
    if not found or not _ZONE.fullmatch(found[3]):
        return None
    try:
        seconds = epoch_nanos(datetime.fromisoformat(found[1] + found[3].strip()))
    except (ValueError, OverflowError):
        return None
    return instant(seconds + int((found[2] or "").ljust(9, "0")))


def parse_duration(text: str) -> Duration | None:
    """Read an ISO-8601 duration such as `P1Y2M3DT4H5M6.789S`; None for anything else."""
    found = _DURATION.fullmatch(text) if len(text) <= _LONGEST_DURATION else None
    if not found:
        return None
    part = {k: int(v) for k, v in found.groupdict(default="0").items() if k not in ("sign", "f")}
    fraction = int((found["f"] or "").ljust(9, "0"))
    if (found["s"] or "").startswith("-"):
        fraction = -fraction
    sign = -1 if found["sign"] else 1
    return Duration.of(
        months=sign * (12 * part["Y"] + part["M"]),
        days=sign * (7 * part["W"] + part["D"]),
        seconds=sign * (3600 * part["h"] + 60 * part["m"] + part["s"]),
        nanos=sign * fraction,
    )
