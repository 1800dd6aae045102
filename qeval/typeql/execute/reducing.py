"""The reducers, alone or by group."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any

from qeval.typeql.budget import BATCH
from qeval.typeql.store import Attribute
from qeval.typeql.values import DateTimeTz, decimals
from qeval.typeql.values.arithmetic import as_double, wrap_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qeval.typeql.budget import Budget
    from qeval.typeql.execute.runtime import Row, Slots
    from qeval.typeql.ir.pipelines import Reducer
    from qeval.typeql.values import ValueType


def reduce_rows(  # noqa: PLR0917
    rows: Iterable[Row],
    slots: Slots,
    reducers: Sequence[Reducer],
    groupby: Sequence[int],
    types: Sequence[ValueType],
    budget: Budget,
) -> list[Row]:
    """Return one row a group: the results of the reducers, then the group's values.

    ``groupby`` are slots. Without any there is exactly one group, even of no rows. ``types`` are
    the result types of the reducers (they settle what the sum of nothing is).
    """
    inputs = [None if r.variable is None else slots[r.variable] for r in reducers]
    groups: dict[Row, list[Any]] = {}
    if not groupby:
        groups[()] = [_Collected(slot) for slot in inputs]
    spent = 0
    for row in rows:
        key = tuple(row[slot] for slot in groupby)
        group = groups.get(key)
        if group is None:
            group = groups[key] = [_Collected(slot) for slot in inputs]
            budget.hold(len(key) + len(inputs))
        for collected in group:
            collected.add(row)
        spent += 1
        if spent > BATCH:
            budget.spend(spent)
            budget.hold(spent * len(inputs))
            spent = 0
    finish = [_FINISHERS[reducer.name] for reducer in reducers]
    return [
        tuple(
            done(collected, type_)
            for done, collected, type_ in zip(finish, group, types, strict=True)
        )
        + key
        for key, group in groups.items()
    ]


class _Collected:
    """The input of one reducer in one group: how many rows, and the values that are there."""

    __slots__ = ("count", "slot", "values")

    def __init__(self, slot: int | None) -> None:
        self.slot = slot
        self.count = 0
        self.values: list[Any] = []

    def add(self, row: Row) -> None:
        if self.slot is None:
            self.count += 1
            return
        held = row[self.slot]
        if held is not None:
            self.count += 1
            self.values.append(held)

    def numbers(self) -> list[Any]:
        """Return the values themselves, of attributes too."""
        return [held.value if held.__class__ is Attribute else held for held in self.values]


def _count(collected: _Collected, _type: ValueType) -> int:
    return collected.count


def _sum(collected: _Collected, type_: ValueType) -> Any:
    values = collected.numbers()
    if type_ == "integer":
        return wrap_integer(sum(values))
    if type_ == "decimal":
        return reduce(decimals.add, values, Decimal(0))
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # beyond doubles, or infinite both ways
        return sum(values, 0.0)


def _mean(collected: _Collected, type_: ValueType) -> Any:
    values = collected.numbers()
    if not values:
        return None
    if type_ == "decimal":
        total = reduce(decimals.add, values, Decimal(0))
        return decimals.divide_by_count(total, len(values))
    if isinstance(values[0], int):
        return wrap_integer(sum(values)) / len(values)
    return sum(values) / len(values)


def _median(collected: _Collected, type_: ValueType) -> Any:
    values = sorted(collected.numbers())
    if not values:
        return None
    middle = len(values) // 2
    if len(values) % 2:
        return values[middle] if type_ == "decimal" else float(values[middle])
    low, high = values[middle - 1], values[middle]
    if type_ == "decimal":
        return decimals.divide_by_count(decimals.add(low, high), 2)
    return (wrap_integer(low + high) if isinstance(low, int) else low + high) / 2


def _std(collected: _Collected, _type: ValueType) -> float | None:
    """Return the sample standard deviation, None for less than two values."""
    values = [as_double(value) for value in collected.numbers()]
    if len(values) < 2:  # noqa: PLR2004
        return None
    mean = sum(values) / len(values)
    apart = [value - mean for value in values]
    # Products overflow to infinity, where `** 2` raises.
    return math.sqrt(sum(each * each for each in apart) / (len(apart) - 1))


def _extreme(choose: Callable[..., Any]) -> Callable[[_Collected, ValueType], Any]:
    def finish(collected: _Collected, _type: ValueType) -> Any:
        return choose(collected.numbers(), key=_order, default=None)

    return finish


def _order(value: Any) -> Any:
    return value.nanos if value.__class__ is DateTimeTz else value


_FINISHERS: dict[str, Callable[[_Collected, ValueType], Any]] = {
    "count": _count,
    "sum": _sum,
    "mean": _mean,
    "median": _median,
    "std": _std,
    "min": _extreme(min),
    "max": _extreme(max),
}
