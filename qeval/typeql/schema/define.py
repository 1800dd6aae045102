"""``define``: from the syntax tree into the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.faults import Fault
from qeval.typeql.schema.limits import NO_LIMITS, ValueLimits
from qeval.typeql.schema.types import (
    ANY_NUMBER,
    AT_MOST_ONE,
    EXACTLY_ONE,
    Card,
    Kind,
    Ownership,
    Playing,
    Relating,
    Type,
)
from qeval.typeql.syntax import RESERVED, ast
from qeval.typeql.syntax.literals import decode_regex
from qeval.typeql.values import VALUE_TYPES, Value, ValueType
from qeval.typeql.values.reading import converted, read_count, read_literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qeval.typeql.schema.model import Schema


def define(schema: Schema, query: ast.Define) -> None:
    """Add definitions to a schema, in any order, and close it.

    Functions are stored as written; their check is up to the database. Raises SYR… / DEX… for what
    the server refuses: unknown types, contradictory definitions, annotations out of place, reserved
    words as names.
    """
    definitions = [item for item in query.items if isinstance(item, ast.TypeDefinition)]
    if any(isinstance(item, ast.StructDefinition) for item in query.items):
        raise Fault("DEX1", "structs are not implemented")
    for definition in definitions:
        _declare(schema, definition)
    for definition in definitions:
        _add_roles(schema, definition)
    for definition in definitions:
        _add_super(schema, definition)
    for definition in definitions:
        _add_capabilities(schema, definition)
    schema.close()
    for type_ in schema.catalogue:
        _check(type_)
    for item in query.items:
        if isinstance(item, ast.Function):
            if item.name in schema.functions:
                raise Fault("FUN5", f"the function '{item.name}' exists already", item.span)
            schema.functions[item.name] = item
            schema.notes.take(("fun", item.name), item.annotations)


def _declare(schema: Schema, definition: ast.TypeDefinition) -> None:
    label = _new_name(definition.label)
    known = schema.find(label)
    if definition.kind is None:
        if known is None:
            raise Fault("SYR1", f"there is no type '{label}' to extend", definition.label.span)
        return
    kind = Kind(definition.kind)
    if known is None:
        known = schema.add(label, kind)
    elif known.kind is not kind:
        message = f"'{label}' is already an {known.kind}"
        raise Fault("DEX5", message, definition.label.span)
    _annotate_type(known, definition.annotations)
    schema.notes.take(("type", label), definition.annotations)


def _annotate_type(type_: Type, annotations: Iterable[ast.Annotation]) -> None:
    for annotation in annotations:
        match annotation:
            case ast.Flag(name="abstract"):
                type_.abstract = True
            case ast.Flag(name="independent") if type_.kind is Kind.ATTRIBUTE:
                type_.independent = True
            case ast.Flag(name="cascade") if type_.kind is Kind.RELATION:
                raise Fault("DEX1", "@cascade is not implemented", annotation.span)
            case ast.Doc() | ast.Meta():
                pass
            case ast.Regex() | ast.Values() | ast.Range() if type_.kind is Kind.ATTRIBUTE:
                pass  # belongs to the value type, which takes them up
            case _:
                raise _out_of_place(annotation, type_.label)


def _add_roles(schema: Schema, definition: ast.TypeDefinition) -> None:
    relation = _known(schema, definition.label)
    for capability in definition.capabilities:
        if not isinstance(capability, ast.DefineRelates):
            continue
        if relation.kind is not Kind.RELATION:
            raise Fault("DEX11", f"'{relation.label}' is no relation", capability.span)
        if capability.is_list:
            raise Fault("DEX1", "lists are not implemented", capability.span)
        label = f"{relation.label}:{_new_name(capability.role)}"
        if schema.find(label) is None:
            schema.add(label, Kind.ROLE).scope = relation


def _add_super(schema: Schema, definition: ast.TypeDefinition) -> None:
    type_ = _known(schema, definition.label)
    for capability in definition.capabilities:
        if isinstance(capability, ast.DefineSub):
            _attach(type_, _known(schema, capability.type), capability.span)
            subject = ("sub", type_.label, capability.type.name)
            schema.notes.take(subject, capability.annotations)


def _attach(child: Type, parent: Type, span: ast.Span) -> None:
    if child.parent is parent:
        return
    if child.parent is not None:
        raise Fault("DEX13", f"'{child.label}' already has a supertype", span)
    if child.kind is not parent.kind:
        raise Fault("DEX29", f"'{child.label}' and '{parent.label}' are of different kinds", span)
    above: Type | None = parent
    while above is not None:
        if above is child:
            raise Fault("DEX10", f"'{child.label}' would be its own supertype", span)
        above = above.parent
    child.parent = parent
    parent.children.append(child)


def _add_capabilities(schema: Schema, definition: ast.TypeDefinition) -> None:
    type_ = _known(schema, definition.label)
    for capability in definition.capabilities:
        match capability:
            case ast.DefineValue():
                _set_value_type(type_, definition, capability)
            case ast.DefineOwns():
                _add_owns(schema, type_, capability)
            case ast.DefinePlays():
                _add_plays(schema, type_, capability)
            case ast.DefineRelates():
                _add_relates(schema, type_, capability)
            case ast.DefineAlias():
                raise Fault("DEX1", "aliases are not implemented", capability.span)


def _set_value_type(
    type_: Type, definition: ast.TypeDefinition, capability: ast.DefineValue
) -> None:
    value_type = VALUE_TYPES.get(capability.value_type)
    if value_type is None:
        message = f"there is no value type '{capability.value_type}'"
        raise Fault("SYR4", message, capability.span)
    if type_.kind is not Kind.ATTRIBUTE:
        raise Fault("DEX11", f"'{type_.label}' is no attribute and has no value", capability.span)
    type_.value_type = value_type
    annotations = (*definition.annotations, *capability.annotations)
    limiting = [a for a in annotations if isinstance(a, ast.Regex | ast.Values | ast.Range)]
    if limiting:
        type_.limits = _limits(limiting, value_type)


def _add_owns(schema: Schema, owner: Type, capability: ast.DefineOwns) -> None:
    attribute = _known(schema, capability.attribute)
    if owner.kind not in (Kind.ENTITY, Kind.RELATION) or attribute.kind is not Kind.ATTRIBUTE:
        message = f"'{owner.label}' cannot own '{attribute.label}'"
        raise Fault("DEX11", message, capability.span)
    if capability.is_list:
        raise Fault("DEX1", "lists are not implemented", capability.span)
    key = unique = False
    card: Card | None = None
    limiting: list[ast.Regex | ast.Values | ast.Range] = []
    for annotation in capability.annotations:
        match annotation:
            case ast.Flag(name="key"):
                key = unique = True
            case ast.Flag(name="unique"):
                unique = True
            case ast.Card():
                card = _card(annotation)
            case ast.Regex() | ast.Values() | ast.Range():
                limiting.append(annotation)
            case ast.Doc() | ast.Meta():
                pass
            case _:
                raise _out_of_place(annotation, f"{owner.label} owns {attribute.label}")
    default = EXACTLY_ONE if key else AT_MOST_ONE
    limits = _limits(limiting, _value_type(attribute)) if limiting else NO_LIMITS
    edge = Ownership(attribute, owner, card or default, key, unique, limits)
    schema.declare_owns(owner, edge)
    schema.notes.take(("owns", owner.label, attribute.label), capability.annotations)


def _add_plays(schema: Schema, player: Type, capability: ast.DefinePlays) -> None:
    label = f"{capability.role.scope}:{capability.role.name}"
    role = schema.find(label)
    if role is None:
        raise Fault("SYR9", f"there is no role '{label}'", capability.role.span)
    if player.kind not in (Kind.ENTITY, Kind.RELATION):
        raise Fault("DEX11", f"'{player.label}' cannot play roles", capability.span)
    card = _only_card(capability.annotations, f"{player.label} plays {label}")
    schema.declare_plays(player, Playing(role, card or ANY_NUMBER))
    schema.notes.take(("plays", player.label, label), capability.annotations)


def _add_relates(schema: Schema, relation: Type, capability: ast.DefineRelates) -> None:
    label = f"{relation.label}:{capability.role.name}"
    role = schema.find(label)
    assert role is not None
    if capability.specialises is not None:
        parent = _inherited_role(schema, relation, capability.specialises)
        _attach(role, parent, capability.span)
    abstract = False
    others = []
    for annotation in capability.annotations:
        if isinstance(annotation, ast.Flag) and annotation.name == "abstract":
            abstract = True
        else:
            others.append(annotation)
    card = _only_card(others, f"{relation.label} relates {role.name}")
    schema.declare_relates(relation, Relating(role, card or AT_MOST_ONE, abstract))
    for subject in (("relates", relation.label, label), ("type", label)):
        schema.notes.take(subject, capability.annotations)


def _inherited_role(schema: Schema, relation: Type, label: ast.Label) -> Type:
    above = relation.parent
    while above is not None:
        role = schema.find(f"{above.label}:{label.name}")
        if role is not None:
            return role
        above = above.parent
    raise Fault("SYR10", f"'{relation.label}' inherits no role '{label.name}'", label.span)


def _only_card(annotations: Iterable[ast.Annotation], where: str) -> Card | None:
    card: Card | None = None
    for annotation in annotations:
        match annotation:
            case ast.Card():
                card = _card(annotation)
            case ast.Doc() | ast.Meta():
                pass
            case _:
                raise _out_of_place(annotation, where)
    return card


def _card(annotation: ast.Card) -> Card:
    low = read_count(annotation.low.text)
    high = None if annotation.high is None else read_count(annotation.high.text)
    if high is not None and (high < low or high == 0):
        raise Fault("DEX24", f"no number lies within @card({low}..{high})", annotation.span)
    return Card(low, high)


def _limits(
    annotations: Iterable[ast.Regex | ast.Values | ast.Range], value_type: ValueType
) -> ValueLimits:
    regex: str | None = None
    values: tuple[Value, ...] | None = None
    low: Value | None = None
    high: Value | None = None
    for annotation in annotations:
        match annotation:
            case ast.Regex():
                regex = decode_regex(annotation.pattern.text)
            case ast.Values():
                values = tuple(_converted(literal, value_type) for literal in annotation.values)
            case ast.Range():
                low = None if annotation.low is None else _converted(annotation.low, value_type)
                high = None if annotation.high is None else _converted(annotation.high, value_type)
    return ValueLimits(regex, values, low, high)


def _converted(literal: ast.Literal, value_type: ValueType) -> Value:
    return converted(read_literal(literal.value_type, literal.text), value_type)


def _value_type(attribute: Type) -> ValueType:
    above: Type | None = attribute
    while above is not None:
        if above.value_type is not None:
            return above.value_type
        above = above.parent
    raise Fault("SCT1", f"'{attribute.label}' has no value type")


def _new_name(label: ast.Label) -> str:
    if label.name in RESERVED:
        message = f"the reserved word '{label.name}' cannot be a label"
        raise Fault("DEX31", message, label.span)
    return label.name


def _known(schema: Schema, label: ast.Label) -> Type:
    found = schema.find(label.name)
    if found is None:
        raise Fault("SYR1", f"there is no type '{label.name}'", label.span)
    return found


def _out_of_place(annotation: ast.Annotation, where: str) -> Fault:
    return Fault("DEX24", f"this annotation does not belong to '{where}'", annotation.span)


def _check(type_: Type) -> None:
    if type_.kind is Kind.ATTRIBUTE and type_.value_type is None and not type_.abstract:
        raise Fault("SCT1", f"the attribute '{type_.label}' has no value type")
