"""The seeded e-commerce data: same seed and sizes, same bytes, on every machine."""

from collections.abc import Callable, Mapping
from typing import Any

from qeval.data.ecommerce import catalogue, people, trade, vocabulary
from qeval.data.ecommerce.boundary import add_boundary_rows
from qeval.data.ecommerce.named import add_named_rows
from qeval.data.ecommerce.sparse import sparse_rows
from qeval.data.ecommerce.tables import REFERENCE_DATE, TABLES
from qeval.data.ecommerce.thresholds import add_threshold_rows
from qeval.data.ecommerce.tiny import tiny_rows
from qeval.data.model import Dataset
from qeval.errors import InputError, did_you_mean

__all__ = ["REFERENCE_DATE", "SHOPS", "TABLES", "generate"]

SHOPS: Mapping[str, Callable[[], Mapping[str, list[tuple[Any, ...]]]]] = {
    "sparse": sparse_rows,
    "tiny": tiny_rows,
}
"""Shops written by hand, by name: what makes all of their tables that no seed decides."""


def generate(
    seed: int,
    users: int = 1000,
    products: int = 200,
    orders: int = 5000,
    *,
    adversarial: bool = False,
    idle_tier: str | None = None,
    shop: str | None = None,
) -> Dataset:
    """Generate one instance of the e-commerce data.

    `users`, `products` and `orders` are numbers of rows (at least 40, 40 and 100); about three
    order lines an order, four follows a user and one review per four orders come with them.
    `adversarial` adds boundary rows: NULL wherever it is allowed, ties, empty groups, duplicates,
    values exactly at the thresholds that questions use. `idle_tier`: none of the premium members
    of this tier ordered; those who did are gold. `shop` is one of `SHOPS`, written by hand, in
    which most questions have few answers or none; sizes don't count then. Nothing is later than
    the reference date. Raises `InputError` for an unknown shop.
    """
    if shop is not None:
        if shop not in SHOPS:
            raise InputError(
                f"unknown shop {shop!r}, expected {' or '.join(SHOPS)}.{did_you_mean(shop, SHOPS)}"
            )
        shared = {
            "countries": list(vocabulary.COUNTRIES),
            "cities": _cities(),
            "categories": catalogue.categories(),
            "suppliers": catalogue.suppliers(seed),
        }
        return Dataset(TABLES, {**shared, **SHOPS[shop]()}, REFERENCE_DATE)
    members = people.users(seed, users)
    wares, digital = catalogue.products(seed, products)
    cards = people.payment_cards(seed, users)
    purchases = trade.orders(seed, orders, members, len(cards))
    lines = trade.order_lines(seed, purchases, wares)
    rows: dict[str, list[tuple[Any, ...]]] = {
        "countries": list(vocabulary.COUNTRIES),
        "cities": _cities(),
        "categories": catalogue.categories(),
        "suppliers": catalogue.suppliers(seed),
        "products": wares,
        "digital_products": digital,
        "product_tags": catalogue.product_tags(seed, wares),
        "warehouses": catalogue.warehouses(seed),
        "stock_levels": catalogue.stock_levels(seed, wares, {row[0] for row in digital}),
        "users": members,
        "premium_users": people.premium_users(seed, members),
        "user_emails": people.user_emails(seed, members),
        "payment_cards": cards,
        "orders": purchases,
        "order_lines": lines,
        "follows": people.follows(seed, members),
        "reviews": trade.reviews(
            seed, orders // 4, people=members, lines=lines, purchases=purchases, wares=wares
        ),
    }
    if adversarial:
        add_boundary_rows(seed, rows)
        add_threshold_rows(seed, rows)
        add_named_rows(seed, rows)
    if idle_tier is not None:
        buyers = {order[1] for order in rows["orders"]}
        rows["premium_users"] = [
            (user, "gold" if tier == idle_tier and user in buyers else tier, *more)
            for user, tier, *more in rows["premium_users"]
        ]
    return Dataset(tables=TABLES, rows=rows, reference_date=REFERENCE_DATE)


def _cities() -> list[tuple[Any, ...]]:
    return [(n, name, code) for n, (name, code) in enumerate(vocabulary.CITIES, 1)]
