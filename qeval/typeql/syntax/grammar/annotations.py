"""Annotations, such as `@key` and `@card(0..3)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qeval.typeql.syntax.ast import Card, Doc, Flag, Meta, Range, Regex, Subkey, Values
from qeval.typeql.syntax.grammar.literals import count, literal, string
from qeval.typeql.syntax.grammar.names import name, sequence
from qeval.typeql.syntax.grammar.scanner import ANNOTATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from qeval.typeql.syntax.ast import Annotation, AnnotationName, FlagName, Literal
    from qeval.typeql.syntax.grammar.scanner import Scanner

_FLAGS: Final[dict[str, FlagName]] = {
    "@abstract": "abstract",
    "@cascade": "cascade",
    "@distinct": "distinct",
    "@independent": "independent",
    "@key": "key",
    "@unique": "unique",
}
_NAMES: Final[dict[str, AnnotationName]] = {
    **_FLAGS,
    "@card": "card",
    "@doc": "doc",
    "@meta": "meta",
    "@range": "range",
    "@regex": "regex",
    "@subkey": "subkey",
    "@values": "values",
}


def read_annotations(s: Scanner) -> tuple[Annotation, ...]:
    """All annotations that stand here, possibly none."""
    found: list[Annotation] = []
    while s.kind == ANNOTATION:
        found.append(_annotation(s))
    return tuple(found)


def annotation_name(s: Scanner) -> AnnotationName:
    """`@name` alone, without arguments."""
    if s.ahead not in _NAMES:
        raise s.mismatch("an annotation (" + ", ".join(sorted(_NAMES)) + ")")
    return _NAMES[s.take()]


def _annotation(s: Scanner) -> Annotation:
    begin = s.position
    if s.ahead in _FLAGS:
        return Flag(_FLAGS[s.take()], span=s.span(begin))
    return _ARGUMENTS[annotation_name(s)](s, begin)


def _card(s: Scanner, begin: int) -> Card:
    s.expect("(")
    low = count(s)
    high: Literal | None = low
    if s.accept(".."):
        high = None if s.ahead == ")" else count(s)
    s.expect(")", "'..' or ')'")
    return Card(low, high, span=s.span(begin))


def _range(s: Scanner, begin: int) -> Range:
    s.expect("(")
    low = None if s.ahead == ".." else literal(s)
    s.expect("..")
    high = None if low is not None and s.ahead == ")" else literal(s)
    s.expect(")")
    return Range(low, high, span=s.span(begin))


def _regex(s: Scanner, begin: int) -> Regex:
    s.expect("(")
    pattern = string(s)
    s.expect(")")
    return Regex(pattern, span=s.span(begin))


def _subkey(s: Scanner, begin: int) -> Subkey:
    s.expect("(")
    key = name(s)
    s.expect(")")
    return Subkey(key, span=s.span(begin))


def _values(s: Scanner, begin: int) -> Values:
    s.expect("(")
    values = sequence(s, literal, ")")
    s.expect(")", "',' or ')'")
    return Values(values, span=s.span(begin))


def _doc(s: Scanner, begin: int) -> Doc:
    s.expect("(")
    text = string(s)
    s.expect(")")
    return Doc(text, span=s.span(begin))


def _meta(s: Scanner, begin: int) -> Meta:
    s.expect("(")
    key = string(s)
    s.expect(",")
    value = string(s)
    s.expect(")")
    return Meta(key, value, span=s.span(begin))


_ARGUMENTS: Final[dict[str, Callable[[Scanner, int], Annotation]]] = {
    "card": _card,
    "doc": _doc,
    "meta": _meta,
    "range": _range,
    "regex": _regex,
    "subkey": _subkey,
    "values": _values,
}
