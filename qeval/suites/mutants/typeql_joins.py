"""Near misses of what must be there: `try` made to be required, and required parts optional."""

from collections import Counter
from collections.abc import Iterator, Sequence

from qeval.suites.mutants.base import Mutant
from qeval.suites.mutants.typeql_schema import ANY, players_of, role_name, types_of
from qeval.suites.mutants.typeql_scopes import (
    Block,
    Reading,
    binds,
    components,
    names,
    nodes,
    uses_in,
)
from qeval.suites.mutants.typeql_text import (
    Edit,
    account,
    changed,
    edited,
    replaced,
    unwrapped,
    without_item,
    without_pattern,
)
from qeval.typeql.syntax import ast


def joins(reading: Reading, block: Block) -> Iterator[Mutant]:
    """`try` blocks opened; relations, with what hangs on them, and attributes put into `try`."""
    for pattern in block.patterns:
        if isinstance(pattern, ast.Try):
            yield changed("join", reading.text, pattern, *unwrapped(pattern))
    if block.kind != "match":
        return
    for index, pattern in enumerate(block.patterns):
        if _is_relation(pattern):
            rest = [*block.patterns[:index], *block.patterns[index + 1 :]]
            yield from _optional_relation(reading, block, pattern, rest)
        if isinstance(pattern, ast.ThingStatement) and pattern.variable.name is not None:
            yield from _optional_attributes(reading, block, pattern)


def _is_relation(pattern: ast.Pattern) -> bool:
    if isinstance(pattern, ast.ThingStatement):
        return any(True for _ in players_of(pattern))
    return isinstance(pattern, ast.RelationStatement)


def _optional_relation(
    reading: Reading, block: Block, relation: ast.Pattern, rest: Sequence[ast.Pattern]
) -> Iterator[Mutant]:
    """The relation alone if it leads to nothing else, or with each part that only it leads to."""
    anchored, parts = components(rest, block.known)
    here = names(relation)
    hanging = [part for part in parts if here & names(*part)]
    touched = [part for part in hanging if any(map(binds, part))]
    conditions = [pattern for part in hanging if part not in touched for pattern in part]
    outside = bool(here & (names(*anchored) | frozenset(block.known)))
    alone = len(touched) + outside == 1
    for part in ([], *touched):
        inside = [relation, *part, *conditions]
        kept = [pattern for pattern in rest if pattern not in inside]
        if not (part or alone) or not (kept or outside):
            continue
        if _tells(block, inside, kept) and not _always_there(reading, block, inside, kept):
            yield _wrapped(reading, sorted(inside, key=lambda pattern: pattern.span))


def _tells(block: Block, inside: Sequence[ast.Pattern], kept: Sequence[ast.Pattern]) -> bool:
    """Whether a missing value could show: not in a later match, which would drop the row."""
    outside = frozenset(block.known).union(*map(binds, kept))
    own = frozenset().union(*map(binds, inside)) - outside
    counts = sum((uses_in(pattern) for pattern in inside), Counter[str]())
    used = any(block.routine.uses[name] > counts[name] for name in own)
    nested = any(isinstance(pattern, ast.Try) for pattern in inside)
    return (used or len(inside) > 1) and not nested and not own & _needed_later(block)


def _needed_later(block: Block) -> frozenset[str]:
    stages = block.routine.stages[block.stage + 1 :]
    return names(*(stage for stage in stages if isinstance(stage, ast.Match)))


def _always_there(
    reading: Reading, block: Block, inside: Sequence[ast.Pattern], kept: Sequence[ast.Pattern]
) -> bool:
    """Whether the schema promises a partner: the role must be played, the rest is always owned."""
    bounds = reading.bounds(kept)
    outside = frozenset(block.known).union(*map(binds, kept))
    played = [
        _must_play(reading, node, types_of(node.player.name, bounds, block.known))
        for node in nodes(inside[0])
        if isinstance(node, ast.RolePlayer) and node.player.name in outside
    ]
    return played == [True] and all(
        isinstance(pattern, ast.ThingStatement | ast.RelationStatement)
        and (index == 0 or not _is_relation(pattern))
        and all(_promised(reading, block, pattern, atom) for atom in pattern.constraints)
        for index, pattern in enumerate(inside)
    )


def _must_play(reading: Reading, player: ast.RolePlayer, types: int) -> bool:
    return types != ANY and all(
        any(role.name == role_name(player) and edge.card.low for role, edge in type_.plays.items())
        for type_ in reading.schema.members(types)
    )


def _promised(
    reading: Reading, block: Block, statement: ast.Pattern, atom: ast.ThingConstraint
) -> bool:
    if not isinstance(atom, ast.Has):
        return isinstance(atom, ast.Isa | ast.Links)
    cards = reading.cards(block, statement, atom)
    return isinstance(atom.value, ast.Variable) and all(card.low for card in cards) and bool(cards)


def _wrapped(reading: Reading, inside: Sequence[ast.Pattern]) -> Mutant:
    """The patterns in a `try` where the first of them stood."""
    text = reading.text
    statements = " ".join(f"{account(text, pattern)};" for pattern in inside)
    first, *others = inside
    edits = [replaced(first, f"try {{ {statements} }}")]
    edits += [without_pattern(text, pattern) for pattern in others]
    return Mutant("join", f"optional {statements}", edited(text, edits))


def _optional_attributes(
    reading: Reading, block: Block, statement: ast.ThingStatement
) -> Iterator[Mutant]:
    """Attributes that need not be there and whose values no other pattern uses."""
    text, atoms = reading.text, statement.constraints
    rest = [pattern for pattern in block.patterns if pattern is not statement]
    for index, atom in enumerate(atoms):
        if not isinstance(atom, ast.Has) or not isinstance(atom.value, ast.Variable):
            continue
        name = atom.value.name
        elsewhere = names(*rest) | _needed_later(block)
        if name is None or name in elsewhere or _promised(reading, block, statement, atom):
            continue
        if block.routine.uses[name] == 1:
            continue
        optional = f"try {{ {account(text, statement.variable)} {account(text, atom)}; }}"
        end = statement.span.end
        if len(atoms) > 1:
            behind = Edit(end, end, f"; {optional}")
            yield changed("join", text, statement, without_item(atoms, index), behind)
        elif statement.variable.name in names(*rest):
            yield changed("join", text, statement, replaced(statement, optional))
