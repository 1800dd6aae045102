"""Larger `shop` data, the same every time (schema: shop.schema.tql).

1,000 users, 200 products, 10 categories, 5,000 orders, about 12,000 order lines and 4,000 follows,
printed as queries split by lines `# ---`:

    python gen_big.py [--users N --products N --orders N --follows N --seed S] > shop_big.data.tql

`timing.json` was recorded on exactly this data, so the order of the random draws is part of it.
"""

from __future__ import annotations

import argparse
import sys
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST = [
    "Ann",
    "Ben",
    "Cleo",
    "Dag",
    "Eva",
    "Finn",
    "Gül",
    "Hal",
    "Iris",
    "Jon",
    "Kai",
    "Lia",
    "Max",
    "Nia",
    "Ove",
    "Pia",
]
LAST = [
    "Aas",
    "Berg",
    "Cruz",
    "Dahl",
    "Eriksen",
    "Fox",
    "Grün",
    "Holm",
    "Ito",
    "Jara",
    "Kahn",
    "Lind",
]
TAGS = [
    "new",
    "sale",
    "eco",
    "home",
    "office",
    "gift",
    "b2b",
    "kids",
    "pro",
    "mini",
]
STATES = [
    "new",
    "paid",
    "paid",
    "shipped",
    "shipped",
    "shipped",
    "cancelled",
]
CATEGORIES = (
    ("root", None),
    ("home", 0),
    ("kitchen", 1),
    ("garden", 1),
    ("office", 0),
    ("paper", 4),
    ("tech", 0),
    ("audio", 6),
    ("books", 6),
    ("toys", 0),
)


def parts(
    users: int = 1000,
    products: int = 200,
    orders: int = 5000,
    follows: int = 4000,
    seed: int = 11,
) -> Iterator[str]:
    """The insert queries, to be run in this order."""
    r = Random(seed)
    yield from _users(r, users)
    prices: list[str] = []
    yield _catalogue(r, products, prices)
    yield from _orders(r, orders, users, prices)
    yield from _follows(r, follows, users)


def _day(r: Random, since: int, until: int) -> str:
    return f"{r.randint(since, until)}-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}"


def _time(r: Random, *, seconds: bool) -> str:
    time = f"{r.randint(0, 23):02d}:{r.randint(0, 59):02d}"
    return time + (f":{r.randint(0, 59):02d}" if seconds else ":00Z")


def _users(r: Random, users: int) -> Iterator[str]:
    step = 100
    for low in range(0, users, step):
        yield "insert\n" + "\n".join(_user(r, i) for i in range(low, min(low + step, users)))


def _user(r: Random, i: int) -> str:
    premium = i % 5 == 0
    text = f'$u{i} isa {"premium-user" if premium else "user"}, has handle "b{i:05d}"'
    if r.random() < 0.95:
        text += f', has full-name "{r.choice(FIRST)} {r.choice(LAST)}"'
    for k in range(r.choice([0, 1, 1, 2])):
        text += f', has email "b{i}.{k}@{r.choice(["mail", "shop", "ex"])}.test"'
    if r.random() < 0.8:
        text += f", has birth-date {_day(r, 1940, 2007)}"
    text += f", has joined-at {_day(r, 2019, 2025)}T{_time(r, seconds=True)}"
    text += ", has active " + ("true" if r.random() < 0.7 else "false")
    if premium:
        tier = r.choice(["silver", "gold", "platinum"])
        text += f', has tier "{tier}", has credit {r.randint(0, 100000) / 100:.2f}dec'
    return f"  {text};"


def _catalogue(r: Random, products: int, prices: list[str]) -> str:
    statements = [
        f'  $c{i} isa category, has code "k{i}", has title "{name}";'
        for i, (name, _) in enumerate(CATEGORIES)
    ]
    statements += [
        f"  subcategory (parent: $c{parent}, child: $c{i});"
        for i, (_, parent) in enumerate(CATEGORIES)
        if parent is not None
    ]
    for i in range(products):
        price = f"{r.randint(50, 50000) / 100:.2f}"
        prices.append(price)
        digital = i % 10 == 9
        text = f"  $p{i} isa {'digital-product' if digital else 'product'}"
        text += f', has sku "k{i:04d}", has title "Thing {i % 90}", has price {price}dec'
        text += f", has stock {r.randint(0, 300)}"
        if not digital:
            text += f", has weight {r.randint(1, 400) / 8}"
        for tag in r.sample(TAGS, r.randint(0, 4)):
            text += f', has tag "{tag}"'
        statements.append(text + ";")
        bucket = 1 + r.randrange(len(CATEGORIES) - 1)
        statements.append(f"  categorised (item: $p{i}, bucket: $c{bucket});")
    return "insert\n" + "\n".join(statements)


def _orders(r: Random, orders: int, users: int, prices: list[str]) -> Iterator[str]:
    step = 20
    for low in range(0, orders, step):
        bought_by: set[int] = set()
        bought: set[int] = set()
        inserts: list[str] = []
        for i in range(low, min(low + step, orders)):
            user = min(int(r.expovariate(1 / 250)), users - 1)
            bought_by.add(user)
            inserts += _order(r, i, user, prices, bought)
        matches = [f'  $u{u} isa user, has handle "b{u:05d}";' for u in sorted(bought_by)]
        matches += [f'  $p{p} isa product, has sku "k{p:04d}";' for p in sorted(bought)]
        yield "match\n" + "\n".join(matches) + "\ninsert\n" + "\n".join(inserts)


def _order(r: Random, i: int, user: int, prices: list[str], bought: set[int]) -> list[str]:
    text = f"  $o{i} isa order, has order-no {100000 + i}"
    text += f", has placed-at {_day(r, 2023, 2025)}T{_time(r, seconds=False)}"
    text += f', has status "{r.choice(STATES)}"'
    if r.random() < 0.3:
        text += f", has discount {r.choice([0.05, 0.1, 0.25])}"
    inserts = [text + ";", f"  placed (customer: $u{user}, order: $o{i});"]
    for k in range(r.choice([1, 1, 2, 2, 3, 3, 5])):
        product = r.randrange(len(prices))
        bought.add(product)
        inserts.append(
            f"  $l{i}_{k} isa order-line, links (order: $o{i}, item: $p{product}), "
            f"has quantity {r.choice([1, 1, 1, 2, 3, 5])}, has unit-price {prices[product]}dec;"
        )
    return inserts


def _follows(r: Random, follows: int, users: int) -> Iterator[str]:
    step = 40
    edges = [
        (r.randrange(users), min(int(r.expovariate(1 / 200)), users - 1)) for _ in range(follows)
    ]
    for low in range(0, follows, step):
        people: set[int] = set()
        inserts: list[str] = []
        for k, (a, b) in enumerate(edges[low : low + step]):
            people |= {a, b}
            text = f"  $f{k} isa follows, links (follower: $u{a}, followed: $u{b})"
            if k % 2:
                text += f", has since {_day(r, 2020, 2025)}"
            inserts.append(text + ";")
        matches = (f'  $u{u} isa user, has handle "b{u:05d}";' for u in sorted(people))
        yield "match\n" + "\n".join(matches) + "\ninsert\n" + "\n".join(inserts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for option, default in (
        ("users", 1000),
        ("products", 200),
        ("orders", 5000),
        ("follows", 4000),
        ("seed", 11),
    ):
        parser.add_argument("--" + option, type=int, default=default)
    sys.stdout.write("\n# ---\n".join(parts(**vars(parser.parse_args()))) + "\n")
