"""The generated data is the same everywhere, consistent, and holds what questions need."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from unicodedata import is_normalized

import pytest

from qeval.data.ecommerce import REFERENCE_DATE, generate
from qeval.data.model import Dataset
from qeval.errors import InputError
from qeval.suites import load_suite

SUITE = load_suite("ecommerce")


def small(seed: int = 101, *, adversarial: bool = False) -> Dataset:
    return generate(seed, users=120, products=60, orders=400, adversarial=adversarial)


# What every machine and Python must generate; update on purpose only, together with the cases.
DIGESTS = {
    "base": "a61d15893d60d1783b19d4b0dd02007b9e6863027debd1859c4d759c25bb95e4",
    "variant-1": "185f2ed2efe0674b4cc77305c125ffc33236a6e37e33382a1082eedef1c4e1d2",
    "variant-2": "75b9b9ad9d55fc87a80409183c9fd7a3b2827598f691ed4ec1baee9beef40203",
    "variant-3": "589b3b52d5c102ac9e5ac3bd095f5482ef14a9f2e73a2462296374651537ed51",
    "variant-4": "50f8f6830968d6343982756fb77862008b6d6beb32037f3bb50258696063393f",
    "variant-5": "5cd9207e8c8bc9fe550113bb81f45406c0b1480da16459a230dbd117e70f3023",
    "variant-6": "af8589ec5963c384af4e1d236bf39fc71255e7043fcf77780d94d8eb58f48f28",
    "variant-7": "40ce1e5ef339fb7ea3856ef94f55a82eab53530a9e42625990644986b9507ac6",
    "variant-8": "36eef38744fd8f8ca70b2820df4b2650771ec166533c6b6f63ac89ed4c757e1d",
    "variant-9": "ecbe4f5c59e2860981c4478c548df0a1659aab19b2e8b7af2a0449fd1f31eb98",
}


def digest(dataset: Dataset) -> str:
    """SHA-256 over all rows, each written without ambiguity."""
    text = hashlib.sha256()
    for table in dataset.tables:
        text.update(table.name.encode())
        for row in dataset.rows[table.name]:
            text.update(repr(row).encode())
    return text.hexdigest()


def column(dataset: Dataset, table: str, name: str) -> list[Any]:
    model = next(t for t in dataset.tables if t.name == table)
    place = [field.name for field in model.fields].index(name)
    return [row[place] for row in dataset.rows[table]]


@pytest.fixture(scope="module")
def base() -> Dataset:
    return SUITE.instance("sql", "base").dataset()


@pytest.fixture(scope="module", params=SUITE.instances)
def instance(request: pytest.FixtureRequest) -> Dataset:
    return SUITE.instance("sql", request.param).dataset()


@pytest.mark.parametrize("name", DIGESTS)
def test_the_rows_of_a_seed_never_change(name: str) -> None:
    assert digest(SUITE.instance("sql", name).dataset()) == DIGESTS[name]


def test_rows_do_not_depend_on_hash_seed_locale_or_process() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_ecommerce_data import digest, small\n"
        "print(digest(small(adversarial=True)))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program, str(Path(__file__).parent)],
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, locale, zone in (("1", "C", "UTC"), ("77", "C.UTF-8", "Asia/Shanghai"))
    }
    assert printed == {digest(small(adversarial=True)) + "\n"}


def test_base_has_the_promised_size(base: Dataset) -> None:
    sizes = {name: len(rows) for name, rows in base.rows.items()}
    assert (sizes["users"], sizes["products"], sizes["orders"]) == (1000, 200, 5000)
    assert 14_000 <= sizes["order_lines"] <= 16_000
    assert 3_800 <= sizes["follows"] <= 4_200


def test_rows_fit_their_declared_fields(instance: Dataset) -> None:
    types = {"bool": bool, "int": int, "decimal": Decimal, "string": str, "date": date,
             "datetime": datetime}  # fmt: skip
    for table in instance.tables:
        for place, field in enumerate(table.fields):
            values = [row[place] for row in instance.rows[table.name]]
            known = [value for value in values if value is not None]
            assert field.nullable or len(known) == len(values), (table.name, field.name)
            assert {type(value) for value in known} <= {types[field.type]}
            if field.type == "decimal":
                assert {value.as_tuple().exponent for value in known} <= {-2}
            if field.type == "string":
                assert all(is_normalized("NFC", value) for value in known)
        assert {len(row) for row in instance.rows[table.name]} == {len(table.fields)}


def test_keys_are_unique_and_references_hold(instance: Dataset) -> None:
    for table in instance.tables:
        names = [field.name for field in table.fields]
        places = [names.index(name) for name in table.key]
        keys = Counter(tuple(row[p] for p in places) for row in instance.rows[table.name])
        assert set(keys.values()) <= {1}, table.name
        for field in table.fields:
            if field.references:
                target, _, target_column = field.references.partition(".")
                values = {v for v in column(instance, table.name, field.name) if v is not None}
                assert values <= set(column(instance, target, target_column)), field.references


def test_handles_skus_and_codes_are_unique(instance: Dataset) -> None:
    for table, name in (("users", "handle"), ("products", "sku"), ("warehouses", "code")):
        values = column(instance, table, name)
        assert len(set(values)) == len(values)


def test_the_latest_date_is_the_reference_date(instance: Dataset) -> None:
    days = [
        value.date() if isinstance(value, datetime) else value
        for rows in instance.rows.values()
        for row in rows
        for value in row
        if isinstance(value, date)
    ]
    assert max(days) == REFERENCE_DATE == instance.reference_date


def test_nobody_follows_themselves(instance: Dataset) -> None:
    assert all(follower != followed for follower, followed, _ in instance.rows["follows"])


def test_trees_have_no_cycles(instance: Dataset) -> None:
    for table, name in (("categories", "parent_id"), ("users", "referred_by")):
        above = dict(zip(column(instance, table, "id"), column(instance, table, name), strict=True))
        for start in above:
            node, steps = start, 0
            while above[node] is not None:
                node, steps = above[node], steps + 1
                assert steps <= len(above), (table, start)


def test_awkward_content_is_there(instance: Dataset) -> None:
    names = column(instance, "users", "name")
    assert len(set(names)) < len(names)
    assert any("'" in name for name in names)
    placed = set(column(instance, "orders", "placed_at"))
    assert any(moment.date() == date(2024, 2, 29) for moment in placed)
    assert any(code.startswith("0") for code in column(instance, "warehouses", "code"))
    ordered = set(column(instance, "order_lines", "product_id"))
    assert set(column(instance, "products", "id")) - ordered
    buyers = set(column(instance, "orders", "user_id"))
    assert set(column(instance, "users", "id")) - buyers
    filed = set(column(instance, "products", "category_id"))
    assert set(column(instance, "categories", "id")) - filed


def test_base_speaks_many_scripts(base: Dataset) -> None:
    text = "".join(column(base, "users", "name") + column(base, "products", "name"))
    assert {"é", "芳", "ز", "☕"} <= set(text)


def test_adversarial_rows_miss_every_nullable_value() -> None:
    dataset = small(adversarial=True)
    for table in dataset.tables:
        for field in table.fields:
            if field.nullable:
                values = column(dataset, table.name, field.name)
                assert None in values, (table.name, field.name)
                assert set(values) != {None}, (table.name, field.name)


def test_adversarial_only_adds_rows() -> None:
    plain, more = small(), small(adversarial=True)
    for name, rows in plain.rows.items():
        assert list(more.rows[name][: len(rows)]) == list(rows)
    assert len(more.rows["orders"]) > len(plain.rows["orders"])


def test_another_seed_is_another_data_set() -> None:
    assert digest(small()) != digest(small(seed=102))


def test_no_buyer_is_in_an_idle_tier() -> None:
    dataset = generate(108, users=120, products=60, orders=400, idle_tier="silver")
    buyers = set(column(dataset, "orders", "user_id"))
    tiers = dict(zip(column(dataset, "premium_users", "user_id"),
                     column(dataset, "premium_users", "tier"), strict=True))  # fmt: skip
    silver = {user for user, tier in tiers.items() if tier == "silver"}
    assert silver
    assert not silver & buyers


def test_an_unknown_shop_is_told() -> None:
    with pytest.raises(InputError, match=r"unknown shop 'tinny', expected sparse or tiny\."):
        generate(1, shop="tinny")
