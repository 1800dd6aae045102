"""Statements: one constraint or several on things, types and values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from qeval.typeql.syntax.ast import (
    Assignment,
    ComparisonStatement,
    Has,
    Iid,
    InStatement,
    Isa,
    IsStatement,
    LabelIs,
    Links,
    ListOf,
    ListRange,
    Owns,
    Players,
    Plays,
    Relates,
    RelationStatement,
    RolePlayer,
    StructPattern,
    Sub,
    ThingStatement,
    TypeStatement,
    ValueOf,
)
from qeval.typeql.syntax.ast import Variable as VariableNode
from qeval.typeql.syntax.grammar.annotations import read_annotations
from qeval.typeql.syntax.grammar.expressions import (
    COMPARATORS,
    call,
    comparison,
    comparison_ahead,
    expression,
    list_new,
    struct,
    value,
    value_or_none,
)
from qeval.typeql.syntax.grammar.literals import STARTS
from qeval.typeql.syntax.grammar.names import (
    KINDS,
    RESERVED,
    any_label,
    exact_mark,
    name,
    sequence,
    target,
    type_ref,
    type_ref_or_list,
    variable,
)
from qeval.typeql.syntax.grammar.scanner import VARIABLE, WORD

if TYPE_CHECKING:
    from collections.abc import Callable

    from qeval.typeql.syntax.ast import (
        Call,
        Expression,
        ListNew,
        Statement,
        ThingConstraint,
        TypeConstraint,
    )
    from qeval.typeql.syntax.grammar.scanner import Scanner

_IID: Final = re.compile(r"0x[0-9a-fA-F]++")
_BEHIND_LABEL: Final = "sub, owns, plays, relates, value, label, a comparator or '('"
_OPERATORS: Final = frozenset("+-*/%^[")


def statement(s: Scanner) -> Statement:
    """Any statement, without its semicolon."""
    if s.kind == VARIABLE:
        return _of_variable(s)
    if s.ahead == "(":
        return s.attempt(_comparison) or _relation(s)
    if s.kind != WORD:
        if s.ahead not in STARTS:
            raise s.mismatch("a statement")
        return _comparison(s)
    if s.ahead == "let":
        kind, following = s.peek()
        if kind == VARIABLE or following == "{":
            return _let(s)
    return s.attempt(_type_statement) or s.attempt(_comparison) or _relation(s)


def _of_variable(s: Scanner) -> Statement:
    """A statement that starts with a variable: the token behind it tells which."""
    begin = s.mark()
    subject = variable(s)
    if s.ahead in COMPARATORS or s.ahead in _OPERATORS:
        s.reset(begin)
        return _comparison(s)
    if s.ahead == "(":
        s.reset(begin)
        return _relation(s)
    if s.accept("is"):
        return IsStatement(subject, variable(s), span=s.span(begin.position))
    s.accept(",")
    if s.at_word(_THING):
        return ThingStatement(subject, _thing_constraints(s), span=s.span(begin.position))
    if s.at_word(_TYPE):
        return TypeStatement(None, subject, _type_constraints(s), span=s.span(begin.position))
    raise s.mismatch(
        "isa, has, links, iid, is, sub, owns, plays, relates, value, label or a comparator"
    )


def _comparison(s: Scanner) -> ComparisonStatement:
    begin = s.position
    left = value(s)
    return ComparisonStatement(left, comparison(s), span=s.span(begin))


# let ---------------------------------------------------------------------------------------------


def _let(s: Scanner) -> Assignment | InStatement:
    begin = s.position
    s.take()
    if s.ahead == "{":
        pattern = _struct_pattern(s)
        s.expect("=")
        return Assignment(pattern, expression(s), span=s.span(begin))
    targets = sequence(s, target, "= in")
    if s.accept("in"):
        return InStatement(targets, _stream(s), span=s.span(begin))
    s.expect("=", "',', '=' or 'in'")
    return Assignment(targets, expression(s), span=s.span(begin))


def _stream(s: Scanner) -> Call | ListNew | ListRange:
    if s.kind == WORD:
        return call(s)
    if s.ahead == "[":
        return list_new(s)
    begin = s.mark()
    if s.kind == VARIABLE and isinstance(found := expression(s), ListRange):
        return found
    s.reset(begin)
    raise s.mismatch("a function call or a list")


def _struct_pattern(s: Scanner) -> StructPattern:
    begin = s.position
    s.expect("{")
    s.descend()
    key = name(s, "the name of a struct's field")
    s.expect(":")
    inner = _struct_pattern(s) if s.ahead == "{" else variable(s)
    s.expect("}")
    s.ascend()
    return StructPattern(key, inner, span=s.span(begin))


# Things ------------------------------------------------------------------------------------------


def _relation(s: Scanner) -> RelationStatement:
    begin = s.position
    if s.ahead in RESERVED:
        # Kept from naming a relation by the grammar itself, unlike elsewhere.
        raise s.mismatch("a statement")
    of = None if s.ahead == "(" else type_ref(s)
    if s.ahead != "(":
        raise s.mismatch(_BEHIND_LABEL)
    found = players(s)
    constraints: tuple[ThingConstraint, ...] = ()
    if s.at_word(_THING) or (s.ahead == "," and s.peek()[1] in _THING):
        s.accept(",")
        constraints = _thing_constraints(s)
    return RelationStatement(of, found, constraints, span=s.span(begin))


def players(s: Scanner) -> Players:
    """`(role: $player, …)`."""
    begin = s.position
    s.expect("(")
    found = sequence(s, _role_player, ")")
    s.expect(")", "',' or ')'")
    return Players(found, span=s.span(begin))


def _role_player(s: Scanner) -> RolePlayer:
    begin = s.position
    role = type_ref_or_list(s)
    if isinstance(role, VariableNode) and s.ahead != ":":
        return RolePlayer(None, role, span=s.span(begin))
    s.expect(":", "':' and the variable that plays the role")
    return RolePlayer(role, variable(s), span=s.span(begin))


def _thing_constraints(s: Scanner) -> tuple[ThingConstraint, ...]:
    found = [_THING[s.ahead](s)]
    while s.accept(",") and s.at_word(_THING):
        found.append(_THING[s.ahead](s))
    return tuple(found)


def _isa(s: Scanner) -> Isa:
    begin = s.position
    exact = exact_mark(s)
    of = type_ref(s)
    if s.ahead == "(" and (found := s.attempt(players)) is not None:
        return Isa(of, exact, players=found, span=s.span(begin))
    if (compared := comparison_ahead(s)) is not None:
        return Isa(of, exact, comparison=compared, span=s.span(begin))
    if s.ahead == "{":
        return Isa(of, exact, value=struct(s), span=s.span(begin))
    equal = expression(s) if s.ahead == "[" or s.kind == VARIABLE else value_or_none(s)
    return Isa(of, exact, value=equal, span=s.span(begin))


def _iid(s: Scanner) -> Iid:
    begin = s.position
    s.take()
    found = _IID.match(s.text, s.position)
    if found is None:
        raise s.mismatch("an internal identifier 0x…")
    s.advance(found.end())
    if s.kind == WORD and s.position == s.end:
        raise s.mismatch("an internal identifier of hexadecimal digits")
    return Iid(found[0], span=s.span(begin))


def _has(s: Scanner) -> Has:
    begin = s.position
    s.take()
    of = type_ref_or_list(s)
    if (compared := comparison_ahead(s)) is not None:
        return Has(of, compared, span=s.span(begin))
    equal = _list_or_variable(s) if isinstance(of, ListOf) else value_or_none(s)
    if equal is not None:
        return Has(of, equal, span=s.span(begin))
    if isinstance(of, VariableNode):
        return Has(None, of, span=s.span(begin))
    raise s.mismatch("a value, a variable or a comparator")


def _list_or_variable(s: Scanner) -> Expression | None:
    if s.ahead == "[":
        return list_new(s)
    if s.kind != VARIABLE:
        raise s.mismatch("a list or a variable")
    begin = s.mark()
    found = expression(s)
    if isinstance(found, ListRange):
        return found
    s.reset(begin)
    return variable(s)


def _links(s: Scanner) -> Links:
    begin = s.position
    s.take()
    return Links(players(s), span=s.span(begin))


_THING: Final[dict[str, Callable[[Scanner], ThingConstraint]]] = {
    "isa": _isa,
    "has": _has,
    "links": _links,
    "iid": _iid,
}


# Types -------------------------------------------------------------------------------------------


def _type_statement(s: Scanner) -> TypeStatement:
    begin = s.position
    if s.ahead in KINDS:
        following, _ = s.peek()
        if following in {WORD, VARIABLE}:
            return _of_kind(s)
    subject = type_ref(s)
    s.accept(",")
    if not s.at_word(_TYPE):
        raise s.mismatch(_BEHIND_LABEL)
    return TypeStatement(None, subject, _type_constraints(s), span=s.span(begin))


def _of_kind(s: Scanner) -> TypeStatement:
    begin = s.position
    kind = KINDS[s.take()]
    subject = type_ref(s)
    constraints: tuple[TypeConstraint, ...] = ()
    if s.at_word(_TYPE) or (s.ahead == "," and s.peek()[1] in _TYPE):
        s.accept(",")
        constraints = _type_constraints(s)
    return TypeStatement(kind, subject, constraints, span=s.span(begin))


def _type_constraints(s: Scanner) -> tuple[TypeConstraint, ...]:
    found = [_TYPE[s.ahead](s)]
    while s.accept(",") and s.at_word(_TYPE):
        found.append(_TYPE[s.ahead](s))
    return tuple(found)


def _sub(s: Scanner) -> Sub:
    begin = s.position
    exact = exact_mark(s)
    of = type_ref(s)
    return Sub(of, exact, read_annotations(s), span=s.span(begin))


def _value_of(s: Scanner) -> ValueOf:
    begin = s.position
    s.take()
    of = name(s, "a value type")
    return ValueOf(of, read_annotations(s), span=s.span(begin))


def _label_is(s: Scanner) -> LabelIs:
    begin = s.position
    s.take()
    of = any_label(s)
    return LabelIs(of, read_annotations(s), span=s.span(begin))


def _owns(s: Scanner) -> Owns:
    begin = s.position
    s.take()
    of = type_ref_or_list(s)
    return Owns(of, read_annotations(s), span=s.span(begin))


def _relates(s: Scanner) -> Relates:
    begin = s.position
    s.take()
    role = type_ref_or_list(s)
    specialised = None
    if s.accept("as"):
        specialised = type_ref_or_list(s)
        if isinstance(role, ListOf) != isinstance(specialised, ListOf):
            raise s.mismatch("'[]' behind both roles or behind none")
    return Relates(role, specialised, read_annotations(s), span=s.span(begin))


def _plays(s: Scanner) -> Plays:
    begin = s.position
    s.take()
    role = type_ref(s)
    return Plays(role, read_annotations(s), span=s.span(begin))


_TYPE: Final[dict[str, Callable[[Scanner], TypeConstraint]]] = {
    "sub": _sub,
    "owns": _owns,
    "plays": _plays,
    "relates": _relates,
    "value": _value_of,
    "label": _label_is,
}
