"""Steps that start from nothing: scans and lookups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qeval.typeql.budget import BATCH
from qeval.typeql.execute.expressions import compile_tests
from qeval.typeql.ir.expressions import Constant
from qeval.typeql.schema import Kind
from qeval.typeql.store import Attribute
from qeval.typeql.values import value_type_of
from qeval.typeql.values.comparison import attribute_comparison, comparison, lookup_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from qeval.typeql.execute.runtime import Layout, Row, Runtime, Transform
    from qeval.typeql.plan import steps as s
    from qeval.typeql.schema import Type
    from qeval.typeql.values import Value


def scan_things(step: s.ScanThings, layout: Layout, runtime: Runtime) -> Transform:
    """Pair every row with every instance."""
    types = runtime.schema.members(step.types)
    tested = [(type_, _attribute_test(type_, step)) for type_ in types]
    layout.add(step.var)
    spend, instances = runtime.budget.spend, runtime.store.instances

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        thing: Any
        spent = 0
        for row in rows:
            for type_, test in tested:
                for thing in instances(type_):
                    spent += 1
                    if spent > BATCH:
                        spend(spent)
                        spent = 0
                    if test is None or test(thing.value):
                        yield (*row, thing)
            spent += 1
        spend(spent)

    return run


def _attribute_test(type_: Type, step: s.ScanThings) -> Callable[[Any], bool] | None:
    if type_.kind is not Kind.ATTRIBUTE or type_.value_type is None:
        return None
    return compile_tests(step.tests, type_.value_type)


def scan_types(step: s.ScanTypes, layout: Layout, runtime: Runtime) -> Transform:
    """Pair every row with every type of a set."""
    types = runtime.schema.members(step.types)
    layout.add(step.var)
    spend = runtime.budget.spend

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            spend(len(types))
            for type_ in types:
                yield (*row, type_)

    return run


def find_by_iid(step: s.FindByIid, layout: Layout, runtime: Runtime) -> Transform:
    """Bind the instance of an identifier, or test it if the variable is bound."""
    wanted = step.iid.lower()
    spend = runtime.budget.spend
    if step.var in layout.slots:
        slot = layout.slots[step.var]
        return lambda rows: (row for row in rows if row[slot].iid == wanted)
    layout.add(step.var)
    types = runtime.schema.members(step.types)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            for type_ in types:
                spend(runtime.store.count(type_))
                for thing in runtime.store.instances(type_):
                    if thing.iid == wanted:
                        yield (*row, thing)

    return run


def find_by_value(step: s.FindByValue, layout: Layout, runtime: Runtime) -> Transform:
    """Bind the attributes that equal a constant or what a variable holds."""
    types = [
        (type_, compile_tests(step.tests, type_.value_type))
        for type_ in runtime.schema.members(step.types)
        if type_.value_type is not None
    ]
    constant = step.value.value if isinstance(step.value, Constant) else None
    slot = None if isinstance(step.value, Constant) else layout.slots[step.value]
    layout.add(step.var)
    spend = runtime.budget.spend

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        spent = 0
        for row in rows:
            held = constant if slot is None else row[slot]
            if held is None:
                continue
            for type_, test in types:
                found = _equal_to(type_, held, runtime)
                spent += 1 + len(found)
                for attribute in found:
                    if test is None or test(attribute.value):
                        yield (*row, attribute)
            if spent > BATCH:
                spend(spent)
                spent = 0
        spend(spent)

    return run


def _equal_to(type_: Type, held: Value | Attribute, runtime: Runtime) -> list[Attribute]:
    """Return the attributes of a type that are ``==`` to a value or another attribute."""
    assert type_.value_type is not None
    by_value = runtime.store.attributes.get(type_, {})
    if isinstance(held, Attribute):
        assert held.type.value_type is not None
        test = comparison("==", type_.value_type, held.type.value_type)
        value = held.value
    else:
        test = attribute_comparison("==", type_.value_type, value_type_of(held))
        value = held
    if test is None:
        return []
    key = lookup_value(type_.value_type, value)
    if key is None:
        runtime.budget.spend(len(by_value))
        return [attribute for attribute in by_value.values() if test(attribute.value, value)]
    found = by_value.get(key[0])
    return [found] if found is not None and test(found.value, value) else []
