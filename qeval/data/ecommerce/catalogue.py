"""Categories, suppliers, products and what the warehouses hold."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from qeval.data.ecommerce import vocabulary as words
from qeval.data.ecommerce.draw import Draw

Rows = list[tuple[Any, ...]]

PRICES = ("4.99", "9.99", "10.00", "19.90", "19.99", "49.99", "50.00", "50.01", "99.99", "100.00",
          "100.01", "499.00")  # fmt: skip
MOST_EXPENSIVE = ("1299.00", "1299.00", "999.00", "999.00", "999.00", "949.50", "949.50")
UNCATEGORISED = 29  # every so many products has no category


def categories() -> Rows:
    """`categories` rows: a tree of four levels."""
    return [
        (number, name, None if parent is None else parent + 1)
        for number, (name, parent) in enumerate(words.CATEGORIES, 1)
    ]


def suppliers(seed: int) -> Rows:
    """`suppliers` rows; the last one supplies nothing, two share a name."""
    draw = Draw(seed, "suppliers")
    return [
        (number, name, None if number % 6 == 0 else draw.pick(words.COUNTRIES)[0])
        for number, name in enumerate(words.SUPPLIERS, 1)
    ]


def _root(category: int) -> int:
    parent = words.CATEGORIES[category][1]
    return category if parent is None else _root(parent)


def products(seed: int, count: int) -> tuple[Rows, Rows]:
    """`products` and `digital_products` rows; digital ones weigh nothing."""
    draw = Draw(seed, "products")
    rows: Rows = []
    digital: Rows = []
    for number in range(1, count + 1):
        is_digital = number % 5 == 0
        options = words.DIGITAL_CATEGORIES if is_digital else words.STOCKED_CATEGORIES
        category = draw.pick(options)
        noun = draw.pick(words.NOUNS[_root(category)])
        adjective = draw.pick(words.ADJECTIVES)
        price = draw.pick(PRICES) if draw.chance(0.35) else f"{draw.between(200, 45000) / 100:.2f}"
        supplier = 1 + draw.skewed(len(words.SUPPLIERS) - 1)
        rows.append(
            (
                number,
                f"{draw.below(1000):03d}-{number:04d}",
                f"{adjective} {noun}",
                None if number % UNCATEGORISED == 0 else category + 1,
                None if draw.chance(0.06) else supplier,
                Decimal(price),
                None if is_digital or draw.chance(0.08) else draw.between(1, 80) * 50,
                draw.day(date(2020, 2, 29), date(2025, 5, 31)),
                draw.chance(0.12),
            )
        )
        if is_digital:
            size = draw.pick((1, 100, 700)) if draw.chance(0.2) else draw.between(2, 4000)
            license_ = None if draw.chance(0.25) else draw.pick(words.LICENSES)
            digital.append((number, size, license_))
    for rank, price in enumerate(MOST_EXPENSIVE):
        place = (rank * 7 + 3) % count
        row = rows[place]
        rows[place] = (*row[:5], Decimal(price), *row[6:])
    return rows, digital


def product_tags(seed: int, wares: Sequence[tuple[Any, ...]]) -> Rows:
    """`product_tags` rows: none to four tags a product."""
    draw = Draw(seed, "product_tags")
    rows: Rows = []
    for ware in wares:
        tags = sorted({words.TAGS[draw.skewed(len(words.TAGS))] for _ in range(draw.below(5))})
        rows += [(ware[0], tag) for tag in tags]
    return rows


def warehouses(seed: int) -> Rows:
    """`warehouses` rows; the last one is empty."""
    draw = Draw(seed, "warehouses")
    return [
        (number, f"{number * 7:03d}", 1 + draw.below(len(words.CITIES))) for number in range(1, 7)
    ]


def stock_levels(seed: int, wares: Sequence[tuple[Any, ...]], digital: set[int]) -> Rows:
    """`stock_levels` rows; a quantity of 0 means sold out. Digital products are never stocked."""
    draw = Draw(seed, "stock_levels")
    return [
        (warehouse, ware[0], 0 if draw.chance(0.12) else draw.between(1, 120))
        for warehouse in range(1, 6)
        for ware in wares
        if ware[0] not in digital and draw.chance(0.45)
    ]
