"""Execution of ``match``: plan, compile, and the rule of which rows count once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.execute.nesting import picker
from qeval.typeql.execute.plans import compile_plan
from qeval.typeql.execute.runtime import Layout
from qeval.typeql.ir.variables import Var
from qeval.typeql.plan.planner import Settings, plan_conjunction
from qeval.typeql.syntax.ast import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from qeval.typeql.execute.runtime import Row, Runtime, Transform
    from qeval.typeql.ir.pipelines import Match
    from qeval.typeql.ir.variables import Registry


def compile_match(
    stage: Match,
    columns: tuple[Var, ...],
    types: dict[Var, int],
    registry: Registry,
    runtime: Runtime,
    *,
    as_set: bool,
) -> Transform:
    """Return a function from rows of the given columns to rows of the stage's outputs.

    ``types`` are the possible types of the columns that hold concepts. With ``as_set`` each row
    given yields every binding of the named variables once; without, as many times as it arises.
    """
    settings = Settings(runtime.schema, runtime.estimator, registry, as_set)
    bound = {var: types.get(var, 0) for var in columns}
    plan = plan_conjunction(settings, stage.block.root, bound, stage.outputs)
    hidden = not set(plan.binds) <= set(stage.outputs)
    deduplicate = as_set and (hidden or not plan.unique)
    layout = Layout((), stage.block.value_types)
    if deduplicate:
        layout.add(Var(None, NOWHERE))  # the number of the row given: bindings count per row
    for var in columns:
        layout.add(var)
    transform = compile_plan(plan, layout, runtime)
    pick = _outputs(stage.outputs, layout, numbered=deduplicate)
    if deduplicate:
        return _distinct_per_row(transform, pick, stage.outputs, runtime)
    return lambda rows: map(pick, transform(rows))


def _outputs(outputs: tuple[Var, ...], layout: Layout, *, numbered: bool) -> Callable[[Row], Row]:
    slots = [layout.slots[var] for var in outputs]
    return picker([0, *slots] if numbered else slots)


def _distinct_per_row(
    transform: Transform, pick: Callable[[Row], Row], outputs: tuple[Var, ...], runtime: Runtime
) -> Transform:
    hold, width = runtime.budget.hold, len(outputs) + 3

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        seen: set[Row] = set()
        numbered = ((number, *row) for number, row in enumerate(rows))
        try:
            for result in transform(numbered):
                row = pick(result)
                if row not in seen:
                    seen.add(row)
                    hold(width)
                    yield row[1:]
        finally:  # also where nobody asks for more
            hold(-width * len(seen))

    return run
