"""The reducers, alone or by group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any

from qeval.typeql.budget import BATCH
from qeval.typeql.store import Attribute
from qeval.typeql.values import decimals, order_key
from qeval.typeql.values.arithmetic import as_double, wrap_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qeval.typeql.budget import Budget
    from qeval.typeql.execute.runtime import Row, Slots
    from qeval.typeql.ir.pipelines import Reducer
    from qeval.typeql.values import ValueType


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reducer, the slot of its input (None: it counts rows) and the type of its result."""

    name: str
    slot: int | None
    type: ValueType

    @property
    def keeps(self) -> bool:
        """Whether it needs the values themselves until the last one is there."""
        return self.name != "count"

    @classmethod
    def of(
        cls, reducers: Iterable[Reducer], slots: Slots, types: Iterable[ValueType]
    ) -> tuple[Reduction, ...]:
        """Return the reductions of some reducers over rows with these slots."""
        return tuple(
            cls(reducer.name, None if reducer.variable is None else slots[reducer.variable], type_)
            for reducer, type_ in zip(reducers, types, strict=True)
        )


def reduce_rows(
    rows: Iterable[Row], reductions: Sequence[Reduction], groupby: Sequence[int], budget: Budget
) -> Iterator[Row]:
    """Yield one row a group: the results of the reductions, then the group's values.

    ``groupby`` are slots. Without any there is exactly one group, even of no rows.
    """
    groups: dict[Row, list[_Collected]] = {}
    if not groupby:
        groups[()] = [_Collected(reduction) for reduction in reductions]
    width = len(groupby) + len(reductions)
    keeping = sum(reduction.keeps for reduction in reductions)
    spent = held = 0
    try:
        for row in rows:
            key = tuple(row[slot] for slot in groupby)
            group = groups.get(key)
            if group is None:
                group = groups[key] = [_Collected(reduction) for reduction in reductions]
                budget.hold(width)
                held += width
            for collected in group:
                collected.add(row)
            spent += 1
            if spent > BATCH:
                budget.spend(spent)
                budget.hold(spent * keeping)
                held, spent = held + spent * keeping, 0
        for key, group in groups.items():
            yield (*[collected.result() for collected in group], *key)
    finally:  # also where nobody asks for more
        budget.hold(-held)


class _Collected:
    """The input of one reduction in one group: how many values there are, and which."""

    __slots__ = ("count", "keeps", "reduction", "slot", "values")

    def __init__(self, reduction: Reduction) -> None:
        self.reduction = reduction
        self.slot = reduction.slot
        self.keeps = reduction.keeps
        self.count = 0
        self.values: list[Any] = []

    def add(self, row: Row) -> None:
        held = True if self.slot is None else row[self.slot]
        if held is None:
            return
        self.count += 1
        if self.keeps:
            self.values.append(held.value if held.__class__ is Attribute else held)

    def result(self) -> Any:
        if not self.keeps:
            return self.count
        return _FINISHERS[self.reduction.name](self.values, self.reduction.type)


def _sum(values: list[Any], type_: ValueType) -> Any:
    if type_ == "integer":
        return wrap_integer(sum(values))
    if type_ == "decimal":
        return reduce(decimals.add, values, Decimal(0))
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # beyond doubles, or infinite both ways
        return sum(values, 0.0)


def _mean(values: list[Any], type_: ValueType) -> Any:
    if not values:
        return None
    if type_ == "decimal":
        total = reduce(decimals.add, values, Decimal(0))
        return decimals.divide_by_count(total, len(values))
    if isinstance(values[0], int):
        return wrap_integer(sum(values)) / len(values)
    return sum(values) / len(values)


def _median(values: list[Any], type_: ValueType) -> Any:
    values = sorted(values)
    if not values:
        return None
    middle = len(values) // 2
    if len(values) % 2:
        return values[middle] if type_ == "decimal" else float(values[middle])
    low, high = values[middle - 1], values[middle]
    if type_ == "decimal":
        return decimals.divide_by_count(decimals.add(low, high), 2)
    return (wrap_integer(low + high) if isinstance(low, int) else low + high) / 2


def _std(values: list[Any], _type: ValueType) -> float | None:
    """Return the sample standard deviation, None for less than two values."""
    values = [as_double(value) for value in values]
    if len(values) < 2:  # noqa: PLR2004
        return None
    mean = sum(values) / len(values)
    apart = [value - mean for value in values]
    # Products overflow to infinity, where `** 2` raises.
    return math.sqrt(sum(each * each for each in apart) / (len(apart) - 1))


def _extreme(choose: Callable[..., Any]) -> Callable[[list[Any], ValueType], Any]:
    def finish(values: list[Any], _type: ValueType) -> Any:
        return choose(values, key=order_key, default=None)

    return finish


_FINISHERS: dict[str, Callable[[list[Any], ValueType], Any]] = {
    "sum": _sum,
    "mean": _mean,
    "median": _median,
    "std": _std,
    "min": _extreme(min),
    "max": _extreme(max),
}
