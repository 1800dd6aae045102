"""A query as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.syntax.ast import Query
from qeval.typeql.syntax.grammar.fetch import preambled_pipeline
from qeval.typeql.syntax.grammar.schema import define, redefine, undefine
from qeval.typeql.syntax.grammar.stages import STAGES

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast import Define, Pipeline, Redefine, Undefine
    from qeval.typeql.syntax.grammar.scanner import Scanner

_STARTS = frozenset({*STAGES, "with", "given", "define", "undefine", "redefine"})


def query(s: Scanner) -> Query:
    """One query with its `end;`, if it has one; what follows is left unread."""
    begin = s.position
    body = _body(s)
    ended = s.ahead == "end" and s.peek()[1] == ";"
    if ended:
        s.take()
        s.take()
    return Query(body, ended, span=s.span(begin))


def _body(s: Scanner) -> Pipeline | Define | Redefine | Undefine:
    if s.ahead == "define":
        return define(s)
    if s.ahead == "redefine":
        return redefine(s)
    if s.ahead == "undefine":
        return undefine(s)
    if s.ahead not in _STARTS:
        raise s.mismatch("a query (match, insert, put, define, undefine, redefine, with fun, …)")
    return preambled_pipeline(s)
