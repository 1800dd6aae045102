"""Execution of pipelines: each stage a function from rows to rows."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from qeval.typeql.budget import BATCH
from qeval.typeql.check.annotate import Known, reducer_type
from qeval.typeql.execute.matching import compile_match
from qeval.typeql.execute.nesting import picker
from qeval.typeql.execute.reducing import Reduction, reduce_rows
from qeval.typeql.execute.runtime import collected
from qeval.typeql.ir import pipelines as p
from qeval.typeql.store import Attribute
from qeval.typeql.values import order_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qeval.typeql.budget import Budget
    from qeval.typeql.execute.runtime import Row, Runtime, Slots, Transform
    from qeval.typeql.ir.variables import Registry, Var


class StageCompiler:
    """Compiles stages one after the other.

    ``columns`` are the variables of the rows between the stages compiled so far and the next, and
    ``known`` what is known of them.
    """

    def __init__(
        self,
        columns: tuple[Var, ...],
        known: Known,
        registry: Registry,
        runtime: Runtime,
        *,
        as_set: bool,
    ) -> None:
        self.columns = columns
        self.known = known
        self._registry = registry
        self._runtime = runtime
        self._as_set = as_set

    def compile(self, stages: Sequence[p.Stage]) -> Transform:
        """Return the function of all stages together."""
        transforms = [self._compile(stage) for stage in stages]

        def run(rows: Iterable[Row]) -> Iterator[Row]:
            for transform in transforms:
                rows = transform(rows)
            return iter(rows)

        return run

    def slots(self) -> Slots:
        """Return the slot of each column."""
        return {var: slot for slot, var in enumerate(self.columns)}

    def _compile(self, stage: p.Stage) -> Transform:  # noqa: PLR0911 - one a stage
        slots, budget = self.slots(), self._runtime.budget
        match stage:
            case p.Match():
                return self._compile_match(stage)
            case p.Select():
                self.columns = stage.variables
                pick = picker([slots[var] for var in stage.variables])
                return lambda rows: map(pick, rows)
            case p.Sort():
                keys = [(slots[var], descending) for var, descending in stage.keys]
                return lambda rows: _sorted(rows, keys, budget)
            case p.Offset():
                return lambda rows: _skip(rows, stage.count, budget)
            case p.Limit():
                return lambda rows: islice(rows, min(stage.count, 2**62))
            case p.Require():
                required = [slots[var] for var in stage.variables]
                return lambda rows: (
                    row for row in rows if all(row[slot] is not None for slot in required)
                )
            case p.Distinct():
                return lambda rows: _distinct(rows, budget)
            case p.Reduce():
                return self._compile_reduce(stage)

    def _compile_match(self, stage: p.Match) -> Transform:
        transform = compile_match(
            stage,
            self.columns,
            self.known.concepts,
            self._registry,
            self._runtime,
            as_set=self._as_set,
        )
        self.known.concepts.update(stage.block.root.types)
        self.known.values.update(stage.block.value_types)
        self.columns = stage.outputs
        return transform

    def _compile_reduce(self, stage: p.Reduce) -> Transform:
        slots, budget = self.slots(), self._runtime.budget
        reducers = [reducer for _, reducer in stage.reductions]
        types = [
            reducer_type(self._runtime.schema, self._registry, r, self.known) for r in reducers
        ]
        reductions = Reduction.of(reducers, slots, types)
        groupby = [slots[var] for var in stage.groupby]
        targets = [target for target, _ in stage.reductions]
        self.known.values.update(zip(targets, types, strict=True))
        self.columns = (*targets, *stage.groupby)
        return lambda rows: reduce_rows(rows, reductions, groupby, budget)


def _sorted(rows: Iterable[Row], keys: list[tuple[int, bool]], budget: Budget) -> Iterator[Row]:
    """Sort by several keys, the last one first since sorting is stable; empty comes first."""
    with collected(rows, budget) as whole:
        for slot, descending in reversed(keys):
            whole.sort(key=_sort_key(slot), reverse=descending)
        yield from whole


def _sort_key(slot: int) -> Callable[[Row], tuple[bool, Any]]:
    def key(row: Row) -> tuple[bool, Any]:
        held = row[slot]
        if held is None:
            return False, 0
        return True, order_key(held.value if held.__class__ is Attribute else held)

    return key


def _skip(rows: Iterable[Row], count: int, budget: Budget) -> Iterator[Row]:
    iterator = iter(rows)
    left = count
    while left > 0:
        skipped = sum(1 for _ in islice(iterator, min(left, BATCH)))
        if not skipped:
            return
        budget.spend(skipped)
        left -= skipped
    yield from iterator


def _distinct(rows: Iterable[Row], budget: Budget) -> Iterator[Row]:
    seen: set[Row] = set()
    held = 0
    try:
        for row in rows:
            if row not in seen:
                seen.add(row)
                budget.hold(len(row) + 1)
                held += len(row) + 1
                yield row
    finally:  # also where nobody asks for more
        budget.hold(-held)
