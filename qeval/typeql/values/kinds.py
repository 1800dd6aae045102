"""The value types of TypeQL and which of them can stand for one another."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeAlias

from qeval.typeql.values.temporal import Date, DateTime, DateTimeTz, Duration

Value: TypeAlias = bool | int | float | Decimal | str | Date | DateTime | DateTimeTz | Duration


class ValueType(StrEnum):
    """The type of a value, spelled as in a schema."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    DOUBLE = "double"
    DECIMAL = "decimal"
    STRING = "string"
    DATE = "date"
    DATETIME = "datetime"
    DATETIME_TZ = "datetime-tz"
    DURATION = "duration"


VALUE_TYPES: dict[str, ValueType] = {str(value_type): value_type for value_type in ValueType}
"""The value types by name."""

_BY_CLASS: dict[type, ValueType] = {
    bool: ValueType.BOOLEAN,
    int: ValueType.INTEGER,
    float: ValueType.DOUBLE,
    Decimal: ValueType.DECIMAL,
    str: ValueType.STRING,
    Date: ValueType.DATE,
    DateTime: ValueType.DATETIME,
    DateTimeTz: ValueType.DATETIME_TZ,
    Duration: ValueType.DURATION,
}

NUMERIC = frozenset({ValueType.INTEGER, ValueType.DOUBLE, ValueType.DECIMAL})


def value_type_of(value: Value) -> ValueType:
    """Return the type of an internal value."""
    return _BY_CLASS[value.__class__]


def comparable(left: ValueType, right: ValueType) -> bool:
    """Tell whether attributes of the two types may be compared at all.

    Numbers compare with numbers; every other type only with itself (`comparable_categories`
    of TypeDB 3.12, which does not relate date, datetime and datetime-tz).
    """
    return left is right or (left in NUMERIC and right in NUMERIC)


def order_key(value: Value) -> Any:
    """Return what values of one type are sorted and bounded by: instants for zoned times."""
    return value.nanos if value.__class__ is DateTimeTz else value
