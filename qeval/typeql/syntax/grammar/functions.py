"""Functions, their signatures and bodies, and the arguments a query is `given`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.syntax.ast import (
    Argument,
    Function,
    FunctionBody,
    Given,
    Output,
    ReturnCheck,
    ReturnReduce,
    ReturnSingle,
    ReturnStream,
)
from qeval.typeql.syntax.grammar.annotations import read_annotations
from qeval.typeql.syntax.grammar.names import name, named_type, sequence, variable, variables
from qeval.typeql.syntax.grammar.stages import reducer, stages

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast import Return
    from qeval.typeql.syntax.grammar.scanner import Scanner


def function(s: Scanner) -> Function:
    """`fun name($a: T, …) -> output [annotations]: stages return …;`."""
    begin = s.position
    s.expect("fun")
    called = name(s, "the function's name")
    s.expect("(")
    arguments = () if s.ahead == ")" else sequence(s, _argument, ")")
    s.expect(")", "',' or ')'")
    s.expect("->", "'->' and the type of the result")
    output = _output(s)
    notes = read_annotations(s)
    s.expect(":")
    return Function(called, arguments, output, function_body(s), notes, span=s.span(begin))


def given(s: Scanner) -> Given:
    """`given $a: T, …;`."""
    begin = s.position
    s.expect("given")
    arguments = () if s.ahead == ";" else sequence(s, _argument, ";")
    s.expect(";", "',' or ';'")
    return Given(arguments, span=s.span(begin))


def _argument(s: Scanner) -> Argument:
    begin = s.position
    of = variable(s)
    s.expect(":", "':' and the argument's type")
    return Argument(of, named_type(s), span=s.span(begin))


def _output(s: Scanner) -> Output:
    begin = s.position
    if s.accept("{"):
        types = sequence(s, named_type, "}")
        s.expect("}", "',' or '}'")
        return Output(types, stream=True, span=s.span(begin))
    return Output(sequence(s, named_type, ": @"), span=s.span(begin))


def function_body(s: Scanner) -> FunctionBody:
    """`stage … return …;`."""
    begin = s.position
    steps = stages(s)
    if s.ahead != "return":
        raise s.mismatch("another stage or 'return'")
    return FunctionBody(steps, result(s), span=s.span(begin))


def result(s: Scanner) -> Return:
    """`return …;`."""
    begin = s.position
    s.expect("return")
    found = _returned(s, begin)
    s.expect(";")
    return found


def _returned(s: Scanner, begin: int) -> Return:
    if s.accept("{"):
        streamed = variables(s, "}")
        s.expect("}", "',' or '}'")
        return ReturnStream(streamed, span=s.span(begin))
    if s.accept("first"):
        return ReturnSingle("first", variables(s), span=s.span(begin))
    if s.accept("last"):
        return ReturnSingle("last", variables(s), span=s.span(begin))
    if s.accept("check"):
        return ReturnCheck(span=s.span(begin))
    return ReturnReduce(sequence(s, reducer, ";"), span=s.span(begin))
