"""A real PostgreSQL for the whole session, in a cache of its own, with a small data set."""

import datetime as dt
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from qeval.data.model import Dataset, Field, TableModel
from qeval.engines import warm
from qeval.engines.base import Engine
from qeval.engines.postgres import PostgresEngine
from qeval.paths import shipped
from qeval.suite import Instance

SHOP_DDL = """
CREATE TABLE users (
  id integer PRIMARY KEY,
  name text NOT NULL,
  born date,
  spent numeric(10, 2)
);
CREATE TABLE orders (
  id integer PRIMARY KEY,
  user_id integer NOT NULL REFERENCES users (id),
  at timestamp NOT NULL,
  total double precision NOT NULL
);
"""

MakeEngine = Callable[..., PostgresEngine]


def _dataset(shift: int) -> Dataset:
    users = TableModel(
        "users",
        (
            Field("id", "int"),
            Field("name", "string"),
            Field("born", "date", nullable=True),
            Field("spent", "decimal", nullable=True, scale=2),
        ),
        ("id",),
    )
    orders = TableModel(
        "orders",
        (
            Field("id", "int"),
            Field("user_id", "int", references="users.id"),
            Field("at", "datetime"),
            Field("total", "float"),
        ),
        ("id",),
    )
    start = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - the data model's datetimes are naive UTC
    return Dataset(
        (users, orders),
        {
            "users": [
                (
                    number,
                    f"Zoë {number}" if number % 2 else f"李 {number}",
                    dt.date(1990, 1, 1) + dt.timedelta(number) if number % 7 else None,
                    Decimal(number + shift) / 4,
                )
                for number in range(100)
            ],
            "orders": [
                (number, number % 100, start + dt.timedelta(minutes=number), number / 3)
                for number in range(2000)
            ],
        },
        dt.date(2024, 6, 1),
    )


def make_instance(key: str = "shop_base_01", shift: int = 0, schema: str = SHOP_DDL) -> Instance:
    return Instance(key, "base", schema, {}, lambda: _dataset(shift))


@pytest.fixture(scope="session")
def pg_instance() -> Instance:
    return make_instance()


@pytest.fixture(scope="session")
def pg_new_instance() -> Callable[..., Instance]:
    return make_instance


@pytest.fixture(scope="session")
def pg_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cache folder of all tests here; nothing outside is touched."""
    folder = tmp_path_factory.mktemp("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QEVAL_CACHE", str(folder))
        # pytest's paths are long, so sockets are elsewhere: not among the user's.
        runtime = tempfile.mkdtemp(prefix="q")
        patch.setenv("XDG_RUNTIME_DIR", runtime)
        patch.setattr("qeval.engines.postgres.account._OPEN", folder / "open")
        for name in list(os.environ):
            if name.startswith(("PG", "QEVAL_POSTGRES")):
                patch.delenv(name)
        yield folder
    shutil.rmtree(folder)
    shutil.rmtree(runtime)


@contextmanager
def another_cache(folder: Path, session: Path) -> Iterator[Path]:
    """A cache that has the session's template and nothing else; removed afterwards."""
    for template in session.glob("postgres/*/template"):
        pool = folder / template.parent.relative_to(session)
        pool.mkdir(parents=True)
        # Slots are copies, so the template itself can be shared.
        subprocess.run(["cp", "-al", template, pool], check=True)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pg: PostgresEngine, pg_cache: Path
) -> Iterator[Path]:
    """A cache of one test's own; `pg` has made the template."""
    assert pg is not None
    with another_cache(tmp_path / "k", pg_cache) as folder:
        monkeypatch.setenv("QEVAL_CACHE", str(folder))
        yield folder
        for server in warm.running():
            warm.stop(server)
            with suppress(OSError):
                Path(server.address).rmdir()


@pytest.fixture(scope="session")
def pg_make(pg_cache: Path) -> MakeEngine:
    """Builds an engine as `conf/engine/postgres.yaml` says, with changes."""
    assert pg_cache.is_dir()

    def make(**changes: Any) -> PostgresEngine:
        config = OmegaConf.load(shipped("conf") / "engine/postgres.yaml")
        settings = OmegaConf.to_container(OmegaConf.merge(config, changes), resolve=True)
        assert isinstance(settings, dict)
        del settings["_target_"]
        return PostgresEngine(**{str(key): value for key, value in settings.items()})

    return make


@pytest.fixture(scope="session")
def pg(pg_make: MakeEngine, pg_instance: Instance) -> Iterator[PostgresEngine]:
    """A started engine holding the shop; tests must leave it running."""
    engine = pg_make()
    assert isinstance(engine, Engine)
    try:
        engine.start()
        engine.load(pg_instance)
        yield engine
    finally:
        engine.stop()
