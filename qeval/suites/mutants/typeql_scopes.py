"""The blocks of a TypeQL query, and what is bound around and within each of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

from qeval.suites.mutants.typeql_schema import (
    ANY,
    Bound,
    bounds_of,
    named_types,
    relation_types,
    types_of,
)
from qeval.typeql.schema import Card, Schema
from qeval.typeql.syntax import ast

BlockKind = Literal["match", "not", "try", "or", "and"]


@dataclass(frozen=True, slots=True)
class Routine:
    """A pipeline or function: variables are its own. `uses` counts where each one stands."""

    node: ast.Pipeline | ast.Function
    stages: Sequence[ast.Stage]
    uses: Mapping[str, int]

    @property
    def is_function(self) -> bool:
        """Whether it is a function: in its body rows are not made distinct."""
        return isinstance(self.node, ast.Function)


@dataclass(frozen=True, slots=True)
class Block:
    """A conjunction with the types of what is bound around it.

    `stage`: index of the stage it belongs to; `depth`: 0 for the body of a match.
    """

    body: ast.Conjunction
    kind: BlockKind
    routine: Routine
    stage: int
    depth: int
    known: Mapping[str, int] = field(repr=False)

    @property
    def patterns(self) -> tuple[ast.Pattern, ...]:
        """What stands in the block itself."""
        return self.body.patterns


def nodes(root: ast.Node, *, into_blocks: bool = True) -> Iterator[ast.Node]:
    """A node and all below it, in the order of the text; blocks are left out on demand."""
    yield root
    for entry in fields(root):
        content = getattr(root, entry.name)
        for child in content if isinstance(content, tuple) else (content,):
            if isinstance(child, ast.Node) and (
                into_blocks or not isinstance(child, ast.Conjunction)
            ):
                yield from nodes(child, into_blocks=into_blocks)


def names(*roots: ast.Node) -> frozenset[str]:
    """The named variables within nodes."""
    return frozenset().union(*map(uses_in, roots))


def uses_in(root: ast.Node) -> Counter[str]:
    """How often each named variable stands within a node."""
    return Counter(
        node.name
        for node in nodes(root)
        if isinstance(node, ast.Variable) and node.name is not None
    )


def binds(pattern: ast.Pattern) -> frozenset[str]:
    """The variables that a pattern binds on its own."""
    match pattern:
        case ast.ThingStatement() | ast.RelationStatement():
            return frozenset(_bound_names(pattern))
        case ast.InStatement(targets) | ast.Assignment(tuple() as targets):
            return names(*targets)
        case ast.Conjunction(patterns) | ast.Try(ast.Conjunction(patterns)):
            return frozenset().union(*map(binds, patterns))
        case ast.Disjunction(branches):
            return frozenset.intersection(*map(binds, branches))
    return frozenset()


def _bound_names(pattern: ast.Node) -> Iterator[str]:
    for node in nodes(pattern):
        if isinstance(node, ast.Comparison | ast.Operation | ast.Call):
            continue
        for entry in fields(node):
            content = getattr(node, entry.name)
            for child in content if isinstance(content, tuple) else (content,):
                if isinstance(child, ast.Variable) and child.name is not None:
                    yield child.name


def components(
    patterns: Sequence[ast.Pattern], anchored: Iterable[str]
) -> tuple[list[ast.Pattern], list[list[ast.Pattern]]]:
    """Patterns that hang together by variables: those that hang on `anchored` ones, and the rest.

    The parts of the rest are in the order of their first patterns.
    """
    reached, left = set(anchored), list(patterns)
    first = _grown(reached, left)
    parts = []
    while left:
        start = left.pop(0)
        part = [start, *_grown(set(names(start)), left)]
        parts.append(sorted(part, key=lambda pattern: pattern.span))
    return first, parts


def _grown(reached: set[str], left: list[ast.Pattern]) -> list[ast.Pattern]:
    """Move all patterns that hang on `reached` out of `left`."""
    found: list[ast.Pattern] = []
    while True:
        near = [pattern for pattern in left if names(pattern) & reached]
        if not near:
            return found
        for pattern in near:
            left.remove(pattern)
            reached |= names(pattern)
        found.extend(near)


def routines(query: ast.Pipeline) -> Iterator[Routine]:
    """The functions of a query, then its pipeline."""
    uses = uses_in(query)
    for function in query.functions:
        own = uses_in(function)
        uses.subtract(own)
        yield Routine(function, function.body.stages, own)
    yield Routine(query, query.stages, uses)


@dataclass(frozen=True, slots=True)
class Reading:
    """A query with its tree and its schema.

    `definitions`: the text of the schema; `functions`: the query's own and the schema's.
    """

    text: str
    definitions: str
    query: ast.Pipeline
    schema: Schema
    functions: Mapping[str, ast.Function]

    def bounds(self, patterns: Iterable[ast.Pattern]) -> list[Bound]:
        """What patterns say about the types of variables."""
        return list(bounds_of(self.schema, patterns, self.functions))

    def types(self, block: Block, name: str, but: ast.Node | None = None) -> int:
        """The types of a variable in a block; `but`: an atom left out of account."""
        return types_of(name, self.bounds(block.patterns), block.known, but)

    def owners(self, block: Block, statement: ast.Pattern, atom: ast.Has) -> int:
        """The types that what a statement is about may have, whatever the atom says."""
        if isinstance(statement, ast.ThingStatement) and statement.variable.name is not None:
            return self.types(block, statement.variable.name, but=atom)
        return relation_types(self.schema, statement)

    def cards(self, block: Block, statement: ast.Pattern, atom: ast.Has) -> list[Card]:
        """How many such attributes each type owns that the statement could be about.

        Empty if that isn't known.
        """
        owners = self.owners(block, statement, atom)
        attribute = self.schema.find(atom.type.name) if isinstance(atom.type, ast.Label) else None
        if owners == ANY or attribute is None:
            return []
        absent = Card(0, 0)
        edges = [owner.owns.get(attribute) for owner in self.schema.members(owners)]
        return [edge.card if edge is not None else absent for edge in edges]

    def blocks(self, routine: Routine) -> Iterator[Block]:
        """All blocks in the matches of a routine, outer before inner."""
        known: Mapping[str, int] = {}
        if isinstance(routine.node, ast.Function):
            for argument in routine.node.arguments:
                types = named_types(self.schema, argument.type)
                known = {**known, **dict.fromkeys(names(argument.variable), types)}
        for index, stage in enumerate(routine.stages):
            match stage:
                case ast.Match(body):
                    block = Block(body, "match", routine, index, 0, known)
                    yield block
                    yield from self._inner(block)
                    known = self._extended(block)
                case ast.Select(variables):
                    known = {name: known.get(name, ANY) for name in names(*variables)}
                case ast.Reduce(reductions, groupby):
                    targets = names(*(reduction.target for reduction in reductions))
                    known = {name: known.get(name, ANY) for name in names(*groupby)}
                    known = {**known, **dict.fromkeys(targets, ANY)}

    def _inner(self, block: Block) -> Iterator[Block]:
        known = self._extended(block)
        for pattern in block.patterns:
            for kind, body in _bodies(pattern):
                inner = Block(body, kind, block.routine, block.stage, block.depth + 1, known)
                yield inner
                yield from self._inner(inner)

    def _extended(self, block: Block) -> Mapping[str, int]:
        bounds = self.bounds(block.patterns)
        bound = frozenset(block.known).union(*map(binds, block.patterns))
        return {name: types_of(name, bounds, block.known) for name in bound}


def _bodies(pattern: ast.Pattern) -> Iterator[tuple[BlockKind, ast.Conjunction]]:
    match pattern:
        case ast.Negation(body):
            yield "not", body
        case ast.Try(body):
            yield "try", body
        case ast.Disjunction(branches):
            for branch in branches:
                yield "or", branch
        case ast.Conjunction():
            yield "and", pattern
