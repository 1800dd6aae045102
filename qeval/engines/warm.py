"""Warm engines: servers that `qeval up` left running for other commands to find.

Each has a small record below `<cache>/warm/`. Process ids are reused, so a record counts only
while the process of its id also has its start time.
"""

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from qeval.paths import cache_dir


@dataclass(frozen=True, slots=True)
class WarmServer:
    """A detached server. `started` is the process's start time and `since` the moment of `up`,
    both in seconds of the epoch; `address` is what the engine connects to.
    """

    engine: str
    version: str
    pid: int
    started: float
    since: float
    address: str
    log: str
    stop_signal: str

    @property
    def path(self) -> Path:
        """The record's file."""
        return cache_dir("warm") / f"{self.engine}-{self.pid}.json"

    def alive(self) -> bool:
        """Whether the very process that was recorded still runs."""
        import psutil

        try:
            process = psutil.Process(self.pid)
            running = process.status() != psutil.STATUS_ZOMBIE
            return running and abs(process.create_time() - self.started) < 1.0
        except psutil.Error:
            return False

    def memory_bytes(self) -> int:
        """Resident memory of the server and its children, shared pages counted once if known."""
        import psutil

        total = 0
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.pid)
            for one in (process, *process.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    info = one.memory_info()
                    total += info.rss - (getattr(info, "shared", 0) if one.pid != self.pid else 0)
        return total


@runtime_checkable
class KeepsWarm(Protocol):
    """An engine that `qeval up` can leave running; `Engine.start` looks for it by `find`."""

    def up(self) -> WarmServer:
        """Start a detached server, or return the one that is up already."""
        ...

    def holds(self, server: WarmServer) -> list[str]:
        """Keys of the instances that a warm server holds; the engine need not be started."""
        ...


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Held while a server is looked for and started, so that two `up` start one."""
    from filelock import FileLock

    with FileLock(cache_dir("warm") / "up.lock"):
        yield


def record(
    *, engine: str, version: str, pid: int, address: str, log: Path, stop_signal: str = "TERM"
) -> WarmServer:
    """Write down a server that was just detached."""
    import psutil

    server = WarmServer(
        engine=engine,
        version=version,
        pid=pid,
        started=psutil.Process(pid).create_time(),
        since=time.time(),
        address=address,
        log=str(log),
        stop_signal=stop_signal,
    )
    partial = server.path.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps(asdict(server), indent=2))
    partial.replace(server.path)
    return server


def running() -> list[WarmServer]:
    """All warm servers that are alive; records of dead ones are removed."""
    found = []
    for path in sorted(cache_dir("warm").glob("*.json")):
        try:
            server = WarmServer(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            server = None
        if server is not None and server.alive():
            found.append(server)
        else:
            path.unlink(missing_ok=True)
    return found


def find(engine: str, version: str) -> WarmServer | None:
    """The warm server of that engine and version, if there is one."""
    for server in running():
        if server.engine == engine and server.version == version:
            return server
    return None


def stop(server: WarmServer, grace_s: float = 10.0) -> None:
    """Stop a warm server politely, by force after `grace_s` seconds; returns when it is gone."""
    for name, patience_s in ((server.stop_signal, grace_s), ("KILL", 5.0)):
        if not server.alive():
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(server.pid, getattr(signal, f"SIG{name}"))
        deadline = time.monotonic() + patience_s
        while server.alive() and time.monotonic() < deadline:
            time.sleep(0.02)
    server.path.unlink(missing_ok=True)
