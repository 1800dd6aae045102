"""Instances of a few rows, of which a counterexample needs hundreds: loaded, asked and dropped."""

import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from qeval.data.model import Dataset
from qeval.engines.base import QueryError, QueryLimits
from qeval.engines.postgres import PostgresEngine
from qeval.engines.postgres.load import kept
from qeval.engines.typeql import EmbeddedTypeqlEngine
from qeval.errors import InputError
from qeval.suite import Instance

from .typeql_shop import make_instance

LIMITS = QueryLimits()
USERS = "SELECT count(*) FROM public.users"
ORDERS = "SELECT count(*) FROM orders"
MakeEngine = Callable[..., PostgresEngine]


def ad_hoc(like: Instance, key: str, users: int) -> Instance:
    """An instance of a few rows: the first `users` users and no order."""

    def dataset() -> Dataset:
        whole = like.dataset()
        return replace(whole, rows={"users": list(whole.rows["users"])[:users], "orders": []})

    return replace(like, key=key, name=key, dataset=dataset, ad_hoc=True)


def test_side_by_side_each_has_its_own_rows(pg: PostgresEngine, pg_instance: Instance) -> None:
    """A place is empty for the next one; nothing counts among the instances that are kept."""
    one, two = ad_hoc(pg_instance, "small_1", 1), ad_hoc(pg_instance, "small_2", 2)
    for instance in (one, two):
        pg.load(instance)
    assert pg.execute(USERS, one, LIMITS).table.rows == ((1,),)
    assert pg.execute(USERS, two, LIMITS).table.rows == ((2,),)
    assert pg.fingerprint(one) != pg.fingerprint(two)
    with pytest.raises(QueryError):
        pg.execute("INSERT INTO users VALUES (9, 'x', null, null)", one, LIMITS)
    pg.drop(two)
    pg.drop(two)
    none = ad_hoc(pg_instance, "small_3", 0)
    pg.load(none)
    assert pg.execute(USERS, none, LIMITS).table.rows == ((0,),)
    assert pg.execute(USERS, one, LIMITS).table.rows == ((1,),)
    assert not any("small" in key or "scratch" in key for key in kept(pg._running()))
    pg.drop(one)
    pg.drop(none)


def test_a_restart_brings_them_back(
    cache: Path, pg_make: MakeEngine, pg_instance: Instance
) -> None:
    """Also on a server that went down meanwhile."""
    assert cache.is_dir()
    engine = pg_make()
    engine.start()
    try:
        small = ad_hoc(pg_instance, "small_4", 3)
        engine.load(small)
        engine.restart()
        assert engine.execute(USERS, small, LIMITS).table.rows == ((3,),)
        (pid,) = cache.glob("postgres/*/slot-*/data/postmaster.pid")
        os.kill(int(pid.read_text().split()[0]), 9)
        engine.restart()
        assert engine.execute(USERS, small, LIMITS).table.rows == ((3,),)
    finally:
        engine.stop()


def test_two_processes_never_share_a_place(pg: PostgresEngine, pg_instance: Instance) -> None:
    """The engine of another process (here: another object) on the same server takes another one."""
    other: PostgresEngine = pickle.loads(pickle.dumps(pg))
    mine, theirs = ad_hoc(pg_instance, "small_5", 1), ad_hoc(pg_instance, "small_5", 2)
    pg.load(mine)
    other.load(theirs)
    assert pg.execute(USERS, mine, LIMITS).table.rows == ((1,),)
    assert other.execute(USERS, theirs, LIMITS).table.rows == ((2,),)
    other.stop()
    pg.drop(mine)


def test_refused_rows_cost_no_other_instance(pg: PostgresEngine, pg_instance: Instance) -> None:
    def orders_of_nobody() -> Dataset:
        whole = pg_instance.dataset()
        return replace(whole, rows={**whole.rows, "users": []})

    with pytest.raises(InputError, match="orders"):
        pg.load(replace(pg_instance, key="bad", dataset=orders_of_nobody, ad_hoc=True))
    good = ad_hoc(pg_instance, "good", 2)
    pg.load(good)
    assert pg.execute(USERS, good, LIMITS).table.rows == ((2,),)
    assert pg.execute(ORDERS, good, LIMITS).table.rows == ((0,),)
    pg.drop(good)


def test_a_kept_instance_can_be_dropped(
    pg: PostgresEngine, pg_new_instance: Callable[..., Instance]
) -> None:
    instance = pg_new_instance("shop_to_drop")
    pg.load(instance)
    pg.drop(instance)
    assert instance.key not in kept(pg._running())
    assert pg.execute(ORDERS, instance, LIMITS).table.rows == ((2000,),)  # made anew
    pg.drop(instance)


def test_typeql_forgets_what_is_dropped() -> None:
    engine = EmbeddedTypeqlEngine(
        language="typeql", name="typeql", keep_instances=4, max_steps=10**8, max_cells=10**6
    )
    made = []
    instance = make_instance()

    def counted() -> Dataset:
        made.append(1)
        return instance.dataset()

    small = replace(instance, key="small", dataset=counted, ad_hoc=True)
    for _ in range(2):
        engine.load(small)
        engine.load(small)
        engine.drop(small)
        engine.drop(small)
    assert len(made) == 2
