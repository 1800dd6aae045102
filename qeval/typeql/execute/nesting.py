"""Steps that run a plan inside: ``or``, ``not``, ``try``."""

from __future__ import annotations

from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from qeval.typeql.budget import BATCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from qeval.typeql.execute.runtime import Layout, Row, Runtime, Transform
    from qeval.typeql.ir.variables import Var
    from qeval.typeql.plan import steps as s

    CompilePlan: TypeAlias = Callable[[s.Plan, Layout, Runtime], Transform]

_CHUNK = 256  # rows that go through a branch together


def branching(
    step: s.Branching, layout: Layout, runtime: Runtime, compile_plan: CompilePlan
) -> Transform:
    """Run every branch on every row; equal results of one row count once."""
    branches = [
        _inside(plan, step.targets, layout, runtime, compile_plan) for plan in step.branches
    ]
    for target in step.targets:
        layout.add(target)
    spend, hold, cells = runtime.budget.spend, runtime.budget.hold, layout.width + 2

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for chunk in _chunks(rows):
            seen: set[Row] = set()
            spent = 0
            try:
                for transform, pick in branches:
                    for result in transform(chunk):
                        row = pick(result)
                        spent += 1
                        if spent > BATCH:
                            spend(spent)
                            spent = 0
                        if row not in seen:
                            seen.add(row)
                            hold(cells)
                            yield row
            finally:  # also where nobody asks for more
                hold(-cells * len(seen))
            spend(spent)

    return run


def _inside(
    plan: s.Plan,
    targets: tuple[Var, ...],
    layout: Layout,
    runtime: Runtime,
    compile_plan: CompilePlan,
) -> tuple[Transform, Callable[[Row], Row]]:
    """Compile a plan inside, and what puts its rows into the order of slots outside."""
    inner = layout.copy()
    transform = compile_plan(plan, inner, runtime)
    slots = [*range(layout.width), *(inner.slots[target] for target in targets)]
    if slots == list(range(inner.width)):
        return transform, lambda row: row
    return transform, picker(slots)


def rejecting(
    step: s.Rejecting, layout: Layout, runtime: Runtime, compile_plan: CompilePlan
) -> Transform:
    """Keep rows for which the inner plan finds nothing; rows that look alike are asked once."""
    transform = compile_plan(step.body, layout.copy(), runtime)
    slots = [layout.slots[var] for var in step.inputs]
    hold, width = runtime.budget.hold, len(slots) + 2

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        known: dict[Row, bool] = {}
        try:
            for row in rows:
                key = tuple(row[slot] for slot in slots)
                found = known.get(key)
                if found is None:
                    found = next(transform((row,)), None) is not None
                    known[key] = found
                    hold(width)
                if not found:
                    yield row
        finally:  # also where nobody asks for more
            hold(-width * len(known))

    return run


def attempting(
    step: s.Attempting, layout: Layout, runtime: Runtime, compile_plan: CompilePlan
) -> Transform:
    """Extend rows by what the inner plan finds, or by empty slots if that is nothing."""
    transform, pick = _inside(step.body, step.targets, layout, runtime, compile_plan)
    for target in step.targets:
        layout.add(target)
    empty = (None,) * len(step.targets)

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            found = False
            for result in transform((row,)):
                found = True
                yield pick(result)
            if not found:
                yield row + empty

    return run


def picker(slots: list[int]) -> Callable[[Row], Row]:
    """Return a function from a row to the tuple of some of its slots."""
    if not slots:
        return lambda _row: ()
    if len(slots) == 1:
        only = slots[0]
        return lambda row: (row[only],)
    return itemgetter(*slots)


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
