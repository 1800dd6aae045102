"""Variables, labels and lists of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qeval.typeql.syntax.ast import Label, ListOf, NamedType, ScopedLabel, Variable
from qeval.typeql.syntax.grammar.scanner import VARIABLE, WORD, continues_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from qeval.typeql.syntax.ast import Kind, TypeRef
    from qeval.typeql.syntax.grammar.scanner import Scanner, T

KINDS: Final[dict[str, Kind]] = {
    "entity": "entity",
    "relation": "relation",
    "attribute": "attribute",
}

RESERVED: Final = frozenset(
    [
        "with",
        "given",
        "match",
        "fetch",
        "update",
        "define",
        "undefine",
        "redefine",
        "insert",
        "put",
        "delete",
        "end",
        "entity",
        "relation",
        "attribute",
        "role",
        "asc",
        "desc",
        "struct",
        "fun",
        "return",
        "alias",
        "sub",
        "owns",
        "as",
        "plays",
        "relates",
        "iid",
        "isa",
        "links",
        "has",
        "is",
        "or",
        "not",
        "try",
        "in",
        "true",
        "false",
        "of",
        "from",
        "first",
        "last",
    ]
)
"""Words that can't name a type; the grammar lets them pass as labels in most places (TQL07)."""


def variable(s: Scanner) -> Variable:
    """`$name` or `$_`."""
    if s.kind != VARIABLE:
        raise s.mismatch("a variable")
    begin = s.position
    name = s.take()[1:]
    return Variable(None if name == "_" else name, span=s.span(begin))


def target(s: Scanner) -> Variable:
    """A variable that is given a value, `$name` or `$name?`; no space before the mark."""
    begin = s.position
    plain = variable(s)
    if s.ahead == "?" and s.position == s.end:
        s.take()
        return Variable(plain.name, optional=True, span=s.span(begin))
    return plain


def sequence(s: Scanner, item: Callable[[Scanner], T], closed_by: str) -> tuple[T, ...]:
    """One item or more with commas between; a last comma may stand before what closes the list.

    `closed_by` lists the tokens that may follow, separated by blanks.
    """
    items = [item(s)]
    closers = closed_by.split()
    while s.accept(","):
        if s.ahead in closers:
            break
        items.append(item(s))
    return tuple(items)


def variables(s: Scanner, closed_by: str = ";") -> tuple[Variable, ...]:
    """`$a, $b, …`."""
    return sequence(s, variable, closed_by)


def name(s: Scanner, expected: str = "a name") -> str:
    """The name of a type, function or field."""
    if s.kind != WORD:
        raise s.mismatch(expected)
    return s.take()


def label(s: Scanner, expected: str = "a type label") -> Label:
    """`person`."""
    begin = s.position
    return Label(name(s, expected), span=s.span(begin))


def scoped_label_ahead(s: Scanner) -> bool:
    """Whether the word and what touches it form `relation:role`."""
    colon = s.position + len(s.ahead)
    text = s.text
    if s.kind != WORD or not text.startswith(":", colon):
        return False
    first = text[colon + 1 : colon + 2]
    return first.isidentifier()


def scoped_label(s: Scanner) -> ScopedLabel:
    """`relation:role`, without spaces."""
    if s.kind != WORD:
        raise s.mismatch("a role label 'relation:role'")
    if not scoped_label_ahead(s):
        s.take()
        raise s.mismatch("':' and a role's name, without spaces")
    begin = s.position
    scope = s.take()
    s.take()
    return ScopedLabel(scope, s.take(), span=s.span(begin))


def any_label(s: Scanner) -> Label | ScopedLabel:
    """`person` or `relation:role`."""
    return scoped_label(s) if scoped_label_ahead(s) else label(s)


def type_ref(s: Scanner) -> TypeRef:
    """A label, a scoped label or a variable that stands for a type."""
    if s.kind == VARIABLE:
        return variable(s)
    if s.kind != WORD:
        raise s.mismatch("a type label or a variable")
    return any_label(s)


def type_ref_or_list(s: Scanner) -> TypeRef | ListOf:
    """`type` or `type[]`."""
    begin = s.position
    element = type_ref(s)
    return ListOf(element, span=s.span(begin)) if list_mark(s) else element


def list_mark(s: Scanner) -> bool:
    """Consume `[]` if it is there."""
    if s.ahead != "[" or s.peek()[1] != "]":
        return False
    s.take()
    s.take()
    return True


def named_type(s: Scanner) -> NamedType:
    """A value type or label of a signature, `T`, `T?` or `T[]`."""
    begin = s.position
    of = name(s, "a type")
    optional = s.accept("?")
    is_list = not optional and list_mark(s)
    return NamedType(of, optional, is_list, span=s.span(begin))


def exact_mark(s: Scanner) -> bool:
    """Consume `isa`, `sub` or, with the mark that must touch it, `isa!`, `sub!`."""
    at = s.position + len(s.ahead)
    marked = s.text.startswith("!", at) and not continues_name(s.text[at + 1 : at + 2] or " ")
    s.advance(at + marked)
    return marked
