"""Starting the server in a slot, and asking it for data sets.

The JVM runs `launcher/Launcher.java`, which serves each data set of `<slot>/instances/` as a
database management system of its own: own store, own port, shared heap. It is asked through files
in `<slot>/control/`, so that any process that finds a warm server can ask as well.
"""

import itertools
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from qeval.engines.base import EngineLostError
from qeval.engines.neo4j.archive import Runtime
from qeval.engines.process import Launch, Supervised, detach
from qeval.engines.slots import Slot, forget_after_reboot
from qeval.errors import EngineUnavailableError


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Tunable settings of the embedded server (`conf/engine/neo4j.yaml`); sizes in MB."""

    start_timeout_s: float
    heap_mb: int
    direct_memory_mb: int
    page_cache_mb: int
    cached_plans: int
    query_memory_mb: int
    total_query_memory_mb: int
    unstoppable_s: float
    class_data_archive: bool


_PROCEDURES = (
    "db.labels", "db.relationshipTypes", "db.propertyKeys", "db.schema.*",
    "db.index.fulltext.query*", "db.createLabel", "db.createRelationshipType",
    "db.createProperty", "db.awaitIndexes",
)  # fmt: skip
_COUNTER = itertools.count()
_PATIENCE_S = 120.0  # of a server that runs, on a machine that may be busy


@dataclass(frozen=True, slots=True)
class Control:
    """How to ask the server in `folder` (a slot) for data sets; `alive` tells whether it runs."""

    folder: Path
    alive: Callable[[], bool] = field(repr=False)

    @property
    def log(self) -> Path:
        """What the JVM printed."""
        return self.folder / "log"

    def instance(self, key: str) -> Path:
        """The folder of a data set's store."""
        return self.folder / "instances" / key

    def scratch(self, key: str) -> Path:
        """The file that a small data set is handed over in."""
        return self.folder / "scratch" / f"{key}.graph"

    def ask(self, verb: str, key: str, *more: object, patience_s: float = _PATIENCE_S) -> int:
        """Have a data set opened, loaded, closed, lent or taken back (`Launcher.java` says how);
        returns its port, 0 where it is no longer served.

        Raises `EngineLostError` where the server is gone and `RefusedError` where it can't.
        """
        name = f"{key}-{os.getpid()}-{next(_COUNTER)}"
        folder = self.folder / "control"
        partial = folder / f"{name}.asked"
        partial.write_text(" ".join(map(str, (verb, key, *more))))
        partial.replace(folder / f"{name}.request")
        answer = folder / f"{name}.answer"
        deadline = time.monotonic() + patience_s
        while not answer.exists():
            if not self.alive():
                raise EngineLostError(f"Neo4j is gone. Log: {self.log}\n{tail(self.log)}")
            if time.monotonic() > deadline:
                raise EngineLostError(
                    f"Neo4j did not {verb} {key} within {patience_s:g} s. Log: {self.log}"
                )
            time.sleep(0.002)
        word, _, rest = answer.read_text(encoding="utf-8").partition(" ")
        answer.unlink(missing_ok=True)
        if word != "ok":
            raise RefusedError(
                f"Neo4j can't {verb} {key}: {rest.strip()}. "
                f"Logs: {self.log} and {self.instance(key) / 'logs'}"
            )
        return int(rest or 0)


class RefusedError(Exception):
    """The server runs but can't serve a data set: a damaged store, a full disk."""


def start(runtime: Runtime, slot: Slot, settings: ServerSettings) -> tuple[Control, Supervised]:
    """Start a server that dies with this process; it answers a moment later."""
    launch = prepare(runtime, slot, settings)
    process = Supervised(launch)
    return Control(slot.folder, lambda: process.exit_code is None), process


def start_detached(runtime: Runtime, slot: Slot, settings: ServerSettings) -> int:
    """Start a server that outlives this process; returns its process id."""
    return detach(prepare(runtime, slot, settings))


def prepare(
    runtime: Runtime, slot: Slot, settings: ServerSettings, extra: tuple[str, ...] = ()
) -> Launch:
    """Write the slot's configuration and say how to start its server."""
    forget_after_reboot(slot, "instances", "templates")
    for name in ("control", "scratch"):
        shutil.rmtree(slot.folder / name, ignore_errors=True)
    for name in ("control", "scratch", "templates", "instances"):
        (slot.folder / name).mkdir(exist_ok=True)
    lines = _configuration(settings)
    (slot.folder / "neo4j.conf").write_text("\n".join(lines))
    lines.append("server.databases.default_to_read_only=true")
    (slot.folder / "neo4j-sealed.conf").write_text("\n".join(lines))
    log = slot.folder / "log"
    log.write_bytes(b"")
    return Launch(
        command=runtime.command([*_jvm_options(settings), *extra], slot.folder),
        log=log,
        folder=slot.folder,
        environment=_environment(),
        lock_fd=slot.lock_fd,
        # Sealed data is never written again and unsealed data is loaded anew: nothing to lose.
        stop_signal="KILL",
        grace_s=1,
    )


def tail(log: Path, lines: int = 8) -> str:
    """The last lines of a log, for an error message."""
    try:
        text = log.read_text(errors="replace")
    except OSError:
        return ""
    return "\n".join(f"  {line[:300]}" for line in text.splitlines()[-lines:])


def await_first(control: Control, key: str, timeout_s: float) -> int:
    """Open a data set on a server that was just started. Raises `EngineUnavailableError`."""
    try:
        return control.ask("open", key, patience_s=timeout_s)
    except EngineLostError as error:
        raise EngineUnavailableError(
            f"Neo4j could not start: {error}\nWays out: another Java (JAVA_HOME), more memory "
            "(engine.server.heap_mb), or QEVAL_NEO4J_URI for a server of your own."
        ) from error


def _jvm_options(settings: ServerSettings) -> list[str]:
    return [
        f"-Xmx{settings.heap_mb}m",
        "-Xms48m",
        # A small young generation, and an old one that shrinks after each full collection.
        "-Xmn32m",
        "-XX:MinHeapFreeRatio=10",
        "-XX:MaxHeapFreeRatio=20",
        f"-XX:MaxDirectMemorySize={settings.direct_memory_mb}m",
        "-XX:+UseSerialGC",
        # The optimising compiler costs more seconds than short queries on small data give back.
        "-XX:TieredStopAtLevel=1",
        "-XX:-UsePerfData",
        # Unmoved, most of the class-data archive stays what it is: pages of a file.
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:ArchiveRelocationMode=0",
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:TrimNativeHeapInterval=10000",  # ms
        "-Xss1m",
        f"-Dqeval.unstoppable_s={settings.unstoppable_s:g}",
        f"-Dqeval.cached_plans={settings.cached_plans}",
        "-Duser.timezone=UTC",
        "-Dfile.encoding=UTF-8",
        "-Djava.awt.headless=true",
        *(f"--add-opens=java.base/{name}=ALL-UNNAMED"
          for name in ("java.nio", "java.io", "sun.nio.ch")),
    ]  # fmt: skip


def _configuration(settings: ServerSettings) -> list[str]:
    return [
        "server.bolt.enabled=true",
        "server.bolt.listen_address=127.0.0.1:0",  # the system chooses free ports
        "server.bolt.thread_pool_max_size=40",
        "dbms.security.auth_enabled=false",
        # The walls behind the static check: nothing is read from files or the network, and no
        # procedure beyond the built-in read-only ones is there to be called.
        "dbms.security.allow_csv_import_from_file_urls=false",
        "internal.dbms.cypher_ip_blocklist=0.0.0.0/0,::/0",
        f"dbms.security.procedures.allowlist={','.join(_PROCEDURES)}",
        f"db.memory.transaction.max={settings.query_memory_mb}m",
        f"dbms.memory.transaction.total.max={settings.total_query_memory_mb}m",
        "db.transaction.monitor.check.interval=200ms",
        f"server.memory.pagecache.size={settings.page_cache_mb}m",
        "internal.dbms.page_cache_close_allocator_on_shutdown=true",
        f"server.memory.query_cache.per_db_cache_num_entries={settings.cached_plans}",
        "internal.dbms.force_small_id_cache=true",
        # By name, UTC would make datetime() unequal to the same moment as it is stored: offset Z.
        "db.temporal.timezone=Z",
        # Data sets of different sizes share plans (SharedPlans.java), which never get too old.
        "dbms.cypher.min_replan_interval=365d",
        "internal.cypher.replan_algorithm=NONE",
        "internal.cypher.expression_recompilation_limit=1000000000",
        "db.tx_log.preallocate=false",
        "db.tx_log.rotation.size=8m",
        "db.tx_log.rotation.retention_policy=keep_none",
        "db.logs.query.enabled=OFF",
        # Sealing closes and reopens a data set: nobody is connected, so nothing to wait for.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period=0",
        "internal.server.bolt.thread_pool_shutdown_wait_time=0s",
        "internal.server.bolt.connection_shutdown_wait_time=0s",
        "dbms.usage_report.enabled=false",
    ]


def _environment() -> dict[str, str]:
    """Ours, less what would change how the JVM behaves or talks."""
    changed = {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"}
    kept = {name: value for name, value in os.environ.items() if name not in changed}
    # Else glibc keeps 64 MB of address space and some of memory for each thread that ever ran.
    return {**kept, "MALLOC_ARENA_MAX": "1"}
