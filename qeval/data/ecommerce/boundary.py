"""Boundary rows of an adversarial instance."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from qeval.data.ecommerce.draw import Draw
from qeval.data.ecommerce.tables import REFERENCE_DATE
from qeval.data.ecommerce.trade import EDGES

Rows = list[tuple[Any, ...]]


def add_boundary_rows(seed: int, rows: Mapping[str, Rows]) -> None:
    """Append rows to the tables in `rows` (in place): every nullable field NULL somewhere, ties
    at limits, groups without members, repeated names, values on both sides of thresholds.
    """
    draw = Draw(seed, "boundary")
    rows["suppliers"].append((15, "Umbra", None))
    _lonely_users(rows)
    _odd_products(draw, rows)
    _edge_orders(draw, rows)
    _edge_reviews(draw, rows)
    rows["categories"].append((31, "Accessories", None))
    rows["warehouses"].append((7, "000", 1))


def _lonely_users(rows: Mapping[str, Rows]) -> None:
    """Users with nothing known, of equal names, who did nothing; one premium without credit."""
    users = rows["users"]
    next_id = len(users) + 1
    first_day, leap_day = date(2024, 1, 1), date(2024, 2, 29)
    for offset, (name, birth, city, registered, referrer) in enumerate(
        (
            ("Siobhán O'Connor", None, None, REFERENCE_DATE, None),
            ("Siobhán O'Connor", date(2000, 2, 29), None, leap_day, 1),
            ("王芳", None, 1, first_day, next_id),
            ("王芳", date(2006, 12, 31), 1, date(2023, 12, 31), next_id + 2),
            ("Null", None, 1, date(2024, 12, 31), next_id + 2),
            ("Null", date(1950, 1, 1), 31, date(2025, 1, 1), 2),
        )
    ):
        number = next_id + offset
        handle = f"edge-user-{number:03d}"
        users.append((number, handle, name, birth, city, None, registered, False, referrer))
    rows["premium_users"] += [
        (next_id, "gold", Decimal("0.00"), REFERENCE_DATE),
        (next_id + 2, "platinum", Decimal("100.00"), first_day),
    ]
    rows["user_emails"] += [(next_id + 1, f"o'connor.{n}@example.com") for n in (1, 2)]
    since = date(2025, 1, 1)
    rows["follows"] += [
        (next_id + 3, next_id + 2, since),
        (next_id + 2, next_id + 3, since - timedelta(days=1)),
        (next_id + 4, next_id + 5, since),
        (next_id + 5, next_id + 4, since),
        (next_id + 1, 1, since),
    ]


def _odd_products(draw: Draw, rows: Mapping[str, Rows]) -> None:
    """Products with every nullable field NULL, repeated names, prices at the thresholds."""
    products = rows["products"]
    twin = products[draw.below(len(products))]
    for price in ("0.01", "99.99", "100.00", "100.01", "1299.00", "1299.00"):
        number = len(products) + 1
        released = REFERENCE_DATE if price == "0.01" else twin[7]
        products.append(
            (
                number,
                f"000-{number:04d}",
                twin[2],
                None,
                None,
                Decimal(price),
                None,
                released,
                False,
            )
        )
        products.append(
            (number + 1, f"001-{number + 1:04d}", twin[2], *twin[3:5], Decimal(price), 50, released,
             True)
        )  # fmt: skip
    last = len(products)
    products[-1] = (*products[-1][:4], 15, *products[-1][5:])  # all of supplier 15, discontinued
    rows["digital_products"] += [(last, 100, None), (last - 1, 100, None)]
    rows["product_tags"] += [(last, "limited"), (last, "tea"), (last - 1, "tea")]
    rows["stock_levels"] += [(1, last - 2, 0), (2, last - 2, 0)]


def _edge_orders(draw: Draw, rows: Mapping[str, Rows]) -> None:
    """One order at each edge of a period, two of them without lines; odd statuses and NULLs.

    Also: several orders at one moment, a user whose only order is empty, and users who ordered
    only in the first or only in the last second of each of three months.
    """
    orders, lines = rows["orders"], rows["order_lines"]
    last_product = len(rows["products"])
    members = [user[0] for user in rows["users"][:20] if user[0] % 8]
    for index, edge in enumerate(EDGES):
        number = len(orders) + 1
        status = ("delivered", "cancelled", "returned", "delivered")[index % 4]
        arrival = edge.date() if status == "delivered" and index % 3 else None
        orders.append((number, draw.pick(members), edge, status, None, None, arrival))
        if index % 8 == 7:  # noqa: PLR2004
            continue
        product = last_product - draw.below(6)
        price = rows["products"][product - 1][5]
        lines.append((number, 1, product, 1, price, None))
        lines.append((number, 2, product, 2, price, Decimal("0.00")))
        lines.append((number, 3, 1 + draw.below(10), 1, Decimal("100.00"), Decimal("100.00")))
    number = len(orders)  # three orders of one user at the same moment, the last without lines
    for extra in (1, 2, 3):
        orders.append((number + extra, 13, EDGES[-1], "paid", None, None, None))
    lines += [(number + extra, 1, 7, extra, Decimal("9.99"), None) for extra in (1, 2)]
    newest = rows["users"][-1][0]
    orders.append((len(orders) + 1, newest, EDGES[-1], "paid", None, None, None))  # without lines
    for user, moments in (
        (newest - 1, ("2025-04-01T00:00:00", "2025-05-01T00:00:00", "2025-06-01T00:00:00")),
        (newest - 2, ("2025-04-30T23:59:59", "2025-05-31T23:59:59", "2025-06-30T23:59:59")),
    ):
        for moment in map(datetime.fromisoformat, moments):
            orders.append((len(orders) + 1, user, moment, "paid", None, None, None))
            lines.append((len(orders), 1, last_product, 1, Decimal("1299.00"), None))


def _edge_reviews(draw: Draw, rows: Mapping[str, Rows]) -> None:
    """The same user on the same product twice; the lowest and highest rating without title."""
    reviews = rows["reviews"]
    last_product = len(rows["products"])
    for rating in (1, 5, 5, 1, 3, 4):
        user, product = 1 + draw.below(12), last_product - draw.below(3)
        for votes in (0, 10):
            number = len(reviews) + 1
            reviews.append((number, user, product, rating, None, votes, date(2025, 1, 1)))
