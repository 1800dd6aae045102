"""Spans, the base of all nodes, and the names a query uses."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from typing import Literal as OneOf

if TYPE_CHECKING:
    from collections.abc import Iterator


class Span(NamedTuple):
    """Half-open range of code points in the source text."""

    begin: int
    end: int


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Node:
    """What all nodes share."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    def walk(self) -> Iterator[Node]:
        """The node and all inside it, at any depth."""
        pending: list[object] = [self]
        while pending:
            node = pending.pop()
            if isinstance(node, tuple):
                pending.extend(node)
            elif isinstance(node, Node):
                yield node
                pending.extend(getattr(node, each.name) for each in fields(node))


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """`$name`; `$_` has no name. `optional` is the `?` of an assignment target (`$max?`)."""

    name: str | None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Label(Node):
    """The name of a type, `person`. It may be a reserved word: the grammar lets those pass."""

    name: str


@dataclass(frozen=True, slots=True)
class ScopedLabel(Node):
    """The name of a role, `friendship:friend`."""

    scope: str
    name: str


@dataclass(frozen=True, slots=True)
class ListOf(Node):
    """`name[]`: parsed by TypeDB, not implemented by it."""

    element: TypeRef


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """A value type or a label where either may stand: `integer`, `person`, `person?`, `name[]`."""

    name: str
    optional: bool = False
    is_list: bool = False


TypeRef: TypeAlias = Label | ScopedLabel | Variable
Kind: TypeAlias = OneOf["entity", "relation", "attribute"]
