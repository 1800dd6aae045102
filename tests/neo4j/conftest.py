"""A real Neo4j for the whole session: fetched parts are the user's, data is the tests' own."""

import datetime as dt
import shutil
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from qeval.data.model import Dataset, Field, TableModel
from qeval.engines.base import Engine
from qeval.engines.neo4j import Neo4jEngine, fetch
from qeval.engines.neo4j.embedded import EmbeddedServer
from qeval.engines.neo4j.launch import ServerSettings
from qeval.paths import shipped
from qeval.suite import Instance

MAPPING = {
    "nodes": {
        "users": {
            "label": "User",
            "key": "id",
            "properties": {"id": "id", "name": "name", "born": "born", "spent": "spent"},
        },
        "orders": {
            "label": "Order",
            "key": "id",
            "properties": {"id": "id", "at": "at", "total": "total", "note": "note"},
        },
    },
    "subtypes": {
        "members": {
            "of": "users",
            "by": "user_id",
            "label": "Member",
            "properties": {"tier": "tier"},
        }
    },
    "lists": {"tags": {"of": "orders", "by": "order_id", "value": "tag", "property": "tags"}},
    "relationships": [
        {
            "table": "orders",
            "type": "PLACED",
            "from": {"users": "user_id"},
            "to": {"orders": "id"},
            "properties": {"rank": "rank"},
        }
    ],
}

SCHEMA = """
// comments end at the line's end
CREATE CONSTRAINT user_id IF NOT EXISTS FOR (n:User) REQUIRE n.id IS UNIQUE;
CREATE INDEX order_total IF NOT EXISTS FOR (n:Order) ON (n.total);
"""


def _table(name: str, *fields: Field) -> TableModel:
    return TableModel(name, fields, ("id",))


def dataset(shift: int) -> Dataset:
    tables = (
        _table(
            "users",
            Field("id", "int"),
            Field("name", "string"),
            Field("born", "date", nullable=True),
            Field("spent", "decimal", scale=2),
        ),
        _table("members", Field("user_id", "int"), Field("tier", "string")),
        _table(
            "orders",
            Field("id", "int"),
            Field("user_id", "int", nullable=True),
            Field("at", "datetime"),
            Field("total", "float"),
            Field("note", "string", nullable=True),
            Field("rank", "int"),
        ),
        _table("tags", Field("order_id", "int"), Field("tag", "string")),
    )
    start = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - the data model's datetimes are naive UTC
    born = dt.date(1990, 1, 1)
    rows: dict[str, list[tuple[Any, ...]]] = {
        "users": [
            (n, f"Zoë {n}", born + dt.timedelta(n) if n % 7 else None, Decimal(n + shift) / 4)
            for n in range(100)
        ],
        "members": [(n, "gold" if n % 2 else "silver") for n in range(0, 100, 10)],
        "orders": [
            (n, n % 100 if n % 50 else None, start + dt.timedelta(minutes=n), n / 3, None, n % 4)
            for n in range(1000)
        ],
        "tags": [(n, tag) for n in range(0, 1000, 3) for tag in ("a", "b")],
    }
    return Dataset(tables, rows, dt.date(2024, 6, 1))


def make_instance(key: str = "shop_base_01", shift: int = 0) -> Instance:
    return Instance(key, "base", SCHEMA, MAPPING, lambda: dataset(shift))


@pytest.fixture(scope="session")
def new_instance() -> Callable[..., Instance]:
    return make_instance


@pytest.fixture(scope="session")
def shop() -> Instance:
    return make_instance()


def settings(**changes: Any) -> dict[str, Any]:
    """What `conf/engine/neo4j.yaml` says, with changes."""
    config = OmegaConf.load(shipped("conf") / "engine/neo4j.yaml")
    values = OmegaConf.to_container(OmegaConf.merge(config, changes), resolve=True)
    assert isinstance(values, dict)
    del values["_target_"]
    return {str(key): value for key, value in values.items()}


@pytest.fixture(scope="session")
def neo_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache with slots of its own and the parts of the user's cache, fetched if missing."""
    EmbeddedServer(ServerSettings(**settings()["server"])).prepared()
    parts = fetch.home()
    cache = tmp_path_factory.mktemp("c")
    home = cache / "neo4j" / fetch.VERSION
    home.mkdir(parents=True)
    for name in ("jars", "unsigned", "launcher", "archives"):
        (home / name).symlink_to(parts / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QEVAL_CACHE", str(cache))
        for name in ("URI", "USER", "PASSWORD", "DATABASE"):
            patch.delenv(f"QEVAL_NEO4J_{name}", raising=False)
        yield cache
    shutil.rmtree(cache)


@pytest.fixture(scope="session")
def neo_make(neo_cache: Path) -> Callable[..., Neo4jEngine]:
    assert neo_cache.is_dir()
    return lambda **changes: Neo4jEngine(**settings(**changes))


@pytest.fixture(scope="session")
def neo(neo_make: Callable[..., Neo4jEngine], shop: Instance) -> Iterator[Neo4jEngine]:
    """A started engine holding the shop; tests must leave it running."""
    engine = neo_make()
    assert isinstance(engine, Engine)
    try:
        engine.start()
        engine.load(shop)
        yield engine
    finally:
        engine.stop()
