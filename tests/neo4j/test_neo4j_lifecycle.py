"""Starting, keeping, losing and stopping real servers; none is ever left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from qeval.engines import warm
from qeval.engines.base import EngineLostError, QueryLimits
from qeval.engines.neo4j import Neo4jEngine
from qeval.engines.neo4j.launch import Control
from qeval.engines.neo4j.stores import kept
from qeval.errors import EngineUnavailableError, InputError
from qeval.suite import Instance

COUNT = "MATCH (u:User) RETURN count(u)"
CHILD = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where pytest runs with &
import json, pickle, sys, time
sys.path.insert(0, {folder!r})
from conftest import make_instance, settings
from qeval.engines.neo4j import Neo4jEngine
from qeval.engines.base import QueryLimits
engine = Neo4jEngine(**settings())
engine.start()
rows = engine.execute({query!r}, make_instance(), QueryLimits()).table.rows
print(json.dumps([rows, engine._slot_folder]), flush=True)
time.sleep(600)
"""


def count(engine: Neo4jEngine, instance: Instance) -> Any:
    return engine.execute(COUNT, instance, QueryLimits()).table.rows


def servers(cache: Path) -> list[psutil.Process]:
    """All JVMs that serve a slot of this cache."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if words[:1] and words[0].endswith("java") and words[-1].startswith(str(cache)):
            found.append(process)
    return found


def gone(process: psutil.Process, patience_s: float = 10) -> bool:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def engine(neo_make: Callable[..., Neo4jEngine]) -> Iterator[Neo4jEngine]:
    made = neo_make()
    yield made
    made.stop()


@pytest.fixture
def child(neo_cache: Path) -> Iterator[Callable[[], tuple[subprocess.Popen[str], Any]]]:
    started: list[subprocess.Popen[str]] = []

    def begin() -> tuple[subprocess.Popen[str], Any]:
        code = CHILD.format(folder=str(Path(__file__).parent), query=COUNT)
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "QEVAL_CACHE": str(neo_cache)},
        )
        started.append(process)
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline())

    yield begin
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_server_outlives_its_process(
    neo_cache: Path,
    child: Callable[[], tuple[subprocess.Popen[str], Any]],
    number: signal.Signals,
) -> None:
    before = {process.pid for process in servers(neo_cache)}
    process, (rows, folder) = child()
    assert rows == [[100]]
    mine = [server for server in servers(neo_cache) if server.pid not in before]
    assert [server.cmdline()[-1] for server in mine] == [folder]
    process.send_signal(number)
    process.wait(10)
    assert gone(mine[0])


def test_two_processes_have_two_slots_and_data_is_kept(
    neo: Neo4jEngine, engine: Neo4jEngine, shop: Instance
) -> None:
    engine.start()
    assert engine._slot_folder != neo._slot_folder
    assert count(engine, shop) == count(neo, shop) == ((100,),)
    assert engine._slot_folder is not None
    slot = Path(engine._slot_folder)
    assert kept(slot)[0] == shop.key
    loaded_at = (slot / "instances" / shop.key / "counts.json").stat().st_ino
    engine.stop()
    engine.stop()
    engine.start()
    assert count(engine, shop) == ((100,),)
    assert (slot / "instances" / shop.key / "counts.json").stat().st_ino == loaded_at
    # It was killed right after the load: its indexes must be whole too.
    for query, value in (
        ("MATCH (u:User {id: 42}) USING INDEX u:User(id) RETURN u.name", "Zoë 42"),
        (
            "MATCH (o:Order) USING INDEX o:Order(total) WHERE o.total > 300 RETURN count(o)",
            99,
        ),
    ):
        assert engine.execute(query, shop, QueryLimits()).table.rows == ((value,),)
    assert engine.fingerprint(shop) == neo.fingerprint(shop)


def test_a_lost_server_is_told_apart_and_comes_back_with_its_data(
    engine: Neo4jEngine, shop: Instance
) -> None:
    engine.start()
    assert count(engine, shop) == ((100,),)
    assert engine._slot_folder is not None
    slot = Path(engine._slot_folder)
    (server,) = [p for p in servers(slot.parent) if p.cmdline()[-1] == str(slot)]
    server.kill()
    assert gone(server)
    with pytest.raises(EngineLostError):
        count(engine, shop)
    engine.restart()
    assert count(engine, shop) == ((100,),)
    # A store that was damaged meanwhile is noticed and loaded anew.
    engine.stop()
    store = slot / "instances" / shop.key / "data" / "databases" / "neo4j"
    for file in store.glob("neostore*"):
        file.write_bytes(b"")
    engine.start()
    assert count(engine, shop) == ((100,),)


def test_an_unfinished_load_is_never_trusted(
    engine: Neo4jEngine, shop: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    other = replace(shop, key="shop_unfinished")
    ask = Control.ask

    def interrupted(control: Control, *given: Any) -> Any:
        ask(control, *given)
        if given[0] == "load":
            raise KeyboardInterrupt
        return 0

    engine.start()
    with monkeypatch.context() as patch:
        patch.setattr(Control, "ask", interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.load(other)
    assert count(engine, other) == ((100,),)
    assert engine._slot_folder is not None
    store = Path(engine._slot_folder, "instances", other.key)
    assert store.is_dir()
    engine.drop(other)
    assert not store.exists()
    assert other.key not in kept(store.parent.parent)


def test_a_warm_server_is_found_shared_and_stopped_at_once(
    engine: Neo4jEngine, shop: Instance, neo_cache: Path
) -> None:
    server = engine.up()
    try:
        assert engine.up() == server
        engine.start()
        assert count(engine, shop) == ((100,),)
        assert engine._slot_folder == server.address
        assert engine.holds(server) == [shop.key]
        engine.stop()
        assert server.alive()
    finally:
        warm.stop(server)
    assert not any(p.pid == server.pid and not gone(p) for p in servers(neo_cache))


def test_a_copy_in_another_process_uses_the_same_server(neo: Neo4jEngine, shop: Instance) -> None:
    import pickle

    copy = pickle.loads(pickle.dumps(neo))
    assert count(copy, shop) == ((100,),)
    copy.stop()
    assert count(neo, shop) == ((100,),)


class TestAServerOfTheUsersOwn:
    """A data set of the embedded server that was never sealed stands in for it."""

    @pytest.fixture
    def uri(self, neo: Neo4jEngine, request: pytest.FixtureRequest) -> str:
        assert neo._stores is not None
        name = f"own_{abs(hash(request.node.name))}"
        neo._stores.control.instance(name).mkdir(exist_ok=True)
        return f"bolt://127.0.0.1:{neo._stores.control.ask('open', name)}"

    def test_instances_take_turns_in_its_one_database(
        self,
        uri: str,
        neo_make: Callable[..., Neo4jEngine],
        new_instance: Callable[..., Instance],
    ) -> None:
        from concurrent.futures import ThreadPoolExecutor

        engine = neo_make(uri=uri)
        try:
            info = engine.start()
            assert (info.name, info.version, info.origin) == ("neo4j", "5.26.30", "server")
            instances = [new_instance(f"own_{n}", shift=n) for n in range(2)]
            query = "MATCH (u:User) RETURN sum(u.spent)"
            sums = [((sum((i + n) / 4 for i in range(100)),),) for n in range(2)]

            def ask(turn: int) -> Any:
                return engine.execute(query, instances[turn % 2], QueryLimits()).table.rows

            with ThreadPoolExecutor(4) as pool:
                assert list(pool.map(ask, range(8))) == [sums[n % 2] for n in range(8)]
        finally:
            engine.stop()

    def test_foreign_data_is_left_alone(
        self, uri: str, neo_make: Callable[..., Neo4jEngine]
    ) -> None:
        from qeval.engines.neo4j.server import connect

        with connect(uri, 1) as driver, driver.session() as session:
            session.run("CREATE (:Precious)").consume()
            engine = neo_make(uri=uri)
            with pytest.raises(EngineUnavailableError, match="qeval did not load"):
                engine.start()
            engine.stop()
            assert session.run("MATCH (n:Precious) RETURN count(n)").single(strict=True)[0] == 1

    def test_secrets_are_never_shown(self, neo_make: Callable[..., Neo4jEngine]) -> None:
        engine = neo_make(uri="bolt://127.0.0.1:1", user="eve", password="hunter2")
        with pytest.raises(EngineUnavailableError) as caught:
            engine.start()
        engine.stop()
        assert "hunter2" not in str(caught.value) + repr(engine)
        assert "bolt://127.0.0.1:1" in str(caught.value)

    @pytest.mark.parametrize("sealed", [False, True], ids=["writable", "read-only"])
    def test_one_that_asks_for_a_password(
        self,
        neo: Neo4jEngine,
        neo_make: Callable[..., Neo4jEngine],
        shop: Instance,
        sealed: bool,  # noqa: FBT001 - a parameter of the test
    ) -> None:
        from qeval.engines.neo4j.server import connect

        assert neo._stores is not None
        control = neo._stores.control
        name = f"guarded_{sealed}"
        control.instance(name).mkdir()
        if sealed:
            control.ask("open", name)  # what is only read must have been made before
            control.ask("close", name)
            control.instance(name).joinpath("sealed").touch()
        for settings in ("neo4j.conf", "neo4j-sealed.conf"):
            file = control.folder / settings
            file.write_text(file.read_text().replace("auth_enabled=false", "auth_enabled=true"))
        try:
            port = control.ask("open", name)
        finally:
            for settings in ("neo4j.conf", "neo4j-sealed.conf"):
                file = control.folder / settings
                file.write_text(file.read_text().replace("auth_enabled=true", "auth_enabled=false"))
        with connect(port, 1, ("neo4j", "neo4j")) as driver, driver.session(database="system") as s:
            s.run("ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO 'correct horse'").consume()
        uri = f"bolt://127.0.0.1:{port}"
        for password in ("battery staple", None):
            engine = neo_make(uri=uri, password=password)
            with pytest.raises(EngineUnavailableError, match="QEVAL_NEO4J_PASSWORD") as caught:
                engine.start()
            engine.stop()
            assert "staple" not in str(caught.value) + repr(engine)
        engine = neo_make(uri=f"bolt://neo4j:correct%20horse@127.0.0.1:{port}")
        assert engine.start().origin == "server"
        engine.stop()
        engine = neo_make(uri=uri, password="correct horse")
        try:
            assert engine.start().origin == "server"
            if sealed:
                with pytest.raises(EngineLostError, match="read-only") as lost:
                    engine.load(shop)
                assert "horse" not in str(lost.value)
            else:
                assert count(engine, shop) == ((100,),)
        finally:
            engine.stop()

    def test_a_malformed_uri_is_an_input_error(self, neo_make: Callable[..., Neo4jEngine]) -> None:
        for uri in ("http://localhost:7474", "bolt://eve:hunter2@localhost:port"):
            with pytest.raises(InputError, match="no Neo4j URI") as caught:
                neo_make(uri=uri).start()
            assert "hunter2" not in str(caught.value)
