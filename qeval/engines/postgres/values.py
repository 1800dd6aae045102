"""Which Python values a result's cells become.

Numbers, texts, booleans, dates, times, binary, JSON and their arrays are psycopg's own values.
Intervals are durations of months and nanoseconds: psycopg takes a month for 30 days, a year for 365
and an infinite interval for none. Types without a canonical value (uuid, network addresses, ranges,
records, …) are the text that PostgreSQL prints.
"""

import re
from functools import cache
from typing import Any

import psycopg
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.pq import Format
from psycopg.types.string import TextLoader

from qeval.scoring.values.temporal import Duration

_AS_TEXT = (
    "uuid", "inet", "cidr", "record", "int4range", "int8range", "numrange", "daterange",
    "tsrange", "tstzrange", "int4multirange", "int8multirange", "nummultirange",
    "datemultirange", "tsmultirange", "tstzmultirange", "timetz",
)  # fmt: skip
_MAY_NOT_FIT = ("date", "timestamp", "timestamptz", "time", "json", "jsonb")
_INTERVAL = re.compile(
    rb"(?:(-?\d+) years? ?)?(?:([+-]?\d+) mons? ?)?(?:([+-]?\d+) days? ?)?"
    rb"(?:([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?"
)
"""An interval as PostgreSQL prints it with `intervalstyle=postgres`."""

UNREADABLE = (psycopg.DataError, ValueError, RecursionError, OverflowError)
"""What a loader raises for a value that Python can't hold: the year 10000, JSON nested ten thousand
deep or with a number of ten thousand digits.
"""


class Context:
    """An adaptation context that is no connection."""

    connection = None

    def __init__(self, adapters: AdaptersMap) -> None:
        self.adapters = adapters


@cache
def adapters() -> Context:
    """The usual conversion."""
    chosen = AdaptersMap(psycopg.adapters)
    for name in _AS_TEXT:
        chosen.register_loader(name, TextLoader)
    chosen.register_loader("interval", _IntervalLoader)
    return Context(chosen)


@cache
def lenient_adapters() -> Context:
    """For rows holding a value that Python can't represent: such a cell is a text."""
    chosen = AdaptersMap(adapters().adapters)
    for name in _MAY_NOT_FIT:
        chosen.register_loader(name, _ElseText)
    return Context(chosen)


class _ElseText(Loader):
    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        usual = psycopg.adapters.get_loader(oid, Format.TEXT)
        assert usual is not None
        self._usual = usual(oid, context)

    def load(self, data: Buffer) -> Any:
        try:
            return self._usual.load(data)
        except UNREADABLE:
            return bytes(data).decode(errors="replace")


class _IntervalLoader(Loader):
    def load(self, data: Buffer) -> Any:
        text = bytes(data)
        match = _INTERVAL.fullmatch(text)
        if match is None:  # infinite
            return text.decode()
        years, months, days = (int(part or 0) for part in match.group(1, 2, 3))
        hours, minutes, seconds = (int(part or 0) for part in match.group(5, 6, 7))
        sign = -1 if match[4] == b"-" else 1
        nanos = int((match[8] or b"").ljust(9, b"0"))
        return Duration.of(
            12 * years + months,
            days,
            sign * (3600 * hours + 60 * minutes + seconds),
            sign * nanos,
        )
