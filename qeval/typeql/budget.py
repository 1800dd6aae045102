"""Limits on what a query may use. Nothing runs without one, so nothing can hang."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from qeval.typeql.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BATCH = 512  # steps between two looks at the clock, counted inside the loops
CELL_BYTES = 60  # what a value takes in memory, roughly


@dataclass(frozen=True)
class Limits:
    """What a query may use.

    ``timeout_s`` is time in seconds, wall-clock time if no other clock is given; ``max_steps``
    counts things looked at; ``max_rows`` the rows of the answer; ``max_cells`` the values held in
    memory at once by the answer, ``distinct``, sorting, grouping and the tables of functions (some
    60 bytes each). Texts that ``+`` makes count by their length, also when they are held no longer.
    """

    timeout_s: float = 10.0
    max_steps: int = 100_000_000
    max_rows: int = 1_000_000
    max_cells: int = 5_000_000


class Budget:
    """What is left of the limits of one query."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = perf_counter) -> None:
        self.limits = limits
        self._clock = clock
        self._deadline = clock() + limits.timeout_s
        self._steps = limits.max_steps
        self._cells = limits.max_cells

    def spend(self, steps: int) -> None:
        """Count steps; raises LIM1 when the time is over and LIM3 when the steps are."""
        self._steps -= steps
        if self._clock() > self._deadline:
            raise Fault("LIM1", f"the query took more than {self.limits.timeout_s} s")
        if self._steps < 0:
            raise Fault("LIM3", f"the query took more than {self.limits.max_steps} steps")

    def hold(self, cells: int) -> None:
        """Count values that stay in memory, given back by a negative number of them.

        Raises LIM4 when there are too many.
        """
        self._cells -= cells
        if self._cells < 0:
            raise Fault("LIM4", f"the query holds more than {self.limits.max_cells} values")

    def check_rows(self, rows: int) -> None:
        """Raise LIM2 if the answer has grown too long."""
        if rows > self.limits.max_rows:
            raise Fault("LIM2", f"the answer has more than {self.limits.max_rows} rows")


_ACTIVE: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def limited(budget: Budget) -> Iterator[None]:
    """Let translation, checks and planning inside count against a budget, by :func:`work`."""
    token = _ACTIVE.set(budget)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def work(steps: int) -> None:
    """Count steps of what is done before a query runs; outside of :func:`limited` it is free."""
    budget = _ACTIVE.get()
    if budget is not None:
        budget.spend(steps)


def hold_text(text: str) -> None:
    """Count a text that was made while a query runs; outside of :func:`limited` it is free."""
    budget = _ACTIVE.get()
    if budget is not None:
        budget.hold(len(text) * (1 if text.isascii() else 4) // CELL_BYTES)
