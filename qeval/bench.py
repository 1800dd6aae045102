"""Where queries of a sweep run: an engine, its instances, and what the golds returned on them."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from qeval.engines.base import Engine, EngineInfo, EngineLostError, QueryError
from qeval.errors import EngineUnavailableError
from qeval.golds import GoldTables
from qeval.scoring.table import Table
from qeval.sharing import SharedOutcomes, repeatable
from qeval.suite import Case, Instance

if TYPE_CHECKING:
    from qeval.cells import Cell

T = TypeVar("T")


class GoldError(Exception):
    """A gold failed on an instance: the case can't be judged."""


class Bench:
    """A started engine, its instances and the gold tables found on them; shared by all threads.

    `before` has each instance that was made ready and its fingerprint of then, by its key.
    """

    def __init__(self, engine: Engine, info: EngineInfo) -> None:
        self.engine = engine
        self.info = info
        self.label = str(info)
        self.shared = SharedOutcomes()
        self.kept = GoldTables(info)
        self._golds: dict[tuple[str, str, str], Table | GoldError] = {}
        self._gold_locks: dict[tuple[str, str, str], threading.Lock] = {}
        self._ready_locks: dict[str, threading.Lock] = {}
        self._instances: dict[tuple[str, str, str], Instance] = {}
        self.before: dict[str, tuple[Instance, str]] = {}
        self._lock = threading.Lock()
        self._epoch = 0
        self._restarts_left = 1

    def lasting(self, work: Callable[[], T]) -> T:
        """Do `work`; if the engine is lost, bring it back (once a sweep) and do it again."""
        epoch = self._epoch
        try:
            return work()
        except EngineLostError as error:
            with self._lock:
                if self._epoch == epoch:
                    if not self._restarts_left:
                        raise
                    self._restarts_left -= 1
                    try:
                        self.engine.restart()
                    except EngineUnavailableError as failure:
                        raise EngineLostError(f"{error}; restarting failed: {failure}") from failure
                    self._epoch += 1
            return work()

    def instance(self, cell: "Cell", name: str) -> Instance:
        """The instance `name` of the cell's suite in its language."""
        key = (cell.suite.content_hash, cell.language.name, name)
        if key not in self._instances:
            self._instances[key] = cell.suite.instance(cell.language.name, name)
        return self._instances[key]

    def ready(self, cell: "Cell", name: str) -> Instance:
        """The instance, loaded; its fingerprint is taken before anything is asked of it."""
        instance = self.instance(cell, name)
        if instance.key not in self.before:
            with self._lock:
                lock = self._ready_locks.setdefault(instance.key, threading.Lock())
            with lock:
                if instance.key not in self.before:
                    self.engine.load(instance)
                    self.before[instance.key] = (instance, self.engine.fingerprint(instance))
        return instance

    def gold(self, cell: "Cell", case: Case, instance_name: str) -> Table:
        """The gold's table on an instance, executed once. Raises `GoldError`."""
        instance = self.ready(cell, instance_name)
        key = (case.id, cell.language.name, instance.key)
        with self._lock:
            lock = self._gold_locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._golds:
                self._golds[key] = self._gold(cell, case.gold[cell.language.name], instance)
            found = self._golds[key]
        if isinstance(found, GoldError):
            raise found
        return found

    def _gold(self, cell: "Cell", query: str, instance: Instance) -> Table | GoldError:
        keep = cell.keep_golds and repeatable(cell.language, query)
        fingerprint = self.before[instance.key][1]
        kept = self.kept.find(query, fingerprint, cell.limits) if keep else None
        if kept is not None:
            return kept
        try:
            execution = self.engine.execute(query, instance, cell.limits)
        except QueryError as error:
            return GoldError(f"{error.kind}: {error.message}")
        if execution.truncated:
            return GoldError("its result is larger than limits allow")
        if keep:
            self.kept.add(query, fingerprint, cell.limits, execution.table)
        return execution.table
