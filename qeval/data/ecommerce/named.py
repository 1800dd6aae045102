"""Rows of an adversarial instance about what questions name: subtypes of it, and what is like it.

Each was added because some near miss of a gold answered like the gold on all other rows.
"""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

Rows = list[tuple[Any, ...]]

_RELEASED = date(2024, 3, 1)


def add_named_rows(seed: int, rows: Mapping[str, Rows]) -> None:
    """Append rows to the tables in `rows` (in place)."""
    if seed % 2:
        _subtypes(rows)
    _dear_download(seed, rows)
    _names_inside_names(rows)
    _categories_of_equal_names(rows)
    _equal_amounts(rows)


def _product(
    rows: Mapping[str, Rows], name: str, *, category: int | None = None, discontinued: bool = False
) -> int:
    """The id of a new product."""
    number = len(rows["products"]) + 1
    sku = f"003-{number:04d}"
    rows["products"].append(
        (number, sku, name, category, None, Decimal("20.00"), 300, _RELEASED, discontinued)
    )
    return number


def _subtypes(rows: Mapping[str, Rows]) -> None:
    """Products and users that questions name by number, as members of their subtype too."""
    digital = {row[0] for row in rows["digital_products"]}
    rows["digital_products"] += [
        (product, 640, "family") for product in (1, 2, 7, 12) if product not in digital
    ]
    members = {row[0] for row in rows["premium_users"]}
    rows["premium_users"] += [
        (user, "gold", Decimal("30.00"), date(2024, 7, 1))
        for user in (3, 13, 30)
        if user not in members
    ]


def _dear_download(seed: int, rows: Mapping[str, Rows]) -> None:
    """The product of one of the three highest prices is digital; one download is in all stocks."""
    digital = {row[0] for row in rows["digital_products"]}
    prices = sorted({row[5] for row in rows["products"]}, reverse=True)
    rows["digital_products"] += [
        (row[0], 900, "single-user")
        for row in rows["products"]
        if row[5] == prices[seed % 3] and row[0] not in digital
    ]
    if seed % 3 == 0:
        number = _product(rows, "Eco Atlas")
        rows["digital_products"].append((number, 350, None))
        rows["product_tags"].append((number, "eco"))
        holding = sorted({row[0] for row in rows["stock_levels"] if row[2] > 0})
        rows["stock_levels"] += [
            (warehouse, number, 1 if place else 1000) for place, warehouse in enumerate(holding)
        ]


def _names_inside_names(rows: Mapping[str, Rows]) -> None:
    """Discontinued products whose names hold what others begin with."""
    for name in ("Ultra Pro Cable", "Very Smart Lamp", "Smart", "Property Atlas"):
        _product(rows, name, discontinued=True)


def _categories_of_equal_names(rows: Mapping[str, Rows]) -> None:
    """A category below Accessories, one named as a top-level one is, and products under both."""
    names = {row[1]: row[0] for row in reversed(rows["categories"])}  # the first of each name
    first = len(rows["categories"]) + 1
    rows["categories"] += [
        (first, "Cases", names["Accessories"]),
        (first + 1, "Media", names["Fashion"]),
    ]
    for category in (first, first + 1, names["Home"]):
        _product(rows, "Little Extra", category=category)


def _equal_amounts(rows: Mapping[str, Rows]) -> None:
    """Equal quantities in two stocks, and equal discounts in two lines, which both count."""
    number = _product(rows, "Twin Chair")
    rows["stock_levels"] += [(warehouse, number, 5) for warehouse in (1, 2)]
    order, user = len(rows["orders"]) + 1, rows["users"][-1][0]
    moment = datetime.fromisoformat("2025-06-15T12:00:00")
    rows["orders"].append((order, user, moment, "paid", "VIP", None, None))
    price, discount = Decimal("20.00"), Decimal("2.00")
    rows["order_lines"] += [
        (order, 1, number, 4, price, discount),
        (order, 2, number, 3, price, discount),
    ]
