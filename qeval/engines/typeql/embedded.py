"""The embedded TypeQL engine: what the pipeline sees."""

import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any

from qeval.engines.base import EngineInfo, Execution, QueryLimits
from qeval.suite import Instance

if TYPE_CHECKING:
    from qeval.typeql import Database


class EmbeddedTypeqlEngine:
    """`qeval.typeql` in this process. Settings: `conf/engine/typeql.yaml`.

    Each instance is a database of its own; all stay in memory side by side, at most
    `keep_instances`. Reading is safe from many threads, but Python runs one of them at a time, so
    limits and reported times count the processor time of the query's own thread: a verdict does
    not depend on how many others run. A slow query shares the processor until its limit ends it.
    """

    def __init__(
        self, *, language: str, name: str, keep_instances: int, max_steps: int, max_cells: int
    ) -> None:
        self.language = language
        self.name = name
        self._keep = keep_instances
        self._max_steps = max_steps
        self._max_cells = max_cells
        self._init_state()

    def _init_state(self) -> None:
        self._lock = Lock()
        self._loading: dict[str, Lock] = {}
        self._databases: OrderedDict[str, Database] = OrderedDict()

    def __repr__(self) -> str:
        return f"EmbeddedTypeqlEngine({list(self._databases)})"

    def start(self) -> EngineInfo:
        """Nothing has to be started."""
        return EngineInfo("typeql-embedded", "3.12 semantics", "embedded")

    def load(self, instance: Instance) -> None:
        """Make the instance queryable: about a second for 53,000 things, nothing if it is here."""
        self._database(instance)

    def check(self, query: str, instance: Instance) -> None:
        """Parse, resolve names and infer types; nothing is executed."""
        from qeval.engines.typeql.failures import raise_query_error
        from qeval.typeql import TypeQLError

        try:
            self._database(instance).check(query)
        except TypeQLError as error:
            raise_query_error(error.codes, error.message, error.line, error.column)

    def execute(self, query: str, instance: Instance, limits: QueryLimits) -> Execution:
        """Run one read query within limits of time, steps, memory, rows and bytes."""
        from qeval.engines.typeql.answers import cut, documents_table, rows_table
        from qeval.engines.typeql.failures import raise_query_error
        from qeval.typeql import TypeQLError

        database = self._database(instance)
        started = time.thread_time()
        try:
            answer = database.query(
                query,
                limits.timeout_s,
                max_rows=limits.max_rows,
                max_steps=self._max_steps,
                max_cells=self._max_cells,
                cut=True,
                clock=time.thread_time,
            )
        except TypeQLError as error:
            raise_query_error(error.codes, error.message, error.line, error.column)
        seconds = time.thread_time() - started
        if answer.kind == "rows":
            table = rows_table(answer.columns, answer.rows)
        else:
            table = documents_table(answer.documents, answer.columns)
        table, too_large = cut(table, limits.max_rows, limits.max_bytes)
        return Execution(table, seconds, answer.truncated or too_large)

    def drop(self, instance: Instance) -> None:
        """Forget the instance's database."""
        with self._lock:
            self._databases.pop(instance.key, None)
            self._loading.pop(instance.key, None)

    def fingerprint(self, instance: Instance) -> str:
        """Digest of all entities and relations."""
        return self._database(instance).fingerprint()

    def restart(self) -> None:
        """Nothing can be lost: the data lives in this process."""

    def stop(self) -> None:
        """Forget all data."""
        with self._lock:
            self._databases.clear()

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process loads its own data."""
        state = self.__dict__.copy()
        for name in ("_lock", "_loading", "_databases"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._init_state()
        self.__dict__.update(state)

    def _database(self, instance: Instance) -> "Database":
        """The instance's database; loaded if it was never here or had to go."""
        found = self._held(instance.key)
        if found is not None:
            return found
        from qeval.engines.typeql.load import filled

        with self._loading.setdefault(instance.key, Lock()):
            found = self._held(instance.key)
            if found is None:
                found = filled(instance)
                with self._lock:
                    self._databases[instance.key] = found
                    while len(self._databases) > self._keep:
                        self._databases.popitem(last=False)
            return found

    def _held(self, key: str) -> "Database | None":
        with self._lock:
            found = self._databases.get(key)
            if found is not None:
                self._databases.move_to_end(key)
            return found
