"""The concepts in answers, with the methods of the official driver's concepts.

A decoder that asks ``is_entity()``, ``get_label()``, ``try_get_value()`` and so on works for both.
Two concepts are equal if they are the same instance or type, or equal values of one type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qeval.typeql.schema import Type
from qeval.typeql.store import Attribute as _Attribute
from qeval.typeql.store import Entity as _Entity
from qeval.typeql.store import Object, Thing
from qeval.typeql.values import value_type_of

if TYPE_CHECKING:
    from qeval.typeql.values import Value as AnyValue


class Concept:
    """Anything that can stand in a row of an answer."""

    __slots__ = ("_held",)

    def __init__(self, held: Any) -> None:
        self._held = held

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Concept) or type(self) is not type(other):
            return False
        return type(self._held) is type(other._held) and bool(self._held == other._held)

    def __hash__(self) -> int:
        return hash(self._held)

    def __repr__(self) -> str:
        value = self.try_get_value()
        shown = self.try_get_iid() if value is None else value
        return f"{type(self).__name__}({self.try_get_label()}: {shown})"

    def _what(self) -> str:
        """Name the sort of concept: ``entity``, ``entity type``, …, ``value``."""
        raise NotImplementedError

    def is_type(self) -> bool:
        """Whether this is a type."""
        return self._what().endswith(" type")

    def is_entity_type(self) -> bool:
        """Whether this is an entity type."""
        return self._what() == "entity type"

    def is_relation_type(self) -> bool:
        """Whether this is a relation type."""
        return self._what() == "relation type"

    def is_attribute_type(self) -> bool:
        """Whether this is an attribute type."""
        return self._what() == "attribute type"

    def is_role_type(self) -> bool:
        """Whether this is a role type."""
        return self._what() == "role type"

    def is_instance(self) -> bool:
        """Whether this is an entity, a relation or an attribute."""
        return self._what() in ("entity", "relation", "attribute")

    def is_entity(self) -> bool:
        """Whether this is an entity."""
        return self._what() == "entity"

    def is_relation(self) -> bool:
        """Whether this is a relation."""
        return self._what() == "relation"

    def is_attribute(self) -> bool:
        """Whether this is an attribute."""
        return self._what() == "attribute"

    def is_value(self) -> bool:
        """Whether this is a value that no attribute holds."""
        return self._what() == "value"

    def get_label(self) -> str:
        """Return a type's label, an instance's type's label, or the type of a value."""
        label = self.try_get_label()
        return label if label is not None else str(self.try_get_value_type())

    def try_get_label(self) -> str | None:
        """Return the label of a type or of an instance's type, None for values."""
        return None

    def try_get_iid(self) -> str | None:
        """Return the internal identifier of an entity or relation, None for others."""
        return self._held.iid if self._what() in ("entity", "relation") else None

    def try_get_value_type(self) -> str | None:
        """Return the type of a value, of an attribute's or attribute type's value, or None."""
        value = self.try_get_value()
        return None if value is None else str(value_type_of(value))

    def try_get_value(self) -> AnyValue | None:
        """Return the value of an attribute or value (classes: :mod:`qeval.typeql.values`)."""
        return None


class TypeConcept(Concept):
    """An entity, relation, attribute or role type."""

    __slots__ = ()

    def _what(self) -> str:
        return f"{self._held.kind} type"

    def try_get_label(self) -> str | None:
        """Return the label; a role's is ``relation:role``."""
        return str(self._held.label)

    def try_get_value_type(self) -> str | None:
        """Return the value type of an attribute type."""
        return None if self._held.value_type is None else str(self._held.value_type)


class Instance(Concept):
    """What entities, relations and attributes have in common."""

    __slots__ = ()

    def try_get_label(self) -> str | None:
        """Return the label of the exact type."""
        return str(self._held.type.label)

    def get_type(self) -> TypeConcept:
        """Return the exact type."""
        return TypeConcept(self._held.type)

    def get_iid(self) -> str:
        """Return the internal identifier."""
        return str(self._held.iid)

    def try_get_key(self) -> AnyValue | None:
        """Return the value of the attribute that the type owns as ``@key``, None without one.

        The official driver has no such method: a server's rows hold no attributes of their things.
        """
        if isinstance(self._held, Object):
            for attribute, ownership in self._held.type.owns.items():
                if ownership.key and attribute in self._held.has:
                    return self._held.has[attribute][0].value
        return None


class Entity(Instance):
    """An entity."""

    __slots__ = ()

    def _what(self) -> str:
        return "entity"


class Relation(Instance):
    """A relation."""

    __slots__ = ()

    def _what(self) -> str:
        return "relation"


class Attribute(Instance):
    """An attribute, with its value."""

    __slots__ = ()

    def _what(self) -> str:
        return "attribute"

    def try_get_value(self) -> AnyValue | None:
        """Return the value."""
        return self.get_value()

    def get_value(self) -> AnyValue:
        """Return the value."""
        return self._held.value  # type: ignore[no-any-return]

    def get_value_type(self) -> str:
        """Return the name of the value's type."""
        return str(value_type_of(self._held.value))


class Value(Concept):
    """A computed value."""

    __slots__ = ()

    def _what(self) -> str:
        return "value"

    def try_get_value(self) -> AnyValue | None:
        """Return the value."""
        return self.get()

    def get(self) -> AnyValue:
        """Return the value."""
        return self._held  # type: ignore[no-any-return]

    def get_type(self) -> str:
        """Return the name of the value's type."""
        return str(value_type_of(self._held))


def concept_of(held: Any) -> Concept | None:
    """Wrap what a row holds; None stays None."""
    if held is None:
        return None
    if isinstance(held, Thing):
        if isinstance(held, _Attribute):
            return Attribute(held)
        return Entity(held) if isinstance(held, _Entity) else Relation(held)
    return TypeConcept(held) if isinstance(held, Type) else Value(held)
