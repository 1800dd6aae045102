"""From TypeQL's error codes to verdicts, for the embedded engine and for servers.

The first code of a chain is the specific one (`INF2` of `INF2 QUA1 QEX8`) and decides; what it
names is in the documentation of `docs/engines.md`.
"""

from typing import NoReturn

from qeval.engines.base import FailureKind, QueryError

_KINDS: dict[str, FailureKind] = {
    # What the schema does not have: types, roles, ownerships, functions, value types.
    **dict.fromkeys(
        ("INF2", "INF3", "INF4", "INF5", "INF9", "INF11", "QUA7", "QUA8", "QUA9", "REP4", "FER9"),
        "schema_error",
    ),
    **dict.fromkeys(("TSV8", "TSV9", "FRP7"), "unsafe"),
    **dict.fromkeys(("LIM1", "LIM3"), "timeout"),
}
_PREFIXES: dict[str, FailureKind] = {"TQL": "syntax_error"}


def kind_of(code: str) -> FailureKind:
    """The verdict for the first code of a chain; `runtime_error` unless it is known otherwise."""
    return _KINDS.get(code) or _PREFIXES.get(code[:3], "runtime_error")


def raise_query_error(
    codes: tuple[str, ...], message: str, line: int | None = None, column: int | None = None
) -> NoReturn:
    """Raise the `QueryError` that a chain of codes, innermost first, stands for."""
    code = codes[0] if codes else ""
    raise QueryError(kind_of(code), message, code=code, line=line, column=column)
