"""A shop that has hardly begun: most questions have few rows in it, or none.

Near misses hide where an answer is empty: an outer join for an inner one, a minimum of one that
is not asked for, a group that should not be there. So all of these are written by hand.
"""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

Rows = list[tuple[Any, ...]]

_CITIES = {1: 1, 2: 2, 3: 24, 4: 14}  # user -> city: two in Germany, one in Poland, one in the US
_REFERRERS = {
    1: 8,
    3: 1,
    5: 3,
    9: 8,
    12: 11,
    16: 8,
}  # user -> who referred them; user 2 referred nobody
_SUBSCRIBERS = (2, 3, 11)
_USERS = 16


def sparse_rows() -> Mapping[str, Rows]:
    """All tables that the seed does not decide. No silver members, nobody follows user 2.

    Of the tier platinum there is one member, whom five follow; gold members have few followers.
    """
    return {
        "products": _products(),
        "digital_products": [(10, 100, None), (11, 700, "family")],
        "product_tags": [(3, "eco"), (4, "eco"), (4, "gift"), (5, "limited"), (10, "new")],
        "warehouses": [(1, "007", 14), (2, "014", 1), (3, "021", 24)],
        "stock_levels": [(1, 3, 5), (1, 5, 1), (2, 4, 0), (2, 5, 100)],
        "users": _users(),
        "premium_users": [
            (5, "gold", Decimal("120.00"), date(2025, 1, 1)),
            (6, "platinum", Decimal("10.00"), date(2024, 1, 1)),
            (9, "gold", Decimal("80.00"), date(2025, 4, 1)),
        ],
        "user_emails": [(7, "seven@example.com"), *((8, f"eight.{n}@example.com") for n in "abc")],
        "payment_cards": [(1, "0042", "Visa"), (2, "4242", "Mastercard"), (3, "0007", "Amex")],
        "orders": _orders(),
        "order_lines": _order_lines(),
        "follows": _follows(),
        "reviews": _reviews(),
    }


def _products() -> Rows:
    rows: Rows = []
    for number, name, category, supplier, price, weight, released, discontinued in (
        (1, "Modern Screen", 1, 1, "499.00", 4000, "2021-01-01", False),
        (2, "Pocket Charger", 8, 1, "19.99", 250, "2022-05-01", False),
        (3, "Eco Lamp", 16, 2, "49.99", 450, "2020-07-01", False),
        (4, "Eco Mug ☕", 17, 2, "9.99", None, "2024-02-29", False),
        (5, "Tea Pot", 17, 3, "50.00", 499, "2023-03-01", False),
        (6, "Pro Sandal", 20, None, "100.00", 500, "2020-06-30", True),
        (7, "Quiet Speaker", 7, 4, "499.00", 1500, "2024-09-01", False),
        (8, "Smart Pan", 18, 4, "100.01", 900, "2025-01-15", True),
        (9, "Little Beret", 22, 4, "10.00", 100, "2025-05-31", False),
        (10, "Audio Saga", 26, 5, "4.99", None, "2024-01-01", False),
        (11, "Puzzle 🧩", 24, 5, "999.00", None, "2025-06-30", False),
        (12, "Vintage Atlas", 23, None, "50.01", 700, "2024-06-01", False),
        (13, "Deluxe Chair", None, 3, "45.00", None, "2021-11-11", False),
    ):
        rows.append(
            (
                number,
                f"{number:03d}-{number:04d}",
                name,
                category,
                supplier,
                Decimal(price),
                weight,
                date.fromisoformat(released),
                discontinued,
            )
        )
    return rows


def _users() -> Rows:
    names = ("Ada Brown", "Null", "Siobhán O'Connor", "王芳")
    rows: Rows = []
    for number in range(1, _USERS + 1):
        born = None if number % 3 == 0 else date(1960 + 3 * number, 2, 28)
        city = _CITIES.get(number)
        rows.append(
            (
                number,
                f"new-user-{number:03d}",
                names[number % len(names)],
                born,
                city,
                None if number % 4 else "00042",
                date(2023, 6, number),
                number in _SUBSCRIBERS,
                _REFERRERS.get(number),
            )
        )
    return rows


def _orders() -> Rows:
    rows: Rows = []
    for user, moment, status, coupon, card in (
        (1, "2025-05-10T10:00:00", "delivered", None, 1),
        (7, "2025-06-29T08:00:00", "paid", "WELCOME10", 2),
        (6, "2024-12-31T23:59:59", "returned", None, 2),
        (6, "2025-06-30T23:59:59", "cancelled", None, 1),
        (9, "2025-03-05T09:30:00", "shipped", "SPRING", None),
        (1, "2025-05-17T10:00:01", "delivered", None, 1),
        (4, "2025-02-01T00:00:00", "paid", "VIP", None),
        (13, "2024-02-29T12:00:00", "delivered", "VIP", None),
    ):
        placed = datetime.fromisoformat(moment)
        arrival = placed.date() if status in ("delivered", "returned") else None
        rows.append((len(rows) + 1, user, placed, status, coupon, card, arrival))
    return rows


def _order_lines() -> Rows:
    """Order 7 has none. No order holds products 1 and 2; product 7 stands in one with two more."""
    rows: Rows = []
    for order, products in {
        1: (7, 8, 9),
        2: (1,),
        3: (10,),
        4: (2,),
        5: (10, 4),
        6: (8, 9),
        8: (12, 12),
    }.items():
        for line, product in enumerate(products, 1):
            discount = Decimal("1.50") if line % 2 == 0 else None
            rows.append((order, line, product, line, Decimal("9.99"), discount))
    return rows


def _follows() -> Rows:
    """Nobody follows both user 1 and user 3; users 10, 11 and 12 follow one another in a ring."""
    return [
        (follower, followed, date.fromisoformat(since))
        for follower, followed, since in (
            (3, 1, "2024-05-01"),
            (4, 3, "2024-05-02"),
            (7, 3, "2024-05-02"),
            (3, 4, "2024-01-01"),
            (3, 6, "2023-12-31"),
            (7, 6, "2024-01-01"),
            (8, 6, "2024-01-02"),
            (10, 6, "2025-01-01"),
            (13, 6, "2025-06-24"),
            (5, 9, "2025-02-02"),
            (6, 9, "2025-03-03"),
            (14, 5, "2025-06-30"),
            (10, 11, "2024-07-07"),
            (11, 12, "2024-07-08"),
            (12, 10, "2024-07-09"),
            (13, 14, "2025-01-01"),
            (14, 13, "2025-01-01"),
        )
    ]


def _reviews() -> Rows:
    rows: Rows = []
    for user, product, rating, posted in (
        (7, 1, 5, "2025-06-30"),
        (4, 10, 1, "2023-12-31"),
        (6, 10, 5, "2025-01-01"),
        (6, 10, 4, "2025-01-01"),
        (9, 4, 1, "2025-04-01"),
        (16, 3, 3, "2025-06-01"),
    ):
        title = None if rating == 1 else "Okay"
        rows.append((len(rows) + 1, user, product, rating, title, 0, date.fromisoformat(posted)))
    return rows
