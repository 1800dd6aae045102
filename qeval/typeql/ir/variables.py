"""Variables and the categories of concepts they may hold."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from qeval.typeql.faults import Fault

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast import Span


class Category(Enum):
    """What a variable can be bound to, before anything is known of the schema."""

    TYPE = "type"
    THING_TYPE = "thing type"
    ATTRIBUTE_TYPE = "attribute type"
    ROLE_TYPE = "role type"
    THING = "thing"
    OBJECT = "entity or relation"
    ATTRIBUTE_OR_VALUE = "attribute or value"
    ATTRIBUTE = "attribute"
    VALUE = "value"
    LIST = "list"

    @property
    def is_type(self) -> bool:
        """Whether it holds types."""
        return self in _TYPES

    @property
    def is_thing(self) -> bool:
        """Whether it holds entities, relations or attributes."""
        return self in _THINGS


_TYPES = {Category.TYPE, Category.THING_TYPE, Category.ATTRIBUTE_TYPE, Category.ROLE_TYPE}
_THINGS = {Category.THING, Category.OBJECT, Category.ATTRIBUTE}
_BROADER: dict[Category, frozenset[Category]] = {
    Category.TYPE: frozenset(),
    Category.THING_TYPE: frozenset({Category.TYPE}),
    Category.ATTRIBUTE_TYPE: frozenset({Category.TYPE, Category.THING_TYPE}),
    Category.ROLE_TYPE: frozenset({Category.TYPE}),
    Category.THING: frozenset(),
    Category.OBJECT: frozenset({Category.THING}),
    Category.ATTRIBUTE_OR_VALUE: frozenset(),
    Category.ATTRIBUTE: frozenset({Category.THING, Category.ATTRIBUTE_OR_VALUE}),
    Category.VALUE: frozenset({Category.ATTRIBUTE_OR_VALUE}),
    Category.LIST: frozenset(),
}


def narrowest(one: Category, other: Category) -> Category | None:
    """Return the broadest category within both, None if they exclude each other."""
    if one is other or one in _BROADER[other]:
        return other
    if other in _BROADER[one]:
        return one
    if {one, other} == {Category.THING, Category.ATTRIBUTE_OR_VALUE}:
        return Category.ATTRIBUTE
    return None


class Var:
    """A variable of one query. Two of the same name in different scopes are different."""

    __slots__ = ("name", "span")

    def __init__(self, name: str | None, span: Span) -> None:
        self.name = name
        self.span = span

    @property
    def anonymous(self) -> bool:
        """Whether the query gives it no name: ``$_``, or written without a variable."""
        return self.name is None

    def __repr__(self) -> str:
        return f"${self.name}" if self.name else f"$_{id(self) & 0xFFFF:x}"


class Registry:
    """What is known of the variables of a pipeline: their category, and whether None is possible.

    A copy is taken where a nested pipeline must not influence its surroundings.
    """

    def __init__(self) -> None:
        self.categories: dict[Var, Category] = {}
        self.optional: set[Var] = set()

    def copy(self) -> Registry:
        """Return an independent copy."""
        other = Registry()
        other.categories = self.categories.copy()
        other.optional = self.optional.copy()
        return other

    def narrow(self, var: Var, category: Category) -> None:
        """Use a variable as something; raises REP1 or REP35 if it cannot be that as well."""
        known = self.categories.get(var)
        if known is category:
            return
        merged = category if known is None else narrowest(known, category)
        if merged is not None:
            self.categories[var] = merged
            return
        if {known, category} == {Category.VALUE, Category.ATTRIBUTE}:
            raise Fault(
                "REP35",
                f"{var} cannot be both a value and an attribute; compare with == instead",
            )
        assert known is not None
        raise Fault("REP1", f"{var} cannot be both {known.value} and {category.value}")
