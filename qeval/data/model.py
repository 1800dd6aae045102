"""The neutral data model that every engine's loader works from: typed tables and their keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

FieldType = Literal["bool", "int", "decimal", "float", "string", "date", "datetime"]


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a neutral table. `references` names `table.column`; `scale` is for decimals."""

    name: str
    type: FieldType
    nullable: bool = False
    scale: int | None = None
    references: str | None = None


@dataclass(frozen=True, slots=True)
class TableModel:
    """A neutral table; `key` are the names of its primary key's fields (may be empty)."""

    name: str
    fields: tuple[Field, ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """One instance's data: for each table its rows as tuples in field order.

    Values are bool, int, Decimal, float, str, date, datetime (naive, UTC) or None. Tables are in
    an order in which references point backwards. `reference_date` is "today" of every question.
    """

    tables: tuple[TableModel, ...]
    rows: Mapping[str, Sequence[tuple[Any, ...]]]
    reference_date: date
