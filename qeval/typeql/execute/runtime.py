"""What the steps of one query share while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from qeval.typeql.schema import Type

if TYPE_CHECKING:
    from qeval.typeql.budget import Budget
    from qeval.typeql.ir.functions import Signature
    from qeval.typeql.ir.variables import Var
    from qeval.typeql.plan.estimate import Estimator
    from qeval.typeql.schema import Schema
    from qeval.typeql.store import Store, Thing
    from qeval.typeql.values import ValueType

Row: TypeAlias = tuple[Any, ...]
Transform: TypeAlias = Callable[[Iterable[Row]], Iterator[Row]]
Slots: TypeAlias = "dict[Var, int]"


class Caller(Protocol):
    """Answers function calls."""

    def call(self, function: Signature, arguments: Row) -> Iterable[Row]:
        """Return the results of a function for arguments, each once for every time it arises."""
        ...


@dataclass(frozen=True, slots=True)
class Runtime:
    """The database, the limits, the estimates for plans and the functions of a query."""

    schema: Schema
    store: Store
    budget: Budget
    estimator: Estimator
    caller: Caller


class Layout:
    """Which slot of a row holds which variable, growing as steps bind more."""

    def __init__(self, variables: Iterable[Var], value_types: dict[Var, ValueType]) -> None:
        self.slots: dict[Var, int] = {}
        self.width = 0
        self.value_types = value_types
        for var in variables:
            self.add(var)

    def add(self, var: Var) -> None:
        """Give the next slot to a variable."""
        self.slots[var] = self.width
        self.width += 1

    def copy(self) -> Layout:
        """Return an independent copy."""
        other = Layout((), self.value_types)
        other.slots, other.width = self.slots.copy(), self.width
        return other


@contextmanager
def collected(rows: Iterable[Row], budget: Budget) -> Iterator[list[Row]]:
    """All rows in a list, which count as held inside."""
    whole: list[Row] = []
    held = 0
    try:
        for row in rows:
            budget.hold(len(row) + 1)
            held += len(row) + 1
            whole.append(row)
        yield whole
    finally:  # also where nobody asks for more
        budget.hold(-held)


def type_of(held: Thing | Type) -> Type:
    """Return the exact type of a thing, or the type itself."""
    return held if isinstance(held, Type) else held.type
