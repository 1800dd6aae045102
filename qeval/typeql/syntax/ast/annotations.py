"""Annotations of types, capabilities and functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from typing import Literal as OneOf

from qeval.typeql.syntax.ast.names import Node

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast.values import Literal


FlagName: TypeAlias = OneOf["abstract", "cascade", "distinct", "independent", "key", "unique"]


@dataclass(frozen=True, slots=True)
class Flag(Node):
    """An annotation without arguments."""

    name: FlagName


@dataclass(frozen=True, slots=True)
class Card(Node):
    """`@card(low..high)`, `@card(low..)` (`high` is None) or `@card(n)` (`high` equals `low`)."""

    low: Literal
    high: Literal | None


@dataclass(frozen=True, slots=True)
class Range(Node):
    """`@range(low..high)`; at least one bound is given."""

    low: Literal | None
    high: Literal | None


@dataclass(frozen=True, slots=True)
class Regex(Node):
    """`@regex("…")`."""

    pattern: Literal


@dataclass(frozen=True, slots=True)
class Subkey(Node):
    """`@subkey(name)`: parsed, not implemented."""

    name: str


@dataclass(frozen=True, slots=True)
class Values(Node):
    """`@values(v, …)`."""

    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Doc(Node):
    """`@doc("…")`."""

    text: Literal


@dataclass(frozen=True, slots=True)
class Meta(Node):
    """`@meta("key", "value")`."""

    key: Literal
    value: Literal


Annotation: TypeAlias = Flag | Card | Range | Regex | Subkey | Values | Doc | Meta
