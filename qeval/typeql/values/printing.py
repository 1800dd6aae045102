"""How values are printed, in the form of the server's HTTP interface and documents."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qeval.typeql.values.kinds import Value


def show(value: Value) -> str | int | float | bool | None:
    """Return the JSON form of a value: numbers as numbers, the rest as text.

    Doubles that JSON cannot hold (infinite or not a number) are ``None``.
    """
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return show_decimal(value)
    return str(value)


def show_decimal(value: Decimal) -> str:
    """Print a decimal with at least one fractional digit and the suffix ``dec``."""
    text = format(value, "f")
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}dec"
