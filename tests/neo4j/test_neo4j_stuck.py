"""Queries that Neo4j can't stop: a verdict for each, and no processor is burnt for long."""

import time
from collections.abc import Callable

import psutil
import pytest

from qeval.engines import warm
from qeval.engines.base import EngineLostError, QueryError, QueryLimits
from qeval.engines.neo4j import Neo4jEngine
from qeval.suite import Instance

# Java's regular expressions backtrack without end, and nothing interrupts them.
EVIL = f"RETURN '{'a' * 60}' =~ '(.*a){{20}}b'"
COUNT = "MATCH (u:User) RETURN count(u)"


def run_evil(engine: Neo4jEngine, instance: Instance) -> None:
    with pytest.raises(QueryError) as caught:
        engine.execute(EVIL, instance, QueryLimits(timeout_s=1))
    assert caught.value.kind == "timeout"


def count(engine: Neo4jEngine, instance: Instance) -> object:
    return engine.execute(COUNT, instance, QueryLimits()).table.rows


def test_it_is_a_timeout_and_a_warm_server_starts_anew(
    neo_make: Callable[..., Neo4jEngine], shop: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qeval.engines.neo4j.engine._STUCK_S", 0.0)
    engine = neo_make()
    stuck = engine.up()
    try:
        engine.start()
        run_evil(engine, shop)
        assert count(engine, shop) == ((100,),)
        assert not stuck.alive()
        (other,) = [one for one in warm.running() if one.engine == "neo4j"]
        assert other.pid != stuck.pid
        assert engine._slot_folder == other.address
    finally:
        engine.stop()
        for one in warm.running():
            warm.stop(one)


def test_a_server_that_nobody_asks_any_more_ends_itself(
    neo_make: Callable[..., Neo4jEngine], shop: Instance
) -> None:
    engine = neo_make(server={"unstoppable_s": 0.5})
    try:
        engine.start()
        run_evil(engine, shop)
        embedded = engine._embedded
        assert embedded is not None
        assert embedded._process is not None
        deadline = time.monotonic() + 30
        while embedded._process.exit_code is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert not any(
            (process.info["cmdline"] or [""])[-1] == engine._slot_folder
            for process in psutil.process_iter(["cmdline"])
        )
        with pytest.raises(EngineLostError):
            count(engine, shop)
        engine.restart()
        assert count(engine, shop) == ((100,),)
    finally:
        engine.stop()
