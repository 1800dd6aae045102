"""The data sets of an embedded server: opened where kept, else loaded, sealed and kept."""

import contextlib
import json
import os
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qeval.engines.base import EngineLostError
from qeval.engines.neo4j.launch import Control, RefusedError
from qeval.engines.neo4j.load import counts, fill
from qeval.engines.neo4j.server import connect
from qeval.suite import Instance

_COUNTS = "counts.json"


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

    def close(self) -> None:
        """Close all connections; the server keeps its data sets open."""
        with self._lock:
            drivers, self._drivers = list(self._drivers.values()), {}
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
        key = instance.key
        folder.mkdir()
        try:
            driver = connect(self.control.ask("open", key), self._connections)
            try:
                made = fill(driver, None, instance)
            finally:
                driver.close()
            (folder / _COUNTS).write_text(json.dumps(made))
            return connect(self.control.ask("seal", key), self._connections)
        except RefusedError as error:
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
            driver.close()
            with contextlib.suppress(RefusedError):
                self.control.ask("close", idle)


def kept(folder: Path) -> list[str]:
    """Keys of the data sets kept in a slot, most recently used first."""
    found = [path for path in (folder / "instances").glob(f"*/{_COUNTS}")
             if (path.parent / "sealed").is_file()]  # fmt: skip
    found.sort(key=lambda path: -path.stat().st_mtime)
    return [path.parent.name for path in found]
