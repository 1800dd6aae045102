"""The constraints a pattern is made of.

A constraint names its variables and says how it treats them: it *binds* them, or it *needs* them
bound. Where a label may stand instead of a variable the field holds a :class:`LabelRef`, which
type inference resolves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

from qeval.typeql.ir.expressions import Constant, inputs
from qeval.typeql.ir.variables import Var

if TYPE_CHECKING:
    from qeval.typeql.ir.expressions import Expression
    from qeval.typeql.ir.functions import Signature
    from qeval.typeql.syntax.ast import Kind, Span


@dataclass(frozen=True, slots=True)
class LabelRef:
    """A type label as written, ``relation:role`` for roles."""

    label: str
    span: Span


TypeTerm: TypeAlias = Var | LabelRef
ValueTerm: TypeAlias = Var | Constant


class BetweenTypes(NamedTuple):
    """Two ends, and the fields of a type that lead from the left one's types to the right one's.

    ``backward`` leads the other way round.
    """

    left: TypeTerm
    right: TypeTerm
    forward: str
    backward: str


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """What all constraints share."""

    span: Span

    ends: ClassVar[tuple[str, ...]] = ()
    """The names of the fields that may be variables."""

    def terms(self) -> tuple[object, ...]:
        """Return what stands in the fields that may be variables."""
        return tuple([getattr(self, name) for name in self.ends])

    def binds(self) -> tuple[Var, ...]:
        """Return the variables it gives a value to."""
        return tuple(term for term in self.terms() if isinstance(term, Var))

    def needs(self) -> tuple[Var, ...]:
        """Return the variables that must have a value before."""
        return ()

    def variables(self) -> tuple[Var, ...]:
        """Return all its variables."""
        return (*self.binds(), *self.needs())

    def between_types(self) -> BetweenTypes | None:
        """Return how it relates the types of two ends, None if it does not."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Isa(Constraint):
    """``thing isa type``; ``exact`` for ``isa!``."""

    thing: Var
    type: TypeTerm
    exact: bool = False

    ends: ClassVar[tuple[str, ...]] = ("thing", "type")

    def between_types(self) -> BetweenTypes:
        """Return how it relates the types of its ends."""
        names = ("bit", "bit") if self.exact else ("supers", "subs")
        return BetweenTypes(self.thing, self.type, *names)


@dataclass(frozen=True, slots=True, eq=False)
class Iid(Constraint):
    """``thing iid 0x…``."""

    thing: Var
    iid: str

    ends: ClassVar[tuple[str, ...]] = ("thing",)


@dataclass(frozen=True, slots=True, eq=False)
class Has(Constraint):
    """``owner has attribute``; the attribute's type is a separate ``isa``."""

    owner: Var
    attribute: Var

    ends: ClassVar[tuple[str, ...]] = ("owner", "attribute")

    def between_types(self) -> BetweenTypes:
        """Return how it relates the types of its ends."""
        return BetweenTypes(self.owner, self.attribute, "owned", "owners")


@dataclass(frozen=True, slots=True, eq=False)
class Links(Constraint):
    """``relation links (role: player)``: one edge."""

    relation: Var
    player: Var
    role: Var

    ends: ClassVar[tuple[str, ...]] = ("relation", "player", "role")


@dataclass(frozen=True, slots=True, eq=False)
class DifferentEdges(Constraint):
    """Two players written in one relation statement are two edges, never one edge twice."""

    one: Links
    other: Links


@dataclass(frozen=True, slots=True, eq=False)
class Is(Constraint):
    """``left is right``: the same concept."""

    left: Var
    right: Var

    ends: ClassVar[tuple[str, ...]] = ("left", "right")

    def between_types(self) -> BetweenTypes:
        """Return how it relates the types of its ends."""
        return BetweenTypes(self.left, self.right, "bit", "bit")


@dataclass(frozen=True, slots=True, eq=False)
class Compare(Constraint):
    """``left op right`` by value."""

    op: str
    left: ValueTerm
    right: ValueTerm

    ends: ClassVar[tuple[str, ...]] = ("left", "right")

    def binds(self) -> tuple[Var, ...]:
        """Return nothing: a comparison only tests."""
        return ()

    def needs(self) -> tuple[Var, ...]:
        """Return its variables."""
        return tuple(term for term in self.terms() if isinstance(term, Var))


@dataclass(frozen=True, slots=True, eq=False)
class Let(Constraint):
    """``let target = expression``."""

    target: Var
    expression: Expression

    ends: ClassVar[tuple[str, ...]] = ("target",)

    def needs(self) -> tuple[Var, ...]:
        """Return what the expression reads."""
        return tuple(inputs(self.expression))


@dataclass(frozen=True, slots=True, eq=False)
class Call(Constraint):
    """``let targets in function(arguments)``; ``optional`` are the targets marked with ``?``."""

    targets: tuple[Var, ...]
    function: Signature
    arguments: tuple[Var, ...]
    optional: frozenset[Var] = frozenset()

    def terms(self) -> tuple[object, ...]:
        """Return the targets."""
        return self.targets

    def needs(self) -> tuple[Var, ...]:
        """Return the arguments."""
        return self.arguments


@dataclass(frozen=True, slots=True, eq=False)
class IsKind(Constraint):
    """``entity $t`` and its like."""

    kind: Kind
    type: Var

    ends: ClassVar[tuple[str, ...]] = ("type",)


@dataclass(frozen=True, slots=True, eq=False)
class HasLabel(Constraint):
    """``$t label person``."""

    type: Var
    label: LabelRef

    ends: ClassVar[tuple[str, ...]] = ("type", "label")


@dataclass(frozen=True, slots=True, eq=False)
class RoleName(Constraint):
    """A role given by its bare name, whichever relation it belongs to."""

    role: Var
    name: str

    ends: ClassVar[tuple[str, ...]] = ("role",)


@dataclass(frozen=True, slots=True, eq=False)
class HasValueType(Constraint):
    """``$t value string``; the name may be no value type at all."""

    type: TypeTerm
    value_type: str

    ends: ClassVar[tuple[str, ...]] = ("type",)


@dataclass(frozen=True, slots=True, eq=False)
class Sub(Constraint):
    """``sub`` (``exact``: ``sub!``)."""

    subtype: TypeTerm
    supertype: TypeTerm
    exact: bool = False

    ends: ClassVar[tuple[str, ...]] = ("subtype", "supertype")

    def between_types(self) -> BetweenTypes:
        """Return how it relates the types of its ends."""
        names = ("direct_super", "direct_subs") if self.exact else ("supers", "subs")
        return BetweenTypes(self.subtype, self.supertype, *names)


@dataclass(frozen=True, slots=True, eq=False)
class Owns(Constraint):
    """``owner owns attribute``, between types."""

    owner: TypeTerm
    attribute: TypeTerm

    ends: ClassVar[tuple[str, ...]] = ("owner", "attribute")

    def between_types(self) -> BetweenTypes:
        """Return how it relates the types of its ends."""
        return BetweenTypes(self.owner, self.attribute, "owned", "owners")


@dataclass(frozen=True, slots=True, eq=False)
class Plays(Constraint):
    """``player plays role``, between types."""

    player: TypeTerm
    role: TypeTerm

    ends: ClassVar[tuple[str, ...]] = ("player", "role")

    def between_types(self) -> BetweenTypes:
        """Return how it relates the types of its ends."""
        return BetweenTypes(self.player, self.role, "played", "players")


@dataclass(frozen=True, slots=True, eq=False)
class Relates(Constraint):
    """``relation relates role``, between types."""

    relation: TypeTerm
    role: TypeTerm

    ends: ClassVar[tuple[str, ...]] = ("relation", "role")

    def between_types(self) -> BetweenTypes:
        """Return how it relates the types of its ends."""
        return BetweenTypes(self.relation, self.role, "related", "relations")


TypeConstraint: TypeAlias = Sub | Owns | Plays | Relates
