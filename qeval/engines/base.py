"""What the pipeline asks of a database engine, whichever it is."""

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from qeval.errors import QevalError
from qeval.scoring.table import Table
from qeval.suite import Instance

FailureKind = Literal["syntax_error", "schema_error", "runtime_error", "timeout", "unsafe"]


class QueryError(Exception):
    """The engine (or a static check) refused or failed a query; `kind` is the verdict.

    `code` is the engine's own (SQLSTATE, Neo4j status, TypeQL code); `line`/`column` are 1-based
    where the engine names a place.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        code: str = "",
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = message
        self.code = code
        self.line = line
        self.column = column


class EngineLostError(QevalError):
    """The connection or the server went away; the query says nothing about the prediction."""


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """Bounds of one query: seconds of execution, rows and bytes of its result."""

    timeout_s: float = 10.0
    max_rows: int = 100_000
    max_bytes: int = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Execution:
    """A query's result. `truncated`: a limit on rows or bytes cut it, the table is a prefix."""

    table: Table
    seconds: float
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """Which engine answered; part of every record, table and report.

    `data` names what a database of the user's own holds, where nothing else says it.
    """

    name: str  # "postgres", "neo4j", "typeql-embedded", "typedb"
    version: str  # "18.6", "5.26.30", "3.12 semantics"
    origin: Literal["embedded", "server"]
    data: str = ""

    def __str__(self) -> str:
        data = f", data {self.data}" if self.data else ""
        return f"{self.name} {self.version} ({self.origin}{data})"


@runtime_checkable
class Engine(Protocol):
    """A running database. Every method but `start` and `stop` may be called from many threads.

    Built by Hydra from `conf/engine/<name>.yaml`; nothing is started until `start`. One that can
    hold a single instance at a time has `side_by_side` False; by default it is True.
    """

    language: str

    def start(self) -> EngineInfo:
        """Start or reach the server. Raises `EngineUnavailableError` saying what to do."""
        ...

    def load(self, instance: Instance) -> None:
        """Make `instance` queryable under its key; quick when the engine already holds it."""
        ...

    def check(self, query: str, instance: Instance) -> None:
        """Parse and resolve names without executing. Raises `QueryError`."""
        ...

    def execute(self, query: str, instance: Instance, limits: QueryLimits) -> Execution:
        """Run one read query. Raises `QueryError` or `EngineLostError`."""
        ...

    def drop(self, instance: Instance) -> None:
        """Forget an instance and free what it holds; one that is not there is fine.

        Meant for `ad_hoc` instances, of which an engine makes hundreds of a few rows each: loading
        and dropping one should take milliseconds, and nothing of it is kept for a later process.
        """
        ...

    def fingerprint(self, instance: Instance) -> str:
        """A digest of all data of the instance, the same for the same rows in any order."""
        ...

    def restart(self) -> None:
        """Bring a lost engine back with its data; raises `EngineUnavailableError`."""
        ...

    def stop(self) -> None:
        """Stop what this object started, keep what was warm before. Safe to call twice."""
        ...
