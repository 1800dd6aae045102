"""The schema as a whole: its types by label, its functions, and the closures over both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.schema.notes import NoteBook
from qeval.typeql.schema.types import Kind, Type, members
from qeval.typeql.values.kinds import comparable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qeval.typeql.schema.types import Ownership, Playing, Relating
    from qeval.typeql.syntax import ast
    from qeval.typeql.values import ValueType


class Schema:
    """Types, and functions as they were written.

    Change it through :mod:`qeval.typeql.schema.define`, which calls :meth:`close` when it is done.
    """

    def __init__(self) -> None:
        self.catalogue: list[Type] = []
        self.functions: dict[str, ast.Function] = {}
        self.notes = NoteBook()
        self.roles_by_name: dict[str, int] = {}
        self.of_kind: dict[Kind, int] = dict.fromkeys(Kind, 0)
        self.abstract = 0
        self.of_value_type: dict[ValueType, int] = {}
        self._unions: dict[tuple[int, str], int] = {}
        self._by_label: dict[str, Type] = {}
        self._declared: dict[Type, _Declared] = {}

    def find(self, label: str) -> Type | None:
        """Return the type of a label (a role's is ``relation:role``), None if there is none."""
        return self._by_label.get(label)

    def members(self, types: int) -> list[Type]:
        """List the types of a set."""
        return members(types, self.catalogue)

    def union(self, types: int, relation: str) -> int:
        """Join one of the closures of :class:`Type` (say ``"subs"``) over a set of types."""
        known = self._unions.get((types, relation))
        if known is None:
            known = _join(getattr(type_, relation) for type_ in self.members(types))
            self._unions[types, relation] = known
        return known

    def bounded_to_one(self, owner: Type, attribute: Type) -> bool:
        """Tell whether an owner can have at most one attribute of a type it owns."""
        owned = [owner.owns[type_] for type_ in self.members(attribute.supers & owner.owned)]
        return any(edge.card.high is not None and edge.card.high <= 1 for edge in owned)

    def add(self, label: str, kind: Kind) -> Type:
        """Create a type."""
        index = len(self.catalogue)
        type_ = Type(label, kind, index, 1 << index)
        self.catalogue.append(type_)
        self._by_label[label] = type_
        self._declared[type_] = _Declared()
        return type_

    def declare_owns(self, owner: Type, ownership: Ownership) -> None:
        """Let a type own an attribute; a second declaration replaces the first."""
        self._declared[owner].owns[ownership.attribute] = ownership

    def declare_plays(self, player: Type, playing: Playing) -> None:
        """Let a type play a role."""
        self._declared[player].plays[playing.role] = playing

    def declare_relates(self, relation: Type, relating: Relating) -> None:
        """Let a relation relate a role."""
        self._declared[relation].relates[relating.role] = relating

    def close(self) -> None:
        """Recompute what follows from the declarations: inheritance and all sets of types."""
        self._unions.clear()
        ordered = self._parents_first()
        for type_ in ordered:
            self._inherit(type_)
        for type_ in reversed(ordered):
            type_.subs = type_.bit | _join(child.subs for child in type_.children)
            type_.direct_subs = _join(child.bit for child in type_.children)
            type_.direct_super = type_.parent.bit if type_.parent is not None else 0
        for type_ in ordered:
            type_.owned = _join(other.bit for other in type_.owns)
            type_.played = _join(other.bit for other in type_.plays)
            type_.related = _join(other.bit for other in type_.relates)
            type_.owners = type_.players = type_.relations = 0
        for type_ in ordered:
            for attribute in type_.owns:
                attribute.owners |= type_.bit
            for role in type_.plays:
                role.players |= type_.bit
            for role in type_.relates:
                role.relations |= type_.bit
        self._index(ordered)

    def _parents_first(self) -> list[Type]:
        ordered: list[Type] = []
        waiting = [type_ for type_ in self.catalogue if type_.parent is None]
        while waiting:
            ordered.extend(waiting)
            waiting = [child for type_ in waiting for child in type_.children]
        return ordered

    def _inherit(self, type_: Type) -> None:
        declared, parent = self._declared[type_], type_.parent
        type_.owns, type_.plays, type_.relates = {}, {}, {}
        type_.supers = type_.bit
        if parent is not None:
            type_.supers |= parent.supers
            type_.value_type = type_.value_type or parent.value_type
            type_.limits = type_.limits or parent.limits
            type_.owns.update(parent.owns)
            type_.plays.update(parent.plays)
            type_.relates.update(parent.relates)
        type_.owns.update(declared.owns)
        type_.plays.update(declared.plays)
        for role, relating in declared.relates.items():
            type_.relates[role] = relating
            if role.parent in type_.relates:
                type_.relates[role.parent] = type_.relates[role.parent].as_hidden()

    def _index(self, ordered: list[Type]) -> None:
        self.of_kind = dict.fromkeys(Kind, 0)
        self.roles_by_name, self.of_value_type, self.abstract = {}, {}, 0
        for type_ in ordered:
            self.of_kind[type_.kind] |= type_.bit
            if type_.abstract:
                self.abstract |= type_.bit
            if type_.kind is Kind.ROLE:
                named = self.roles_by_name.get(type_.name, 0)
                self.roles_by_name[type_.name] = named | type_.bit
            if type_.value_type is not None:
                valued = self.of_value_type.get(type_.value_type, 0)
                self.of_value_type[type_.value_type] = valued | type_.bit
        for type_ in ordered:
            type_.comparable = _join(
                types
                for value_type, types in self.of_value_type.items()
                if type_.value_type is not None and comparable(type_.value_type, value_type)
            )


class _Declared:
    """What one type declares itself, apart from what it inherits."""

    def __init__(self) -> None:
        self.owns: dict[Type, Ownership] = {}
        self.plays: dict[Type, Playing] = {}
        self.relates: dict[Type, Relating] = {}


def _join(sets: Iterable[int]) -> int:
    joined = 0
    for types in sets:
        joined |= types
    return joined
