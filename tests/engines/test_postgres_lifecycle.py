"""Starting, keeping, losing and stopping the embedded server, as root and as a normal user."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from qeval.engines.base import EngineLostError, QueryError, QueryLimits
from qeval.engines.postgres import PostgresEngine
from qeval.engines.process import Launch, Supervised
from qeval.engines.slots import take
from qeval.errors import EngineUnavailableError, InputError
from qeval.paths import NoCacheError
from qeval.suite import Instance

LIMITS = QueryLimits()
COUNT = "SELECT count(*) FROM orders"
MakeEngine = Callable[..., PostgresEngine]

# A process of its own that starts an engine, says so, and waits for its end.
OWNER = """
import json, sys
from omegaconf import OmegaConf
from qeval.engines.base import QueryLimits
from qeval.engines.postgres import PostgresEngine
from qeval.paths import shipped
config = OmegaConf.load(shipped("conf") / "engine/postgres.yaml")
settings = OmegaConf.to_container(config, resolve=True)
del settings["_target_"]
engine = PostgresEngine(**settings)
print(json.dumps(str(engine.start())), flush=True)
sys.stdin.read()
engine.stop()
"""


@contextmanager
def owner() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "embedded" in json.loads(process.stdout.readline())
        try:
            yield process
        finally:
            process.kill()


def postmasters(cache: Path) -> dict[str, int]:
    """Process id of the server in each slot."""
    found = {}
    for path in cache.glob("postgres/*/slot-*/data/postmaster.pid"):
        pid = int(path.read_text().split()[0])
        if psutil.pid_exists(pid):
            found[path.parent.parent.name] = pid
    return found


def eventually(condition: Callable[[], Any], seconds: float = 10) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    pytest.fail("did not happen")


def test_data_is_kept_and_recognised(
    cache: Path, pg_make: MakeEngine, pg_new_instance: Callable[..., Instance]
) -> None:
    first = pg_make()
    instance = pg_new_instance()
    try:
        first.start()
        first.load(instance)
        print_ = first.fingerprint(instance)
    finally:
        first.stop()
        first.stop()
    assert postmasters(cache) == {}

    def never() -> Any:
        pytest.fail("the data was generated again")

    again = pg_make()
    kept = Instance(instance.key, "base", instance.schema, {}, never)
    try:
        again.start()
        again.load(kept)
        assert again.fingerprint(kept) == print_
        assert again.execute(COUNT, kept, LIMITS).table.rows == ((2000,),)
    finally:
        again.stop()


def test_fingerprint_sees_values_not_order(
    pg: PostgresEngine, pg_new_instance: Callable[..., Instance], pg_instance: Instance
) -> None:
    def backwards() -> Any:
        dataset = pg_instance.dataset()
        rows = {name: list(reversed(rows)) for name, rows in dataset.rows.items()}
        return type(dataset)(dataset.tables, rows, dataset.reference_date)

    shuffled = Instance("shop_shuffled", "base", pg_instance.schema, {}, backwards)
    shifted = pg_new_instance("shop_shifted", shift=1)
    for instance in (shuffled, shifted):
        pg.load(instance)
    assert pg.fingerprint(shuffled) == pg.fingerprint(pg_instance)
    assert pg.fingerprint(shifted) != pg.fingerprint(pg_instance)


def test_killed_server_comes_back_with_its_data(
    cache: Path, pg_make: MakeEngine, pg_instance: Instance
) -> None:
    engine = pg_make()
    try:
        engine.start()
        before = engine.execute(COUNT, pg_instance, LIMITS).table
        (pid,) = postmasters(cache).values()
        # In the middle of a query of this very engine.
        killer = subprocess.Popen(["/bin/sh", "-c", f"sleep 0.3; kill -9 {pid}"])
        with pytest.raises(EngineLostError):
            engine.execute("SELECT pg_sleep(30)", pg_instance, LIMITS)
        killer.wait()
        with pytest.raises(EngineLostError):
            engine.execute(COUNT, pg_instance, LIMITS)
        engine.restart()
        assert engine.execute(COUNT, pg_instance, LIMITS).table == before
        assert engine.start().origin == "embedded"
        engine.restart()  # nothing to repair: nothing breaks
        assert engine.execute(COUNT, pg_instance, LIMITS).table == before
    finally:
        engine.stop()
    assert eventually(lambda: not postmasters(cache))


def test_server_killed_while_loading(
    cache: Path, pg_make: MakeEngine, pg_instance: Instance
) -> None:
    def deadly() -> Any:
        (pid,) = postmasters(cache).values()
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not postmasters(cache))
        return pg_instance.dataset()

    doomed = Instance(pg_instance.key, "base", pg_instance.schema, {}, deadly)
    engine = pg_make()
    try:
        engine.start()
        with pytest.raises(EngineLostError):
            engine.load(doomed)
        for call in (engine.load, engine.fingerprint):
            with pytest.raises(EngineLostError):
                call(pg_instance)
        engine.restart()
        engine.load(pg_instance)
        assert engine.execute(COUNT, pg_instance, LIMITS).table.rows == ((2000,),)
    finally:
        engine.stop()


def test_queries_are_not_written_to_the_log(
    cache: Path, pg_make: MakeEngine, pg_instance: Instance
) -> None:
    engine = pg_make()
    try:
        engine.start()
        with pytest.raises(QueryError):
            engine.execute("SELECT 'secret' / 0", pg_instance, LIMITS)
    finally:
        engine.stop()
    (log,) = cache.glob("postgres/*/slot-1/log")
    assert "ready to accept connections" in log.read_text()
    assert "secret" not in log.read_text()


def test_stopped_server_is_given_up_not_waited_for(
    cache: Path, pg_make: MakeEngine, pg_instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qeval.engines.postgres.session._PATIENCE_S", 0.5)
    monkeypatch.setattr("qeval.engines.postgres.server._CONNECT_TIMEOUT_S", 2)
    engine = pg_make()
    frozen: list[psutil.Process] = []
    try:
        engine.start()
        engine.load(pg_instance)
        (pid,) = postmasters(cache).values()
        frozen = [psutil.Process(pid), *psutil.Process(pid).children()]
        for process in frozen:
            process.send_signal(signal.SIGSTOP)
        with pytest.raises(EngineLostError):
            engine.execute(COUNT, pg_instance, QueryLimits(timeout_s=0.2))
        engine.restart()
        assert engine.execute(COUNT, pg_instance, LIMITS).table.rows == ((2000,),)
    finally:
        engine.stop()
        for process in frozen:  # awake they see that their server is gone, and end
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_no_orphan_when_the_owner_dies(cache: Path, end: signal.Signals) -> None:
    with owner() as process:
        (pid,) = postmasters(cache).values()
        process.send_signal(end)
        process.wait()
        assert eventually(lambda: not psutil.pid_exists(pid))


def test_the_terminals_interrupt_does_not_reach_the_server(cache: Path) -> None:
    """A server in its owner's session would be stopped by Ctrl-C before the owner has finished."""
    with owner() as process:
        (pid,) = postmasters(cache).values()
        assert os.getsid(pid) != os.getsid(process.pid)
        assert os.getpgid(pid) != os.getpgid(process.pid)


def test_two_processes_have_two_servers(
    cache: Path, pg_make: MakeEngine, pg_instance: Instance
) -> None:
    engine = pg_make()
    with owner():
        try:
            engine.start()
            engine.load(pg_instance)
            assert set(postmasters(cache)) == {"slot-1", "slot-2"}
            assert engine.execute(COUNT, pg_instance, LIMITS).table.rows == ((2000,),)
        finally:
            engine.stop()
    # The first slot is free again once its server is gone, and taken first.
    assert eventually(lambda: not postmasters(cache))
    try:
        engine.start()
        assert set(postmasters(cache)) == {"slot-1"}
    finally:
        engine.stop()


def test_half_loaded_instance_is_rebuilt(
    cache: Path, pg_make: MakeEngine, pg_instance: Instance
) -> None:
    def interrupted() -> Any:
        raise KeyboardInterrupt

    half = Instance(pg_instance.key, "base", pg_instance.schema, {}, interrupted)
    engine = pg_make()
    try:
        engine.start()
        with pytest.raises(KeyboardInterrupt):
            engine.load(half)
        engine.load(pg_instance)
        assert engine.execute(COUNT, pg_instance, LIMITS).table.rows == ((2000,),)
    finally:
        engine.stop()
    assert cache.is_dir()


@pytest.mark.parametrize("damage", ["wal", "control", "stale pid", "reboot"])
def test_damaged_data_folder_is_rebuilt(
    cache: Path, pg_make: MakeEngine, pg_instance: Instance, damage: str
) -> None:
    engine = pg_make()
    engine.start()
    engine.load(pg_instance)
    engine.stop()
    (slot,) = cache.glob("postgres/*/slot-1")
    data = slot / "data"
    if damage == "wal":
        for path in (data / "pg_wal").glob("0*"):
            path.unlink()
    elif damage == "control":
        (data / "global/pg_control").write_bytes(b"nonsense")
    elif damage == "stale pid":
        (data / "postmaster.pid").write_text(f"{os.getpid()}\n{data}\n1\n5432\n\n\n 1 2\n")
    else:
        (slot / "boot").write_text("another boot")
    try:
        engine.start()
        assert engine.execute(COUNT, pg_instance, LIMITS).table.rows == ((2000,),)
    finally:
        engine.stop()


def test_least_recently_used_instances_go(
    cache: Path, pg_make: MakeEngine, pg_new_instance: Callable[..., Instance]
) -> None:
    from qeval.engines.postgres.load import kept

    first, second, third = (pg_new_instance(key) for key in ("shop_a", "shop_b", "shop_c"))
    engine = pg_make(keep_instances=2)
    try:
        engine.start()
        # A copy as another process would have it: same server, another set of instances in use.
        other = pickle.loads(pickle.dumps(engine))
        for instance in (first, second):
            engine.load(instance)
        other.load(third)
        assert kept(engine._running()) == ["shop_c", "shop_b"]
        # Noticed when it is needed, and loaded again.
        assert engine.execute(COUNT, first, LIMITS).table.rows == ((2000,),)
        other.stop()
        assert engine.execute(COUNT, second, LIMITS).table.rows == ((2000,),)
    finally:
        engine.stop()
    assert cache.is_dir()


def test_schema_and_rows_that_postgres_refuses(
    pg: PostgresEngine, pg_new_instance: Callable[..., Instance]
) -> None:
    with pytest.raises(InputError, match=r"schema of base:1: PostgreSQL refuses it.*nix"):
        pg.load(pg_new_instance("shop_bad_ddl", schema="CREATE TABLE users (id nix)"))
    narrow = "CREATE TABLE users (id integer, name varchar(3), born date, spent numeric);"
    with pytest.raises(InputError, match="refuses the rows of table 'users'"):
        pg.load(pg_new_instance("shop_bad_rows", schema=narrow))


def test_long_cache_path_still_gets_a_socket(
    cache: Path, pg_make: MakeEngine, pg_instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = cache / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    (cache / "postgres").rename(deep / "postgres")
    monkeypatch.setenv("QEVAL_CACHE", str(deep))
    engine = pg_make()
    try:
        engine.start()
        assert engine.execute(COUNT, pg_instance, LIMITS).table.rows == ((2000,),)
    finally:
        engine.stop()


def test_no_room_for_a_socket_is_explained(
    cache: Path, pg_make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qeval.engines.postgres.launch._SOCKET_PATH_MAX", 10)
    with pytest.raises(EngineUnavailableError, match=r"longer than 10 bytes.*shorter path"):
        pg_make().start()
    assert cache.is_dir()


# A server whose preparation works; what it does when it is started is filled in.
STARTS = (
    'case "$1" in --version) echo "postgres (PostgreSQL) 18.0";; --single) exit 0;; *) {};; esac'
)


def script(path: Path, text: str) -> None:
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("postgres", "initdb", "message"),
    [
        (None, None, "no postgres and initdb in it"),
        ("echo wrong arch >&2; exit 126", "exit 0", "wrong arch"),
        ("echo 'postgres (PostgreSQL) 11.4'", "exit 0", "version 11.4 is older than 13"),
        ("echo hello", "exit 0", "unexpected version 'hello'"),
        (
            "echo 'postgres (PostgreSQL) 18.0'",
            "echo 'initdb: could not write: No space left on device' >&2; exit 1",
            "initdb of engine.bin PostgreSQL 18.0 failed .* the disk is full",
        ),
        (
            STARTS.format("echo 'FATAL: could not create semaphores' >&2; exit 1"),
            "exit 0",
            "the system allows no more semaphores.*Log: ",
        ),
        (
            STARTS.format("echo 'FATAL: strange' >&2; exit 1"),
            "exit 0",
            "strange.*New data did not help",
        ),
        (
            STARTS.format("exec sleep 60"),
            "exit 0",
            r"did not answer within 0.3 s \(engine.start_timeout_s\). Log: ",
        ),
    ],
)
def test_failures_to_start_are_explained(  # noqa: PLR0917
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pg_make: MakeEngine,
    postgres: str | None,
    initdb: str | None,
    message: str,
) -> None:
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "bin"
    folder.mkdir()
    if postgres is not None and initdb is not None:
        script(folder / "postgres", postgres)
        script(folder / "initdb", initdb)
    with pytest.raises(EngineUnavailableError, match=rf"(?s){message}"):
        pg_make(bin=str(folder), server={"start_timeout_s": 0.3}).start()


def test_a_folder_that_can_not_be_written_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pg_make: MakeEngine
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "file"))
    with pytest.raises(NoCacheError, match="Set QEVAL_CACHE"):
        pg_make().start()


def test_a_server_that_ignores_the_polite_stop_is_killed(tmp_path: Path) -> None:
    slot = take(tmp_path)
    server = Supervised(
        Launch(
            command=["/bin/sh", "-c", "trap '' INT; echo ready >&2; while :; do sleep 0.1; done"],
            log=tmp_path / "log",
            folder=tmp_path,
            environment={"PATH": os.environ["PATH"]},
            lock_fd=slot.lock_fd,
            grace_s=1,
        )
    )
    eventually(lambda: "ready" in (tmp_path / "log").read_text())
    assert server.exit_code is None
    server.stop()
    assert server.exit_code is not None
    slot.free()
    eventually(lambda: _is_free(tmp_path))


def test_forked_children_do_not_delay_the_stop(tmp_path: Path) -> None:
    slot = take(tmp_path)
    server = Supervised(
        Launch(
            command=[
                "/bin/sh",
                "-c",
                "trap 'exit 7' USR1; echo ready >&2; while :; do sleep 0.1; done",
            ],
            log=tmp_path / "log",
            folder=tmp_path,
            environment={"PATH": os.environ["PATH"]},
            lock_fd=slot.lock_fd,
            stop_signal="USR1",
            grace_s=60,
        )
    )
    eventually(lambda: "ready" in (tmp_path / "log").read_text())
    assert server._process.stdin is not None
    inherited = os.dup(server._process.stdin.fileno())
    server.stop()
    assert server.exit_code == 7
    os.close(inherited)
    slot.free()


def test_a_slot_is_taken_as_long_as_its_server_lives(tmp_path: Path) -> None:
    slot = take(tmp_path)
    server = Supervised(
        Launch(
            command=["sleep", "60"],
            log=tmp_path / "log",
            folder=tmp_path,
            environment={"PATH": os.environ["PATH"]},
            lock_fd=slot.lock_fd,
        )
    )
    slot.free()
    assert not _is_free(tmp_path)
    server.kill()
    eventually(lambda: _is_free(tmp_path))


def _is_free(pool: Path) -> bool:
    slot = take(pool)
    slot.free()
    return slot.folder.name == "slot-1"
