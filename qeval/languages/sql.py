"""PostgreSQL SQL: the static read-only check, on PostgreSQL's own grammar (pglast).

The first of two walls: the server's privileges, read-only transaction and limits are the second.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from qeval.engines.base import QueryError
from qeval.languages.base import Described, check_text, syntax_error
from qeval.languages.sql_functions import REFUSED_FUNCTIONS

_SYNTAX_ERROR = "42601"  # PostgreSQL's codes
_TOO_COMPLEX = "54001"


class Sql(Described):
    """PostgreSQL's dialect. Built from `conf/language/sql.yaml`."""

    comments = ("--",)
    # Clocks, chance, sessions and places of rows; a word that only looks so costs a run.
    volatile = re.compile(
        r"random|\bnow\b|today|tomorrow|yesterday|current_|local_?time|_timestamp\b|timeofday|uuid"
        r"|\bage\s*\(|tablesample|array_(?:shuffle|sample)|\bctid\b|\bx(?:min|max)\b|\bpg_"
        r"|\btxid|U&",
        re.IGNORECASE,
    )

    def check_safety(self, query: str) -> None:
        """Accept exactly one SELECT, VALUES, TABLE or WITH … SELECT that only reads.

        Raises `QueryError`: `unsafe` for everything else that parses, also EXPLAIN and SHOW, which
        answer no question; `syntax_error` with line and column for what does not parse; and
        `runtime_error` with PostgreSQL's own code 54001 for absurdly deep nesting.
        """
        statements = _parse(query)
        if not statements:
            raise QueryError("syntax_error", "the query holds no statement", code=_SYNTAX_ERROR)
        if len(statements) > 1:
            _refuse(f"{len(statements)} statements; only one is allowed")
        (kind, body), *_ = statements[0]["stmt"].items()
        if kind != "SelectStmt":
            _refuse(f"{_spoken(kind)} is not a query that returns rows")
        for key, node in _nodes(body):
            _check_node(key, node)


def _check_node(key: str, node: Any) -> None:
    if key == "intoClause":
        _refuse("SELECT INTO creates a table")
    elif key == "lockingClause":
        _refuse("FOR UPDATE/SHARE locks rows")
    elif key == "ctequery" and "SelectStmt" not in node:
        _refuse(f"{_spoken(next(iter(node)))} inside WITH")
    elif key in ("funcname", "indirection"):
        # PostgreSQL takes `(x).f` for `f(x)`; of a name in parts the last one is the function's.
        for part in node[-1:] if key == "funcname" else node:
            name = part.get("String", {}).get("sval", "")
            if name in REFUSED_FUNCTIONS:
                _refuse(f"the function {name}() reaches beyond reading tables")


def _parse(query: str) -> list[dict[str, Any]]:
    from pglast.parser import ParseError, parse_sql_json

    if (place := query.find("\0")) >= 0:
        raise syntax_error(query, "the query holds a NUL character", place, _SYNTAX_ERROR)
    check_text(query, _SYNTAX_ERROR)
    try:
        # The JSON tree, not pglast's Python tree: building that recurses in C without a bound, and
        # a hostile query would crash the process.
        parsed = json.loads(parse_sql_json(query))
    except RecursionError:
        raise QueryError("runtime_error", "the query nests too deeply", code=_TOO_COMPLEX) from None
    except ParseError as error:
        message = str(error.args[0])
        if "stack depth limit" in message:
            raise QueryError(
                "runtime_error", "the query nests too deeply", code=_TOO_COMPLEX
            ) from None
        index = error.args[1] if len(error.args) > 1 else None
        place = len(query) if index is None else index
        raise syntax_error(query, message, place, _SYNTAX_ERROR) from None
    statements: list[dict[str, Any]] = parsed.get("stmts", [])
    return statements


def _nodes(tree: Any) -> Iterator[tuple[str, Any]]:
    """All (key, value) pairs of a parse tree, without recursion."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            yield from node.items()
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)


def _spoken(kind: str) -> str:
    """`InsertStmt` as `INSERT`, `CreateTableAsStmt` as `CREATE TABLE AS`."""
    special = {"VariableShowStmt": "SHOW", "VariableSetStmt": "SET", "CreateStmt": "CREATE TABLE"}
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.removesuffix("Stmt")).upper()
    return special.get(kind, words)


def _refuse(reason: str) -> NoReturn:
    raise QueryError("unsafe", reason)
