"""A TypeDB database in memory: define a schema, load data, ask."""

from __future__ import annotations

from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from qeval.typeql.budget import Budget, Limits, limited
from qeval.typeql.errors import TypeQLError
from qeval.typeql.faults import Fault, within
from qeval.typeql.loading import BulkLoader, QueryLoader, queries_of
from qeval.typeql.program import compile_functions, compile_query, run_query
from qeval.typeql.schema import Schema
from qeval.typeql.schema.define import define
from qeval.typeql.store import Store
from qeval.typeql.store.digest import fingerprint
from qeval.typeql.syntax import ast, parse_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from qeval.typeql.answers import Answer
    from qeval.typeql.ir.functions import Signature

_LOADING = Limits(timeout_s=600.0, max_steps=10**12, max_cells=10**12)


class Database:
    """Answers TypeQL 3 read queries as TypeDB 3.12 does.

    Every method raises :class:`TypeQLError` with the codes of the server, or one of the engine's
    own: LIM1 (time), LIM2 (rows), LIM3 (steps), LIM4 (memory), LIM5 (nesting). Reading is safe
    from several threads at once; defining and loading are not, and a load that fails leaves behind
    what it had written.
    """

    def __init__(self) -> None:
        self._schema = Schema()
        self._store = Store()
        self._definitions: list[ast.Define] = []
        self._functions: dict[str, Signature] = compile_functions(self._schema)

    def define(self, text: str) -> None:
        """Add the definitions of one ``define`` query; on an error the schema stays as it was."""
        with _public(text):
            body = _parse(text).body
            if not isinstance(body, ast.Define):
                raise Fault("TSV9", "only 'define' is implemented, no undefine or redefine")
            trial = Schema()
            for definition in (*self._definitions, body):
                define(trial, definition)
            compile_functions(trial)
            define(self._schema, body)
            self._definitions.append(body)
            self._functions = compile_functions(self._schema)

    def load(self, queries: str | Iterable[str]) -> None:
        """Run write queries (``insert``, ``match … insert``, ``put``), each a transaction.

        A single text may hold several queries, parted by lines ``# ---``.
        """
        if isinstance(queries, str):
            queries = [query for _, query in queries_of(queries)]
        loader = QueryLoader(self._schema, self._store, self._functions, Budget(_LOADING))
        for query in queries:
            with _public(query):
                loader.run(_parse(query))

    def bulk(self) -> BulkLoader:
        """Return a loader for data that is in Python already; see :class:`BulkLoader`."""
        return BulkLoader(self._schema, self._store)

    def fingerprint(self) -> str:
        """Return a digest of all data, the same whatever the order in which it was written."""
        return fingerprint(self._store)

    def check(self, text: str) -> None:
        """Parse a read query and check it against the schema without running it."""
        with _public(text), limited(Budget(Limits())):
            compile_query(self._schema, self._functions, _parse(text))

    def query(
        self,
        text: str,
        timeout_s: float = Limits.timeout_s,
        *,
        max_rows: int = Limits.max_rows,
        max_steps: int = Limits.max_steps,
        max_cells: int = Limits.max_cells,
        cut: bool = False,
        clock: Callable[[], float] = perf_counter,
    ) -> Answer:
        """Run a read query within limits; see :class:`~qeval.typeql.budget.Limits`.

        An answer of more than ``max_rows`` is an error (LIM2), or with ``cut`` a truncated answer.
        ``clock`` tells the time that counts, in seconds: with :func:`time.thread_time` a query
        among many threads gets as much of the processor as it would alone.
        """
        budget = Budget(Limits(timeout_s, max_steps, max_rows, max_cells), clock)
        with _public(text), limited(budget):
            pipeline = compile_query(self._schema, self._functions, _parse(text))
            return run_query(self._schema, self._store, pipeline, budget, cut=cut)


def _parse(text: str) -> ast.Query:
    with within("QEX1"):
        return parse_query(text)


@contextmanager
def _public(text: str) -> Iterator[None]:
    """Turn the engine's own errors into those of the interface."""
    try:
        yield
    except Fault as fault:
        raise fault.public(text) from fault.__cause__
    except RecursionError:
        raise TypeQLError("LIM5", "the query is nested too deeply") from None
