"""A query is planned once for all data sets of one model and answered from the data of each."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from qeval.engines.base import QueryLimits
from qeval.engines.neo4j import Neo4jEngine
from qeval.engines.neo4j.launch import RefusedError
from qeval.suite import Instance

LIMITS = QueryLimits()

ANSWERS: list[tuple[str, Callable[[int], Any]]] = [
    ("MATCH (u:User) RETURN count(u)", lambda n: [(n,)]),
    ("MATCH ()-[p:PLACED]->() RETURN count(p)", lambda n: [(max(0, n - 1),)]),
    ("MATCH (u:User {id: 3}) RETURN u.id", lambda n: [(3,)] if n > 3 else []),
    ("MATCH (o:Order) WHERE o.total < 1 RETURN count(o)", lambda n: [(min(n, 3),)]),
    ("MATCH (o:Order) RETURN o.id ORDER BY o.id DESC LIMIT 1", lambda n: [(n - 1,)] if n else []),
    ("MATCH (u:User) WHERE NOT (u)-[:PLACED]->() RETURN u.id", lambda n: [(0,)] if n else []),
    ("OPTIONAL MATCH (u:User {id: 5}) RETURN u.id", lambda n: [(5,)] if n > 5 else [(None,)]),
    ("MATCH (a:User), (b:User) WHERE a.id < b.id RETURN count(*)", lambda n: [(n * (n - 1) // 2,)]),
    ("MATCH (m:Member:User) RETURN m.id ORDER BY m.id", lambda n: [(k,) for k in range(0, n, 10)]),
    ("MATCH (x:Nothing) RETURN count(x)", lambda _: [(0,)]),
]


def few(instance: Instance, number: int) -> Instance:
    """The first users, and as many orders."""
    data = instance.dataset()
    small = {name: list(all_)[:number] for name, all_ in data.rows.items()}
    small["members"] = [row for row in data.rows["members"] if row[0] < number]
    small["tags"] = [row for row in data.rows["tags"] if row[0] < number]
    made = replace(data, rows=small)
    return replace(instance, key=f"sized_{number}", dataset=lambda: made, ad_hoc=True)


def rows(engine: Neo4jEngine, instance: Instance, query: str) -> Any:
    return [*engine.execute(query, instance, LIMITS).table.rows]


def estimate(engine: Neo4jEngine, instance: Instance, query: str) -> float:
    """How many rows the plan in use was made for: tells on which data set it was made."""
    assert engine._stores is not None
    with engine._stores.leased(instance) as driver, driver.session() as session:
        plan = session.run(f"EXPLAIN {query}").consume().plan
        return float(plan["args"]["EstimatedRows"])


def test_every_data_set_gives_its_own_answers(neo: Neo4jEngine, shop: Instance) -> None:
    """In either order of sizes, and more often than any plan is used before it is made anew."""
    for number in (0, 20, 1, 7, 0, 3, 20, 5, 2, 9, 15, 4, 12):
        instance = few(shop, number)
        for query, expected in ANSWERS:
            assert rows(neo, instance, query) == expected(number), (number, query)
        neo.drop(instance)
    assert rows(neo, shop, "MATCH (u:User) RETURN count(u)") == [(100,)]


def test_a_plan_is_made_once(neo: Neo4jEngine, shop: Instance) -> None:
    query = "MATCH (o:User) RETURN o.name AS made_once"
    assert estimate(neo, shop, query) == 100
    for number in range(1, 15):
        instance = few(shop, number)
        assert estimate(neo, instance, query) == 100
        neo.drop(instance)
    assert neo._stores is not None
    assert "plans are not shared" not in neo._stores.control.log.read_text()


def test_no_plan_for_few_rows_is_used_on_many(neo: Neo4jEngine, shop: Instance) -> None:
    """On many it could take for ever, and a right prediction be a timeout."""
    query = "MATCH (o:User) RETURN o.name AS little_first"
    small = few(shop, 2)
    assert estimate(neo, small, query) == 10  # the least that Neo4j expects of a label
    assert estimate(neo, shop, query) == 100
    assert estimate(neo, small, query) == 100
    neo.drop(small)


def test_a_plan_outlives_the_data_set_it_was_made_on(
    neo: Neo4jEngine, shop: Instance, new_instance: Callable[..., Instance]
) -> None:
    query = "MATCH (u:User)-[:PLACED]->(o) WHERE u.id = 3 RETURN count(o), sum(u.spent)"
    gone = new_instance("shop_gone_01", shift=4)
    neo.load(gone)
    assert rows(neo, gone, query) == [(10, 17.5)]
    neo.drop(gone)
    assert rows(neo, shop, query) == [(10, 7.5)]
    assert rows(neo, gone, query) == [(10, 17.5)]
    neo.drop(gone)


def test_other_models_have_plans_of_their_own(neo: Neo4jEngine, shop: Instance) -> None:
    """Their names have other numbers: here, users are called orders and orders users."""
    first, second = shop.mapping["nodes"]["users"], shop.mapping["nodes"]["orders"]
    nodes = {"orders": {**second, "label": "User"}, "users": {**first, "label": "Order"}}
    swapped = replace(
        few(shop, 7), key="swapped", mapping={**shop.mapping, "nodes": nodes, "lists": {}}
    )
    for query in ("MATCH (u:User) WHERE u.total > 1 RETURN count(u)", "MATCH (u:User) RETURN u.id"):
        assert len(rows(neo, shop, query)) == (1 if "count" in query else 100)
        assert len(rows(neo, swapped, query)) == (1 if "count" in query else 7)
    assert rows(neo, shop, "MATCH (u:User) WHERE u.total > 1 RETURN count(u)") == [(0,)]
    assert rows(neo, swapped, "MATCH (u:User) WHERE u.total > 1 RETURN count(u)") == [(3,)]
    neo.drop(swapped)


def test_a_name_that_no_template_knows_is_refused(neo: Neo4jEngine) -> None:
    """It would be numbered when the data is made, and by another number elsewhere."""
    assert neo._stores is not None
    control = neo._stores.control
    declared = "label\tA\ntype\tT\nproperty\tp\n"
    for number, data in enumerate(
        ("nodes\t0\tB\n\n", "relationships\t0\tS\n\n", "nodes\t0\tA\nq:int\n"),
    ):
        control.scratch(f"odd_{number}").write_text(declared + data)
        with pytest.raises(RefusedError, match="does not declare the name"):
            control.ask("lend", f"odd_{number}", "odd", 1)
