"""From SQLSTATEs to verdicts.

Rules (classes of https://www.postgresql.org/docs/current/errcodes-appendix.html):

* `syntax_error`: 42601 and its kin, what PostgreSQL itself calls a syntax error.
* `schema_error`: the query names what the database does not have: a table, column, schema, type,
  another database, or a function whose *name* is unknown.
* A known function or operator on wrong types, misuse of aggregates, ambiguous columns, windows that
  the query itself lacks and missing parameters name nothing unknown: `runtime_error`, as is every
  failure of execution.
* `unsafe`: refused for lack of privilege, or as a write in a read-only transaction.
* `timeout`: cancelled at the limit.
* What says nothing about the query (server gone, disk full, corrupted data, cancelled by somebody
  else) raises `EngineLostError`.
"""

from typing import NoReturn

from psycopg import pq

from qeval.engines.base import EngineLostError, FailureKind, QueryError

_KINDS: dict[str, FailureKind] = {
    **dict.fromkeys(("42601", "42602", "42622", "42939"), "syntax_error"),
    **dict.fromkeys(("42P01", "42703", "42704", "42883", "3F000", "3D000"), "schema_error"),
    **dict.fromkeys(("42501", "25006", "25001", "0LP01", "2F003", "2F004"), "unsafe"),
    "57014": "timeout",
}
_LOST_CLASSES = ("57P", "58", "XX001", "XX002", "53100", "53300", "25P03", "25P04", "40", "F0")
_CANCELLED = "57014"
_RESOLVES_NAMES = {
    "RangeVarGetRelidExtended", "DeconstructQualifiedName", "transformColumnRef",
    "ExpandColumnRefStar",
}  # fmt: skip
_RESOLVES_WINDOWS = {"transformWindowFuncCall", "transformWindowDefinitions"}


class Failure:
    """A server's error report, read from its result."""

    def __init__(self, result: pq.abc.PGresult) -> None:
        def read(field: pq.DiagnosticField) -> str:
            value = result.error_field(field)
            return value.decode(errors="replace") if value else ""

        self.code = read(pq.DiagnosticField.SQLSTATE)
        self.text = read(pq.DiagnosticField.MESSAGE_PRIMARY)
        self.detail = read(pq.DiagnosticField.MESSAGE_DETAIL)
        self.hint = read(pq.DiagnosticField.MESSAGE_HINT)
        position = read(pq.DiagnosticField.STATEMENT_POSITION)
        self.position = int(position) if position.isdigit() else None
        # Names of the server's C functions: not translated, unlike messages.
        self.routine = read(pq.DiagnosticField.SOURCE_FUNCTION)

    def raise_for(
        self, query: str, *, function_known: bool = False, outside_cancel: bool = False
    ) -> NoReturn:
        """Raise the `QueryError` or `EngineLostError` this failure means for `query`.

        `function_known`: the function named at `position` exists with other arguments.
        `outside_cancel`: neither the query's limit nor we cancelled it.
        """
        text = self.text + "".join(f"\n{p}" for p in (self.detail, self.hint) if p)
        if self.code.startswith(_LOST_CLASSES) or (self.code == _CANCELLED and outside_cancel):
            raise EngineLostError(f"PostgreSQL could not answer ({self.code}): {text}")
        line, column = place(query, self.position)
        raise QueryError(
            self._kind(function_known=function_known),
            text,
            code=self.code,
            line=line,
            column=column,
        )

    def _kind(self, *, function_known: bool) -> FailureKind:
        if self.code == "0A000" and self.routine in _RESOLVES_NAMES:
            return "schema_error"
        if self.code == "42704" and self.routine in _RESOLVES_WINDOWS:
            return "runtime_error"
        if self.code == "42601" and self.routine == "exec_parse_message":
            return "unsafe"  # several statements: the only syntax error raised there
        if self.code == "42883" and (function_known or self.routine == "op_error"):
            return "runtime_error"
        return _KINDS.get(self.code, "runtime_error")


def place(query: str, position: int | None) -> tuple[int | None, int | None]:
    """1-based line and column of a 1-based character position."""
    if position is None:
        return None, None
    before = query[: position - 1]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
