"""TypeQL 3: the static read-only check, on qeval's own parser of TypeDB 3.12's grammar.

The first of two walls: the second is a read transaction, or an engine that can't write.
"""

import re
from typing import TYPE_CHECKING, NoReturn

from qeval.engines.base import QueryError
from qeval.languages.base import Described, check_text

if TYPE_CHECKING:
    from qeval.typeql.syntax import ast

_SYNTAX_ERROR = "TQL03"  # TypeDB's code


class Typeql(Described):
    """TypeQL 3 of TypeDB 3.12. Built from `conf/language/typeql.yaml`."""

    comments = ("#",)
    # TypeQL has neither clock nor chance; internal ids come with the loading.
    volatile = re.compile(r"\biid\b")

    def check_safety(self, query: str) -> None:
        """Accept exactly one pipeline of reading stages, with functions of its own or without.

        Raises `QueryError`: `unsafe` for define, undefine, redefine, insert, put, update, delete
        and for several queries; `syntax_error` (TQL…) with line and column for what TypeDB's
        grammar does not accept.
        """
        from qeval.typeql import TypeQLError
        from qeval.typeql.syntax import parse_queries

        check_text(query, _SYNTAX_ERROR)
        try:
            queries = parse_queries(query)
        except TypeQLError as error:
            raise QueryError(
                "syntax_error",
                error.message,
                code=error.code,
                line=error.line,
                column=error.column,
            ) from None
        if not queries:
            raise QueryError("syntax_error", "the text holds no query", code=_SYNTAX_ERROR)
        for parsed in queries:
            _check(parsed)
        if len(queries) > 1:
            _refuse(f"{len(queries)} queries; only one is allowed")


def _check(query: "ast.Query") -> None:
    from qeval.typeql.syntax import ast

    writes = (ast.Insert, ast.Put, ast.Update, ast.Delete)
    if not isinstance(query.body, ast.Pipeline):
        _refuse(f"'{type(query.body).__name__.lower()}' changes the schema")
    for node in query.walk():
        if isinstance(node, writes):
            _refuse(f"'{type(node).__name__.lower()}' changes data")


def _refuse(reason: str) -> NoReturn:
    raise QueryError("unsafe", reason)
