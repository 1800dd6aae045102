"""A small suite for the tests of the TypeQL engines: neutral tables, schema and mapping."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from qeval.data.model import Dataset, Field, TableModel
from qeval.suite import Instance

SCHEMA = """
define
  attribute id, value integer;
  attribute name, value string;
  attribute email, value string;
  attribute born, value date;
  attribute credit, value decimal;
  attribute weight, value double;
  attribute at, value datetime;
  attribute paid, value boolean;
  entity user, owns id @key, owns name @card(1), owns born, owns email @card(0..),
    plays purchase:buyer, plays friendship:friend;
  entity member sub user, owns credit @card(1);
  entity order, owns id @key, owns at @card(1), owns weight, owns paid @card(1),
    plays purchase:order @card(1);
  relation purchase, relates buyer @card(1), relates order @card(1);
  relation friendship, relates friend @card(0..2), owns name;
  fun orders-of($u: user) -> integer: match purchase (buyer: $u, order: $o); return count;
"""

MAPPING: Mapping[str, Any] = {
    "entities": {
        "users": {"type": "user", "key": "id", "attributes": {"id": "id", "name": "name",
                                                              "born": "born"}},
        "orders": {"type": "order", "key": "id", "attributes": {"id": "id", "at": "at",
                                                                "weight": "weight",
                                                                "paid": "paid"}},
    },
    "subtypes": {
        "members": {"of": "users", "by": "user_id", "type": "member",
                    "attributes": {"credit": "credit"}},
    },
    "lists": {
        "emails": {"of": "users", "by": "user_id", "value": "email", "attribute": "email"},
    },
    "relations": [
        {"table": "orders", "type": "purchase",
         "players": {"buyer": {"users": "user_id"}, "order": {"orders": "id"}}},
        {"table": "friends", "type": "friendship", "players": {"friend": {"users": "a"}},
         "attributes": {"note": "name"}},
    ],
}  # fmt: skip

NASTY = "say \"hi\"\\\n\t李 '😀' # ; end;"


def dataset(users: int = 30) -> Dataset:
    tables = (
        TableModel(
            "users",
            (Field("id", "int"), Field("name", "string"), Field("born", "date", nullable=True)),
            ("id",),
        ),
        TableModel("members", (Field("user_id", "int"), Field("credit", "decimal", scale=2)), ()),
        TableModel("emails", (Field("user_id", "int"), Field("email", "string")), ()),
        TableModel(
            "orders",
            (
                Field("id", "int"),
                Field("user_id", "int"),
                Field("at", "datetime"),
                Field("weight", "float", nullable=True),
                Field("paid", "bool"),
            ),
            ("id",),
        ),
        TableModel(
            "friends",
            (Field("a", "int", nullable=True), Field("note", "string", nullable=True)),
            (),
        ),
    )
    start = dt.datetime(2024, 2, 28, 23, 59, 59)  # noqa: DTZ001 - the data model is naive UTC
    rows: dict[str, list[tuple[Any, ...]]] = {
        "users": [
            (n, NASTY if n == 1 else f"user {n}", dt.date(1999, 12, 31) if n % 3 else None)
            for n in range(1, users + 1)
        ],
        "members": [(n, Decimal(n) / 4) for n in range(1, users + 1, 5)],
        "emails": [(n, f"{n}.{k}@example.com") for n in range(1, users + 1) for k in range(n % 3)],
        "orders": [
            (n, 1 + n % users, start + dt.timedelta(hours=n), n / 7 if n % 2 else None, n % 4 == 0)
            for n in range(100)
        ],
        "friends": [(2, "close"), (3, None), (None, "nobody")],
    }
    return Dataset(tables, rows, dt.date(2024, 6, 1))


def make_instance(
    key: str = "shop_base_01",
    *,
    users: int = 30,
    schema: str = SCHEMA,
    mapping: Mapping[str, Any] = MAPPING,
) -> Instance:
    return Instance(key, "base", schema, mapping, lambda: dataset(users))
