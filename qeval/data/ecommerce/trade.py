"""Orders with their lines, and reviews."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

from qeval.data.ecommerce import vocabulary as words
from qeval.data.ecommerce.draw import Draw
from qeval.data.ecommerce.tables import REFERENCE_DATE

Rows = list[tuple[Any, ...]]

# First and last seconds of the periods that questions ask about, and a leap day.
EDGES = tuple(
    datetime.fromisoformat(text)
    for text in (
        "2023-12-31T23:59:59", "2024-01-01T00:00:00", "2024-02-28T23:59:59",
        "2024-02-29T00:00:00", "2024-02-29T23:59:59", "2024-03-01T00:00:00",
        "2024-12-31T23:59:59", "2025-01-01T00:00:00", "2025-03-31T23:59:59",
        "2025-04-01T00:00:00", "2025-04-30T23:59:59", "2025-05-01T00:00:00",
        "2025-05-31T23:59:59", "2025-06-01T00:00:00", "2025-06-23T23:59:59",
        "2025-06-24T00:00:00", "2025-06-30T23:59:59",
    )
)  # fmt: skip
LAST_SECOND = 24 * 60 * 60 - 1
NEVER_SOLD = 17  # every so many products was never sold
DEVOTED = 30  # every so many users reviews all they ordered
NEVER_ORDERED = 8  # every so many users never ordered


@cache
def _money(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)


def _placed_at(draw: Draw, registered: date) -> datetime:
    first = datetime(registered.year, registered.month, registered.day)  # noqa: DTZ001
    if draw.chance(0.04):
        edge = draw.pick(EDGES)
        if edge >= first:
            return edge
    day = draw.day(registered, REFERENCE_DATE)
    return datetime(day.year, day.month, day.day) + timedelta(  # noqa: DTZ001
        seconds=draw.between(0, LAST_SECOND)
    )


def _status(draw: Draw, placed: datetime) -> str:
    age = (REFERENCE_DATE - placed.date()).days
    if age < 5:  # noqa: PLR2004
        return draw.pick(("pending", "paid", "paid", "shipped", "cancelled"))
    return (
        words.STATUSES[5 - draw.below(2)]
        if draw.chance(0.14)
        else draw.pick(
            ("delivered", "delivered", "delivered", "delivered", "shipped", "paid", "pending")
        )
    )


def orders(seed: int, count: int, people: Sequence[tuple[Any, ...]], cards: int) -> Rows:
    """`orders` rows in order of time. A user mostly pays with one card; a few cards are shared."""
    draw = Draw(seed, "orders")
    drafts: list[tuple[datetime, int]] = []
    while len(drafts) < count:
        crowd = len(people)
        person = people[draw.skewed(crowd) if draw.chance(0.4) else draw.below(crowd)]
        if person[0] % NEVER_ORDERED:
            drafts.append((_placed_at(draw, person[6]), person[0]))
    drafts.sort()
    rows: Rows = []
    for number, (placed, user) in enumerate(drafts, 1):
        status = _status(draw, placed)
        own_card = 1 + (user * 7) % cards
        card = 1 + draw.below(cards) if draw.chance(0.02) else own_card
        arrival = placed.date() + timedelta(days=draw.between(1, 4))
        rows.append(
            (
                number,
                user,
                placed,
                status,
                draw.pick(words.COUPONS) if draw.chance(0.2) else None,
                None if draw.chance(0.15) else card,
                arrival if status in ("delivered", "returned") else None,
            )
        )
    return rows


def order_lines(
    seed: int, purchases: Sequence[tuple[Any, ...]], wares: Sequence[tuple[Any, ...]]
) -> Rows:
    """`order_lines` rows: mostly two to four a order, now and then none or one product twice."""
    draw = Draw(seed, "order_lines")
    sold = [ware for ware in wares if ware[0] % NEVER_SOLD]
    rows: Rows = []
    for purchase in purchases:
        placed = purchase[2].date()
        lines = 0 if draw.chance(0.004) else draw.between(1, 5)
        previous: tuple[Any, ...] | None = None
        for line in range(1, lines + 1):
            ware = previous if previous and draw.chance(0.02) else sold[draw.skewed(len(sold))]
            previous = ware
            price = ware[5]
            if placed < ware[7]:  # sold before its official release, at a preview price
                price = _money(int(price * 90))
            cents = int(price * 100)
            quantity = 1 + draw.skewed(5)
            discount = None
            if draw.chance(0.15):
                off = cents * quantity * draw.pick((0, 5, 10, 20)) // 100
                discount = _money(off)
            rows.append((purchase[0], line, ware[0], quantity, price, discount))
    return rows


def reviews(
    seed: int,
    count: int,
    *,
    people: Sequence[tuple[Any, ...]],
    lines: Sequence[tuple[Any, ...]],
    purchases: Sequence[tuple[Any, ...]],
    wares: Sequence[tuple[Any, ...]],
) -> Rows:
    """`reviews` rows: `count` of them, three of four by somebody who ordered the product.

    On top of these, a few devoted users review every product they ordered.
    """
    draw = Draw(seed, "reviews")
    rows: Rows = []
    devoted: dict[tuple[int, int], date] = {}
    for line in lines:
        purchase = purchases[line[0] - 1]
        if purchase[1] % DEVOTED == DEVOTED - 1:
            devoted.setdefault((purchase[1], line[2]), purchase[2].date())
    for (user, product), earliest in devoted.items():
        stars, posted = 5 - draw.skewed(3), draw.day(earliest, REFERENCE_DATE)
        rows.append((len(rows) + 1, user, product, stars, None, draw.below(3), posted))
    for number in range(len(rows) + 1, len(rows) + count + 1):
        if draw.chance(0.75):
            line = draw.pick(lines)
            purchase = purchases[line[0] - 1]
            user, product, earliest = purchase[1], line[2], purchase[2].date()
        else:
            person = draw.pick(people)
            user, product, earliest = person[0], draw.pick(wares)[0], person[6]
        rows.append(
            (
                number,
                user,
                product,
                5 - draw.skewed(5),
                None if draw.chance(0.2) else draw.pick(words.REVIEW_TITLES),
                draw.skewed(30),
                draw.day(earliest, REFERENCE_DATE),
            )
        )
    return rows
