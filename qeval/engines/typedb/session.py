"""One prediction on one database: a read transaction of its own, bounded by a deadline on our side.

The driver waits in native code, which nothing interrupts. So a query runs in a thread of its own;
at the deadline its transaction is closed, which ends the stream, and the caller waits no longer.
"""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from qeval.engines.base import EngineLostError, Execution, QueryError, QueryLimits
from qeval.engines.typedb.failures import raise_for
from qeval.engines.typeql.answers import cut, documents_table, rows_table, size_of
from qeval.engines.typeql.columns import answer_columns

_T = TypeVar("_T")
_GRACE_S = 1.0


def check(driver: Any, database: str, query: str, timeout_s: float) -> None:
    """Parse, resolve names and infer types by the server's `analyze`; nothing is executed.

    Raises `QueryError` or `EngineLostError`.
    """

    def work(transaction: Any) -> None:
        transaction.analyze(query).resolve()

    _in_transaction(driver, database, timeout_s, work)


def execute(driver: Any, database: str, query: str, limits: QueryLimits) -> Execution:
    """Run one read query. Raises `QueryError` or `EngineLostError`."""
    started = time.monotonic()

    def work(transaction: Any) -> Execution:
        answer = transaction.query(query).resolve()
        if answer.is_concept_documents():
            documents, truncated = _taken(answer.as_concept_documents(), limits, size_of)
            table = documents_table(documents, () if documents else answer_columns(query))
        elif answer.is_concept_rows():
            stream = answer.as_concept_rows()
            rows, truncated = _taken(map(_concepts, stream), limits, lambda row: 8 * len(row[1]))
            table = rows_table(
                rows[0][0] if rows else answer_columns(query), [row for _, row in rows]
            )
        else:
            raise QueryError("unsafe", "the query changes something and returns nothing")
        table, too_large = cut(table, limits.max_rows, limits.max_bytes)
        return Execution(table, time.monotonic() - started, truncated or too_large)

    return _in_transaction(driver, database, limits.timeout_s, work)


def _concepts(row: Any) -> tuple[tuple[str, ...], list[Any]]:
    names = tuple(row.column_names())
    return names, [row.get(name) for name in names]


def _taken(stream: Any, limits: QueryLimits, size: Callable[[Any], int]) -> tuple[list[Any], bool]:
    """What the stream holds within the limits of rows and bytes, and whether there is more."""
    taken: list[Any] = []
    left = limits.max_bytes
    for item in stream:
        left -= size(item)
        if len(taken) == limits.max_rows or left < 0:
            return taken, True
        taken.append(item)
    return taken, False


def _in_transaction(driver: Any, database: str, timeout_s: float, work: Callable[[Any], _T]) -> _T:
    """Do `work` in a new read transaction, in a thread of its own, for at most `timeout_s`."""
    from typedb.driver import TransactionOptions, TransactionType, TypeDBDriverException

    # The server's own limit is a second wall: it must not fire first, its error names no query.
    millis = round((timeout_s + _GRACE_S) * 1000)
    options = TransactionOptions(transaction_timeout_millis=millis)
    try:
        transaction = driver.transaction(database, TransactionType.READ, options)
    except TypeDBDriverException as error:
        raise EngineLostError(f"TypeDB opens no transaction: {error}") from error
    outcome: list[tuple[bool, Any]] = []

    def run() -> None:
        try:
            outcome.append((True, work(transaction)))
        except BaseException as error:  # noqa: BLE001 - handed over to the caller
            outcome.append((False, error))

    thread = threading.Thread(target=run, name="qeval-typeql", daemon=True)
    thread.start()
    thread.join(timeout_s)
    late = not outcome
    closing = threading.Thread(target=transaction.close, name="qeval-typeql-close", daemon=True)
    closing.start()
    closing.join(_GRACE_S)  # a server that spins may never answer the close either
    if late:
        raise QueryError("timeout", f"given up after {timeout_s:g} s", code="client")
    done, value = outcome[0]
    if done:
        return value  # type: ignore[no-any-return]
    if isinstance(value, TypeDBDriverException):
        raise_for(value)
    raise value
