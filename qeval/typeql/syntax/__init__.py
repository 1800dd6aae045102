"""The TypeQL 3.12 parser: text in, a tree of `qeval.typeql.syntax.ast` out.

The verdict is the grammar's alone, as in TypeDB: a text that parses may still hold unknown labels,
reserved words used as names (`RESERVED`) or literals that have no value (see `literals`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.syntax.diagnosis import syntax_error
from qeval.typeql.syntax.grammar.names import RESERVED
from qeval.typeql.syntax.grammar.query import query
from qeval.typeql.syntax.grammar.scanner import Mismatch, Scanner, too_deep

if TYPE_CHECKING:
    from qeval.typeql.errors import TypeQLError
    from qeval.typeql.syntax.ast import Query

__all__ = ["RESERVED", "parse_queries", "parse_query"]

# TypeDB trims the end of a query by Unicode's White_Space, of which the grammar knows but four.
_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def parse_query(text: str) -> Query:
    """The one query that `text` is; raises TypeQLError (TQL03) for anything else."""
    return _parse(text, several=False)[0]


def parse_queries(text: str) -> tuple[Query, ...]:
    """The queries that follow one another in `text`, none if it is blank.

    A query ends at its `end;` or where the grammar can read no more of it, so two pipelines in a
    row without `end;` are one. Raises TypeQLError (TQL03).
    """
    return _parse(text, several=True)


def _parse(text: str, *, several: bool) -> tuple[Query, ...]:
    s = Scanner(text.rstrip(_WHITE_SPACE))
    found: list[Query] = []
    try:
        if not several or s.ahead:
            found.append(query(s))
        while several and s.ahead:
            found.append(query(s))
    except Mismatch as mismatch:
        raise _error(s, s.remember(mismatch)) from None
    except RecursionError:
        # The caller was deep in the stack already; MAX_DEPTH alone leaves room.
        raise too_deep(s.text, s.position) from None
    if s.ahead:
        left_over = s.mismatch("the end of the query or another stage")
        reached = s.furthest
        raise _error(s, reached if reached and reached.offset >= s.position else left_over)
    return tuple(found)


def _error(s: Scanner, mismatch: Mismatch) -> TypeQLError:
    return syntax_error(s.text, mismatch.offset, mismatch.expected)
