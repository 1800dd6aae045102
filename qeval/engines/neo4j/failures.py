"""From Neo4j's status codes to verdicts.

The same slips get the same verdict as in SQL (`qeval.engines.postgres.failures`):

* `syntax_error`: the parser refuses the text (and what only Cypher's own form rules forbid).
* `schema_error`: it parses, but names what is not there: a label, relationship type or property
  (planner's notifications), a function or procedure, or a variable that nothing binds.
* Wrong types, misuse of aggregates, impossible literals, missing parameters and every failure of
  execution, also for lack of memory: `runtime_error`. Neo4j files some of them under
  `SyntaxError`; they are told apart by GQL status (class 22, 42I18, 42N31) and by message.
* `unsafe`: a write, an administration command, or a reach for files or network.
* `timeout`: ended at the limit.
* What says nothing about the query (server gone, database shut down) is an `EngineLostError`.

Codes: https://neo4j.com/docs/status-codes/5/
"""

import re
from typing import Any, NoReturn

from qeval.engines.base import EngineLostError, FailureKind, QueryError

UNRECOGNISED = {"01N50": "label", "01N51": "relationship type", "01N52": "property key"}
"""GQL statuses of the planner's notifications about unknown names."""

_PLACE = re.compile(r"\s*\(line (\d+), column (\d+) \(offset: \d+\)\)")
# Which tokens the parser lists as expected depends also on what it has parsed before.
_EXPECTED = re.compile(r"(Invalid input .*?): expected .*", re.DOTALL)
_NAMES_NOTHING = re.compile(r"Unknown function|Variable `.*` not defined|not defined$")
_ACCEPTED_FORM = re.compile(
    r"Type mismatch|aggregat|implicit grouping|Invalid value for|cannot be parsed to|"
    r"integer is too large|Invalid number literal|insufficient parameters|Too many parameters",
    re.IGNORECASE,
)
_SEVERAL = "Expected exactly one statement"
_RUNTIME_STATUS = ("22", "42I18", "42N31")

_KINDS: tuple[tuple[str, FailureKind], ...] = (
    ("Neo.ClientError.Statement.SyntaxError", "syntax_error"),
    ("Neo.ClientError.Statement.SemanticError", "syntax_error"),
    ("Neo.ClientError.Statement.ArgumentError", "runtime_error"),
    ("Neo.ClientError.Statement.AccessMode", "unsafe"),
    ("Neo.ClientError.Statement.ExternalResourceFailed", "unsafe"),
    ("Neo.ClientError.Statement.UnsupportedAdministrationCommand", "unsafe"),
    ("Neo.ClientError.Statement.NotSystemDatabaseError", "unsafe"),
    ("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", "unsafe"),
    ("Neo.ClientError.General.WriteOnReadOnlyAccessDatabase", "unsafe"),
    ("Neo.ClientError.Security", "unsafe"),
    ("Neo.DatabaseError.Transaction.TransactionStartFailed", "unsafe"),
    ("Neo.ClientError.Procedure.ProcedureNotFound", "schema_error"),
    ("Neo.ClientError.Transaction.TransactionTimedOut", "timeout"),
    ("Neo.TransientError.General.MemoryPoolOutOfMemoryError", "runtime_error"),
    ("Neo.TransientError.General.OutOfMemoryError", "runtime_error"),
    ("Neo.TransientError.General.StackOverFlowError", "runtime_error"),
    ("Neo.DatabaseError.Statement", "runtime_error"),
    ("Neo.ClientError", "runtime_error"),
)


def raise_for(error: Any, timeout_s: float, *, shift: int = 0) -> NoReturn:
    """Raise the `QueryError` or `EngineLostError` that a driver's `Neo4jError` means.

    `shift` lines were put before the query (EXPLAIN).
    """
    code = str(error.code or "")
    text = str(error.message or error).strip()
    kind = next((kind for prefix, kind in _KINDS if code.startswith(prefix)), None)
    if kind is None:
        raise EngineLostError(f"Neo4j could not answer ({code}): {text}") from None
    line, column = None, None
    place = _PLACE.search(text)
    if place:  # the query itself follows, which must not be taken for the server's words
        line, column = max(1, int(place[1]) - shift), max(1, int(place[2]))
        text = text[: place.start()].rstrip()
    if kind == "syntax_error":
        kind = _kind_of_syntax_error(error, text)
    if kind == "timeout":
        text = f"stopped by Neo4j after {timeout_s:g} s"
    text = _EXPECTED.sub(r"\1", text)
    raise QueryError(kind, text, code=code, line=line, column=column) from None


def _kind_of_syntax_error(error: Any, text: str) -> FailureKind:
    if _EXPECTED.match(text):
        return "syntax_error"
    if _SEVERAL in text:
        return "unsafe"
    if _NAMES_NOTHING.search(text):
        return "schema_error"
    if _ACCEPTED_FORM.search(text):
        return "runtime_error"
    statuses = [str(getattr(one, "gql_status", "")) for one in _chain(error)]
    if any(status.startswith(_RUNTIME_STATUS) for status in statuses):
        return "runtime_error"
    return "syntax_error"


def _chain(error: Any) -> list[Any]:
    chain: list[Any] = []
    while error is not None and len(chain) < 10:  # noqa: PLR2004 - a cycle would be the driver's fault
        chain.append(error)
        error = error.__cause__
    return chain


def refuse_unknown_names(notifications: Any, *, shift: int = 0) -> None:
    """Raise `schema_error` with the texts of all notifications about names that are not there."""
    unknown = [one for one in notifications if one.gql_status in UNRECOGNISED]
    if not unknown:
        return
    texts = [one.status_description.removeprefix("warn: ").strip() for one in unknown]
    position = next((one.position for one in unknown if one.position is not None), None)
    raise QueryError(
        "schema_error",
        "\n".join(dict.fromkeys(texts)),
        code=unknown[0].gql_status,
        line=max(1, position.line - shift) if position else None,
        column=position.column if position else None,
    )
