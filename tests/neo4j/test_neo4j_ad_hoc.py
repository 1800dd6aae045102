"""Small data sets for a few queries: lent in milliseconds, never mixed, gone when dropped."""

import datetime as dt
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from qeval.data.model import Dataset, Field, TableModel
from qeval.engines.base import QueryError, QueryLimits
from qeval.engines.neo4j import Neo4jEngine
from qeval.errors import InputError
from qeval.suite import Instance

LIMITS = QueryLimits()


def few(instance: Instance, number: int, **rows: Any) -> Instance:
    """Some rows of the shop as an ad hoc instance, or those given."""
    data = instance.dataset()
    small = {name: list(all_)[:number] for name, all_ in data.rows.items()}
    small["members"] = [row for row in small["members"] if row[0] < number]
    small["tags"] = [row for row in small["tags"] if row[0] < number]
    made = replace(data, rows={**small, **rows})
    return replace(instance, key=f"few_{number}", dataset=lambda: made, ad_hoc=True)


def rows(engine: Neo4jEngine, instance: Instance, query: str) -> Any:
    return engine.execute(query, instance, LIMITS).table.rows


def files(engine: Neo4jEngine) -> set[str]:
    assert engine._slot_folder is not None
    return {path.name for path in Path(engine._slot_folder, "instances").iterdir()}


def test_it_is_loaded_asked_and_dropped(neo: Neo4jEngine, shop: Instance) -> None:
    before = files(neo)
    for number in (3, 7, 3):
        instance = few(shop, number)
        neo.load(instance)
        assert rows(neo, instance, "MATCH (u:User) RETURN count(u)") == ((number,),)
        neo.check("MATCH (u:Member)-[:PLACED]->(o) RETURN o.tags, u.tier", instance)
        with pytest.raises(QueryError) as caught:
            neo.check("MATCH (u:User) RETURN u.nmae", instance)
        assert caught.value.kind == "schema_error"
        neo.drop(instance)
        neo.drop(instance)
    assert files(neo) == before
    assert rows(neo, shop, "MATCH (u:User) RETURN count(u)") == ((100,),)
    # It is an ordinary instance as long as it is not dropped: also where nobody loaded it.
    assert rows(neo, few(shop, 5), "MATCH (u:User) RETURN count(u)") == ((5,),)
    neo.drop(few(shop, 5))


def test_nothing_can_be_written_to_it(neo: Neo4jEngine, shop: Instance) -> None:
    from neo4j.exceptions import Neo4jError

    instance = few(shop, 4)
    neo.load(instance)
    assert neo._stores is not None
    with (
        neo._stores.leased(instance) as driver,
        driver.session(default_access_mode="WRITE") as session,
        pytest.raises(Neo4jError, match="read-only"),
    ):
        session.run("CREATE (:User)").consume()
    neo.drop(instance)


def test_many_at_once_never_mix(neo: Neo4jEngine, shop: Instance) -> None:
    def ask(number: int) -> Any:
        instance = few(shop, number)
        neo.load(instance)
        try:
            return rows(neo, instance, "MATCH (u:User) RETURN count(u), max(u.id)")
        finally:
            neo.drop(instance)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(1, 25))) == [((n, n - 1),) for n in range(1, 25)]


def test_rows_that_break_a_constraint_or_dangle_are_the_inputs_fault(
    neo: Neo4jEngine, shop: Instance
) -> None:
    user = (1, "Ann", None, Decimal(1))
    order = (1, 9, dt.datetime(2024, 1, 1), 1.0, None, 1)  # noqa: DTZ001 - naive UTC, as everywhere
    nothing: Mapping[str, Any] = {"members": [], "orders": [], "tags": []}
    broken = few(shop, 1, **{**nothing, "users": [user], "orders": [order]})
    with pytest.raises(InputError, match="'orders' names 9"):
        neo.load(broken)
    dangling = few(shop, 1, **{**nothing, "users": [user], "members": [(2, "gold")]})
    with pytest.raises(InputError, match="'members' belongs to 2"):
        neo.load(dangling)
    twice = few(shop, 1, **{**nothing, "users": [user], "orders": []})
    neo.load(twice)
    assert rows(neo, twice, "MATCH (u:User) RETURN u.name") == (("Ann",),)
    neo.drop(twice)


@pytest.mark.parametrize("number", [0, 30], ids=["kept", "ad hoc"])
def test_both_ways_of_loading_give_the_same_graph(
    neo: Neo4jEngine, shop: Instance, neo_make: Callable[..., Neo4jEngine], number: int
) -> None:
    """Through Bolt into a server of one's own, and from a file into ours."""
    assert neo._stores is not None
    neo._stores.control.instance("plain").mkdir(exist_ok=True)
    port = neo._stores.control.ask("open", "plain")
    own = neo_make(uri=f"bolt://127.0.0.1:{port}")
    instance = few(shop, number) if number else shop
    try:
        own.start()
        own.load(instance)
        assert own.fingerprint(instance) == neo.fingerprint(instance)
        facts = "MATCH (o:Order) RETURN toString(o.at), o.tags, valueType(o.at) ORDER BY o.id"
        assert rows(own, instance, facts) == rows(neo, instance, facts)
    finally:
        own.stop()
        if instance.ad_hoc:
            neo.drop(instance)


TYPES = ("string", "int", "float", "bool", "date", "datetime")
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    "string": st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "date": st.dates(),
    "datetime": st.datetimes(),
}
MAPPING = {
    "nodes": {
        "things": {
            "label": "Thing \\ `of`\tmine",
            "key": "id",
            "properties": {"id": "id", **{name: f"{name}: \\n" for name in TYPES}},
        }
    },
    "lists": {
        f"many_{name}": {"of": "things", "by": "id", "value": "value", "property": f"{name},s"}
        for name in TYPES
    },
}
THING = st.fixed_dictionaries({name: st.none() | VALUES[name] for name in TYPES})
LISTS = st.fixed_dictionaries({name: st.lists(VALUES[name], max_size=4) for name in TYPES})


@settings(
    max_examples=25,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(things=st.lists(st.tuples(THING, LISTS), max_size=8))
def test_every_value_arrives_as_it_was(neo: Neo4jEngine, things: list[tuple[Any, Any]]) -> None:
    fields = (Field("id", "int"), *(Field(name, name, nullable=True) for name in TYPES))  # type: ignore[arg-type]
    tables = [TableModel("things", fields, ("id",))]
    data: dict[str, list[tuple[Any, ...]]] = {
        "things": [(n, *(thing[name] for name in TYPES)) for n, (thing, _) in enumerate(things)]
    }
    for name in TYPES:
        tables.append(
            TableModel(f"many_{name}", (Field("id", "int"), Field("value", name)), ())  # type: ignore[arg-type]
        )
        data[f"many_{name}"] = [
            (n, value) for n, (_, lists) in enumerate(things) for value in lists[name]
        ]
    dataset = Dataset(tuple(tables), data, dt.date(2024, 1, 1))
    instance = Instance("every_value", "x", "", MAPPING, lambda: dataset, ad_hoc=True)
    wanted = ", ".join(f"t.`{name}: \\n`, t.`{name},s`" for name in TYPES)
    try:
        found = rows(neo, instance, f"MATCH (t) RETURN {wanted} ORDER BY t.id")
    finally:
        neo.drop(instance)
    expected = [
        tuple(
            cell
            for name in TYPES
            for cell in (_utc(thing[name]), tuple(map(_utc, lists[name])) or None)
        )
        for thing, lists in things
    ]
    assert list(found) == expected


def _utc(value: Any) -> Any:
    return value.replace(tzinfo=dt.UTC) if isinstance(value, dt.datetime) else value


BORROWER = """
import os, sys
sys.path.insert(0, {folder!r})
from conftest import make_instance, settings
from test_neo4j_ad_hoc import few, rows
from qeval.engines.neo4j import Neo4jEngine
engine = Neo4jEngine(**settings())
engine.start()
print(engine._slot_folder, rows(engine, few(make_instance(), 6), "RETURN 1"))
sys.stdout.flush()
os._exit(9)
"""


def test_what_a_dead_process_had_borrowed_is_used_again(
    neo_cache: Path, neo_make: Callable[..., Neo4jEngine], shop: Instance
) -> None:
    from qeval.engines import warm

    engine = neo_make()
    server = engine.up()
    try:
        done = subprocess.run(
            [sys.executable, "-c", BORROWER.format(folder=str(Path(__file__).parent))],
            env={**os.environ, "QEVAL_CACHE": str(neo_cache)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout.split()[0]) == (9, server.address), done.stderr
        engine.start()
        mine = few(shop, 6)
        assert rows(engine, mine, "MATCH (u:User) RETURN count(u)") == ((6,),)
        systems = list(Path(server.address, "scratch").glob("system-*"))
        assert len(systems) == 1
        engine.drop(mine)
    finally:
        engine.stop()
        warm.stop(server)
