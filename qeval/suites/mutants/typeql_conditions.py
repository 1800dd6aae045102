"""Near misses of conditions: turned round, moved, dropped, no longer negated."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from qeval.suites.mutants.base import Mutant, Operator
from qeval.suites.mutants.near_literals import MOVED, TURNED
from qeval.suites.mutants.typeql_scopes import Block, Reading, binds, components, nodes, uses_in
from qeval.suites.mutants.typeql_text import (
    Edit,
    changed,
    dropped,
    erased,
    unwrapped,
    without_item,
    without_pattern,
)
from qeval.typeql.schema.types import EXACTLY_ONE
from qeval.typeql.syntax import ast

_NEAR: Mapping[Operator, Mapping[str, str]] = {
    "comparison": TURNED | {"==": "!=", "!=": "=="},
    "boundary": MOVED,
}


def comparisons(reading: Reading, block: Block) -> Iterator[Mutant]:
    """Comparators turned round and bounds moved, in the statements of a block."""
    for pattern in block.patterns:
        for node in nodes(pattern, into_blocks=False):
            if isinstance(node, ast.Comparison):
                place = (node.span.begin, node.span.begin + len(node.comparator))
                for operator, others in _NEAR.items():
                    if (other := others.get(node.comparator)) is not None:
                        yield changed(operator, reading.text, pattern, Edit(*place, other))
            elif isinstance(node, ast.Has) and isinstance(node.value, ast.Literal):
                begin = node.value.span.begin
                yield changed("comparison", reading.text, pattern, Edit(begin, begin, "!= "))


def negations(reading: Reading, block: Block) -> Iterator[Mutant]:
    """`not { … }` whose patterns are asked for instead."""
    for pattern in block.patterns:
        if isinstance(pattern, ast.Negation):
            yield changed("negation", reading.text, pattern, *unwrapped(pattern))


def filters(reading: Reading, block: Block) -> Iterator[Mutant]:
    """Conditions dropped: whole patterns, parts of statements, branches of `or`."""
    for index, pattern in enumerate(block.patterns):
        rest = [*block.patterns[:index], *block.patterns[index + 1 :]]
        if _may_go(block, pattern, rest):
            yield from _without(reading, block, pattern, alone=not rest)
        if isinstance(pattern, ast.ThingStatement | ast.RelationStatement):
            yield from _without_atoms(reading, block, pattern, rest)
            yield from _without_players(reading, block, pattern, rest)
        elif isinstance(pattern, ast.Disjunction):
            yield from _without_branches(reading, block, pattern)


def _without(
    reading: Reading, block: Block, pattern: ast.Pattern, *, alone: bool
) -> Iterator[Mutant]:
    operator: Operator = "null-check" if _is_null_check(pattern) else "filter"
    if not alone:
        yield dropped(operator, reading.text, pattern, without_pattern(reading.text, pattern))
    elif block.depth == 0 and len(block.routine.stages) > 1:
        stage = block.routine.stages[block.stage]
        yield dropped(operator, reading.text, pattern, erased(reading.text, *stage.span))


def _is_null_check(pattern: ast.Pattern) -> bool:
    """Whether it is `not { $x has attribute $any; }`."""
    match pattern:
        case ast.Negation(ast.Conjunction((ast.ThingStatement(_, (ast.Has(_, ast.Variable()),)),))):
            return True
    return False


def _may_go(block: Block, pattern: ast.Pattern, rest: Sequence[ast.Pattern]) -> bool:
    """Whether the block makes sense without a pattern: all is still bound, nothing falls apart."""
    match pattern:
        case ast.ComparisonStatement() | ast.IsStatement() | ast.Negation():
            return _holds(block, pattern, None, rest)
        case ast.RelationStatement() | ast.Disjunction():
            return _holds(block, pattern, None, rest)
        case ast.ThingStatement(_, constraints):
            related = any(isinstance(atom, ast.Links) for atom in constraints)
            return related and _holds(block, pattern, None, rest)
    return False


def _holds(
    block: Block,
    before: ast.Pattern,
    after: ast.Pattern | None,
    rest: Sequence[ast.Pattern],
) -> bool:
    """Whether `after` (or nothing) may stand in the place of `before`."""
    left = list(rest) if after is None else [*rest, after]
    bound = frozenset(block.known).union(*map(binds, left))
    lost = binds(before) - bound
    inside = uses_in(before)
    if any(block.routine.uses[name] > inside[name] for name in lost):
        return False
    return _parts(block, left) <= _parts(block, [*rest, before])


def _parts(block: Block, patterns: Sequence[ast.Pattern]) -> int:
    """How many parts of the patterns hang together with neither each other nor the outside."""
    return len(components(patterns, block.known)[1])


_Statement = ast.ThingStatement | ast.RelationStatement


def _without_atoms(
    reading: Reading, block: Block, statement: _Statement, rest: Sequence[ast.Pattern]
) -> Iterator[Mutant]:
    atoms = statement.constraints
    before = statement.players.span.end if isinstance(statement, ast.RelationStatement) else None
    for index, atom in enumerate(atoms):
        operator = _operator_of(reading, block, statement, atom)
        if operator is None:
            continue
        left = replace(statement, constraints=(*atoms[:index], *atoms[index + 1 :]))
        if len(atoms) > 1 or before is not None:
            if _holds(block, statement, left, rest):
                edit = without_item(atoms, index, before)
                yield changed(operator, reading.text, statement, edit)
        elif rest and _holds(block, statement, None, rest):
            edit = without_pattern(reading.text, statement)
            yield dropped(operator, reading.text, statement, edit)


def _operator_of(
    reading: Reading, block: Block, statement: _Statement, atom: ast.ThingConstraint
) -> Operator | None:
    """The operator that drops an atom; None for one that says nothing the rest doesn't."""
    subject = statement.variable.name if isinstance(statement, ast.ThingStatement) else None
    match atom:
        case ast.Has(ast.Label(), ast.Variable(str() as name)):
            if block.routine.uses[name] > 1:
                return "filter"
            cards = reading.cards(block, statement, atom)
            return None if cards and set(cards) == {EXACTLY_ONE} else "null-check"
        case ast.Has(ast.Label(), _):
            return "filter"
        case ast.Isa(ast.Label(), _, None, None, None) if subject is not None:
            narrowed = reading.types(block, subject)
            return None if reading.types(block, subject, but=atom) == narrowed else "filter"
    return None


def _without_players(
    reading: Reading, block: Block, statement: _Statement, rest: Sequence[ast.Pattern]
) -> Iterator[Mutant]:
    for node in nodes(statement, into_blocks=False):
        if not isinstance(node, ast.Players) or len(node.players) == 1:
            continue
        for index, player in enumerate(node.players):
            if player.player.name is None or block.routine.uses[player.player.name] == 1:
                continue
            left = _with_players(statement, node, index)
            if _holds(block, statement, left, rest):
                edit = without_item(node.players, index)
                yield changed("filter", reading.text, statement, edit)


def _with_players(statement: _Statement, players: ast.Players, index: int) -> _Statement:
    """The statement without one of its players."""
    fewer = replace(players, players=(*players.players[:index], *players.players[index + 1 :]))
    if isinstance(statement, ast.RelationStatement):
        return replace(statement, players=fewer)
    return replace(
        statement,
        constraints=tuple(
            replace(atom, players=fewer)
            if isinstance(atom, ast.Links | ast.Isa) and atom.players is players
            else atom
            for atom in statement.constraints
        ),
    )


def _without_branches(
    reading: Reading, block: Block, disjunction: ast.Disjunction
) -> Iterator[Mutant]:
    node = block.routine.node
    recursive = isinstance(node, ast.Function) and node.name in _calls(disjunction.branches)
    operator: Operator = "path-length" if recursive else "filter"
    for index in range(len(disjunction.branches)):
        edit = without_item(disjunction.branches, index)
        yield dropped(operator, reading.text, disjunction.branches[index], edit)


def _calls(branches: Iterable[ast.Node]) -> Iterator[str]:
    for branch in branches:
        for node in nodes(branch):
            if isinstance(node, ast.Call):
                yield node.name
