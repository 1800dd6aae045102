"""Rows of a suite that brings its own data as CSV files with declared fields."""

import csv
import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from qeval.data.model import Dataset, Field, TableModel
from qeval.errors import InputError, did_you_mean


def read_csv_dataset(folder: Path, declared: Mapping[str, Any], reference_date: date) -> Dataset:
    """Read `<folder>/<table>.csv` of every declared table.

    `declared` is the `data` part of a suite.yaml. Files are UTF-8 with a header line that names
    the declared fields in any order. Raises `InputError` with file, line and column.
    """
    null = str(declared.get("null", ""))
    tables = tuple(
        TableModel(
            name=table["name"],
            fields=tuple(Field(**field) for field in table["fields"]),
            key=tuple(table.get("key", ())),
        )
        for table in declared["tables"]
    )
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for table in tables:
        file = folder / f"{table.name}.csv"
        rows[table.name], lines = _read(file, table, null)
        _check_key(file, table, rows[table.name], lines)
        _check_references(file, table, tables, rows, lines)
    return Dataset(tables=tables, rows=rows, reference_date=reference_date)


def _check_key(
    file: Path, table: TableModel, rows: list[tuple[Any, ...]], lines: list[int]
) -> None:
    """No two rows may have one key, whatever an engine makes of it."""
    places = [i for name in table.key for i, f in enumerate(table.fields) if f.name == name]
    seen: dict[tuple[Any, ...], int] = {}
    for row, line in zip(rows, lines, strict=True) if places else ():
        key = tuple(row[place] for place in places)
        if key in seen:
            named = ", ".join(f"{n}={v}" for n, v in zip(table.key, key, strict=True))
            raise InputError(
                f"{file}:{line}: the key {named} is there already, in line {seen[key]}"
            )
        seen[key] = line


def _check_references(
    file: Path,
    table: TableModel,
    tables: tuple[TableModel, ...],
    rows: Mapping[str, list[tuple[Any, ...]]],
    lines: list[int],
) -> None:
    """What a row refers to must be there: engines differ in whether they ask for it."""
    places = {t.name: {f.name: i for i, f in enumerate(t.fields)} for t in tables}
    for place, field in enumerate(table.fields):
        if field.references is None:
            continue
        target, _, column = field.references.partition(".")
        there = {row[places[target][column]] for row in rows[target]}
        for row, line in zip(rows[table.name], lines, strict=True):
            if row[place] is not None and row[place] not in there:
                raise InputError(
                    f"{file}:{line}: {field.name}={row[place]} refers to {field.references}, "
                    "which no row has"
                )


def _read(file: Path, table: TableModel, null: str) -> tuple[list[tuple[Any, ...]], list[int]]:
    """The rows, and the line on which each ends."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, strict=True)
            places = _places(file, table, next(reader, []))
            width = len(places)
            rows, numbers = [], []
            for cells in reader:
                if len(cells) != width:
                    raise InputError(
                        f"{file}:{reader.line_num}: found {len(cells)} cells, expected {width}"
                    )
                numbers.append(reader.line_num)
                rows.append(
                    tuple(
                        _value(f"{file}:{reader.line_num}", field, cells[place], null)
                        for field, place in zip(table.fields, places, strict=True)
                    )
                )
            return rows, numbers
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: can't be read: {error}") from error


def _places(file: Path, table: TableModel, header: list[str]) -> list[int]:
    names = [field.name for field in table.fields]
    for name in header:
        if name not in names:
            raise InputError(f"{file}:1: unknown column {name!r}.{did_you_mean(name, names)}")
    missing = [name for name in names if name not in header]
    if missing or len(header) != len(names):
        raise InputError(f"{file}:1: expected the columns {', '.join(names)}; found {header}")
    return [header.index(name) for name in names]


def _value(place: str, field: Field, text: str, null: str) -> Any:
    if text == null and (field.nullable or field.type != "string"):
        if not field.nullable:
            raise InputError(f"{place}: {field.name} is missing, but it isn't nullable")
        return None
    try:
        value = _PARSERS[field.type](text)
    except (ValueError, OverflowError, InvalidOperation) as error:
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        raise InputError(f"{place}: {field.name}: {shown!r} is no {field.type}") from error
    if isinstance(value, Decimal) and field.scale is not None:
        digits = -int(value.normalize().as_tuple().exponent)
        if digits > field.scale:
            # Engines would round it, each in its own way.
            raise InputError(
                f"{place}: {field.name}: {text!r} has more than {field.scale} digits after the "
                "point, its scale"
            )
    return value


_SHOWN = 60  # characters of a wrong cell
_LARGEST = 2**63


def _figures(text: str) -> str:
    """A number as people write it; Python would also take 1_000 and digits of other scripts."""
    return text if text.isascii() and "_" not in text else str(_no(text))


def _int(text: str) -> int:
    value = int(_figures(text))
    return value if -_LARGEST <= value < _LARGEST else _no(text)


def _decimal(text: str) -> Decimal:
    value = Decimal(_figures(text))
    return value if value.is_finite() else _no(text)


def _float(text: str) -> float:
    value = float(_figures(text))
    return value if math.isfinite(value) else _no(text)


def _string(text: str) -> str:
    """No database's text holds the character NUL."""
    return text if "\0" not in text else _no(text)


def _bool(text: str) -> bool:
    return text == "true" if text in ("true", "false") else bool(_no(text))


def _no(text: str) -> Any:
    raise ValueError(text)


def _datetime(text: str) -> datetime:
    """Naive UTC; a zone in the text is converted."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "bool": _bool,
    "int": _int,
    "decimal": _decimal,
    "float": _float,
    "string": _string,
    "date": date.fromisoformat,
    "datetime": _datetime,
}
