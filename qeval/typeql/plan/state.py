"""What the planner knows of one conjunction while it works on it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from qeval.typeql.ir import constraints as c
from qeval.typeql.ir.expressions import Constant
from qeval.typeql.ir.patterns import Or
from qeval.typeql.ir.variables import Var
from qeval.typeql.plan import steps as s

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qeval.typeql.ir.patterns import Conjunction
    from qeval.typeql.ir.variables import Registry
    from qeval.typeql.plan.estimate import Estimator
    from qeval.typeql.schema import Schema, Type

_IMPLIED_BY_TYPES = (c.RoleName, c.HasLabel, c.IsKind, c.HasValueType)
_INDEXED_PLAYERS = 5  # TypeDB's RELATION_INDEX_THRESHOLD


@dataclass(frozen=True, slots=True)
class Settings:
    """What all conjunctions of a block share.

    ``as_set`` allows to stop at the first witness of an anonymous variable: right for the ``match``
    of a query, whose answers are a set, wrong in function bodies, where every binding counts.
    """

    schema: Schema
    estimator: Estimator
    registry: Registry
    as_set: bool


class State:
    """The constraints still to be met, the variables bound so far, and who uses which variable.

    Constraints that the sets of types imply are left out from the start.
    """

    def __init__(
        self,
        settings: Settings,
        conjunction: Conjunction,
        bound: dict[Var, int],
        wanted: frozenset[Var],
    ) -> None:
        self.settings = settings
        self.conjunction = conjunction
        self.types = conjunction.types
        self.bound = dict(bound)
        self.wanted = wanted
        everything = [*conjunction.constraints, *self._indexed_pairs()]
        self.constraints = {k: None for k in everything if self._matters(k)}
        self.nested = list(conjunction.nested)
        self.of_var = self._index()
        self.uses = self._count_uses()

    def needed_later(self, var: Var, inside: c.Constraint) -> Var | None:
        """Return the variable, or None if only this constraint cares and one witness will do."""
        own = sum(other is var for other in inside.variables())
        idle = var.anonymous and var not in self.wanted and self.uses[var] == own
        return None if idle and self.settings.as_set else var

    def role(self, links: c.Links) -> Var | None:
        """Return the role variable if its value matters."""
        role = links.role
        return role if role in self.wanted or self.uses[role] > 1 else None

    def all_bound(self, variables: Iterable[Var]) -> bool:
        """Tell whether all of some variables have values."""
        return all(var in self.bound for var in variables)

    def tests_on(self, var: Var) -> tuple[list[c.Compare], tuple[s.ValueTest, ...]]:
        """Return the comparisons of a variable with constants, as constraints and as tests."""
        found: list[c.Compare] = []
        tests: list[s.ValueTest] = []
        for constraint in self.of_var.get(var, ()):
            if not isinstance(constraint, c.Compare) or constraint.left is not var:
                continue
            if constraint in self.constraints and isinstance(constraint.right, Constant):
                found.append(constraint)
                tests.append(s.ValueTest(constraint.op, constraint.right))
        return found, tuple(tests)

    def _indexed_pairs(self) -> Iterator[c.DifferentEdges]:
        """Yield pairs of edges that the server reads from its index of relations.

        Where a relation variable has exactly two ``links`` in a conjunction, is not pinned down
        by an iid or an attribute's value, and its types admit few players, the server walks pairs
        of different edges, even if the two were written apart.
        """
        edges: dict[Var, list[c.Links]] = {}
        for constraint in self.conjunction.constraints:
            if isinstance(constraint, c.Links):
                edges.setdefault(constraint.relation, []).append(constraint)
        for relation, links in edges.items():
            types = self.settings.schema.members(self.types[relation])
            few = all(_most_players(type_) <= _INDEXED_PLAYERS for type_ in types)
            if len(links) == 2 and few and not self._pinned(relation):  # noqa: PLR2004
                yield c.DifferentEdges(links[0].span, links[0], links[1])

    def _pinned(self, relation: Var) -> bool:
        constraints = self.conjunction.constraints
        if any(isinstance(k, c.Iid) and k.thing is relation for k in constraints):
            return True
        owned = {k.attribute for k in constraints if isinstance(k, c.Has) and k.owner is relation}
        return any(
            isinstance(k, c.Compare) and k.op == "==" and not owned.isdisjoint(k.needs())
            for k in constraints
        )

    def _index(self) -> dict[Var, list[c.Constraint]]:
        """List the constraints of every variable."""
        index: dict[Var, list[c.Constraint]] = {}
        for constraint in self.constraints:
            for var in mentioned(constraint):
                index.setdefault(var, []).append(constraint)
        return index

    def _matters(self, constraint: c.Constraint) -> bool:
        """Leave out what the sets of types already say."""
        if isinstance(constraint, _IMPLIED_BY_TYPES):
            return False
        if isinstance(constraint, c.Isa):
            return isinstance(constraint.type, Var)
        if isinstance(constraint, c.DifferentEdges):
            one, other = constraint.one, constraint.other
            same_role = self.types[one.role] & self.types[other.role]
            return bool(same_role and self.types[one.player] & self.types[other.player])
        return True

    def _count_uses(self) -> Counter[Var]:
        uses: Counter[Var] = Counter()
        for constraint in self.constraints:
            uses.update(mentioned(constraint))
        for nested in self.nested:
            uses.update(nested.visible if isinstance(nested, Or) else nested.body.visible)
        return uses


def mentioned(constraint: c.Constraint) -> tuple[Var, ...]:
    """Return the variables a constraint is about, those of two edges that must differ included."""
    if isinstance(constraint, c.DifferentEdges):
        one, other = constraint.one, constraint.other
        return one.player, one.role, other.player, other.role
    return constraint.variables()


def _most_players(relation: Type) -> float:
    """Return how many players a relation of exactly this type can have."""
    total = 0.0
    for relating in relation.relates.values():
        if not relating.hidden:
            total += inf if relating.card.high is None else relating.card.high
    return total
