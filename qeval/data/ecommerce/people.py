"""Users, their subtypes, addresses, cards and whom they follow."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from qeval.data.ecommerce import vocabulary as words
from qeval.data.ecommerce.draw import Draw
from qeval.data.ecommerce.tables import FIRST_DATE, REFERENCE_DATE

Rows = list[tuple[Any, ...]]

# Amounts that questions compare with appear exactly, just below and just above.
CREDITS = ("0.00", "49.99", "50.00", "50.01", "99.99", "100.00", "100.01", "250.50")


def users(seed: int, count: int) -> Rows:
    """`users` rows; ids follow the order of registration, referrers registered before."""
    draw = Draw(seed, "users")
    span = (REFERENCE_DATE - FIRST_DATE).days
    rows: Rows = []
    for number in range(1, count + 1):
        name = (
            draw.pick(words.WHOLE_NAMES)
            if draw.chance(0.12)
            else f"{draw.pick(words.GIVEN)} {draw.pick(words.FAMILY)}"
        )
        handle = f"{draw.pick(words.HANDLE_FIRST)}-{draw.pick(words.HANDLE_SECOND)}-{number:03d}"
        city = None if draw.chance(0.08) else 1 + draw.skewed(len(words.CITIES) - 2)
        rows.append(
            (
                number,
                handle,
                name,
                None if draw.chance(0.15) else draw.day(date(1950, 1, 1), date(2006, 12, 31)),
                city,
                None if city is None or draw.chance(0.1) else f"{draw.between(100, 99999):05d}",
                FIRST_DATE + timedelta(days=span * (number - 1) // count),
                draw.chance(0.4),
                1 + draw.skewed(number - 1) if number > 1 and draw.chance(0.35) else None,
            )
        )
    return rows


def premium_users(seed: int, people: Sequence[tuple[Any, ...]]) -> Rows:
    """`premium_users` rows: about every seventh user."""
    draw = Draw(seed, "premium_users")
    rows: Rows = []
    for person in people:
        if draw.chance(0.15):
            credit = draw.pick(CREDITS) if draw.chance(0.3) else f"{draw.below(40000) / 100:.2f}"
            since = draw.day(person[6], REFERENCE_DATE)
            rows.append((person[0], words.TIERS[draw.skewed(3)], Decimal(credit), since))
    return rows


def user_emails(seed: int, people: Sequence[tuple[Any, ...]]) -> Rows:
    """`user_emails` rows: none to three addresses a user."""
    draw = Draw(seed, "user_emails")
    rows: Rows = []
    for person in people:
        domains = sorted({draw.pick(words.EMAIL_DOMAINS) for _ in range(draw.below(4))})
        rows += [(person[0], f"{person[1]}@{domain}") for domain in domains]
    return rows


def payment_cards(seed: int, people_count: int) -> Rows:
    """`payment_cards` rows; `last4` keeps its leading zeros."""
    draw = Draw(seed, "payment_cards")
    return [
        (
            number,
            f"{draw.below(100 if draw.chance(0.1) else 10000):04d}",
            words.NETWORKS[draw.skewed(len(words.NETWORKS))],
        )
        for number in range(1, people_count * 9 // 10 + 1)
    ]


def follows(seed: int, people: Sequence[tuple[Any, ...]]) -> Rows:
    """`follows` rows: about four per user, early users are followed more, some mutually."""
    draw = Draw(seed, "follows")
    count = len(people)
    edges: dict[tuple[int, int], date] = {}
    while len(edges) < count * 4 - count // 50:
        follower, followed = 1 + draw.below(count), 1 + draw.skewed(count)
        if follower == followed:
            continue
        start = max(people[follower - 1][6], people[followed - 1][6])
        edges.setdefault((follower, followed), draw.day(start, REFERENCE_DATE))
        if draw.chance(0.12):
            edges.setdefault((followed, follower), draw.day(start, REFERENCE_DATE))
    return [(*edge, since) for edge, since in sorted(edges.items())]
