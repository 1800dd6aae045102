"""The data sets of an embedded server: opened where kept, else loaded, sealed and kept.

Ad hoc ones are never kept: the server lends a system from its pool, which is filled in milliseconds
and wiped when they are dropped.
"""

import contextlib
import hashlib
import json
import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qeval.engines.base import EngineLostError
from qeval.engines.neo4j.graph_file import write_graph
from qeval.engines.neo4j.launch import Control, RefusedError
from qeval.engines.neo4j.load import counts, statements
from qeval.engines.neo4j.mapping import GraphMapping
from qeval.engines.neo4j.server import connect
from qeval.errors import InputError
from qeval.suite import Instance

_COUNTS = "counts.json"
_PARTING_S = 3.0


class Stores:
    """Drivers of all open data sets of one server. Used from many threads.

    `connections` per data set at once; `most_open` data sets are open at once, `most_kept` stay
    on disk: the least recently used go first.
    """

    def __init__(self, control: Control, connections: int, most_open: int, most_kept: int) -> None:
        self.control = control
        self._connections = connections
        self._most_open = most_open
        self._most_kept = most_kept
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)  # notified when a lease ends
        self._lent: dict[int, Any] = {}  # drivers of pooled systems, by their port
        self._opening: dict[str, threading.Lock] = {}
        self._drivers: dict[str, Any] = {}  # least recently used first
        self._in_use: Counter[str] = Counter()

    @contextmanager
    def leased(self, instance: Instance) -> Iterator[Any]:
        """The driver of an instance, opened or loaded where needed."""
        key = instance.key
        with self._lock:
            self._in_use[key] += 1
        try:
            yield self._driver(instance)
        finally:
            with self._lock:
                self._in_use[key] -= 1
                self._idle.notify_all()

    def drop(self, instance: Instance) -> None:
        """Free an instance, in memory and on disk, once nobody uses it any more."""
        key = instance.key
        with self._lock:
            self._idle.wait_for(lambda: not self._in_use[key])
            driver = self._drivers.pop(key, None)
            self._opening.pop(key, None)
            del self._in_use[key]
        if instance.ad_hoc:
            if driver is not None:
                self._refusals_are_losses("return", _borrowed(key))
            return
        if driver is not None:
            driver.close()
        folder = self.control.instance(key)
        if folder.exists():
            self._forget(key, folder)

    def close(self) -> None:
        """Close all connections; the server keeps its data sets open."""
        with self._lock:
            drivers = {*self._drivers.values(), *self._lent.values()}
            lent = [key for key, driver in self._drivers.items() if driver in self._lent.values()]
            self._drivers, self._lent = {}, {}
        for key in lent:
            with contextlib.suppress(EngineLostError, RefusedError):  # the server may be gone
                self.control.ask("return", _borrowed(key), patience_s=_PARTING_S)
        for driver in drivers:
            with contextlib.suppress(Exception):  # the server may be gone
                driver.close()

    def _driver(self, instance: Instance) -> Any:
        key = instance.key
        with self._lock:
            driver = self._drivers.get(key)
            if driver is not None:
                self._drivers[key] = self._drivers.pop(key)
                return driver
            opening = self._opening.setdefault(key, threading.Lock())
        with opening:
            with self._lock:
                driver = self._drivers.get(key)
            if driver is None:
                driver = self._open(instance)
                with self._lock:
                    self._drivers[key] = driver
                self._make_room()
        return driver

    def _open(self, instance: Instance) -> Any:
        if instance.ad_hoc:
            return self._borrow(instance)
        from filelock import FileLock

        folder = self.control.instance(instance.key)
        folder.parent.mkdir(exist_ok=True)
        with FileLock(f"{folder}.lock"):
            driver = self._reopen(instance.key, folder)
            if driver is None:
                self._forget(instance.key, folder)
                self._forget_oldest(folder.parent)
                driver = self._load(instance, folder)
            os.utime(folder / _COUNTS)
        return driver

    def _reopen(self, key: str, folder: Path) -> Any:
        """The driver of a kept store that opens and holds what it should, else None."""
        try:
            expected = json.loads((folder / _COUNTS).read_text())
            if not (folder / "sealed").is_file():
                return None
            driver = connect(self.control.ask("open", key), self._connections)
        except (OSError, ValueError, RefusedError):
            return None
        from neo4j.exceptions import DriverError, Neo4jError

        try:
            if list(counts(driver, None)) == expected:
                return driver
        except (DriverError, Neo4jError):
            pass
        driver.close()
        return None

    def _load(self, instance: Instance, folder: Path) -> Any:
        if instance.script is not None:
            return self._load_by_script(instance, folder)
        mapping = GraphMapping(instance.mapping, instance.dataset())
        # A load that was interrupted may still be under way in the server: never the same file.
        source = folder.with_name(f"{folder.name}-{os.getpid()}-{time.monotonic_ns()}.graph")
        try:
            schema = list(statements(instance.schema))
            made = write_graph(source, schema, mapping)
            port = self._refusals_are_losses(
                "load", instance.key, source.name, _model(schema, mapping)
            )
        finally:
            source.unlink(missing_ok=True)
        (folder / _COUNTS).write_text(json.dumps(made))
        return connect(port, self._connections)

    def _load_by_script(self, instance: Instance, folder: Path) -> Any:
        """Statements need a data set that can be written to; it is sealed when they are done."""
        from qeval.engines.neo4j.scripts import run_script

        folder.mkdir()
        driver = connect(self._refusals_are_losses("open", instance.key), 1)
        try:
            made = run_script(driver, None, instance)
        finally:
            driver.close()
            self.control.ask("close", instance.key)
        (folder / _COUNTS).write_text(json.dumps(made))
        (folder / "sealed").touch()
        return connect(self._refusals_are_losses("open", instance.key), self._connections)

    def _borrow(self, instance: Instance) -> Any:
        mapping = GraphMapping(instance.mapping, instance.dataset())
        schema = list(statements(instance.schema))
        name = _borrowed(instance.key)
        source = self.control.scratch(name)
        try:
            write_graph(source, schema, mapping)
            port = self._refusals_are_losses("lend", name, _model(schema, mapping), os.getpid())
        finally:
            source.unlink(missing_ok=True)
        with self._lock:
            if port not in self._lent:
                self._lent[port] = connect(port, self._connections)
            return self._lent[port]

    def _refusals_are_losses(self, verb: str, key: str, *more: object) -> int:
        try:
            return self.control.ask(verb, key, *more)
        except RefusedError as error:
            if "ConstraintViolation" in str(error) or "IndexEntryConflict" in str(error):
                raise InputError(f"the data breaks its schema's constraints: {error}") from error
            raise EngineLostError(str(error)) from error

    def _forget(self, key: str, folder: Path) -> None:
        with contextlib.suppress(RefusedError):
            self.control.ask("close", key)
        shutil.rmtree(folder, ignore_errors=True)

    def _forget_oldest(self, instances: Path) -> None:
        """Remove the stores used longest ago, beyond the number that is kept."""
        kept = sorted(instances.glob(f"*/{_COUNTS}"), key=lambda path: path.stat().st_mtime)
        for path in kept[: max(0, len(kept) + 1 - self._most_kept)]:
            with self._lock:
                busy = self._in_use[path.parent.name] or path.parent.name in self._drivers
            if not busy:
                self._forget(path.parent.name, path.parent)

    def _make_room(self) -> None:
        """Close the least recently used data sets that nobody is using."""
        while True:
            with self._lock:
                if len(self._drivers) <= self._most_open:
                    return
                idle = next((key for key in self._drivers if not self._in_use[key]), None)
                if idle is None:
                    return
                driver = self._drivers.pop(idle)
                lent = driver in self._lent.values()
            if lent:
                self._refusals_are_losses("return", _borrowed(idle))
                continue
            driver.close()
            with contextlib.suppress(RefusedError):
                self.control.ask("close", idle)


def _borrowed(key: str) -> str:
    """The name of an ad hoc instance on a server that other processes may use as well."""
    return f"{key}-{os.getpid()}"


def _model(schema: list[str], mapping: GraphMapping) -> str:
    """What the data sets have in common that can share an empty store."""
    return hashlib.sha256(repr((schema, mapping.names())).encode()).hexdigest()[:16]


def kept(folder: Path) -> list[str]:
    """Keys of the data sets kept in a slot, most recently used first."""
    found = [path for path in (folder / "instances").glob(f"*/{_COUNTS}")
             if (path.parent / "sealed").is_file()]  # fmt: skip
    found.sort(key=lambda path: -path.stat().st_mtime)
    return [path.parent.name for path in found]
