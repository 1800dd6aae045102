"""The type graph of a pattern: possible types of each variable, edges between them.

Types that no neighbour allows are removed until nothing changes (arc consistency). The branches
of a disjunction are graphs of their own that exchange types with the graph around them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from qeval.typeql.budget import work
from qeval.typeql.faults import Fault
from qeval.typeql.ir import constraints as c
from qeval.typeql.ir.variables import Var
from qeval.typeql.schema import Type

if TYPE_CHECKING:
    from qeval.typeql.ir.patterns import Conjunction
    from qeval.typeql.ir.variables import Registry
    from qeval.typeql.schema import Schema

Vertex: TypeAlias = Var | Type


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """What a constraint says of the types of two variables.

    ``forward`` and ``backward`` name the fields of :class:`Type` that lead from a type on one
    side to the types it allows on the other.
    """

    constraint: c.Constraint
    left: Vertex
    right: Vertex
    forward: str
    backward: str


@dataclass(slots=True, eq=False)
class Disjuncts:
    """The branches of a disjunction, and the types they agree on for the variables they share."""

    branches: list[Graph]
    shared: frozenset[Var]
    agreed: dict[Var, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Graph:
    """A conjunction with the possible types of its variables and the edges between them."""

    schema: Schema
    registry: Registry
    conjunction: Conjunction
    vertices: dict[Vertex, int] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    disjuncts: list[Disjuncts] = field(default_factory=list)

    def resolve(self, term: c.TypeTerm) -> Vertex:
        """Return a variable, or the type of a label; raises INF2 for an unknown label."""
        if isinstance(term, Var):
            return term
        found = self.schema.find(term.label)
        if found is None:
            raise Fault("INF2", f"there is no type '{term.label}'", term.span)
        return found

    def intersect(self, vertex: Vertex, types: int) -> None:
        """Restrict the types of a vertex, or set them if nothing is known yet."""
        self.vertices[vertex] = self.vertices.get(vertex, types) & types

    def edges_of(self, constraint: c.Constraint) -> list[Edge]:
        """Return the edges of a constraint; none if it says nothing about two types."""
        if isinstance(constraint, c.Links):
            return [
                Edge(constraint, constraint.relation, constraint.role, "related", "relations"),
                Edge(constraint, constraint.player, constraint.role, "played", "players"),
            ]
        ends = constraint.between_types()
        if ends is None:
            return []
        left, right = self.resolve(ends.left), self.resolve(ends.right)
        return [Edge(constraint, left, right, ends.forward, ends.backward)]

    def add_edges(self) -> None:
        """Add the edges of all constraints; comparisons only prune, so they come in last."""
        for constraint in self.conjunction.constraints:
            self.edges += self.edges_of(constraint)
            if isinstance(constraint, c.Compare):
                left, right = constraint.left, constraint.right
                if (
                    isinstance(left, Var)
                    and isinstance(right, Var)
                    and (left in self.vertices and right in self.vertices)
                ):
                    self.edges.append(Edge(constraint, left, right, "comparable", "comparable"))
        for branch in self.branches():
            branch.add_edges()

    def branches(self) -> list[Graph]:
        """Return the graphs of all branches directly inside."""
        return [branch for disjuncts in self.disjuncts for branch in disjuncts.branches]

    def refuse_impossible_edges(self) -> None:
        """Raise INF11 for a constraint on things whose two sides have no types in common."""
        for edge in self.edges:
            if not isinstance(edge.constraint, c.Isa | c.Has | c.Links):
                continue
            left, right = self.vertices[edge.left], self.vertices[edge.right]
            if not left & self.schema.union(right, edge.backward):
                raise Fault("INF11", self._explain(edge), edge.constraint.span)
        for branch in self.branches():
            branch.refuse_impossible_edges()

    def prune(self) -> None:
        """Remove impossible types until nothing changes."""
        while self.prune_once():
            pass

    def refuse_empty(self) -> None:
        """Raise INF6 if a variable has no types left and the pattern is about data."""
        categories = self.registry.categories
        about_things = any(
            isinstance(vertex, Var) and categories[vertex].is_thing for vertex in self.vertices
        )
        if about_things and not all(self.vertices.values()):
            raise Fault("INF6", "no types fit together in this pattern", self.conjunction.span)
        for branch in self.branches():
            branch.refuse_empty()

    def prune_once(self) -> bool:
        """Prune along every edge once; tell whether that changed anything."""
        work(len(self.edges) + 1)
        changed = False
        union, vertices = self.schema.union, self.vertices
        for edge in self.edges:
            left, right = vertices[edge.left], vertices[edge.right]
            new_left = left & union(right, edge.backward)
            new_right = right & union(new_left, edge.forward)
            if new_left != left or new_right != right:
                vertices[edge.left], vertices[edge.right] = new_left, new_right
                changed = True
        for disjuncts in self.disjuncts:
            for branch in disjuncts.branches:
                changed |= branch.prune_once()
            changed |= self._exchange(disjuncts)
        return changed

    def _exchange(self, disjuncts: Disjuncts) -> bool:
        """Keep only types that some branch allows here, and in branches those allowed here."""
        changed = False
        for vertex, types in self.vertices.items():
            allowed = 0
            for branch in disjuncts.branches:
                allowed |= branch.vertices.get(vertex, types)
            if types & allowed != types:
                self.vertices[vertex] = types & allowed
                changed = True
        for branch in disjuncts.branches:
            for vertex, types in branch.vertices.items():
                allowed = self.vertices.get(vertex, types)
                if types & allowed != types:
                    branch.vertices[vertex] = types & allowed
                    changed = True
        return changed

    def _explain(self, edge: Edge) -> str:
        def shown(vertex: Vertex) -> str:
            labels = [type_.label for type_ in self.schema.members(self.vertices[vertex])]
            name = str(vertex) if isinstance(vertex, Var) else vertex.label
            return f"{name} ({', '.join(labels) or 'no type'})"

        name = type(edge.constraint).__name__.lower()
        return f"'{name}' cannot hold between {shown(edge.left)} and {shown(edge.right)}"
