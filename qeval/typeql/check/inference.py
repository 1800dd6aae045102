"""Type inference: the possible types of every variable of a block.

First each variable gets a set of types (from labels, signatures, and along constraints), then the
sets are pruned against each other. Negations and ``try`` blocks are inferred after the pattern
around them, from its result. The order of the steps is the server's, since it decides which error
a wrong query gets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.budget import work
from qeval.typeql.check.graph import Disjuncts, Graph
from qeval.typeql.faults import Fault
from qeval.typeql.ir import constraints as c
from qeval.typeql.ir.functions import Concepts
from qeval.typeql.ir.patterns import Or, Try
from qeval.typeql.ir.variables import Category, Var
from qeval.typeql.schema import Kind
from qeval.typeql.values import VALUE_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qeval.typeql.check.graph import Vertex
    from qeval.typeql.ir.patterns import Conjunction
    from qeval.typeql.ir.variables import Registry
    from qeval.typeql.schema import Schema


class Inference:
    """Infers types over one schema. ``abstract`` keeps abstract types, as schema functions do."""

    def __init__(self, schema: Schema, registry: Registry, *, abstract: bool = False) -> None:
        self._schema = schema
        self._registry = registry
        self._keep_abstract = abstract
        kinds = schema.of_kind
        self._things = kinds[Kind.ENTITY] | kinds[Kind.RELATION] | kinds[Kind.ATTRIBUTE]

    def run(self, root: Conjunction, inputs: Mapping[Var, int]) -> None:
        """Fill in ``types`` of a conjunction and all inside it.

        ``inputs`` are the types of variables from earlier stages. Raises INF2 (unknown label),
        INF3 (unknown role), INF9 (unknown value type), INF11 (a constraint that can never hold)
        or INF6 (no types left).
        """
        graph = self._build(root)
        for var in root.visible:
            if var in inputs:
                graph.intersect(var, inputs[var])
        self._seed(graph)
        if not self._keep_abstract:
            self._drop_abstract(graph)
        graph.add_edges()
        graph.refuse_impossible_edges()
        graph.prune()
        graph.refuse_empty()
        self._infer_nested(graph)

    def _infer_nested(self, graph: Graph) -> None:
        for branch in graph.branches():
            self._infer_nested(branch)
        conjunction = graph.conjunction
        types = {var: t for var, t in graph.vertices.items() if isinstance(var, Var)}
        for nested in conjunction.nested:
            if isinstance(nested, Or):
                continue
            self.run(nested.body, types)
            if isinstance(nested, Try):
                types = {**nested.body.types, **types}
        conjunction.types = types

    def _build(self, conjunction: Conjunction) -> Graph:
        graph = Graph(self._schema, self._registry, conjunction)
        for nested in conjunction.nested:
            if isinstance(nested, Or):
                branches = [self._build(branch) for branch in nested.branches]
                graph.disjuncts.append(Disjuncts(branches, nested.visible))
        return graph

    def _seed(self, graph: Graph) -> None:
        self._seed_known(graph)
        while True:
            while self._propagate(graph):
                pass
            if not self._seed_any(graph):
                return

    def _seed_known(self, graph: Graph) -> None:
        """Take what labels, kinds, names of roles and function signatures say."""
        constraints = graph.conjunction.constraints
        for constraint in constraints:
            for term in constraint.terms():
                if isinstance(term, c.LabelRef):
                    type_ = graph.resolve(term)
                    graph.vertices.setdefault(type_, getattr(type_, "bit", 0))
        for constraint in constraints:
            self._seed_from(graph, constraint)
        for constraint in constraints:
            if isinstance(constraint, c.Isa):  # for the sake of the more telling error
                self._propagate_along(graph, constraint)
        self._seed_compared(graph)
        for branch in graph.branches():
            self._seed_known(branch)

    def _seed_compared(self, graph: Graph) -> None:
        """Whatever is compared and is no computed value must be an attribute."""
        attributes = self._schema.of_kind[Kind.ATTRIBUTE]
        for constraint in graph.conjunction.constraints:
            if isinstance(constraint, c.Compare):
                for var in constraint.needs():
                    if self._registry.categories[var].is_thing:
                        graph.intersect(var, attributes)

    def _seed_from(self, graph: Graph, constraint: c.Constraint) -> None:
        match constraint:
            case c.IsKind():
                graph.intersect(constraint.type, self._schema.of_kind[Kind(constraint.kind)])
            case c.HasLabel():
                type_ = graph.resolve(constraint.label)
                graph.intersect(constraint.type, graph.vertices[type_])
            case c.RoleName():
                named = self._schema.roles_by_name.get(constraint.name)
                if named is None:
                    message = f"there is no role '{constraint.name}'"
                    raise Fault("INF3", message, constraint.span)
                graph.intersect(constraint.role, self._schema.union(named, "subs"))
            case c.HasValueType():
                value_type = VALUE_TYPES.get(constraint.value_type)
                if value_type is None:
                    message = f"there is no value type '{constraint.value_type}'"
                    raise Fault("INF9", message, constraint.span)
                types = self._schema.of_value_type.get(value_type, 0)
                graph.intersect(graph.resolve(constraint.type), types)
            case c.Call():
                pairs = [
                    *zip(constraint.targets, constraint.function.results, strict=False),
                    *zip(constraint.arguments, constraint.function.parameters, strict=False),
                ]
                for var, parameter in pairs:
                    if isinstance(parameter, Concepts):
                        graph.intersect(var, parameter.types)

    def _propagate(self, graph: Graph) -> bool:
        constraints = graph.conjunction.constraints
        work(len(constraints) + 1)
        changed = False
        for constraint in constraints:
            if isinstance(constraint, c.Isa):
                changed |= self._propagate_along(graph, constraint)
        for constraint in constraints:
            if not isinstance(constraint, c.Isa):
                changed |= self._propagate_along(graph, constraint)
        for disjuncts in graph.disjuncts:
            changed |= self._propagate_into(graph, disjuncts)
        return changed

    def _propagate_along(self, graph: Graph, constraint: c.Constraint) -> bool:
        """Give a side without types those that the other side allows."""
        for edge in graph.edges_of(constraint):
            left, right = graph.vertices.get(edge.left), graph.vertices.get(edge.right)
            if left is not None and right is None:
                graph.vertices[edge.right] = self._schema.union(left, edge.forward)
                return True
            if right is not None and left is None:
                graph.vertices[edge.left] = self._schema.union(right, edge.backward)
                return True
        return False

    def _propagate_into(self, graph: Graph, disjuncts: Disjuncts) -> bool:
        changed = False
        for var in disjuncts.shared:
            if var in graph.vertices:
                for branch in disjuncts.branches:
                    branch.intersect(var, graph.vertices[var])
        for branch in disjuncts.branches:
            changed |= self._propagate(branch)
        for var in disjuncts.shared - disjuncts.agreed.keys():
            if all(var in branch.vertices for branch in disjuncts.branches):
                disjuncts.agreed[var] = 0
                for branch in disjuncts.branches:
                    disjuncts.agreed[var] |= branch.vertices[var]
        for var, types in disjuncts.agreed.items():
            if var not in graph.vertices:
                graph.vertices[var] = types
                changed = True
        return changed

    def _seed_any(self, graph: Graph) -> bool:
        """Give one variable of which nothing is known every type its category admits."""
        work(1)
        for constraint in graph.conjunction.constraints:
            for var in constraint.variables():
                category = self._registry.categories[var]
                if category is not Category.VALUE and var not in graph.vertices:
                    graph.vertices[var] = self._any(category)
                    return True
        seeded = [self._seed_any(branch) for branch in graph.branches()]
        return any(seeded)

    def _any(self, category: Category) -> int:
        roles = self._schema.of_kind[Kind.ROLE]
        if category is Category.ROLE_TYPE:
            return roles
        return self._things | roles if category is Category.TYPE else self._things

    def _drop_abstract(self, graph: Graph) -> None:
        """Things are never instances of abstract types."""
        vertex: Vertex
        for vertex in graph.vertices:
            if isinstance(vertex, Var) and self._registry.categories[vertex].is_thing:
                graph.vertices[vertex] &= ~self._schema.abstract
        for branch in graph.branches():
            self._drop_abstract(branch)
