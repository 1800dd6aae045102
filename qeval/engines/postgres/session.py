"""One untrusted query on one connection, with deadline and caps that the query can't lift.

libpq is driven directly: rows arrive one by one, so that memory stays bounded whatever the result,
and every wait has a deadline, so that a stopped server can't hang us. The query's text goes to the
server untouched, by the extended protocol, which itself refuses a second statement.
"""

import re
import selectors
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import adapt, pq
from psycopg.abc import Transformer

from qeval.engines.base import EngineLostError, Execution, QueryError, QueryLimits
from qeval.engines.postgres.failures import Failure
from qeval.engines.postgres.server import StaleSessionError
from qeval.engines.postgres.values import UNREADABLE, lenient_adapters
from qeval.scoring.table import Table

_PATIENCE_S = 5.0
"""How long a healthy server may take for housekeeping (BEGIN, ROLLBACK, obeying a cancel)."""

_ROWS = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.SINGLE_TUPLE, pq.ExecStatus.TUPLES_CHUNK)
_FIXED_CELL = 8


class DeadlineError(Exception):
    """The server did not answer in time."""


@dataclass(slots=True)
class _Collected:
    """The rows received so far, and their size in bytes."""

    transformer: Transformer
    columns: tuple[str, ...] = ()
    wide: tuple[int, ...] = ()  # columns whose values have no fixed size
    size: int = 0
    truncated: bool = False


class Session:
    """A connection of the reader's role. Not thread-safe: lease it from `pool.Sessions`."""

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self._connection = connection
        self._pg = connection.pgconn
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._pg.socket, selectors.EVENT_READ)
        self.usable = True

    def close(self) -> None:
        """Close the connection. Safe to call twice."""
        self.usable = False
        self._selector.close()
        self._connection.close()

    def check(self, query: str, timeout_s: float) -> None:
        """Parse, resolve and plan `query` without executing it. Raises like `execute`."""
        text = _encode(query)
        with _Transaction(self, timeout_s):
            started = time.monotonic()
            self._pg.send_prepare(b"", text)
            self._finish(query, started, timeout_s)
            # Planning may evaluate constant expressions and refuse them.
            explain = "EXPLAIN "
            self._pg.send_query_params(explain.encode() + text, None)
            self._finish(query, started, timeout_s, shift=len(explain))

    def execute(self, query: str, limits: QueryLimits) -> Execution:
        """Run `query`. Raises `QueryError` or `EngineLostError`."""
        text = _encode(query)
        rows: list[tuple[Any, ...]] = []
        seen = _Collected(adapt.Transformer(self._connection))
        with _Transaction(self, limits.timeout_s):
            started = time.monotonic()
            deadline = started + limits.timeout_s + 1.0
            self._pg.send_query_params(text, None)
            self._pg.set_single_row_mode()
            try:
                for result in self._results(deadline):
                    if result.status not in _ROWS:
                        self._refuse(result, query, started, limits.timeout_s)
                    self._collect(result, rows, seen, limits)
                    if seen.truncated:
                        self._abandon()
                        break
            except DeadlineError:
                self._give_up(limits.timeout_s)
            seconds = time.monotonic() - started
        return Execution(Table(seen.columns, rows), seconds, seen.truncated)

    def command(self, text: str, timeout_s: float = _PATIENCE_S) -> None:
        """Run our own statements (not a prediction's) by the simple protocol.

        Raises `EngineLostError` where the server refuses them or does not answer in `timeout_s`.
        """
        self._pg.send_query(text.encode())
        try:
            for result in self._results(time.monotonic() + timeout_s):
                if result.status == pq.ExecStatus.FATAL_ERROR:
                    raise EngineLostError(f"PostgreSQL refused {text!r}: {Failure(result).text}")
        except DeadlineError:
            self.usable = False
            raise EngineLostError(f"PostgreSQL does not answer (for {timeout_s:g} s)") from None

    def _collect(
        self,
        result: pq.abc.PGresult,
        rows: list[tuple[Any, ...]],
        seen: _Collected,
        limits: QueryLimits,
    ) -> None:
        seen.transformer.set_pgresult(result, set_loaders=not seen.columns)
        if not seen.columns and result.nfields:
            fields = range(result.nfields)
            seen.columns = tuple((result.fname(i) or b"").decode(errors="replace") for i in fields)
            seen.wide = tuple(i for i in fields if result.fsize(i) < 0)
        if not result.ntuples:
            return
        if len(rows) >= limits.max_rows:
            seen.truncated = True
            return
        seen.size += _FIXED_CELL * result.nfields
        for column in seen.wide:
            seen.size += len(result.get_value(0, column) or b"")
        if seen.size > limits.max_bytes:
            seen.truncated = True
            return
        rows.append(self._load(seen.transformer, result))

    @staticmethod
    def _load(transformer: Transformer, result: pq.abc.PGresult) -> tuple[Any, ...]:
        try:
            row = transformer.load_row(0, tuple)
        except UNREADABLE:
            # PostgreSQL has values that Python has not (infinity, year 10000, BC): as text.
            transformer = adapt.Transformer(lenient_adapters())
            transformer.set_pgresult(result)
            row = transformer.load_row(0, tuple)
        assert row is not None
        return row

    def _results(self, deadline: float) -> Iterator[pq.abc.PGresult]:
        """Results of what was sent, as they come. Raises `DeadlineError`, `EngineLostError`."""
        try:
            while self._pg.flush():
                self._wait(deadline, selectors.EVENT_READ | selectors.EVENT_WRITE)
                self._pg.consume_input()
            while True:
                while self._pg.is_busy():
                    self._wait(deadline, selectors.EVENT_READ)
                    self._pg.consume_input()
                result = self._pg.get_result()
                if result is None:
                    return
                yield result
        except psycopg.OperationalError as error:
            self.usable = False
            raise EngineLostError(f"PostgreSQL went away: {str(error).strip()}") from error

    def _wait(self, deadline: float, events: int) -> None:
        left = deadline - time.monotonic()
        self._selector.modify(self._pg.socket, events)
        if left <= 0 or not self._selector.select(left):
            raise DeadlineError

    def _finish(self, query: str, started: float, timeout_s: float, shift: int = 0) -> None:
        try:
            for result in self._results(started + timeout_s + 1.0):
                if result.status not in (*_ROWS, pq.ExecStatus.COMMAND_OK):
                    self._refuse(result, query, started, timeout_s, shift)
        except DeadlineError:
            self._give_up(timeout_s)

    def _refuse(
        self,
        result: pq.abc.PGresult,
        query: str,
        started: float,
        timeout_s: float,
        shift: int = 0,
    ) -> None:
        if result.status == pq.ExecStatus.EMPTY_QUERY:
            raise QueryError("syntax_error", "the query holds no statement", code="42601")
        if result.status != pq.ExecStatus.FATAL_ERROR:
            self.usable = False  # in COPY mode, or the transaction was ended
            raise QueryError("unsafe", "the statement is a command, not a query that returns rows")
        failure = Failure(result)
        if failure.position is not None:
            failure.position = max(1, failure.position - shift)
        if self._pg.status == pq.ConnStatus.BAD:
            self.usable = False
        early = time.monotonic() - started < timeout_s * 0.9
        known = failure.code == "42883" and self._names_known_function(query, failure.position)
        failure.raise_for(query, function_known=known, outside_cancel=early)

    def _names_known_function(self, query: str, position: int | None) -> bool:
        """Whether a function of the name at `position` exists, whatever its arguments."""
        if position is None:
            return False
        match = _FUNCTION_NAME.match(query, position - 1)
        if match is None:
            return False
        quoted, plain = match.groups()
        name = quoted.replace('""', '"') if quoted is not None else plain.lower()
        self._drain()
        self.command("ROLLBACK")
        self._pg.send_query_params(
            b"SELECT 1 FROM pg_catalog.pg_proc WHERE proname = $1 LIMIT 1", [name.encode()]
        )
        results = list(self._results(time.monotonic() + _PATIENCE_S))
        return any(result.ntuples for result in results)

    def _abandon(self) -> None:
        """Cancel what is still running; the rest of the result is not wanted.

        The session ends here: a cancel that arrives late must not meet the next query.
        """
        self._cancel()
        self.usable = False

    def _give_up(self, timeout_s: float) -> None:
        """The server's own timeout did not fire: cancel, and never use this session again."""
        self._cancel()
        self.usable = False
        raise QueryError("timeout", f"cancelled after {timeout_s:g} s", code="57014")

    def _cancel(self) -> None:
        try:
            self._connection.cancel_safe(timeout=_PATIENCE_S)
        except psycopg.Error as error:
            self.usable = False
            raise EngineLostError(f"PostgreSQL does not answer: {str(error).strip()}") from error

    def _drain(self) -> None:
        """Take in what the server still sends for the present statement, for a short while."""
        try:
            for _ in self._results(time.monotonic() + _PATIENCE_S):
                pass
        except (DeadlineError, EngineLostError):
            self.usable = False


class _Transaction:
    """A read-only transaction around one query, and a session without memory after it."""

    def __init__(self, session: Session, timeout_s: float) -> None:
        self._session = session
        self._begin = (
            f"BEGIN READ ONLY; SET LOCAL statement_timeout = {max(1, round(timeout_s * 1000))}"
        )

    def __enter__(self) -> None:
        try:
            self._session.command(self._begin)
        except EngineLostError as error:
            self._session.usable = False
            raise StaleSessionError(str(error)) from error

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        session = self._session
        if not session.usable:
            return
        session._drain()  # noqa: SLF001 - two halves of one thing
        if not session.usable:
            return
        try:
            session.command("ROLLBACK")
            # Advisory locks, settings, prepared statements, LISTEN: nothing passes to the next.
            session.command("DISCARD ALL")
        except EngineLostError:
            session.usable = False
            if kind is None:
                return  # the result is whole; the next query will notice


_FUNCTION_NAME = re.compile(r'(?:(?:"(?:[^"]|"")*"|\w+)\s*\.\s*)*(?:"((?:[^"]|"")*)"|(\w+))')


def _encode(query: str) -> bytes:
    """The query's bytes. Raises `QueryError` for texts that PostgreSQL can't even receive."""
    place = query.find("\0")
    if place >= 0:
        raise QueryError("syntax_error", f"the query holds a NUL character at {place}")
    try:
        return query.encode()
    except UnicodeEncodeError as error:
        raise QueryError(
            "syntax_error", f"the query holds a lone surrogate at {error.start}: no valid text"
        ) from None
