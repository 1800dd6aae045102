"""From answers to tables, the same for the embedded engine and for a server's driver.

Rows: one column a variable, in the engine's (alphabetical) order; attributes and values are their
value, types their label, entities and relations a `Node` known by its `@key` attribute (embedded)
or internal id (server, whose rows hold no attributes).

Documents: one row a document, one column a key, in the order in which keys come; a key that a
document lacks is null. Where there are none, query and schema tell the columns. A list is a list,
an object a `Map`, a type its label. JSON has no decimals and no datetimes: texts in TypeDB's own
spelling of them (`1.5dec`, `2024-05-06T07:08:09.000000000`) become what they stand for; a date
stays text, which a column declared `date` accepts.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from qeval.scoring.table import Table
from qeval.scoring.values import Canonical

_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?dec", re.ASCII)
_DATETIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}", re.ASCII)
_TYPE_KEYS = ({"kind", "label"}, {"kind", "label", "valueType"})
_FIXED = 8  # bytes of a value whose size does not depend on what it is


def _key_of(concept: Any) -> Any:
    own = getattr(concept, "try_get_key", None)
    return None if own is None else own()


_canonical = Canonical(key_of=_key_of)


def rows_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """A table from rows of concepts (None where a variable has none)."""
    return _canonical.table(columns, rows)


def documents_table(documents: Sequence[Mapping[str, Any] | None], keys: Sequence[str]) -> Table:
    """A table from documents as parsed from JSON; `keys` are its columns where these tell none.

    A document is None where `fetch { $x.* }` met no `$x`.
    """
    found = [document or {} for document in documents]
    columns = list(dict.fromkeys(key for document in found for key in document)) or keys
    rows = [[from_json(document.get(key)) for key in columns] for document in found]
    return _canonical.table(columns, rows)


def from_json(value: Any) -> Any:
    """The value that a part of a document stands for."""
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if isinstance(value, dict):
        if set(value) in _TYPE_KEYS:
            return value["label"]
        return {key: from_json(item) for key, item in value.items()}
    return value


def _from_text(text: str) -> Any:
    if _DECIMAL.fullmatch(text):
        return Decimal(text.removesuffix("dec"))
    return _datetime(text) if _DATETIME.fullmatch(text) else text


def _datetime(text: str) -> Any:
    """An aware datetime (TypeDB's are taken as UTC), or the text itself for a year 0."""
    from qeval.scoring.values.temporal import epoch_nanos, instant

    try:
        whole = datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
    except ValueError:
        return text
    return instant(epoch_nanos(whole) + int(text[20:]))


def cut(table: Table, max_rows: int, max_bytes: int) -> tuple[Table, bool]:
    """The longest prefix of the table within the limits, and whether anything was cut off."""
    left = max_bytes
    for number, row in enumerate(table.rows):
        left -= sum(map(size_of, row))
        if number == max_rows or left < 0:
            return Table(table.columns, table.rows[:number]), True
    return table, False


def size_of(value: Any) -> int:
    """Roughly the bytes that a canonical value takes on the wire."""
    if isinstance(value, str):
        return len(value.encode(errors="replace"))
    if isinstance(value, tuple | list):
        return _FIXED + sum(map(size_of, value))
    if isinstance(value, Mapping):
        return _FIXED + sum(size_of(key) + size_of(item) for key, item in value.items())
    items = getattr(value, "items", None)
    return _FIXED if items is None else _FIXED + size_of(items)
