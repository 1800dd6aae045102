"""Entities, relations and attributes.

They are their own index: an owner knows its attributes and an attribute its owners, a relation its
players and a player its relations, each by type. Most things own or play little, so all share one
empty dictionary until they need their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from qeval.typeql.schema import Type
    from qeval.typeql.values import Value

_NOTHING: Final[dict[Any, Any]] = {}
_PREFIX = {"entity": "1e", "relation": "1f", "attribute": "20"}


class Thing:
    """What all instances share: their exact type and a number that is unique within it."""

    __slots__ = ("serial", "type")

    def __init__(self, type_: Type, serial: int) -> None:
        self.type = type_
        self.serial = serial

    @property
    def iid(self) -> str:
        """The internal identifier, ``0x`` and hexadecimal digits."""
        return f"0x{_PREFIX[self.type.kind]}{self.type.index:04x}{self.serial:016x}"

    def __repr__(self) -> str:
        return f"<{self.type.label} {self.serial}>"


class Object(Thing):
    """An entity or a relation: it owns attributes and plays roles."""

    __slots__ = ("has", "plays")

    def __init__(self, type_: Type, serial: int) -> None:
        super().__init__(type_, serial)
        self.has: dict[Type, list[Attribute]] = _NOTHING
        self.plays: dict[Type, list[Relation]] = _NOTHING


class Entity(Object):
    """An instance of an entity type."""

    __slots__ = ()


class Relation(Object):
    """An instance of a relation type; ``players`` by role, each pair of role and player once."""

    __slots__ = ("players",)

    def __init__(self, type_: Type, serial: int) -> None:
        super().__init__(type_, serial)
        self.players: dict[Type, list[Object]] = _NOTHING


class Attribute(Thing):
    """A value of an attribute type; there is one per type and value, however many own it."""

    __slots__ = ("owners", "value")

    def __init__(self, type_: Type, serial: int, value: Value) -> None:
        super().__init__(type_, serial)
        self.value = value
        self.owners: dict[Type, list[Object]] = _NOTHING


def connect(owner: Object, attribute: Attribute) -> bool:
    """Let an object own an attribute; return False if it does already."""
    if owner.has is _NOTHING:
        owner.has = {}
    owned = owner.has.setdefault(attribute.type, [])
    if attribute in owned:
        return False
    owned.append(attribute)
    if attribute.owners is _NOTHING:
        attribute.owners = {}
    attribute.owners.setdefault(owner.type, []).append(owner)
    return True


def link(relation: Relation, role: Type, player: Object) -> bool:
    """Let an object play a role in a relation; return False if it does already."""
    if relation.players is _NOTHING:
        relation.players = {}
    players = relation.players.setdefault(role, [])
    if player in players:
        return False
    players.append(player)
    if player.plays is _NOTHING:
        player.plays = {}
    player.plays.setdefault(role, []).append(relation)
    return True
