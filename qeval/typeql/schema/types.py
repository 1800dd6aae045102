"""Types and the edges between them.

Every type has a bit; a set of types is an ``int`` with the bits of its members. Type inference
and the type tests of the executor are then single machine operations.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qeval.typeql.schema.limits import ValueLimits
    from qeval.typeql.values import ValueType


class Kind(StrEnum):
    """The four kinds of types."""

    ENTITY = "entity"
    RELATION = "relation"
    ATTRIBUTE = "attribute"
    ROLE = "role"


@dataclass(frozen=True, slots=True)
class Card:
    """How many there may be: ``low`` to ``high``, both included; ``high`` None means no limit."""

    low: int = 0
    high: int | None = None

    def allows(self, count: int) -> bool:
        """Tell whether a count lies within."""
        return self.low <= count and (self.high is None or count <= self.high)

    def __str__(self) -> str:
        return f"@card({self.low}..{'' if self.high is None else self.high})"


AT_MOST_ONE = Card(0, 1)
EXACTLY_ONE = Card(1, 1)
ANY_NUMBER = Card(0, None)


@dataclass(frozen=True, slots=True)
class Ownership:
    """``owner owns attribute`` with its annotations; ``unique`` holds for keys too."""

    attribute: Type
    declared_by: Type
    card: Card
    key: bool
    unique: bool
    limits: ValueLimits


@dataclass(frozen=True, slots=True)
class Playing:
    """``player plays role``."""

    role: Type
    card: Card


@dataclass(frozen=True, slots=True)
class Relating:
    """``relation relates role``; a role that a subtype specialised is ``hidden`` to its inserts."""

    role: Type
    card: Card
    abstract: bool = False
    hidden: bool = False

    def as_hidden(self) -> Relating:
        """Return the same edge as a subtype that specialises the role sees it."""
        return replace(self, hidden=True)


@dataclass(slots=True, eq=False)
class Type:
    """An entity, relation, attribute or role type.

    The dictionaries hold what the type itself and its supertypes declare. The ``int`` fields are
    sets of types, in pairs that are each other's inverse: ``supers`` and ``subs`` (reflexive and
    transitive), ``direct_super`` and ``direct_subs``, ``owned`` and ``owners``, ``played`` and
    ``players``, ``related`` and ``relations``. ``comparable`` holds the attribute types whose
    values compare with this one's.
    """

    label: str
    kind: Kind
    index: int
    bit: int
    abstract: bool = False
    independent: bool = False
    value_type: ValueType | None = None
    limits: ValueLimits | None = None
    scope: Type | None = None  # of a role: the relation that declares it
    parent: Type | None = None
    children: list[Type] = field(default_factory=list)
    owns: dict[Type, Ownership] = field(default_factory=dict)
    plays: dict[Type, Playing] = field(default_factory=dict)
    relates: dict[Type, Relating] = field(default_factory=dict)
    supers: int = 0
    subs: int = 0
    owned: int = 0
    owners: int = 0
    played: int = 0
    players: int = 0
    related: int = 0
    relations: int = 0
    direct_super: int = 0
    direct_subs: int = 0
    comparable: int = 0

    @property
    def name(self) -> str:
        """The label without the relation a role belongs to."""
        return self.label.rpartition(":")[2]

    def __repr__(self) -> str:
        return f"<{self.kind} {self.label}>"


def members(types: int, catalogue: list[Type]) -> list[Type]:
    """List the types of a set, in the order of their definition."""
    found = []
    while types:
        lowest = types & -types
        found.append(catalogue[lowest.bit_length() - 1])
        types ^= lowest
    return found
