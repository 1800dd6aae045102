"""Which Python values a result's cells become.

Numbers, texts, booleans, dates, times, intervals, binary, JSON and their arrays are psycopg's own
values. Types without a canonical value (uuid, network addresses, ranges, records, …) are the text
that PostgreSQL prints.
"""

from functools import cache
from typing import Any

import psycopg
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.pq import Format
from psycopg.types.string import TextLoader

_AS_TEXT = (
    "uuid", "inet", "cidr", "record", "int4range", "int8range", "numrange", "daterange",
    "tsrange", "tstzrange", "int4multirange", "int8multirange", "nummultirange",
    "datemultirange", "tsmultirange", "tstzmultirange", "timetz",
)  # fmt: skip
_MAY_NOT_FIT = ("date", "timestamp", "timestamptz", "interval", "time", "json", "jsonb")

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
