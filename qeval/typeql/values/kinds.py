"""The value types of TypeQL and which of them can stand for one another."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

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
