"""Rows of an adversarial instance that stand just on and just beside what questions ask for.

Each was added because some near miss of a gold answered like the gold on all other rows.
"""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

Rows = list[tuple[Any, ...]]

_REGISTERED = date(2023, 6, 1)


def add_threshold_rows(seed: int, rows: Mapping[str, Rows]) -> None:
    """Append rows to the tables in `rows` (in place)."""
    _members(rows)
    _followers(rows)
    _orders(rows)
    _shared_card(rows)
    _products(seed, rows)
    _stocked_everywhere(rows)


def _user(rows: Mapping[str, Rows]) -> int:
    """The id of a new user of whom nothing is known."""
    users = rows["users"]
    number = len(users) + 1
    users.append(
        (
            number,
            f"limit-user-{number:03d}",
            "Ada Brown",
            None,
            None,
            None,
            _REGISTERED,
            False,
            None,
        )
    )
    return number


def _order(
    rows: Mapping[str, Rows],
    user: int,
    moment: str,
    *,
    status: str = "paid",
    coupon: str | None = None,
    card: int | None = None,
) -> int:
    """The id of a new order without lines."""
    number = len(rows["orders"]) + 1
    placed = datetime.fromisoformat(moment)
    arrival = placed.date() if status == "returned" else None
    rows["orders"].append((number, user, placed, status, coupon, card, arrival))
    return number


def _members(rows: Mapping[str, Rows]) -> None:
    """Premium members who joined at the edges of periods, with credit at the edge of 50.00."""
    for tier, credit, since in (
        ("gold", "50.00", "2023-12-31"),
        ("silver", "49.99", "2023-12-31"),
        ("silver", "49.99", "2024-01-01"),
        ("gold", "10.00", "2024-12-31"),
        ("gold", "10.00", "2025-01-01"),
        ("platinum", "10.00", "2025-03-31"),
        ("platinum", "10.00", "2025-04-01"),
    ):
        member = (_user(rows), tier, Decimal(credit), date.fromisoformat(since))
        rows["premium_users"].append(member)


def _followers(rows: Mapping[str, Rows]) -> None:
    """Followers since the edges of 2024, and two since the same day."""
    for followed, since in (
        (2, "2023-12-31"),
        (2, "2024-01-01"),
        (2, "2024-12-31"),
        (2, "2025-01-01"),
        (3, "2025-02-02"),
        (3, "2025-02-02"),
    ):
        rows["follows"].append((_user(rows), followed, date.fromisoformat(since)))


def _orders(rows: Mapping[str, Rows]) -> None:
    """Orders at the edges of periods, each by a user who has hardly any other."""
    for moments in (
        ("2023-12-31T23:59:59",),
        ("2024-01-01T00:00:00",),
        ("2024-06-01T12:00:00", "2025-01-01T00:00:00"),
    ):
        user = _user(rows)
        for moment in moments:
            _order(rows, user, moment, coupon="FRIEND")
    user = _user(rows)  # the second order exactly 168 hours after the first
    _order(rows, user, "2025-02-01T08:30:00")
    _order(rows, user, "2025-02-08T08:30:00")
    order = _order(rows, _user(rows), "2025-06-28T00:00:00")
    rows["order_lines"] += [
        (order, 1, 1, 1, Decimal("499.00"), Decimal("99.99")),
        (order, 2, 2, 6, Decimal("9.99"), None),  # many units in the only line of a product
    ]


def _shared_card(rows: Mapping[str, Rows]) -> None:
    """Two users who returned orders paid with one card, one of them two orders."""
    card = next(card[0] for card in rows["payment_cards"] if card[2] == "Mastercard")
    for count in (2, 1):
        user = _user(rows)
        for day in range(1, count + 1):
            _order(rows, user, f"2025-05-0{day}T10:00:00", status="returned", card=card)


def _products(seed: int, rows: Mapping[str, Rows]) -> None:
    """Distinct highest prices, suppliers whose first release is at an edge, odd sizes."""
    products = rows["products"]

    def product(price: str, released: str, *, category: int | None = None,
                supplier: int | None = None, weight: int | None = None) -> int:  # fmt: skip
        number = len(products) + 1
        products.append((number, f"002-{number:04d}", "Pocket Edge", category, supplier,
                         Decimal(price), weight, date.fromisoformat(released), False))  # fmt: skip
        return number

    for rank in range(3 + seed % 2):
        product(f"{1501 + rank}.00", "2024-03-01")
    for first in ("2020-06-30", "2020-07-01"):
        supplier = len(rows["suppliers"]) + 1
        rows["suppliers"].append((supplier, "Umbra", "DE"))
        for released in (first, *["2021-01-01"] * 4):
            product("15.00", released, supplier=supplier)
    for weight in (499, 500):
        product("600.00", "2024-03-01", category=9, weight=weight)
    for size in (699, 700):
        number = product("5.00", "2024-03-01")
        rows["digital_products"].append((number, size, "family"))
    reviews = rows["reviews"]
    reviewed = products[0]
    reviews.append((len(reviews) + 1, 2, reviewed[0], 1, None, 0, reviewed[7]))


def _stocked_everywhere(rows: Mapping[str, Rows]) -> None:
    """One product in all warehouses that hold anything, one in all but the last of these.

    The last warehouse holds a single unit; one more holds only what is sold out.
    """
    *_, everywhere, nearly = (product[0] for product in rows["products"] if product[6] is not None)
    warehouses = [warehouse[0] for warehouse in rows["warehouses"]]
    taken = {row[:2] for row in rows["stock_levels"]}
    rows["stock_levels"] += [
        row
        for row in (
            *((warehouse, everywhere, 1) for warehouse in warehouses[:-1]),
            *((warehouse, nearly, 5) for warehouse in warehouses[:-2]),
            (warehouses[-1], nearly, 0),
        )
        if row[:2] not in taken
    ]
