"""Expressions and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qeval.typeql.syntax.ast import (
    Call,
    Comparison,
    ListIndex,
    ListNew,
    ListRange,
    Operation,
    Parenthesis,
    Span,
    Struct,
)
from qeval.typeql.syntax.grammar.literals import STARTS, literal_ahead
from qeval.typeql.syntax.grammar.names import any_label, name, sequence, variable
from qeval.typeql.syntax.grammar.scanner import VARIABLE, WORD, too_much

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast import Comparator, Expression, Operator
    from qeval.typeql.syntax.grammar.scanner import Scanner

COMPARATORS: Final[dict[str, Comparator]] = {
    "==": "==",
    "!=": "!=",
    ">=": ">=",
    ">": ">",
    "<=": "<=",
    "<": "<",
    "contains": "contains",
    "like": "like",
}
_BINDING: Final[dict[str, tuple[Operator, int]]] = {
    "+": ("+", 1),
    "-": ("-", 1),
    "*": ("*", 2),
    "/": ("/", 2),
    "%": ("%", 2),
    "^": ("^", 3),
}
_RIGHT: Final = 3
_ANYTHING: Final = "a value, a variable or an expression"

MAX_OPERATORS: Final = 250
"""Operators of one expression, which bound how deep its tree can be."""


def value(s: Scanner) -> Expression:
    """An expression that is no list."""
    s.operators = 0
    return _value(s)


def expression(s: Scanner) -> Expression:
    """Any expression, lists included."""
    s.operators = 0
    return _expression(s)


def value_or_none(s: Scanner) -> Expression | None:
    """An expression that is no list, if one starts here."""
    return value(s) if s.kind in {VARIABLE, WORD} or s.ahead == "(" or s.ahead in STARTS else None


def comparison(s: Scanner) -> Comparison:
    """A comparator and what it compares with."""
    if s.ahead not in COMPARATORS:
        raise s.mismatch("a comparator (==, !=, <, <=, >, >=, contains, like)")
    begin = s.position
    comparator = COMPARATORS[s.take()]
    return Comparison(comparator, value(s), span=s.span(begin))


def comparison_ahead(s: Scanner) -> Comparison | None:
    """The comparison that starts here, consumed, or None.

    A comparator that is a word may also be a label, and is one if no comparison can be read.
    """
    if s.ahead not in COMPARATORS:
        return None
    return s.attempt(comparison) if s.kind == WORD else comparison(s)


def call(s: Scanner) -> Call:
    """`name(argument, …)`."""
    begin = s.position
    called = name(s, "a function call")
    s.expect("(", "'(' and the arguments of a function")
    s.descend()
    arguments = () if s.ahead == ")" else sequence(s, _expression, ")")
    s.expect(")", "',' or ')'")
    s.ascend()
    return Call(called, arguments, span=s.span(begin))


def list_new(s: Scanner) -> ListNew:
    """`[item, …]`."""
    begin = s.position
    s.expect("[")
    s.descend()
    items = sequence(s, _value, "]")
    s.expect("]", "',' or ']'")
    s.ascend()
    return ListNew(items, span=s.span(begin))


def struct(s: Scanner) -> Struct:
    """`{ key: value }`, the value possibly a struct again."""
    begin = s.position
    s.expect("{")
    s.descend()
    key = name(s, "the name of a struct's field")
    s.expect(":")
    inner = struct(s) if s.ahead == "{" else value(s)
    s.expect("}")
    s.ascend()
    return Struct(key, inner, span=s.span(begin))


def _expression(s: Scanner) -> Expression:
    if s.ahead == "[":
        return list_new(s)
    if s.kind != VARIABLE:
        return _value(s)
    begin = s.position
    first = _variable(s, ranges=True)
    return first if isinstance(first, ListRange) else _rest(s, first, begin)


def _value(s: Scanner) -> Expression:
    begin = s.position
    return _rest(s, _operand(s), begin)


def _rest(s: Scanner, first: Expression, begin: int) -> Expression:
    """The operators and operands behind the first operand, as a tree by precedence."""
    if s.ahead not in _BINDING:
        return first
    operands = [(begin, first)]
    pending: list[tuple[Operator, int]] = []
    while s.ahead in _BINDING:
        s.operators += 1
        if s.operators > MAX_OPERATORS:
            reason = f"an expression has more than {MAX_OPERATORS} operators"
            raise too_much(s.text, s.position, reason)
        operator, binding = _BINDING[s.take()]
        while pending and (pending[-1][1] > binding or pending[-1][1] == binding != _RIGHT):
            _combine(operands, pending)
        pending.append((operator, binding))
        operands.append((s.position, _operand(s)))
    while pending:
        _combine(operands, pending)
    return operands[0][1]


def _combine(operands: list[tuple[int, Expression]], pending: list[tuple[Operator, int]]) -> None:
    operator, _ = pending.pop()
    _, right = operands.pop()
    begin, left = operands.pop()
    span = Span(begin, right.span.end)
    operands.append((begin, Operation(operator, left, right, span=span)))


def _operand(s: Scanner) -> Expression:
    if s.kind == VARIABLE:
        return _variable(s, ranges=False)
    if s.ahead == "(":
        return _parenthesis(s)
    if s.kind == WORD and s.peek()[1] == "(":
        return call(s)
    if (found := literal_ahead(s)) is not None:
        return found
    if s.kind == WORD:
        return any_label(s)
    raise s.mismatch(_ANYTHING)


def _parenthesis(s: Scanner) -> Parenthesis:
    begin = s.position
    s.take()
    s.descend()
    inner = _value(s)
    s.expect(")", "an operator or ')'")
    s.ascend()
    return Parenthesis(inner, span=s.span(begin))


def _variable(s: Scanner, *, ranges: bool) -> Expression:
    """A variable, one element of it or, where lists may stand, a range of it."""
    begin = s.position
    plain = variable(s)
    if s.ahead != "[":
        return plain
    s.take()
    s.descend()
    low = _value(s)
    if ranges and s.accept(".."):
        high = _value(s)
        s.expect("]")
        s.ascend()
        return ListRange(plain, low, high, span=s.span(begin))
    s.expect("]", "an operator or ']'")
    s.ascend()
    return ListIndex(plain, low, span=s.span(begin))
