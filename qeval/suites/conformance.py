"""Does a gold keep its case's promises? Checks on its text and on its result table."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from qeval.scoring.spec import AnswerSpec, Column
from qeval.scoring.table import Table
from qeval.scoring.values import Day, Duration, Instant, Node

_CUTS = re.compile(r"\b(limit\s+\$?\w+|fetch\s+(first|next)|top\s+\d+)\b", re.IGNORECASE)
_CLOCK = re.compile(
    r"\b(now|random|rand|clock_timestamp|timeofday|gen_random_uuid|randomuuid|timestamp|"
    r"date|datetime|localtime|localdatetime|statement_timestamp)\s*\(\s*\)|"
    r"\b(current_date|current_timestamp|current_time|localtimestamp|tablesample)\b",
    re.IGNORECASE,
)
_LITERAL_OR_COMMENT = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|//[^\n]*|#[^\n]*")

_VALUE_TYPES: Mapping[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "decimal": (Decimal, int, float),
    "float": (float, Decimal, int),
    "string": (str,),
    "date": (date, Day),
    "datetime": (datetime, Instant),
    "duration": (Duration,),
    "list": (tuple,),
    "node": (Node,),
}

Fault = tuple[str, str]
"""What kind of fault, and the account of it."""


def query_faults(query: str, spec: AnswerSpec) -> Iterator[Fault]:
    """Faults that show in a gold's text: an undeclared cut, dependence on the clock or chance.

    A cut in the middle of a Cypher query, before a further MATCH, does not cut the answer's rows.
    """
    bare = _LITERAL_OR_COMMENT.sub("''", query)
    cut = _CUTS.search(bare[max(0, bare.upper().rfind("\nMATCH")) :])
    if cut and spec.top_k is None:
        yield "cut", f"it cuts rows ({cut[0]}), but the case declares no top_k"
    clock = _CLOCK.search(bare)
    if clock:
        yield "clock", f"{clock[0]} makes the answer depend on the clock or on chance"


def table_faults(table: Table, spec: AnswerSpec) -> Iterator[Fault]:
    """Faults of a gold's table: columns, types, order, the first k and roundings."""
    if len(table.columns) != len(spec.columns):
        found, declared = table.columns, [column.name for column in spec.columns]
        yield "columns", f"found {', '.join(found)}, declared are {', '.join(declared)}"
        return
    places = column_places(table, spec)
    for column, place in zip(spec.columns, places, strict=True):
        values = [row[place] for row in table.rows if row[place] is not None]
        yield from _type_faults(column, values)
        if column.type == "decimal" and column.scale is not None:
            yield from _rounding_faults(column.name, column.scale, values)
    if spec.order_by:
        yield from _order_faults(table, spec, places)


def column_places(table: Table, spec: AnswerSpec) -> list[int]:
    """Where each declared column is in the table: by name, or by position if names differ."""
    names = [column.name for column in spec.columns]
    if sorted(names) == sorted(table.columns):
        return [table.columns.index(name) for name in names]
    return list(range(len(names)))


def _type_faults(column: Column, values: Sequence[Any]) -> Iterator[Fault]:
    allowed = _VALUE_TYPES.get(column.type)
    if allowed is None:
        return
    for value in values:
        wrong = not isinstance(value, allowed)
        wrong |= isinstance(value, bool) and column.type != "bool"
        wrong |= isinstance(value, datetime) and column.type == "date"
        if wrong:
            found = type(value).__name__
            yield "type", f"column {column.name} is declared {column.type}, found {found} {value!r}"
            return


def _rounding_faults(name: str, scale: int, values: Sequence[Any]) -> Iterator[Fault]:
    """A value halfway between two roundings: languages and people round it differently."""
    for value in values:
        shifted = Decimal(str(value)).scaleb(scale)
        if abs(shifted % 1) == Decimal("0.5"):
            yield (
                "rounding",
                f"column {name}: {value} is halfway between two values of scale {scale}",
            )
            return


def _order_faults(table: Table, spec: AnswerSpec, places: Sequence[int]) -> Iterator[Fault]:
    names = [column.name for column in spec.columns]
    keys = [(places[names.index(key.column)], key.descending) for key in spec.order_by]
    if any(row[place] is None for row in table.rows for place, _ in keys):
        yield "order", "a missing value in an order_by column: languages sort it differently"
        return
    for above, below in zip(table.rows, table.rows[1:], strict=False):
        if _before(below, above, keys):
            yield "order", f"row {below!r} comes after {above!r}, against the declared order"
            return
    if spec.top_k is not None and len(table) > spec.top_k:
        last = table.rows[spec.top_k - 1]
        for row in table.rows[spec.top_k :]:
            if any(row[place] != last[place] for place, _ in keys):
                yield "top_k", f"row {row!r} is not tied with number {spec.top_k}, {last!r}"
                return


def _before(a: Sequence[Any], b: Sequence[Any], keys: Sequence[tuple[int, bool]]) -> bool:
    for place, descending in keys:
        if a[place] != b[place]:
            return bool(a[place] > b[place]) if descending else bool(a[place] < b[place])
    return False
