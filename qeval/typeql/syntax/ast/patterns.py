"""Statements about things and types, and the patterns made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from qeval.typeql.syntax.ast.names import Kind, Label, ListOf, Node, ScopedLabel, TypeRef, Variable

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast.annotations import Annotation
    from qeval.typeql.syntax.ast.values import (
        Call,
        Comparison,
        Expression,
        ListNew,
        ListRange,
        Struct,
        StructPattern,
    )


@dataclass(frozen=True, slots=True)
class RolePlayer(Node):
    """`role: $player` or `$player` (`role` is None)."""

    role: TypeRef | ListOf | None
    player: Variable


@dataclass(frozen=True, slots=True)
class Players(Node):
    """`(role: $player, …)`, never empty."""

    players: tuple[RolePlayer, ...]


@dataclass(frozen=True, slots=True)
class Isa(Node):
    """`isa type`, `isa! type` (`exact`), with at most one of the three short forms behind it.

    `players` is `isa T (role: $p)`, `comparison` is `isa T > 5`, `value` is `isa T "v"`.
    """

    type: TypeRef
    exact: bool = False
    players: Players | None = None
    comparison: Comparison | None = None
    value: Expression | Struct | None = None


@dataclass(frozen=True, slots=True)
class Iid(Node):
    """`iid 0x…`; `value` keeps the prefix."""

    value: str


@dataclass(frozen=True, slots=True)
class Has(Node):
    """`has type value`; `has $attribute` alone has no `type` and the variable as its value."""

    type: TypeRef | ListOf | None
    value: Comparison | Expression


@dataclass(frozen=True, slots=True)
class Links(Node):
    """`links (role: $player, …)`."""

    players: Players


ThingConstraint: TypeAlias = Isa | Iid | Has | Links


@dataclass(frozen=True, slots=True)
class ThingStatement(Node):
    """`$x isa …, has …, links …`."""

    variable: Variable
    constraints: tuple[ThingConstraint, ...]


@dataclass(frozen=True, slots=True)
class RelationStatement(Node):
    """A relation without a variable: `type (role: $player, …), has …`, the type optional."""

    type: TypeRef | None
    players: Players
    constraints: tuple[ThingConstraint, ...] = ()


@dataclass(frozen=True, slots=True)
class Sub(Node):
    """`sub type`, `sub! type`."""

    type: TypeRef
    exact: bool = False
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueOf(Node):
    """`value string`; the name is a value type's or, for structs, any label."""

    value_type: str
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelIs(Node):
    """`label person`, `label friendship:friend`."""

    label: Label | ScopedLabel
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class Owns(Node):
    """`owns type`."""

    type: TypeRef | ListOf
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class Relates(Node):
    """`relates role`, `relates role as other`."""

    role: TypeRef | ListOf
    specialises: TypeRef | ListOf | None = None
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class Plays(Node):
    """`plays role`."""

    role: TypeRef
    annotations: tuple[Annotation, ...] = ()


TypeConstraint: TypeAlias = Sub | ValueOf | LabelIs | Owns | Relates | Plays


@dataclass(frozen=True, slots=True)
class TypeStatement(Node):
    """`[kind] type constraint, …`; without a kind there is at least one constraint."""

    kind: Kind | None
    type: TypeRef
    constraints: tuple[TypeConstraint, ...]


@dataclass(frozen=True, slots=True)
class ComparisonStatement(Node):
    """`left comparator right`."""

    left: Expression
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class IsStatement(Node):
    """`$left is $right`."""

    left: Variable
    right: Variable


@dataclass(frozen=True, slots=True)
class Assignment(Node):
    """`let $a, $b = expression`."""

    targets: tuple[Variable, ...] | StructPattern
    value: Expression


@dataclass(frozen=True, slots=True)
class InStatement(Node):
    """`let $a, $b in stream`."""

    targets: tuple[Variable, ...]
    source: Call | ListNew | ListRange


Statement: TypeAlias = (
    ThingStatement
    | RelationStatement
    | TypeStatement
    | ComparisonStatement
    | IsStatement
    | Assignment
    | InStatement
)


@dataclass(frozen=True, slots=True)
class Conjunction(Node):
    """`{ pattern; … }`, and the body of a match, insert, put or update (then without braces)."""

    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Disjunction(Node):
    """`{ … } or { … }`, two branches or more."""

    branches: tuple[Conjunction, ...]


@dataclass(frozen=True, slots=True)
class Negation(Node):
    """`not { … }`."""

    body: Conjunction


@dataclass(frozen=True, slots=True)
class Try(Node):
    """`try { … }`."""

    body: Conjunction


Pattern: TypeAlias = Statement | Conjunction | Disjunction | Negation | Try
