"""Expressions over values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from qeval.typeql.ir.variables import Var

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qeval.typeql.syntax.ast import Span
    from qeval.typeql.values import Value


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A literal."""

    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """``left op right``."""

    op: str
    left: Expression
    right: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Builtin:
    """``name(arguments)`` of a built-in on values."""

    name: str
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ListForm:
    """Any of the list expressions: known to the language, not to the engine."""

    elements: tuple[Expression, ...]
    span: Span


Expression: TypeAlias = Constant | Var | Operation | Builtin | ListForm


def inputs(expression: Expression) -> Iterator[Var]:
    """Yield the variables an expression reads, in the order of reading."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Var):
            yield node
        elif isinstance(node, Operation):
            waiting += [node.right, node.left]
        elif isinstance(node, Builtin):
            waiting += reversed(node.arguments)
        elif isinstance(node, ListForm):
            waiting += reversed(node.elements)
