"""Near misses of relations and types: roles, types, multiplicity."""

from collections.abc import Iterator, Sequence

from qeval.suites.mutants.base import Mutant
from qeval.suites.mutants.typeql_schema import (
    players_of,
    relation_types,
    role_name,
    roles_of,
)
from qeval.suites.mutants.typeql_scopes import Block, Reading, nodes
from qeval.suites.mutants.typeql_text import Edit, account, changed, replaced, source
from qeval.typeql.schema import Kind, Type
from qeval.typeql.syntax import ast


def roles(reading: Reading, block: Block) -> Iterator[Mutant]:
    """Players exchanged, read in another role or in any; relations of another type."""
    for statement in block.patterns:
        if isinstance(statement, ast.RelationStatement):
            related = relation_types(reading.schema, statement)
            yield from _roles(reading, block, statement, statement.players, related)
            if isinstance(statement.type, ast.Label):
                yield from _types(reading, block, statement, statement.type, [statement.players])
        elif isinstance(statement, ast.ThingStatement):
            players = list(players_of(statement))
            related = relation_types(reading.schema, statement)
            for listed in players:
                yield from _roles(reading, block, statement, listed, related)
            for atom in statement.constraints:
                if players and isinstance(atom, ast.Isa) and isinstance(atom.type, ast.Label):
                    yield from _types(reading, block, statement, atom.type, players)


def _roles(
    reading: Reading, block: Block, statement: ast.Pattern, listed: ast.Players, related: int
) -> Iterator[Mutant]:
    if related < 0 or any(role_name(player) is None for player in listed.players):
        return
    text = reading.text
    known = roles_of(reading.schema, related)
    loose = []  # players that could stand in another role too
    for player in listed.players:
        assert player.role is not None
        others = [
            role
            for role in known
            if role.name != role_name(player) and _can_play(reading, block, player, role)
        ]
        if others:
            loose.append(player)
        for role in others:
            yield changed("role", text, statement, replaced(player.role, role.name))
    match loose:
        case [first, second]:
            edits = (
                replaced(first.player, source(text, second.player)),
                replaced(second.player, source(text, first.player)),
            )
            yield changed("direction", text, statement, *edits)
    if loose and len(loose) == len(listed.players):
        bare = [Edit(player.span.begin, player.player.span.begin) for player in loose]
        yield changed("role", text, statement, *bare)


def _can_play(reading: Reading, block: Block, player: ast.RolePlayer, role: Type) -> bool:
    """Whether the player's other parts in the block leave it a type that plays the role."""
    name = player.player.name
    if name is None:
        return True
    types = reading.types(block, name, but=player)
    return bool(types & reading.schema.union(role.subs, "players"))


def _types(
    reading: Reading,
    block: Block,
    statement: ast.Pattern,
    label: ast.Label,
    listed: Sequence[ast.Players],
) -> Iterator[Mutant]:
    """Relation types that have all the roles and attributes the statement asks for."""
    asked = [player for players in listed for player in players.players]
    owned = [
        node.type.name
        for node in nodes(statement, into_blocks=False)
        if isinstance(node, ast.Has) and isinstance(node.type, ast.Label)
    ]
    for type_ in reading.schema.catalogue:
        if type_.kind is not Kind.RELATION or type_.label == label.name:
            continue
        by_name = {role.name: role for role in type_.relates}
        fits = all(
            (name := role_name(player)) in by_name
            and name is not None
            and _can_play(reading, block, player, by_name[name])
            for player in asked
        )
        if fits and set(owned) <= {attribute.label for attribute in type_.owns}:
            yield changed("role", reading.text, statement, replaced(label, type_.label))


def subtypes(reading: Reading, block: Block) -> Iterator[Mutant]:
    """Types widened to their supertype; exactly this type and its subtypes exchanged."""
    for statement in block.patterns:
        if not isinstance(statement, ast.ThingStatement) or statement.variable.name is None:
            continue
        for atom in statement.constraints:
            if not isinstance(atom, ast.Isa) or not isinstance(atom.type, ast.Label):
                continue
            type_ = reading.schema.find(atom.type.name)
            if type_ is None:
                continue
            others = reading.types(block, statement.variable.name, but=atom)
            now = others & (type_.bit if atom.exact else type_.subs)
            if others & (type_.subs if atom.exact else type_.bit) != now:
                word = "isa" if atom.exact else "isa!"
                edit = Edit(atom.span.begin, atom.type.span.begin, f"{word} ")
                yield changed("subtype", reading.text, statement, edit)
            parent = type_.parent
            if parent is not None and others & (parent.bit if atom.exact else parent.subs) != now:
                yield changed("subtype", reading.text, statement, replaced(atom.type, parent.label))


def multiplicities(reading: Reading, block: Block) -> Iterator[Mutant]:
    """Relations no longer named, so that rows of a match that are equal but for them become one."""
    if block.routine.is_function or block.kind == "not":
        return
    for statement in block.patterns:
        if not isinstance(statement, ast.ThingStatement):
            continue
        name, text = statement.variable.name, reading.text
        players = list(players_of(statement))
        types = [atom for atom in statement.constraints if isinstance(atom, ast.Isa)]
        owned = [atom for atom in statement.constraints if isinstance(atom, ast.Has)]
        plain = len(players) == len(types) == 1 and not types[0].exact
        keyed = plain and any(_is_key(reading, statement, atom) for atom in owned)
        if name is not None and plain and not keyed and block.routine.uses[name] == 1:
            label, listed = account(text, types[0].type), account(text, players[0])
            parts = [f"{label} {listed}", *(account(text, atom) for atom in owned)]
            yield changed("distinct", text, statement, replaced(statement, ", ".join(parts)))


def _is_key(reading: Reading, statement: ast.ThingStatement, atom: ast.Has) -> bool:
    """Whether the atom binds a variable to what no two such relations share."""
    attribute = reading.schema.find(atom.type.name) if isinstance(atom.type, ast.Label) else None
    if attribute is None or not isinstance(atom.value, ast.Variable) or atom.value.name is None:
        return False
    relations = reading.schema.members(relation_types(reading.schema, statement))
    return all(attribute in type_.owns and type_.owns[attribute].unique for type_ in relations)
