"""Steps over types, and from things to their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qeval.typeql.budget import BATCH
from qeval.typeql.execute.runtime import type_of
from qeval.typeql.schema import Type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from qeval.typeql.execute.runtime import Layout, Row, Runtime, Transform
    from qeval.typeql.plan import steps as s


def types_of(step: s.TypesOf, layout: Layout, runtime: Runtime) -> Transform:
    """Bind the type of a thing, or each of its supertypes too."""
    slot, allowed, exact = layout.slots[step.thing], step.types, step.exact
    members = runtime.schema.members
    layout.add(step.type)

    def find(thing: Any) -> list[Type]:
        own = thing.type.bit if exact else thing.type.supers
        return members(own & allowed)

    return _expand(lambda row: find(row[slot]), runtime.budget.spend)


def instances_of(step: s.InstancesOf, layout: Layout, runtime: Runtime) -> Transform:
    """Bind the instances of a type."""
    slot, allowed, exact = layout.slots[step.type], step.types, step.exact
    members, store, spend = runtime.schema.members, runtime.store, runtime.budget.spend
    layout.add(step.thing)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            own = row[slot].bit if exact else row[slot].subs
            for type_ in members(own & allowed):
                spend(store.count(type_))
                for thing in store.instances(type_):
                    yield (*row, thing)

    return run


def check_isa(step: s.CheckIsa, layout: Layout, _runtime: Runtime) -> Transform:
    """Test a thing against a bound type."""
    thing, type_ = layout.slots[step.thing], layout.slots[step.type]
    if step.exact:
        return lambda rows: (row for row in rows if row[thing].type is row[type_])
    return lambda rows: (row for row in rows if row[thing].type.supers & row[type_].bit)


def types_along(step: s.TypesAlong, layout: Layout, runtime: Runtime) -> Transform:
    """Follow a closure of types from a bound one, or test it between two."""
    start, field = _end(step.start, layout), step.field
    if step.end_bound:
        end = _end(step.end, layout)
        return lambda rows: (row for row in rows if getattr(start(row), field) & end(row).bit)
    assert not isinstance(step.end, Type)
    layout.add(step.end)
    members, allowed = runtime.schema.members, step.types
    return _expand(lambda row: members(getattr(start(row), field) & allowed), runtime.budget.spend)


def _expand(find: Callable[[Row], list[Type]], spend: Callable[[int], None]) -> Transform:
    def run(rows: Iterable[Row]) -> Iterator[Row]:
        spent = 0
        for row in rows:
            found = find(row)
            spent += 1 + len(found)
            for type_ in found:
                yield (*row, type_)
            if spent > BATCH:
                spend(spent)
                spent = 0
        spend(spent)

    return run


def _end(end: s.TypeEnd, layout: Layout) -> Callable[[Row], Type]:
    if isinstance(end, Type):
        return lambda _row: end
    slot = layout.slots[end]
    return lambda row: row[slot]


def check_types(step: s.CheckTypes, layout: Layout, _runtime: Runtime) -> Transform:
    """Test that a slot holds something of one of some types; what is empty passes."""
    slot, allowed = layout.slots[step.var], step.types
    return lambda rows: (
        row for row in rows if row[slot] is None or type_of(row[slot]).bit & allowed
    )


def check_present(step: s.CheckPresent, layout: Layout, _runtime: Runtime) -> Transform:
    """Drop rows with an empty slot."""
    slots = [layout.slots[var] for var in step.variables]
    return lambda rows: (row for row in rows if all(row[slot] is not None for slot in slots))
