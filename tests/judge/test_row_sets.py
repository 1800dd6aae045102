"""A judge's row set is completed to possible data and tried on real engines, or refused."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.bench import Bench
from qeval.cells import build_cell, build_engine, compose
from qeval.data.ecommerce import generate
from qeval.data.model import Dataset
from qeval.judge.claims import ClaimTrial
from qeval.judge.row_sets import ImpossibleError, dataset_of
from qeval.suites import load_suite

SHOP = generate(seed=7, users=20, products=20, orders=30)


def rows(table: str, columns: list[str], *cells: list[Any]) -> dict[str, Any]:
    return {"table": table, "columns": columns, "rows": list(cells)}


def built(*parts: dict[str, Any], most: int = 50) -> Dataset:
    return dataset_of(parts, SHOP, most)


def check_possible(dataset: Dataset) -> None:
    """Keys are unique, nothing mandatory is null, and every reference finds its row before it."""
    seen: dict[str, set[Any]] = {}
    for table in dataset.tables:
        names = [column.name for column in table.fields]
        at = [names.index(name) for name in table.key]
        keys = [tuple(row[i] for i in at) for row in dataset.rows[table.name]]
        assert len(set(keys)) == len(keys)
        for row in dataset.rows[table.name]:
            for column, value in zip(table.fields, row, strict=True):
                assert value is not None or column.nullable
                if column.references and value is not None:
                    assert (column.references, value) in seen.setdefault("", set())
            for name, value in zip(names, row, strict=True):
                seen.setdefault("", set()).add((f"{table.name}.{name}", value))


def test_what_is_left_out_is_filled_in_and_what_is_referred_to_is_added() -> None:
    dataset = built(rows("stock_levels", ["quantity"], [0], [5]))
    check_possible(dataset)
    assert sorted(row[2] for row in dataset.rows["stock_levels"]) == [0, 5]
    assert dataset.rows["warehouses"]
    assert dataset.rows["products"]
    assert dataset.rows["reviews"] == []


def test_stated_values_arrive_typed_and_nothing_else_is_bent() -> None:
    columns = ["id", "price", "released_on", "weight_g"]
    first, second = [3, 19.9, "2024-02-29", None], [1, "20.00", "2024-03-01", 7.0]
    dataset = built(rows("products", columns, first, second))
    names = [column.name for column in dataset.tables[4].fields]
    found = [dict(zip(names, row, strict=True)) for row in dataset.rows["products"]]
    assert [row["price"] for row in found] == [Decimal("19.90"), Decimal("20.00")]
    assert [row["released_on"] for row in found] == [date(2024, 2, 29), date(2024, 3, 1)]
    assert [row["weight_g"] for row in found] == [None, 7]
    assert len({row["sku"] for row in found}) == 2
    check_possible(dataset)


def test_whoever_is_referred_to_in_the_same_table_comes_first() -> None:
    dataset = built(rows("users", ["id", "referred_by"], [1, 2], [2, 3], [3, None]))
    assert [row[0] for row in dataset.rows["users"]] == [3, 2, 1]
    check_possible(dataset)


def test_a_child_without_its_parent_takes_the_parents_that_are_there() -> None:
    dataset = built(rows("product_tags", ["tag"], ["a"], ["b"]),
                    rows("products", ["id"], [11], [12]))  # fmt: skip
    assert [row[0] for row in dataset.rows["product_tags"]] == [11, 12]
    assert [row[0] for row in dataset.rows["products"]] == [11, 12]


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (rows("customers", ["id"], [1]), "no table 'customers'"),
        (rows("users", ["age"], [1]), "columns 'age'"),
        (rows("users", ["id", "id"], [1, 1]), "one twice"),
        (rows("users", ["id"], [1, 2]), "2 cells for 1"),
        (rows("users", ["id"], ["one"]), "users.id is int"),
        (rows("users", ["id"], [True]), "users.id is int"),
        (rows("users", ["id"], [1e300]), "users.id is int"),
        (rows("users", ["id"], [None]), "users.id can't be null"),
        (rows("users", ["registered_on"], ["yesterday"]), "registered_on is date"),
        (rows("products", ["price"], [1.005]), "price is decimal"),
        (rows("products", ["price"], ["NaN"]), "price is decimal"),
        (rows("products", ["discontinued"], [0]), "discontinued is bool"),
        (rows("users", ["name"], ["\0"]), "name is string"),
        (rows("users", ["id"], [1], [1]), "the key 1"),
        (rows("users", ["id"]), "no rows"),
        (rows("users", ["id"], *([n] for n in range(60))), "more than 50 rows"),
    ],
)
def test_impossible_data_is_refused_with_the_reason(part: dict[str, Any], why: str) -> None:
    with pytest.raises(ImpossibleError, match=why):
        built(part)


CELLS = st.one_of(st.none(), st.booleans(), st.integers(-3, 9), st.floats(), st.text(max_size=4))
PARTS = st.sampled_from(SHOP.tables).flatmap(
    lambda table: st.lists(
        st.sampled_from([c.name for c in table.fields]), max_size=4, unique=True
    ).flatmap(
        lambda names: st.lists(
            st.lists(CELLS, min_size=len(names), max_size=len(names)), max_size=3
        ).map(lambda cells: rows(table.name, names, *cells))
    )
)


@given(st.lists(PARTS, max_size=4))
def test_whatever_a_judge_writes_is_possible_data_or_refused(parts: list[dict[str, Any]]) -> None:
    try:
        dataset = built(*parts)
    except ImpossibleError:
        return
    check_possible(dataset)
    assert sum(map(len, dataset.rows.values())) <= 50


@pytest.fixture(scope="module", params=["sql", "cypher", "typeql"])
def trial(request: pytest.FixtureRequest) -> Iterator[tuple[str, ClaimTrial]]:
    """Trying claims on a real engine."""
    cell = build_cell(compose(["model=gold", f"lang={request.param}", "tracking=none"]))
    engine = build_engine(cell.engine_config)
    bench = Bench(engine, engine.start())
    yield (
        request.param,
        ClaimTrial(cell.suite, cell.language, bench, cell.limits, cell.policy, most=50),
    )
    engine.stop()


QUERIES = {
    # Products of at least 100.00, by sku and price: the gold of ec-e01.
    "sql": "SELECT sku, price FROM products WHERE price {} 100",
    "cypher": "MATCH (p:Product) WHERE p.price {} 100 RETURN p.sku, p.price",
    "typeql": "match $p isa product, has sku $sku, has price $price; $price {} 100.00dec;"
    " select $sku, $price;",
}


def test_a_claim_is_confirmed_refuted_or_untried_by_running_it(
    trial: tuple[str, ClaimTrial],
) -> None:
    language, attempt = trial
    case = next(case for case in load_suite("ecommerce").cases if case.id == "ec-e01")
    strict = QUERIES[language].format(">")
    at_the_border = [rows("products", ["price"], [100])]
    beyond = [rows("products", ["price"], [99.99], [100.01])]
    found = attempt(case, strict, at_the_border)
    assert (found.outcome, found.rows) == ("confirmed", 1)
    assert attempt(case, strict, beyond).outcome == "refuted"
    assert attempt(case, QUERIES[language].format(">="), at_the_border).outcome == "refuted"
    untried = attempt(case, strict, [rows("products", ["cost"], [1])])
    assert untried.outcome == "untried"
    assert "'cost'" in untried.message
