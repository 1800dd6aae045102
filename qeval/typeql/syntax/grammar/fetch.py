"""Fetch, and the pipelines that may hold one another by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.syntax.ast import (
    Fetch,
    FetchAll,
    FetchAttribute,
    FetchEntry,
    FetchList,
    FetchObject,
    FunctionBody,
    Pipeline,
)
from qeval.typeql.syntax.grammar.expressions import call, expression
from qeval.typeql.syntax.grammar.functions import function, function_body, given, result
from qeval.typeql.syntax.grammar.literals import string
from qeval.typeql.syntax.grammar.names import label, list_mark, sequence, variable
from qeval.typeql.syntax.grammar.scanner import VARIABLE, WORD
from qeval.typeql.syntax.grammar.stages import STAGES, stages

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast import Call, FetchValue, Function
    from qeval.typeql.syntax.grammar.scanner import Scanner


def preambled_pipeline(s: Scanner) -> Pipeline:
    """A whole read or write query: `[with fun …] [given …;] stage … [fetch …;]`."""
    begin = s.position
    functions: list[Function] = []
    while s.accept("with"):
        functions.append(function(s))
    return _pipeline(s, begin, tuple(functions))


def _pipeline(s: Scanner, begin: int, functions: tuple[Function, ...] = ()) -> Pipeline:
    given_arguments = given(s) if s.ahead == "given" else None
    steps = stages(s)
    last = _fetch(s) if s.ahead == "fetch" else None
    return Pipeline(steps, last, given_arguments, functions, span=s.span(begin))


def _fetch(s: Scanner) -> Fetch:
    begin = s.position
    s.take()
    document = _object(s)
    s.expect(";")
    return Fetch(document, span=s.span(begin))


def _object(s: Scanner) -> FetchObject | FetchAll:
    begin = s.position
    s.expect("{")
    s.descend()
    found: FetchObject | FetchAll
    if _named_variable_ahead(s):
        of = variable(s)
        s.expect(".", "'.*'")
        s.expect("*")
        s.expect("}")
        found = FetchAll(of, span=s.span(begin))
    else:
        entries = sequence(s, _entry, "}")
        s.expect("}", "',' or '}'")
        found = FetchObject(entries, span=s.span(begin))
    s.ascend()
    return found


def _entry(s: Scanner) -> FetchEntry:
    begin = s.position
    key = string(s, "a key in quotes")
    s.expect(":")
    return FetchEntry(key, _value(s), span=s.span(begin))


def _value(s: Scanner) -> FetchValue:
    if s.ahead == "{":
        return _object(s)
    if s.ahead == "[" and (found := s.attempt(_list)) is not None:
        return found
    return _single(s)


def _list(s: Scanner) -> FetchList:
    begin = s.position
    s.expect("[")
    s.descend()
    source = _stream(s)
    s.expect("]")
    s.ascend()
    return FetchList(source, span=s.span(begin))


def _stream(s: Scanner) -> Call | FunctionBody | Pipeline | FetchAttribute:
    if s.kind == VARIABLE:
        return _attribute(s)
    if s.kind == WORD and s.peek()[1] == "(" and (found := s.attempt(call)) is not None:
        return found
    begin = s.position
    inner = _pipeline(s, begin)
    if s.ahead == "return" and inner.fetch is None and inner.given is None:
        return FunctionBody(inner.stages, result(s), span=s.span(begin))
    return inner


def _single(s: Scanner) -> FetchValue:
    # TypeDB takes either parenthesis without asking for the other.
    s.accept("(")
    found: FetchValue | None = s.attempt(function_body) if s.at_word(STAGES) else None
    if found is None:
        dotted = _named_variable_ahead(s) and s.peek()[1] == "."
        found = _attribute(s) if dotted else expression(s)
    s.accept(")")
    return found


def _attribute(s: Scanner) -> FetchAttribute:
    begin = s.position
    if not _named_variable_ahead(s):
        raise s.mismatch("a named variable")
    of = variable(s)
    s.expect(".")
    attribute = label(s, "an attribute's label")
    return FetchAttribute(of, attribute, list_mark(s), span=s.span(begin))


def _named_variable_ahead(s: Scanner) -> bool:
    return s.kind == VARIABLE and s.ahead != "$_"
