"""A shop on its first days: eight users, eight products, five orders.

Written by hand, as the sparse one, for near misses that other rows hide: fewer rows than the first
k, groups that nobody is in, answers that are empty although all that they are made of is there.
"""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

Rows = list[tuple[Any, ...]]

_CITIES = {1: 23, 2: 24, 3: 5}  # user -> city: two in Poland, one in France
_REFERRERS = {1: 7, 5: 7, 6: 7}
_DIGITAL = (6, 12)
_PRICES = {1: "20.00", 2: "15.00", 3: "15.00", 4: "9.99", 5: "100.00", 6: "5.00", 7: "50.00",
           12: "5.00"}  # fmt: skip


def tiny_rows() -> Mapping[str, Rows]:
    """All tables that the seed does not decide.

    User 1 ordered nothing. Users 4 and 5, the only members, have equal credit and follow nobody;
    everybody else follows somebody. Whoever follows user 2 follows one whom user 2 follows. User 4
    alone ordered what user 4 ordered: product 7 and just four others. The only product that nobody
    ordered is a download. One warehouse holds something tagged eco.
    """
    return {
        "products": [
            (number, f"{number:03d}-{number:04d}", "Classic Atlas", None if number == 2 else 23,  # noqa: PLR2004
             None if number == 1 else 1 + number % 2, Decimal(price),
             None if number in _DIGITAL else 100 * number, date(2024, number, 1), number == 3)  # noqa: PLR2004
            for number, price in _PRICES.items()
        ],
        "digital_products": [(product, 50, "single-user") for product in _DIGITAL],
        "product_tags": [(3, "eco"), (7, "gift")],
        "warehouses": [(1, "007", 5), (2, "014", 23)],
        "stock_levels": [(1, 3, 5), (1, 1, 2), (2, 1, 2)],
        "users": [
            (number, f"first-user-{number}", f"O'Neill {number % 3}", None, _CITIES.get(number),
             None, date(2025, 1, number), number in {2, 6}, _REFERRERS.get(number))
            for number in range(1, 9)
        ],
        "premium_users": [
            (user, "gold", Decimal("10.00"), date(2025, 1, 10 + user)) for user in (4, 5)
        ],
        "user_emails": [(1, "one@example.com")],
        "payment_cards": [(1, "0001", "Mastercard")],
        "orders": [
            (number, user, datetime.fromisoformat(moment), status, coupon, card, None)
            for number, (user, moment, status, coupon, card) in enumerate(
                (
                    (4, "2025-05-01T00:00:00", "paid", None, None),
                    (2, "2025-06-01T12:00:00", "shipped", "FRIEND", 1),
                    (3, "2025-06-02T12:00:00", "returned", None, 1),
                    (8, "2025-06-30T23:59:59", "pending", None, None),
                    (8, "2024-02-29T00:00:00", "paid", None, 1),
                ),
                1,
            )
        ],
        "order_lines": [
            (order, line, product, 1, Decimal(_PRICES[product]), None)
            for order, products in ((1, (3, 4, 5, 6, 7)), (2, (1, 2)), (3, (1,)), (4, (2,)))
            for line, product in enumerate(products, 1)
        ],
        "follows": [
            (follower, followed, date(2025, 2, followed))
            for follower, followed in (
                (1, 4), (2, 4), (3, 4), (6, 4), (7, 4), (8, 5),
                (2, 3), (6, 2), (6, 3), (7, 3), (3, 1), (8, 1),
            )
        ],
        "reviews": [
            (1, 2, 1, 5, None, 0, date(2025, 6, 30)),
            (2, 2, 2, 1, "Okay", 1, date(2025, 6, 30)),
            (3, 8, 3, 3, "Okay", 0, date(2025, 6, 1)),
        ],
    }  # fmt: skip
