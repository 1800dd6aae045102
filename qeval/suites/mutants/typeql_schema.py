"""What a TypeQL schema says about the variables of a query."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from qeval.typeql.schema import Schema
from qeval.typeql.schema.types import Type
from qeval.typeql.syntax import ast

ANY = -1
"""The set of all types, as the sets of `qeval.typeql.schema`: a bit for each type."""


class Bound(NamedTuple):
    """`atom`, a part of a statement, limits the variable `name` to some types."""

    atom: ast.Node
    name: str
    types: int


@cache
def read_schema(text: str) -> Schema:
    """The schema that a `define` query makes, closed."""
    from qeval.typeql.schema.define import define
    from qeval.typeql.syntax import parse_query

    schema = Schema()
    body = parse_query(text).body
    assert isinstance(body, ast.Define)
    define(schema, body)
    return schema


def types_of(
    name: str, bounds: Iterable[Bound], known: Mapping[str, int], but: ast.Node | None = None
) -> int:
    """The types a variable may have by what limits it, leaving the atom `but` out of account."""
    types = known.get(name, ANY)
    for bound in bounds:
        if bound.name == name and bound.atom is not but:
            types &= bound.types
    return types


def bounds_of(
    schema: Schema, patterns: Iterable[ast.Pattern], functions: Mapping[str, ast.Function]
) -> Iterator[Bound]:
    """What the statements among `patterns` say about types, atom by atom."""
    for pattern in patterns:
        match pattern:
            case ast.ThingStatement(variable, constraints):
                yield from _of_constraints(schema, variable, constraints)
                related = relation_types(schema, pattern)
                for players in players_of(pattern):
                    yield from _of_players(schema, players, related)
                    if variable.name is not None:
                        yield Bound(players, variable.name, _relating(schema, players))
            case ast.RelationStatement(_, players, constraints):
                yield from _of_players(schema, players, relation_types(schema, pattern))
                yield from _of_constraints(schema, None, constraints)
            case ast.InStatement(targets, ast.Call() as call):
                yield from _of_call(schema, call, targets, functions)
            case ast.Assignment(_, ast.Call() as call):
                yield from _of_call(schema, call, (), functions)


def _of_constraints(
    schema: Schema, variable: ast.Variable | None, constraints: Iterable[ast.ThingConstraint]
) -> Iterator[Bound]:
    for atom in constraints:
        match atom:
            case ast.Isa(ast.Label(label), exact):
                if variable is not None and variable.name is not None:
                    yield Bound(atom, variable.name, _labelled(schema, label, exact=exact))
            case ast.Has(ast.Label(label), value):
                attributes = _labelled(schema, label)
                if variable is not None and variable.name is not None:
                    yield Bound(atom, variable.name, schema.union(attributes, "owners"))
                if isinstance(value, ast.Variable) and value.name is not None:
                    yield Bound(atom, value.name, attributes)


def _of_players(schema: Schema, players: ast.Players, related: int) -> Iterator[Bound]:
    for player in players.players:
        if player.player.name is not None:
            roles = [role for role in roles_of(schema, related) if _fits(player, role)]
            types = 0
            for role in roles:
                types |= schema.union(role.subs, "players")
            yield Bound(player, player.player.name, types)


def _relating(schema: Schema, players: ast.Players) -> int:
    """The relation types that relate roles of all these names."""
    wanted = {role_name(player) for player in players.players} - {None}
    types = 0
    for type_ in schema.catalogue:
        if type_.relates and wanted <= {role.name for role in type_.relates}:
            types |= type_.bit
    return types


def _of_call(
    schema: Schema,
    call: ast.Call,
    targets: Iterable[ast.Variable],
    functions: Mapping[str, ast.Function],
) -> Iterator[Bound]:
    """What the declared types of a function say about its arguments and results."""
    function = functions.get(call.name)
    if function is None:
        return
    declared = [argument.type for argument in function.arguments]
    for variables, types in ((call.arguments, declared), (targets, function.output.types)):
        for variable, named in zip(variables, types, strict=False):
            if isinstance(variable, ast.Variable) and variable.name is not None:
                yield Bound(call, variable.name, named_types(schema, named))


def _fits(player: ast.RolePlayer, role: Type) -> bool:
    return player.role is None or role_name(player) == role.name


def _labelled(schema: Schema, label: str, *, exact: bool = False) -> int:
    found = schema.find(label)
    if found is None:
        return 0
    return found.bit if exact else found.subs


def named_types(schema: Schema, named: ast.NamedType) -> int:
    """The types of a function's argument or result; any for a value type."""
    return _labelled(schema, named.name) or ANY


def relation_types(schema: Schema, statement: ast.Pattern) -> int:
    """The types a statement gives the relation it is about."""
    types = ANY
    match statement:
        case ast.RelationStatement(ast.Label(label)):
            types = _labelled(schema, label)
        case ast.ThingStatement(_, constraints):
            for atom in constraints:
                if isinstance(atom, ast.Isa) and isinstance(atom.type, ast.Label):
                    types &= _labelled(schema, atom.type.name, exact=atom.exact)
    return types


def roles_of(schema: Schema, related: int) -> list[Type]:
    """The roles that relations of these types relate, each once."""
    found: dict[Type, Any] = {}
    for type_ in schema.catalogue:
        if type_.relates and type_.bit & related:
            found.update(dict.fromkeys(type_.relates))
    return list(found)


def role_name(player: ast.RolePlayer) -> str | None:
    """The label of a player's role, None if there is none or it is a variable."""
    if isinstance(player.role, ast.Label | ast.ScopedLabel):
        return player.role.name
    return None


def players_of(statement: ast.ThingStatement) -> Iterator[ast.Players]:
    """The lists of players in a statement about a relation with a variable."""
    for atom in statement.constraints:
        if isinstance(atom, ast.Links | ast.Isa) and atom.players is not None:
            yield atom.players
