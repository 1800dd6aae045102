"""Dates, datetimes and durations over TypeDB's range (years -262143 to 262142), in nanoseconds.

Python's own ``datetime`` ends at the year 9999 and at microseconds, so the calendar is done here,
on integers: days since 1970-01-01 and nanoseconds since 1970-01-01T00:00.
"""

from __future__ import annotations

from typing import NamedTuple

from qeval.typeql.values.zones import is_zone, local_to_utc, utc_offset

NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_DAY = 86_400 * NANOS_PER_SECOND
MIN_YEAR, MAX_YEAR = -262_143, 262_142
MAX_MONTHS = (MAX_YEAR - MIN_YEAR + 1) * 12
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class OutOfRangeError(ValueError):
    """A date, datetime or duration outside what TypeDB can hold."""


class Date(NamedTuple):
    """A calendar day."""

    days: int

    @classmethod
    def of(cls, year: int, month: int, day: int) -> Date:
        """Build a date; raises :class:`OutOfRangeError` if there is no such day."""
        if not (MIN_YEAR <= year <= MAX_YEAR and 1 <= month <= 12):  # noqa: PLR2004
            raise OutOfRangeError(f"no such month: {year}-{month}")
        if not 1 <= day <= days_in_month(year, month):
            raise OutOfRangeError(f"no such day: {year}-{month}-{day}")
        return cls(days_from_civil(year, month, day))

    def civil(self) -> tuple[int, int, int]:
        """Return year, month and day."""
        return civil_from_days(self.days)

    def __str__(self) -> str:
        return _show_day(self.days)


class DateTime(NamedTuple):
    """A wall-clock time without a zone."""

    nanos: int

    @classmethod
    def of(cls, date: Date, nanos_of_day: int) -> DateTime:
        """Build a datetime from a day and the nanoseconds since its midnight."""
        return cls(date.days * NANOS_PER_DAY + nanos_of_day)

    def __str__(self) -> str:
        days, rest = divmod(self.nanos, NANOS_PER_DAY)
        seconds, nanos = divmod(rest, NANOS_PER_SECOND)
        clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        return f"{_show_day(days)}T{clock}.{nanos:09d}"


class DateTimeTz(NamedTuple):
    """An instant together with the zone it was written in.

    ``zone`` is an IANA name or a fixed offset like ``+01:00``. Equality includes the zone;
    order is by instant, so compare ``nanos`` for ``<`` and ``>``.
    """

    nanos: int
    zone: str

    @classmethod
    def from_local(cls, local: DateTime, zone: str) -> DateTimeTz:
        """Build from wall-clock time; the earlier instant if the clock shows it twice."""
        return cls(local_to_utc(local.nanos, zone), zone)

    def local(self) -> DateTime:
        """Return what the clock shows in the zone."""
        return DateTime(self.nanos + utc_offset(self.nanos, self.zone) * NANOS_PER_SECOND)

    def __str__(self) -> str:
        separator = " " if is_zone(self.zone) else ""
        return f"{self.local()}{separator}{self.zone}"


class Duration(NamedTuple):
    """A period of months, days and nanoseconds, which do not convert into one another."""

    months: int
    days: int
    nanos: int

    def __str__(self) -> str:
        if not any(self):
            return "PT0S"
        years, months = divmod(self.months, 12)
        date = _parts((years, "Y"), (months, "M"), (self.days, "D"))
        seconds, nanos = divmod(self.nanos, NANOS_PER_SECOND)
        clock = _parts((seconds // 3600, "H"), (seconds // 60 % 60, "M"))
        if seconds % 60 or nanos:
            clock += f"{seconds % 60}.{nanos:09d}S" if nanos else f"{seconds % 60}S"
        return f"P{date}T{clock}" if clock else f"P{date}"

    def plus(self, other: Duration) -> Duration:
        """Add part by part; raises :class:`OutOfRangeError` on overflow."""
        return _checked_duration(
            self.months + other.months, self.days + other.days, self.nanos + other.nanos
        )

    def minus(self, other: Duration) -> Duration:
        """Subtract part by part; raises :class:`OutOfRangeError` if a part becomes negative."""
        return _checked_duration(
            self.months - other.months, self.days - other.days, self.nanos - other.nanos
        )


def shift(local: DateTime, period: Duration, sign: int) -> DateTime:
    """Move a wall-clock time by ``sign`` (1 or -1) times a period: months, then days, then time.

    Raises :class:`OutOfRangeError` when the result leaves the range of years.
    """
    days, rest = divmod(local.nanos, NANOS_PER_DAY)
    days = add_months(days, sign * period.months) + sign * period.days
    moved = DateTime(days * NANOS_PER_DAY + rest + sign * period.nanos)
    return _checked_datetime(moved)


def shift_zoned(instant: DateTimeTz, period: Duration, sign: int) -> DateTimeTz:
    """Move an instant: months and days on the clock of its zone, nanoseconds in absolute time."""
    calendar = Duration(period.months, period.days, 0)
    local = shift(instant.local(), calendar, sign)
    base = DateTimeTz.from_local(local, instant.zone)
    return DateTimeTz(base.nanos + sign * period.nanos, instant.zone)


def between_dates(earlier: Date, later: Date) -> Duration:
    """Return the months and days from one day to a later one."""
    y0, m0, _ = earlier.civil()
    y1, m1, d1 = later.civil()
    months = (y1 - y0) * 12 + m1 - m0
    anchor = add_months(earlier.days, months)
    _, _, anchor_day = civil_from_days(anchor)
    if d1 >= anchor_day:
        return Duration(months, d1 - anchor_day, 0)
    months -= 1
    year, month, anchor_day = civil_from_days(add_months(earlier.days, months))
    return Duration(months, d1 + days_in_month(year, month) - anchor_day, 0)


def between(earlier: DateTime, later: DateTime) -> Duration:
    """Return the months, days and nanoseconds from one wall-clock time to a later one."""
    return between_zoned(DateTimeTz(earlier.nanos, "+00:00"), DateTimeTz(later.nanos, "+00:00"))


def between_zoned(earlier: DateTimeTz, later: DateTimeTz) -> Duration:
    """Return the period between two instants, on the calendar of the earlier one's zone."""
    later = DateTimeTz(later.nanos, earlier.zone)
    start = Date(earlier.local().nanos // NANOS_PER_DAY)
    end = Date(later.local().nanos // NANOS_PER_DAY)
    while True:
        period = between_dates(start, end)
        reached = shift_zoned(earlier, period, 1)
        if reached.nanos <= later.nanos:
            return Duration(period.months, period.days, later.nanos - reached.nanos)
        end = Date(end.days - 1)


def add_months(days: int, months: int) -> int:
    """Move a day (since 1970-01-01) by months, to the month's last day if it is shorter."""
    if not months:
        return days
    year, month, day = civil_from_days(days)
    index = year * 12 + month - 1 + months
    year, month = divmod(index, 12)
    month += 1
    if not MIN_YEAR <= year <= MAX_YEAR:
        raise OutOfRangeError(f"year {year} is out of range")
    return days_from_civil(year, month, min(day, days_in_month(year, month)))


def days_in_month(year: int, month: int) -> int:
    """Return the number of days of a month in the proleptic Gregorian calendar."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _MONTH_DAYS[month - 1]  # noqa: PLR2004


def days_from_civil(year: int, month: int, day: int) -> int:
    """Count days since 1970-01-01; the year begins in March so that leap days come last."""
    year -= month <= 2  # noqa: PLR2004
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return 365 * year + year // 4 - year // 100 + year // 400 + day_of_year - 719_468


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Invert :func:`days_from_civil`."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = (month_from_march + 2) % 12 + 1
    year = year_of_era + era * 400 + (month <= 2)  # noqa: PLR2004
    return year, month, day


def _show_day(days: int) -> str:
    year, month, day = civil_from_days(days)
    shown = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+05d}"  # noqa: PLR2004
    return f"{shown}-{month:02d}-{day:02d}"


def _parts(*parts: tuple[int, str]) -> str:
    return "".join(f"{amount}{unit}" for amount, unit in parts if amount)


def in_range(moment: DateTime) -> bool:
    """Tell whether TypeDB can hold a datetime."""
    year, _, _ = civil_from_days(moment.nanos // NANOS_PER_DAY)
    return MIN_YEAR <= year <= MAX_YEAR


def _checked_datetime(moment: DateTime) -> DateTime:
    if not in_range(moment):
        raise OutOfRangeError("a datetime is out of range")
    return moment


def _checked_duration(months: int, days: int, nanos: int) -> Duration:
    if not (0 <= months <= MAX_MONTHS and 0 <= days < 2**32 and 0 <= nanos < 2**64):
        raise OutOfRangeError("a duration part is out of range")
    return Duration(months, days, nanos)
