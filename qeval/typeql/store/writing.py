"""``insert`` and ``put``: what a stage writes for every row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from qeval.typeql.faults import Fault, within
from qeval.typeql.ir import constraints as c
from qeval.typeql.ir.expressions import Constant
from qeval.typeql.ir.variables import Var
from qeval.typeql.schema import Kind, Type
from qeval.typeql.store.things import Attribute, Object, Relation
from qeval.typeql.values.reading import converted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qeval.typeql.ir.patterns import Conjunction
    from qeval.typeql.schema import Schema
    from qeval.typeql.store.store import Store
    from qeval.typeql.values import Value


@dataclass(slots=True)
class Insertion:
    """The statements of an ``insert``, sorted by what they do."""

    types: dict[Var, c.TypeTerm] = field(default_factory=dict)
    values: dict[Var, c.ValueTerm] = field(default_factory=dict)
    has: list[c.Has] = field(default_factory=list)
    links: list[c.Links] = field(default_factory=list)
    roles: dict[Var, str] = field(default_factory=dict)


def read_insertion(body: Conjunction) -> Insertion:
    """Sort the constraints of an ``insert``; raises REP45 and REP46 for what cannot be written."""
    if body.nested:
        raise Fault("REP46", "an insert takes no nested patterns", body.nested[0].span)
    insertion = Insertion()
    for constraint in body.constraints:
        match constraint:
            case c.Isa(exact=False):
                insertion.types[constraint.thing] = constraint.type
            case c.Compare(op="==", left=Var() as var):
                insertion.values[var] = constraint.right
            case c.Has():
                insertion.has.append(constraint)
            case c.Links():
                insertion.links.append(constraint)
            case c.RoleName():
                insertion.roles[constraint.role] = constraint.name
            case c.DifferentEdges():
                pass
            case _:
                raise Fault("REP45", "only isa, has and links can be inserted", constraint.span)
    return insertion


class Writer:
    """Writes insertions into a store."""

    def __init__(self, schema: Schema, store: Store) -> None:
        self._schema = schema
        self._store = store

    def write(self, insertion: Insertion, given: Iterable[dict[Var, Any]]) -> list[dict[Var, Any]]:
        """Write once for every row; return the rows with the new things added."""
        written = []
        for row in given:
            things = dict(row)
            self._create(insertion, things)
            for has in insertion.has:
                self._own(has, things)
            for links in insertion.links:
                self._link(links, insertion, things)
            written.append(things)
        return written

    def _create(self, insertion: Insertion, things: dict[Var, Any]) -> None:
        for var, term in insertion.types.items():
            if var in things:
                raise Fault("REP45", f"{var} exists already and gets no new type", var.span)
            type_ = things[term] if isinstance(term, Var) else self._type(term)
            if type_.kind is not Kind.ATTRIBUTE:
                things[var] = self._store.create(type_)
                continue
            if var not in insertion.values:
                raise Fault("REP45", f"the attribute {var} needs a value", var.span)
            value = _value(insertion.values[var], things)
            if type_.value_type is None:
                raise Fault("DWR1", f"{type_.label} is abstract and cannot have instances")
            things[var] = self._store.attribute(type_, converted(value, type_.value_type))

    def _type(self, term: c.LabelRef) -> Type:
        found = self._schema.find(term.label)
        if found is None:
            with within("QUA1"):
                raise Fault("INF2", f"there is no type '{term.label}'", term.span)
        return found

    def _own(self, has: c.Has, things: dict[Var, Any]) -> None:
        owner, attribute = things.get(has.owner), things.get(has.attribute)
        if not isinstance(owner, Object) or not isinstance(attribute, Attribute):
            raise Fault("INF10", "'has' needs an owner and an attribute", has.span)
        self._store.own(owner, attribute)

    def _link(self, links: c.Links, insertion: Insertion, things: dict[Var, Any]) -> None:
        relation, player = things.get(links.relation), things.get(links.player)
        if not isinstance(relation, Relation) or not isinstance(player, Object):
            raise Fault("INF10", "'links' needs a relation and a player", links.span)
        role = things.get(links.role)
        if role is None:
            role = _role(relation.type, insertion.roles.get(links.role), player, links)
        self._store.link(relation, role, player)


def _role(relation: Type, name: str | None, player: Object, links: c.Links) -> Type:
    """Find the role of a relation by its name, or the only one the player can play."""
    found = [
        role
        for role, relating in relation.relates.items()
        if not relating.hidden
        and (role.name == name if name is not None else role in player.type.plays)
    ]
    if len(found) != 1:
        with within("QUA1"):
            raise Fault("INF3", f"{relation.label} has no such role '{name}'", links.span)
    return found[0]


def _value(term: c.ValueTerm, things: dict[Var, Any]) -> Value:
    held: Any = term.value if isinstance(term, Constant) else things.get(term)
    if isinstance(held, Attribute):
        return held.value
    if held is None or isinstance(held, Object | Type):
        raise Fault("INF10", "a value is needed here")
    return held  # type: ignore[no-any-return]
