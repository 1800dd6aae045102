"""One prediction on one database: checked by EXPLAIN, or run in a bounded read transaction.

The server ends a query at its limit. What it can't interrupt (a regular expression that
backtracks for ever, planning) is abandoned by us a moment later: the query runs in a thread of its
own, and the caller stops waiting for it.
"""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from qeval.engines.base import EngineLostError, Execution, QueryError, QueryLimits
from qeval.engines.neo4j.failures import raise_for, refuse_unknown_names
from qeval.languages.cypher import procedures
from qeval.scoring.values import Canonical

_T = TypeVar("_T")
_FETCH = 1000
_GRACE_S = 0.8
_EXPLAIN = "EXPLAIN\n"  # on a line of its own, so that columns stay what they are
_FIXED = 8


class AbandonedError(Exception):
    """The server did not end the query in time; `thread` still waits for it."""

    def __init__(self, thread: threading.Thread) -> None:
        super().__init__("abandoned")
        self.thread = thread


def bounded(work: Callable[[], _T], limit_s: float) -> _T:
    """Do `work` in a thread of its own for at most `limit_s` seconds. Raises `AbandonedError`."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append((True, work()))
        except BaseException as error:  # noqa: BLE001 - handed over to the caller
            outcome.append((False, error))

    thread = threading.Thread(target=run, name="qeval-cypher", daemon=True)
    thread.start()
    thread.join(limit_s)
    if not outcome:
        if thread.is_alive():
            raise AbandonedError(thread)
        raise EngineLostError("the query's thread ended without an answer")
    done, value = outcome[0]
    if done:
        return value  # type: ignore[no-any-return]
    raise value


def check(driver: Any, database: str | None, query: str, timeout_s: float) -> None:
    """EXPLAIN `query`: parse it, resolve its names and learn what it would do; never run it."""

    def work() -> None:
        with _reading(driver, database, _Ending(timeout_s, 1)) as transaction:
            summary = transaction.run(_query(_EXPLAIN + query)).consume()
            if summary.query_type != "r":
                raise QueryError("unsafe", "the query would write or change the database")
            refuse_unknown_names(summary.gql_status_objects, shift=1)
            called = procedures(query)
            if called:
                raise QueryError("unsafe", f"procedure {called[0]} may do more than read the graph")

    bounded(work, timeout_s + _GRACE_S)


def execute(
    driver: Any, database: str | None, query: str, limits: QueryLimits, canonical: Canonical
) -> Execution:
    """Run `query` as it is and take its rows, as many as `limits` allow."""

    def work() -> Execution:
        started = time.monotonic()
        rows: list[tuple[Any, ...]] = []
        size = 0
        truncated = False
        with _reading(driver, database, _Ending(limits.timeout_s, 0)) as transaction:
            result = transaction.run(_query(query))
            columns = tuple(result.keys())
            for record in result:
                values = tuple(record.values())
                size += sum(map(_size, values))
                if len(rows) >= limits.max_rows or size > limits.max_bytes:
                    truncated = True
                    break
                rows.append(values)
            seconds = time.monotonic() - started
        return Execution(canonical.table(columns, rows), seconds, truncated)

    return bounded(work, limits.timeout_s + _GRACE_S)


class _Ending:
    """What errors of a transaction mean."""

    def __init__(self, timeout_s: float, shift: int) -> None:
        self.timeout_s = timeout_s
        self.shift = shift


class _reading:  # noqa: N801 - used like a function
    """A read transaction that always ends in a rollback; driver's errors become ours."""

    def __init__(self, driver: Any, database: str | None, ending: _Ending) -> None:
        self._driver = driver
        self._database = database
        self._ending = ending

    def __enter__(self) -> Any:
        from neo4j import READ_ACCESS
        from neo4j.exceptions import DriverError, Neo4jError

        self._session = self._driver.session(
            database=self._database, default_access_mode=READ_ACCESS, fetch_size=_FETCH
        )
        try:
            self._transaction = self._session.begin_transaction(timeout=self._ending.timeout_s)
        except (DriverError, Neo4jError) as error:
            self._close()
            raise EngineLostError(f"can't reach Neo4j: {error}") from None
        return self._transaction

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        from neo4j.exceptions import DriverError, Neo4jError

        self._close()
        if isinstance(error, Neo4jError):
            raise_for(error, self._ending.timeout_s, shift=self._ending.shift)
        if isinstance(error, DriverError | OSError):
            raise EngineLostError(f"Neo4j went away: {error}") from None
        if isinstance(error, RecursionError | UnicodeError | OverflowError | ValueError):
            # The driver can't read the answer: the query asked for a value beyond its types.
            raise QueryError(
                "runtime_error", f"the driver can't read the result: {error}"
            ) from error

    def _close(self) -> None:
        from neo4j.exceptions import DriverError, Neo4jError

        try:
            self._session.close()
        except (DriverError, Neo4jError, OSError):
            return


def _query(text: str) -> Any:  # LiteralString to the driver
    if "\0" in text:
        raise QueryError("syntax_error", f"the query holds a NUL character at {text.find(chr(0))}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise QueryError(
            "syntax_error", "the query holds a lone surrogate: no valid text"
        ) from None
    return text


def _size(value: Any) -> int:
    """About how many bytes a value takes."""
    if isinstance(value, str | bytes):
        return _FIXED + len(value)
    if isinstance(value, list | tuple):
        return _FIXED + sum(map(_size, value))
    if isinstance(value, dict):
        return _FIXED + sum(len(key) + _size(item) for key, item in value.items())
    items = getattr(value, "items", None)
    if callable(items):
        return 4 * _FIXED + sum(len(key) + _size(item) for key, item in items())
    nodes = getattr(value, "nodes", None)
    if nodes is not None and hasattr(value, "relationships"):
        return sum(map(_size, nodes)) + sum(map(_size, value.relationships))
    return _FIXED


__all__ = ["AbandonedError", "bounded", "check", "execute"]
