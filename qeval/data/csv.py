"""Rows of a suite that brings its own data as CSV files with declared fields."""

import csv
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
    rows = {table.name: _read(folder / f"{table.name}.csv", table, null) for table in tables}
    return Dataset(tables=tables, rows=rows, reference_date=reference_date)


def _read(file: Path, table: TableModel, null: str) -> list[tuple[Any, ...]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, strict=True)
            places = _places(file, table, next(reader, []))
            width = len(places)
            rows = []
            for cells in reader:
                if len(cells) != width:
                    raise InputError(
                        f"{file}:{reader.line_num}: found {len(cells)} cells, expected {width}"
                    )
                rows.append(
                    tuple(
                        _value(f"{file}:{reader.line_num}", field, cells[place], null)
                        for field, place in zip(table.fields, places, strict=True)
                    )
                )
            return rows
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
        return _PARSERS[field.type](text)
    except (ValueError, InvalidOperation) as error:
        raise InputError(f"{place}: {field.name}: {text!r} is no {field.type}") from error


def _bool(text: str) -> bool:
    return {"true": True, "false": False}[text] if text in ("true", "false") else _no(text)


def _no(text: str) -> bool:
    raise ValueError(text)


def _datetime(text: str) -> datetime:
    """Naive UTC; a zone in the text is converted."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "bool": _bool,
    "int": int,
    "decimal": Decimal,
    "float": float,
    "string": str,
    "date": date.fromisoformat,
    "datetime": _datetime,
}
