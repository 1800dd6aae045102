"""All instances, by type; attributes also by value; and counts for the planner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.faults import Fault
from qeval.typeql.schema import Kind
from qeval.typeql.store.things import Attribute, Entity, Object, Relation, Thing, connect, link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qeval.typeql.schema import Type
    from qeval.typeql.values import Value


class Store:
    """The instances of a database.

    ``objects`` holds entities and relations by exact type, ``attributes`` the attributes by exact
    type and value. ``has_counts`` and ``link_counts`` count ownerships by owner and attribute type
    and role players by relation type and role.

    The methods check each single step against the schema; what can only be judged when all is
    written (cardinalities) is :meth:`check`'s.
    """

    def __init__(self) -> None:
        self.objects: dict[Type, list[Object]] = {}
        self.attributes: dict[Type, dict[Value, Attribute]] = {}
        self.has_counts: dict[tuple[Type, Type], int] = {}
        self.link_counts: dict[tuple[Type, Type], int] = {}
        self.play_counts: dict[tuple[Type, Type], int] = {}
        self.touched: dict[Object, None] = {}
        self._fresh: list[Attribute] = []
        self._serials: dict[Type, int] = {}

    def count(self, type_: Type) -> int:
        """Return the number of instances of exactly this type."""
        if type_.kind is Kind.ATTRIBUTE:
            return len(self.attributes.get(type_, ()))
        return len(self.objects.get(type_, ()))

    def instances(self, type_: Type) -> Iterator[Thing]:
        """Yield the instances of exactly this type."""
        if type_.kind is Kind.ATTRIBUTE:
            return iter(self.attributes.get(type_, {}).values())
        return iter(self.objects.get(type_, ()))

    def create(self, type_: Type) -> Object:
        """Create an entity or relation; raises DWR1 for an abstract type."""
        if type_.abstract:
            raise Fault("DWR1", f"{type_.label} is abstract and cannot have instances")
        instances = self.objects.setdefault(type_, [])
        make = Relation if type_.kind is Kind.RELATION else Entity
        created = make(type_, self._next_serial(type_))
        instances.append(created)
        self.touched[created] = None
        return created

    def attribute(self, type_: Type, value: Value) -> Attribute:
        """Return the attribute of a type and value, created if there is none.

        Raises DWR1 for an abstract type and CNT5 for a value that the type does not admit.
        """
        existing = self.attributes.setdefault(type_, {})
        found = existing.get(value)
        if found is None:
            if type_.abstract:
                raise Fault("DWR1", f"{type_.label} is abstract and cannot have instances")
            reason = type_.limits.reason_against(value) if type_.limits is not None else None
            if reason is not None:
                raise Fault("CNT5", f"{value!s} breaks {reason} of {type_.label}")
            found = Attribute(type_, self._next_serial(type_), value)
            existing[value] = found
            self._fresh.append(found)
        return found

    def own(self, owner: Object, attribute: Attribute) -> None:
        """Let an object own an attribute.

        Raises INF4 if its type does not, CNT6 and CNT9 for a value that the ownership does not
        admit, or not again.
        """
        ownership = owner.type.owns.get(attribute.type)
        if ownership is None:
            raise Fault("INF4", f"{owner.type.label} does not own {attribute.type.label}")
        reason = ownership.limits.reason_against(attribute.value)
        if reason is not None:
            where = f"{owner.type.label} owns {attribute.type.label}"
            raise Fault("CNT6", f"{attribute.value!s} breaks {reason} of '{where}'")
        if ownership.unique and self._taken(owner, attribute):
            label = attribute.type.label
            raise Fault("CNT9", f"there is another {ownership.declared_by.label} with this {label}")
        if connect(owner, attribute):
            pair = (owner.type, attribute.type)
            self.has_counts[pair] = self.has_counts.get(pair, 0) + 1
            self.touched[owner] = None

    def link(self, relation: Relation, role: Type, player: Object) -> None:
        """Let an object play a role in a relation; raises INF4 if one of the types cannot."""
        relating = relation.type.relates.get(role)
        if relating is None or relating.hidden or relating.abstract:
            raise Fault("INF4", f"{relation.type.label} does not relate {role.label}")
        if role not in player.type.plays:
            raise Fault("INF4", f"{player.type.label} does not play {role.label}")
        if link(relation, role, player):
            pair = (relation.type, role)
            self.link_counts[pair] = self.link_counts.get(pair, 0) + 1
            pair = (player.type, role)
            self.play_counts[pair] = self.play_counts.get(pair, 0) + 1
            self.touched[relation] = None
            self.touched[player] = None

    def check(self) -> None:
        """Check the cardinalities of everything written since the last check; raises CNT….

        Attributes that nothing owns (unless they are ``@independent``) and relations without
        players do not last beyond this point.
        """
        self._drop_unused()
        for thing in self.touched:
            type_ = thing.type
            for attribute, ownership in type_.owns.items():
                count = len(thing.has.get(attribute, ()))
                if not ownership.card.allows(count):
                    code = "CNT8" if ownership.key else "CNT7"
                    where = f"{type_.label} owns {attribute.label} {ownership.card}"
                    raise Fault(code, f"{count} values where '{where}'")
            for role, playing in type_.plays.items():
                count = len(thing.plays.get(role, ()))
                if not playing.card.allows(count):
                    where = f"{type_.label} plays {role.label} {playing.card}"
                    raise Fault("CNT11", f"{count} relations where '{where}'")
            if isinstance(thing, Relation):
                self._check_players(thing)
        self.touched.clear()

    def _drop_unused(self) -> None:
        for attribute in self._fresh:
            if not attribute.owners and not attribute.type.independent:
                del self.attributes[attribute.type][attribute.value]
        self._fresh.clear()
        for thing in list(self.touched):
            if isinstance(thing, Relation) and not (thing.players or thing.plays or thing.has):
                self.objects[thing.type].remove(thing)
                del self.touched[thing]

    def _next_serial(self, type_: Type) -> int:
        serial = self._serials.get(type_, 0)
        self._serials[type_] = serial + 1
        return serial

    def _check_players(self, relation: Relation) -> None:
        for role, relating in relation.type.relates.items():
            count = len(relation.players.get(role, ()))
            if not relating.hidden and not relating.card.allows(count):
                where = f"{relation.type.label} relates {role.label} {relating.card}"
                raise Fault("CNT10", f"{count} players where '{where}'")

    def _taken(self, owner: Object, attribute: Attribute) -> bool:
        """Tell whether another owner under the same ``@key`` or ``@unique`` has the value."""
        scope = owner.type.owns[attribute.type].declared_by.subs
        return any(
            other is not owner
            for type_, owners in attribute.owners.items()
            if type_.bit & scope
            for other in owners
        )
