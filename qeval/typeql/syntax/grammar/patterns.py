"""Patterns: statements and the blocks that combine them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qeval.typeql.syntax.ast import Conjunction, Disjunction, Negation, Try
from qeval.typeql.syntax.grammar.scanner import WORD
from qeval.typeql.syntax.grammar.statements import statement

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast import Pattern
    from qeval.typeql.syntax.grammar.scanner import Scanner

FOLLOWING: Final = frozenset(
    [
        "match",
        "insert",
        "put",
        "update",
        "delete",
        "select",
        "sort",
        "offset",
        "limit",
        "require",
        "distinct",
        "reduce",
        "fetch",
        "return",
        "end",
        "define",
        "redefine",
        "undefine",
        "with",
        "given",
    ]
)
"""Words that may stand behind the last pattern of a clause, though a pattern may start with them
too: none is reserved in the grammar, and TypeDB prefers the pattern."""

_CLOSING: Final = frozenset({"", "}", "]"})


def patterns(s: Scanner) -> Conjunction:
    """`pattern; …`, one or more."""
    begin = s.position
    found = [_terminated(s)]
    while s.ahead not in _CLOSING:
        if not s.at_word(FOLLOWING):
            found.append(_terminated(s))
            continue
        fault = s.furthest
        following = s.attempt(_terminated)
        if following is None:
            # Nobody meant a pattern, so what was wrong with it as one is not worth telling.
            s.furthest = fault
            break
        found.append(following)
    return Conjunction(tuple(found), span=s.span(begin))


def _terminated(s: Scanner) -> Pattern:
    found = pattern(s)
    s.expect(";")
    return found


def pattern(s: Scanner) -> Pattern:
    """A statement or a block, without its semicolon."""
    if s.ahead == "{":
        return _blocks(s)
    if s.kind == WORD and s.ahead in {"not", "try"} and s.peek()[1] == "{":
        begin = s.position
        negated = s.take() == "not"
        body = _block(s)
        span = s.span(begin)
        return Negation(body, span=span) if negated else Try(body, span=span)
    return statement(s)


def _block(s: Scanner) -> Conjunction:
    begin = s.position
    s.expect("{")
    s.descend()
    body = patterns(s)
    s.expect("}", "another pattern or '}'")
    s.ascend()
    return Conjunction(body.patterns, span=s.span(begin))


def _blocks(s: Scanner) -> Conjunction | Disjunction:
    begin = s.position
    branches = [_block(s)]
    while s.accept("or"):
        branches.append(_block(s))
    if len(branches) == 1:
        return branches[0]
    return Disjunction(tuple(branches), span=s.span(begin))
