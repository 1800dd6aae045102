"""Patterns: conjunctions of constraints, with disjunctions, negations and ``try`` inside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qeval.typeql.ir.constraints import Constraint
    from qeval.typeql.ir.variables import Var
    from qeval.typeql.syntax.ast import Span
    from qeval.typeql.values import ValueType


@dataclass(slots=True, eq=False)
class Conjunction:
    """Constraints and nested patterns that must all hold.

    The last fields are filled in by ``check``: what the pattern shares with its surroundings
    (``visible``), what it must be given (``needed``), and the possible types of its variables.
    """

    span: Span
    constraints: list[Constraint] = field(default_factory=list)
    nested: list[Nested] = field(default_factory=list)
    visible: frozenset[Var] = frozenset()
    needed: frozenset[Var] = frozenset()
    types: dict[Var, int] = field(default_factory=dict)

    def branches(self) -> Iterator[Conjunction]:
        """Yield the conjunctions directly inside the nested patterns."""
        for nested in self.nested:
            yield from nested.bodies

    def walk(self) -> Iterator[Conjunction]:
        """Yield this conjunction and all inside it, at any depth."""
        waiting = [self]
        while waiting:
            conjunction = waiting.pop()
            yield conjunction
            waiting.extend(conjunction.branches())


@dataclass(slots=True, eq=False)
class Or:
    """``{ … } or { … }``."""

    span: Span
    branches: list[Conjunction]
    visible: frozenset[Var] = frozenset()
    needed: frozenset[Var] = frozenset()

    @property
    def bodies(self) -> list[Conjunction]:
        """The conjunctions inside: its branches."""
        return self.branches


@dataclass(slots=True, eq=False)
class Not:
    """``not { … }``."""

    span: Span
    body: Conjunction

    @property
    def bodies(self) -> list[Conjunction]:
        """The one conjunction inside."""
        return [self.body]


@dataclass(slots=True, eq=False)
class Try:
    """``try { … }``."""

    span: Span
    body: Conjunction

    @property
    def bodies(self) -> list[Conjunction]:
        """The one conjunction inside."""
        return [self.body]


Nested: TypeAlias = Or | Not | Try


@dataclass(slots=True, eq=False)
class Block:
    """The whole pattern of a stage. ``value_types`` are those of its value variables."""

    root: Conjunction
    inputs: frozenset[Var]
    value_types: dict[Var, ValueType] = field(default_factory=dict)
