"""define, redefine and undefine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qeval.typeql.syntax.ast import (
    Define,
    DefineAlias,
    DefineOwns,
    DefinePlays,
    DefineRelates,
    DefineSub,
    DefineValue,
    Redefine,
    Relabel,
    StructDefinition,
    StructField,
    TypeDefinition,
    Undefine,
    UndefineAnnotation,
    UndefineCapability,
    UndefineFunction,
    UndefineSpecialise,
    UndefineStruct,
    UndefineType,
)
from qeval.typeql.syntax.grammar.annotations import annotation_name, read_annotations
from qeval.typeql.syntax.grammar.functions import function
from qeval.typeql.syntax.grammar.literals import string
from qeval.typeql.syntax.grammar.names import (
    KINDS,
    label,
    list_mark,
    name,
    scoped_label,
    scoped_label_ahead,
    sequence,
)
from qeval.typeql.syntax.grammar.scanner import ANNOTATION, WORD, Mismatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from qeval.typeql.syntax.ast import (
        Capability,
        Definable,
        Function,
        Kind,
        Label,
        ScopedLabel,
        Undefinable,
    )
    from qeval.typeql.syntax.grammar.scanner import Scanner, T


def define(s: Scanner) -> Define:
    """`define definable …`."""
    begin = s.position
    s.take()
    return Define(_items(s, _definable), span=s.span(begin))


def redefine(s: Scanner) -> Redefine:
    """`redefine redefinable …`."""
    begin = s.position
    s.take()
    return Redefine(_items(s, _redefinable), span=s.span(begin))


def undefine(s: Scanner) -> Undefine:
    """`undefine undefinable; …`."""
    begin = s.position
    s.take()
    return Undefine(_items(s, _undefinable), span=s.span(begin))


def _items(s: Scanner, item: Callable[[Scanner], T]) -> tuple[T, ...]:
    found: list[T] = []
    while s.ahead and not (s.ahead == "end" and s.peek()[1] == ";"):
        following = s.attempt(item)
        if following is None:
            break
        found.append(following)
    return tuple(found)


# define ------------------------------------------------------------------------------------------


def _definable(s: Scanner) -> Definable:
    # `fun` and `struct` may also name a type, and then define it.
    if s.ahead == "fun":
        return s.attempt(_type_definition) or function(s)
    if s.ahead == "struct":
        return s.attempt(_type_definition) or _struct_definition(s)
    return _type_definition(s)


def _kind(s: Scanner) -> Kind | None:
    return KINDS[s.take()] if s.ahead in KINDS else None


def _type_definition(s: Scanner) -> TypeDefinition:
    begin = s.position
    kind = _kind(s)
    of = label(s, "a type label" if kind else "a definition")
    notes = read_annotations(s)
    found: list[Capability] = []
    if not notes:
        if s.ahead == "," and s.peek()[1] in _CAPABILITIES:
            s.take()
        if s.at_word(_CAPABILITIES):
            found.append(_capability(s))
    if notes or found:
        while s.accept(",") and s.at_word(_CAPABILITIES):
            found.append(_capability(s))
        s.expect(";", "an annotation, ',' and a capability, or ';'")
    else:
        s.expect(";", "sub, owns, plays, relates, value, an annotation or ';'")
    return TypeDefinition(kind, of, notes, tuple(found), span=s.span(begin))


def _struct_definition(s: Scanner) -> StructDefinition:
    begin = s.position
    s.expect("struct")
    of = name(s, "the struct's name")
    notes = read_annotations(s)
    s.expect(":")
    fields = sequence(s, _struct_field, ";")
    s.expect(";", "',' or ';'")
    return StructDefinition(of, fields, notes, span=s.span(begin))


def _struct_field(s: Scanner) -> StructField:
    begin = s.position
    of = name(s, "the name of a field")
    s.expect("value")
    value_type = name(s, "a value type")
    optional = s.accept("?")
    return StructField(of, value_type, optional, read_annotations(s), span=s.span(begin))


# Capabilities ------------------------------------------------------------------------------------


def _capability(s: Scanner) -> Capability:
    if not s.at_word(_CAPABILITIES):
        raise s.mismatch(_EXPECTED)
    return _CAPABILITIES[s.ahead](s)


def _bare_capability(s: Scanner) -> Capability:
    """A capability as undefine names it: without annotations."""
    found = _capability(s)
    if found.annotations:
        raise Mismatch(found.annotations[0].span.begin, "'from'")
    return found


def _sub(s: Scanner) -> DefineSub:
    begin = s.position
    s.take()
    of = label(s)
    return DefineSub(of, read_annotations(s), span=s.span(begin))


def _alias(s: Scanner) -> DefineAlias:
    begin = s.position
    s.take()
    of = label(s)
    return DefineAlias(of, read_annotations(s), span=s.span(begin))


def _value(s: Scanner) -> DefineValue:
    begin = s.position
    s.take()
    of = name(s, "a value type")
    return DefineValue(of, read_annotations(s), span=s.span(begin))


def _owns(s: Scanner) -> DefineOwns:
    begin = s.position
    s.take()
    of = label(s, "an attribute type's label")
    is_list = list_mark(s)
    return DefineOwns(of, is_list, read_annotations(s), span=s.span(begin))


def _plays(s: Scanner) -> DefinePlays:
    begin = s.position
    s.take()
    of = scoped_label(s)
    return DefinePlays(of, read_annotations(s), span=s.span(begin))


def _relates(s: Scanner) -> DefineRelates:
    begin = s.position
    found = _bare_relates(s)
    notes = read_annotations(s)
    return DefineRelates(found.role, found.specialises, found.is_list, notes, span=s.span(begin))


def _bare_relates(s: Scanner) -> DefineRelates:
    begin = s.position
    s.expect("relates")
    role = label(s, "a role's name")
    is_list = list_mark(s)
    specialises = None
    if s.accept("as"):
        specialises = label(s, "a role's name")
        if list_mark(s) != is_list:
            raise s.mismatch("'[]' behind both roles or behind none")
    return DefineRelates(role, specialises, is_list, span=s.span(begin))


_CAPABILITIES: Final[dict[str, Callable[[Scanner], Capability]]] = {
    "sub": _sub,
    "owns": _owns,
    "plays": _plays,
    "relates": _relates,
    "value": _value,
    "alias": _alias,
}
_EXPECTED: Final = "sub, owns, plays, relates, value or alias"


# redefine ----------------------------------------------------------------------------------------


def _redefinable(s: Scanner) -> TypeDefinition | Relabel | Function:
    return s.attempt(_relabel) or s.attempt(_type_change) or function(s)


def _relabel(s: Scanner) -> Relabel:
    begin = s.position
    kind = None
    old: Label | ScopedLabel
    if scoped_label_ahead(s):
        old = scoped_label(s)
    else:
        kind = _kind(s)
        old = label(s)
    s.expect("label")
    new = label(s)
    s.expect(";")
    return Relabel(kind, old, new, span=s.span(begin))


def _type_change(s: Scanner) -> TypeDefinition:
    begin = s.position
    kind = _kind(s)
    of = label(s)
    s.accept(",")
    notes = read_annotations(s)
    capabilities = () if notes else (_capability(s),)
    s.expect(";")
    return TypeDefinition(kind, of, notes, capabilities, span=s.span(begin))


# undefine ----------------------------------------------------------------------------------------


def _undefinable(s: Scanner) -> Undefinable:
    found = _undefined(s)
    s.expect(";")
    return found


def _undefined(s: Scanner) -> Undefinable:
    if s.kind == ANNOTATION:
        return _undefined_annotation(s)
    begin = s.position
    if s.at_word(_CAPABILITIES) and (found := s.attempt(_undefined_capability)) is not None:
        return found
    if s.ahead == "as" and (specialised := s.attempt(_undefined_specialise)) is not None:
        return specialised
    if s.ahead in {"fun", "struct"} and s.peek()[0] == WORD:
        is_function = s.take() == "fun"
        of = name(s)
        span = s.span(begin)
        return UndefineFunction(of, span=span) if is_function else UndefineStruct(of, span=span)
    of_type = label(s, "what to undefine")
    return UndefineType(of_type, span=s.span(begin))


def _undefined_annotation(s: Scanner) -> UndefineAnnotation:
    begin = s.position
    annotation = annotation_name(s)
    meta_key = None
    if annotation == "meta":
        s.expect("(")
        meta_key = string(s)
        s.expect(")")
    s.expect("from")
    of = label(s)
    capability = _bare_capability(s) if s.ahead != ";" else None
    return UndefineAnnotation(annotation, of, capability, meta_key, span=s.span(begin))


def _undefined_capability(s: Scanner) -> UndefineCapability:
    begin = s.position
    capability = _bare_capability(s)
    s.expect("from")
    of = label(s)
    return UndefineCapability(capability, of, span=s.span(begin))


def _undefined_specialise(s: Scanner) -> UndefineSpecialise:
    begin = s.position
    s.expect("as")
    specialised = label(s)
    s.expect("from")
    of = label(s)
    return UndefineSpecialise(specialised, of, _bare_relates(s), span=s.span(begin))
