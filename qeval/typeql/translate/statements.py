"""Translation of patterns and statements: short forms are spelled out as constraints."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from qeval.typeql.faults import Fault
from qeval.typeql.ir.constraints import LabelRef, Links
from qeval.typeql.ir.patterns import Not, Or, Try
from qeval.typeql.syntax import ast
from qeval.typeql.translate.expressions import call, constant, expression, is_builtin, value_term
from qeval.typeql.translate.scope import label_text

if TYPE_CHECKING:
    from qeval.typeql.ir.constraints import TypeTerm
    from qeval.typeql.ir.variables import Var
    from qeval.typeql.translate.blocks import BlockBuilder


def add_patterns(builder: BlockBuilder, body: ast.Conjunction) -> None:
    """Add everything a pair of braces holds."""
    for pattern in body.patterns:
        _add_pattern(builder, pattern)


def _add_pattern(builder: BlockBuilder, pattern: ast.Pattern) -> None:
    outer = builder.conjunction
    match pattern:
        case ast.Conjunction():
            add_patterns(builder, pattern)
        case ast.Disjunction():
            disjunction = Or(pattern.span, [])
            outer.nested.append(disjunction)
            for branch in pattern.branches:
                with builder.inside(branch.span) as inner:
                    disjunction.branches.append(inner)
                    add_patterns(builder, branch)
        case ast.Negation():
            with builder.inside(pattern.span) as inner:
                outer.nested.append(Not(pattern.span, inner))
                add_patterns(builder, pattern.body)
        case ast.Try():
            with builder.inside(pattern.span) as inner:
                outer.nested.append(Try(pattern.span, inner))
                add_patterns(builder, pattern.body)
        case _:
            _add_statement(builder, pattern)


def _add_statement(builder: BlockBuilder, statement: ast.Statement) -> None:
    match statement:
        case ast.ThingStatement():
            thing = builder.variable(statement.variable)
            for constraint in statement.constraints:
                _add_thing_constraint(builder, thing, constraint)
        case ast.RelationStatement():
            add_anonymous_relation(builder, statement)
        case ast.TypeStatement():
            _add_type_statement(builder, statement)
        case ast.ComparisonStatement():
            left = value_term(builder, statement.left)
            right = value_term(builder, statement.comparison.right)
            builder.add_comparison(statement.comparison.comparator, left, right, statement.span)
        case ast.IsStatement():
            left_var, right_var = (
                builder.variable(statement.left),
                builder.variable(statement.right),
            )
            builder.add_is(left_var, right_var, statement.span)
        case ast.Assignment():
            _add_assignment(builder, statement)
        case ast.InStatement():
            targets = [builder.variable(target) for target in statement.targets]
            source = statement.source
            if not isinstance(source, ast.Call) or is_builtin(source.name):
                raise Fault("REP254", "'in' takes a function; lists are not implemented")
            call(builder, source, targets, _optional(statement.targets, targets))


def add_anonymous_relation(builder: BlockBuilder, statement: ast.RelationStatement) -> Var:
    """Add ``T (role: $p, …), has …``, whose relation has no variable."""
    relation = builder.anonymous(statement.span)
    if statement.type is not None:
        builder.add_isa(relation, _type_term(builder, statement.type), statement.span)
    add_players(builder, relation, statement.players)
    for constraint in statement.constraints:
        _add_thing_constraint(builder, relation, constraint)
    return relation


def add_players(builder: BlockBuilder, relation: Var, players: ast.Players) -> None:
    """Add the edges of one ``(role: $p, …)``, all different."""
    edges: list[Links] = []
    for item in players.players:
        role = _player_role(builder, item)
        player = builder.variable(item.player)
        if role is None:
            role = builder.anonymous(item.player.span)
        edges.append(builder.add_links(relation, player, role, item.span))
    for one, other in combinations(edges, 2):
        builder.add_different_edges(one, other)


def _player_role(builder: BlockBuilder, item: ast.RolePlayer) -> Var | None:
    match item.role:
        case None:
            return None
        case ast.Label():
            return _role_by_name(builder, item.role)
        case ast.Variable():
            return builder.variable(item.role)
        case ast.ScopedLabel():
            raise Fault("REP17", "a role is written without its relation here", item.role.span)
        case _:
            raise Fault("REP254", "lists are not implemented")


def _add_thing_constraint(
    builder: BlockBuilder, thing: Var, constraint: ast.ThingConstraint
) -> None:
    match constraint:
        case ast.Isa():
            _add_isa(builder, thing, constraint)
        case ast.Iid():
            builder.add_iid(thing, constraint.value, constraint.span)
        case ast.Has():
            _add_has(builder, thing, constraint)
        case ast.Links():
            add_players(builder, thing, constraint.players)


def _add_isa(builder: BlockBuilder, thing: Var, isa: ast.Isa) -> None:
    builder.add_isa(thing, _type_term(builder, isa.type), isa.span, exact=isa.exact)
    if isa.players is not None:
        add_players(builder, thing, isa.players)
    if isa.comparison is not None:
        right = value_term(builder, isa.comparison.right)
        builder.add_comparison(isa.comparison.comparator, thing, right, isa.comparison.span)
    if isinstance(isa.value, ast.Struct):
        raise Fault("REP254", "structs are not implemented")
    if isinstance(isa.value, ast.Literal):
        builder.add_comparison("==", thing, constant(isa.value), isa.value.span)
    elif isa.value is not None:
        builder.add_comparison("==", thing, value_term(builder, isa.value), isa.value.span)


def _add_has(builder: BlockBuilder, owner: Var, has: ast.Has) -> None:
    value = has.value
    if isinstance(value, ast.Variable):
        attribute = builder.variable(value)
    elif isinstance(value, ast.Comparison):
        right = value_term(builder, value.right)
        attribute = builder.anonymous(value.span)
        builder.add_comparison(value.comparator, attribute, right, value.span)
    else:
        right = value_term(builder, value)
        attribute = builder.anonymous(value.span)
        builder.add_comparison("==", attribute, right, value.span)
    builder.add_has(owner, attribute, has.span)
    if has.type is not None:
        builder.add_isa(attribute, _type_term(builder, has.type), has.type.span)


def _add_type_statement(builder: BlockBuilder, statement: ast.TypeStatement) -> None:
    subject = _type_term(builder, statement.type)
    if statement.kind is not None:
        if isinstance(subject, LabelRef):
            raise Fault("REP20", "a kind before a label is not allowed here")
        builder.add_kind(statement.kind, subject, statement.span)
    for constraint in statement.constraints:
        if constraint.annotations:
            raise Fault("REP254", "querying annotations is not implemented")
        _add_type_constraint(builder, subject, constraint)


def _add_type_constraint(
    builder: BlockBuilder, subject: TypeTerm, constraint: ast.TypeConstraint
) -> None:
    span = constraint.span
    match constraint:
        case ast.Sub():
            supertype = _type_term(builder, constraint.type)
            builder.add_sub(subject, supertype, span, exact=constraint.exact)
        case ast.LabelIs():
            if isinstance(subject, LabelRef):
                scoped = isinstance(constraint.label, ast.ScopedLabel)
                raise Fault("REP31" if scoped else "REP30", "a label cannot have a label")
            label = LabelRef(label_text(constraint.label), constraint.label.span)
            builder.add_label(subject, label, span)
        case ast.ValueOf():
            builder.add_value_type(subject, constraint.value_type, span)
        case ast.Owns():
            builder.add_owns(subject, _type_term(builder, constraint.type), span)
        case ast.Plays():
            builder.add_plays(subject, _role_term(builder, constraint.role), span)
        case ast.Relates():
            role = _role_term(builder, constraint.role)
            builder.add_relates(subject, role, span)
            if constraint.specialises is not None:
                parent = _role_term(builder, constraint.specialises)
                builder.add_sub(role, parent, constraint.specialises.span)


def _add_assignment(builder: BlockBuilder, statement: ast.Assignment) -> None:
    if isinstance(statement.targets, ast.StructPattern):
        raise Fault("REP16", "taking structs apart is not implemented")
    targets = [builder.variable(target) for target in statement.targets]
    value = statement.value
    if isinstance(value, ast.Call) and not is_builtin(value.name):
        call(builder, value, targets, _optional(statement.targets, targets))
        return
    if len(targets) != 1:
        raise Fault("REP14", f"an expression has one value, not {len(targets)}")
    builder.add_let(targets[0], expression(builder, value), statement.span)


def _optional(written: tuple[ast.Variable, ...], targets: list[Var]) -> frozenset[Var]:
    return frozenset(
        var for var, variable in zip(targets, written, strict=True) if variable.optional
    )


def _type_term(builder: BlockBuilder, type_: ast.TypeRef | ast.ListOf) -> TypeTerm:
    match type_:
        case ast.Variable():
            return builder.variable(type_)
        case ast.Label() | ast.ScopedLabel():
            return LabelRef(label_text(type_), type_.span)
        case _:
            raise Fault("REP256", "list types are not implemented")


def _role_term(builder: BlockBuilder, role: ast.TypeRef | ast.ListOf) -> TypeTerm:
    if isinstance(role, ast.Label):
        return _role_by_name(builder, role)
    return _type_term(builder, role)


def _role_by_name(builder: BlockBuilder, label: ast.Label) -> Var:
    role = builder.anonymous(label.span)
    builder.add_role_name(role, label_text(label), label.span)
    return role
