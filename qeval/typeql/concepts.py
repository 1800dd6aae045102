"""The concepts in answers, with the methods of the official driver's concepts.

A decoder that asks ``is_entity()``, ``get_label()``, ``try_get_value()`` and so on works for both.
Two concepts are equal if they are the same instance or type, or equal values of one type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qeval.typeql.schema import Kind, Type
from qeval.typeql.store import Attribute as _Attribute
from qeval.typeql.store import Entity as _Entity
from qeval.typeql.store import Thing
from qeval.typeql.values import value_type_of

if TYPE_CHECKING:
    from qeval.typeql.values import Value as _AnyValue


class Concept:
    """Anything that can stand in a row of an answer."""

    __slots__ = ("_held",)

    def __init__(self, held: Any) -> None:
        self._held = held

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._held == other._held  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._held)

    def is_type(self) -> bool:
        """Whether this is a type."""
        return False

    def is_entity_type(self) -> bool:
        """Whether this is an entity type."""
        return False

    def is_relation_type(self) -> bool:
        """Whether this is a relation type."""
        return False

    def is_attribute_type(self) -> bool:
        """Whether this is an attribute type."""
        return False

    def is_role_type(self) -> bool:
        """Whether this is a role type."""
        return False

    def is_instance(self) -> bool:
        """Whether this is an entity, a relation or an attribute."""
        return False

    def is_entity(self) -> bool:
        """Whether this is an entity."""
        return False

    def is_relation(self) -> bool:
        """Whether this is a relation."""
        return False

    def is_attribute(self) -> bool:
        """Whether this is an attribute."""
        return False

    def is_value(self) -> bool:
        """Whether this is a value that no attribute holds."""
        return False

    def get_label(self) -> str:
        """Return a type's label, an instance's type's label, or a value's type."""
        raise NotImplementedError

    def try_get_label(self) -> str | None:
        """Return the label, None for values."""
        return None if self.is_value() else self.get_label()

    def try_get_iid(self) -> str | None:
        """Return the internal identifier of an entity or relation, None for others."""
        return None

    def try_get_value_type(self) -> str | None:
        """Return the type of a value, of an attribute's or attribute type's value, or None."""
        return None

    def try_get_value(self) -> _AnyValue | None:
        """Return the value of an attribute or value, None for others."""
        return None


class TypeConcept(Concept):
    """An entity, relation, attribute or role type."""

    __slots__ = ()
    _held: Type

    def is_type(self) -> bool:
        return True

    def is_entity_type(self) -> bool:
        return self._held.kind is Kind.ENTITY

    def is_relation_type(self) -> bool:
        return self._held.kind is Kind.RELATION

    def is_attribute_type(self) -> bool:
        return self._held.kind is Kind.ATTRIBUTE

    def is_role_type(self) -> bool:
        return self._held.kind is Kind.ROLE

    def get_label(self) -> str:
        return self._held.label

    def try_get_value_type(self) -> str | None:
        return None if self._held.value_type is None else str(self._held.value_type)

    def __repr__(self) -> str:
        return f"Type({self._held.label})"


class _Instance(Concept):
    __slots__ = ()
    _held: Thing

    def is_instance(self) -> bool:
        return True

    def get_type(self) -> TypeConcept:
        """Return the exact type."""
        return TypeConcept(self._held.type)

    def get_label(self) -> str:
        return self._held.type.label

    def get_iid(self) -> str:
        """Return the internal identifier."""
        return self._held.iid

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._held.type.label}: {self._held.iid})"


class Entity(_Instance):
    """An entity."""

    __slots__ = ()

    def is_entity(self) -> bool:
        return True

    def try_get_iid(self) -> str | None:
        return self._held.iid


class Relation(_Instance):
    """A relation."""

    __slots__ = ()

    def is_relation(self) -> bool:
        return True

    def try_get_iid(self) -> str | None:
        return self._held.iid


class Attribute(_Instance):
    """An attribute, with its value."""

    __slots__ = ()
    _held: _Attribute

    def is_attribute(self) -> bool:
        return True

    def get_value(self) -> _AnyValue:
        """Return the value: see :mod:`qeval.typeql.values` for the classes."""
        return self._held.value

    def get_value_type(self) -> str:
        """Return the name of the value's type."""
        return str(value_type_of(self._held.value))

    def try_get_value(self) -> _AnyValue | None:
        return self._held.value

    def try_get_value_type(self) -> str | None:
        return self.get_value_type()

    def __repr__(self) -> str:
        return f"Attribute({self._held.type.label}: {self._held.value!r})"


class Value(Concept):
    """A computed value."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and type(self._held) is type(other._held)  # type: ignore[attr-defined]

    __hash__ = Concept.__hash__

    def is_value(self) -> bool:
        return True

    def get(self) -> _AnyValue:
        """Return the value: see :mod:`qeval.typeql.values` for the classes."""
        return self._held  # type: ignore[no-any-return]

    def get_type(self) -> str:
        """Return the name of the value's type."""
        return str(value_type_of(self._held))

    def get_label(self) -> str:
        return self.get_type()

    def try_get_value(self) -> _AnyValue | None:
        return self.get()

    def try_get_value_type(self) -> str | None:
        return self.get_type()

    def __repr__(self) -> str:
        return f"Value({self._held!r})"


def concept_of(held: Any) -> Concept | None:
    """Wrap what a row holds; None stays None."""
    if held is None:
        return None
    if isinstance(held, Thing):
        if isinstance(held, _Attribute):
            return Attribute(held)
        return Entity(held) if isinstance(held, _Entity) else Relation(held)
    return TypeConcept(held) if isinstance(held, Type) else Value(held)
