"""Steps that follow ownerships and role players from what is bound."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from qeval.typeql.budget import BATCH
from qeval.typeql.execute.expressions import compile_tests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from qeval.typeql.budget import Budget
    from qeval.typeql.execute.runtime import Layout, Row, Runtime, Transform
    from qeval.typeql.ir.variables import Var
    from qeval.typeql.plan import steps as s
    from qeval.typeql.schema import Type


def attributes_of(step: s.AttributesOf, layout: Layout, runtime: Runtime) -> Transform:
    """From owners to attributes, keeping those that pass the tests."""
    slot = layout.slots[step.owner]
    types = runtime.schema.members(step.types)
    tests = {
        type_: None if type_.value_type is None else compile_tests(step.tests, type_.value_type)
        for type_ in types
    }
    find = _one_type(types[0], tests[types[0]]) if len(types) == 1 else _many_types(tests)
    if step.attribute is None:
        return _exists(find, slot, runtime.budget)
    layout.add(step.attribute)
    return _expand(find, slot, runtime.budget)


def _one_type(type_: Type, test: Callable[[Any], bool] | None) -> Callable[[Any], Any]:
    if test is None:
        return lambda owner: owner.has.get(type_, ())
    return lambda owner: [a for a in owner.has.get(type_, ()) if test(a.value)]


def _many_types(tests: dict[Type, Callable[[Any], bool] | None]) -> Callable[[Any], Any]:
    def find(owner: Any) -> list[Any]:
        found: list[Any] = []
        for type_, attributes in owner.has.items():
            if type_ in tests:
                test = tests[type_]
                found += attributes if test is None else [a for a in attributes if test(a.value)]
        return found

    return find


def owners_of(step: s.OwnersOf, layout: Layout, runtime: Runtime) -> Transform:
    """From attributes to owners of some types."""
    slot = layout.slots[step.attribute]
    allowed = step.types

    def find(attribute: Any) -> list[Any]:
        found: list[Any] = []
        for type_, owners in attribute.owners.items():
            if type_.bit & allowed:
                found += owners
        return found

    if step.owner is None:
        return _exists(find, slot, runtime.budget)
    layout.add(step.owner)
    return _expand(find, slot, runtime.budget)


def players_of(step: s.PlayersOf, layout: Layout, runtime: Runtime) -> Transform:
    """From relations to players, with their roles if those are wanted."""
    slot = layout.slots[step.relation]
    return _across(
        _Hop("players", slot, step.roles, step.types), step.player, step.role, layout, runtime
    )


def relations_of(step: s.RelationsOf, layout: Layout, runtime: Runtime) -> Transform:
    """From players to relations, with the roles played if those are wanted."""
    slot = layout.slots[step.player]
    return _across(
        _Hop("plays", slot, step.roles, step.types), step.relation, step.role, layout, runtime
    )


@dataclass(frozen=True)
class _Hop:
    """From a slot along ``players`` of relations, or its mirror image ``plays`` of players."""

    field: str
    slot: int
    roles: int
    allowed: int  # types at the other end

    def role_types(self, runtime: Runtime) -> list[Type]:
        return runtime.schema.members(self.roles)

    def filters(self, roles: list[Type]) -> bool:
        """Tell whether something of another type could be at the other end."""
        possible = 0
        for role in roles:
            possible |= role.players if self.field == "players" else role.relations
        return bool(possible & ~self.allowed)


def _across(
    hop: _Hop, target: Var | None, role: Var | None, layout: Layout, runtime: Runtime
) -> Transform:
    roles = hop.role_types(runtime)
    if role is not None:
        if target is not None:
            layout.add(target)
        layout.add(role)
        return _with_roles(hop, roles, runtime.budget, bind=target is not None)
    find = _ends(hop, roles)
    if target is None:
        return _exists(find, hop.slot, runtime.budget)
    layout.add(target)
    return _expand(find, hop.slot, runtime.budget)


def _ends(hop: _Hop, roles: list[Type]) -> Callable[[Any], Any]:
    allowed, along = hop.allowed, attrgetter(hop.field)
    if len(roles) == 1:
        role = roles[0]
        if not hop.filters(roles):
            return lambda thing: along(thing).get(role, ())
        return lambda thing: [end for end in along(thing).get(role, ()) if end.type.bit & allowed]
    wanted = frozenset(roles)

    def find(thing: Any) -> list[Any]:
        return [
            end
            for role, ends in along(thing).items()
            if role in wanted
            for end in ends
            if end.type.bit & allowed
        ]

    return find


def _with_roles(hop: _Hop, roles: list[Type], budget: Budget, *, bind: bool) -> Transform:
    wanted, allowed, slot = frozenset(roles), hop.allowed, hop.slot
    along, spend = attrgetter(hop.field), budget.spend

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        spent = 0
        for row in rows:
            for role, ends in along(row[slot]).items():
                if role not in wanted:
                    continue
                spent += len(ends)
                for end in ends:
                    if end.type.bit & allowed:
                        yield (*row, end, role) if bind else (*row, role)
            spent += 1
            if spent > BATCH:
                spend(spent)
                spent = 0
        spend(spent)

    return run


def edges_between(step: s.EdgesBetween, layout: Layout, runtime: Runtime) -> Transform:
    """Test for an edge between a relation and a player, or bind its roles."""
    relation, player = layout.slots[step.relation], layout.slots[step.player]
    roles = frozenset(runtime.schema.members(step.roles))
    if step.role is None:

        def linked(row: Row) -> bool:
            end = row[player]
            return any(end in ends for role, ends in row[relation].players.items() if role in roles)

        return lambda rows: (row for row in rows if linked(row))
    if step.role_bound:
        role_slot = layout.slots[step.role]
        return lambda rows: (
            row for row in rows if row[player] in row[relation].players.get(row[role_slot], ())
        )
    layout.add(step.role)
    return lambda rows: (
        (*row, role)
        for row in rows
        for role, ends in row[relation].players.items()
        if role in roles and row[player] in ends
    )


def check_owns(step: s.CheckOwns, layout: Layout, _runtime: Runtime) -> Transform:
    """Test an ownership."""
    owner, attribute = layout.slots[step.owner], layout.slots[step.attribute]
    return lambda rows: (
        row for row in rows if row[attribute] in row[owner].has.get(row[attribute].type, ())
    )


def _expand(find: Callable[[Any], Any], slot: int, budget: Budget) -> Transform:
    spend = budget.spend

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        spent = 0
        for row in rows:
            found = find(row[slot])
            spent += 1 + len(found)
            for thing in found:
                yield (*row, thing)
            if spent > BATCH:
                spend(spent)
                spent = 0
        spend(spent)

    return run


def _exists(find: Callable[[Any], Any], slot: int, budget: Budget) -> Transform:
    spend = budget.spend

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        spent = 0
        for row in rows:
            spent += 1
            if find(row[slot]):
                yield row
            if spent > BATCH:
                spend(spent)
                spent = 0
        spend(spent)

    return run
