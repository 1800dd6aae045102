"""One query on one data set is run once a sweep: cells that give the same answer share what it got.

Engines are read-only, so a second run of the same text on the same data can tell nothing new about
an answer. It could only tell something about the engine: shared outcomes mean that two cells
with the same query never get different verdicts, whatever order the engine happened to return rows
in. What can differ from run to run for other reasons is run each time: queries with a clock or
chance in them, and whatever ended in a failure while it ran (a time limit, a lack of memory).
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from qeval.languages.base import Language
from qeval.record import InstanceOutcome
from qeval.scoring.verdict import Verdict

MOST = 50_000
"""Outcomes held at most (about 1 KB each); the one unused for longest goes first."""

_LASTING = frozenset(
    (
        Verdict.CORRECT,
        Verdict.WRONG_RESULT,
        Verdict.SCHEMA_ERROR,
        Verdict.SYNTAX_ERROR,
        Verdict.UNSAFE,
    )
)


def repeatable(language: Language, query: str) -> bool:
    """Whether a query can only give the same again; False where the language can't tell."""
    volatile = getattr(language, "volatile", None)
    return volatile is not None and not volatile.search(query)


class _Flight:
    """A run that others wait for; `outcome` stays None where it must not be shared."""

    __slots__ = ("landed", "outcome")

    def __init__(self) -> None:
        self.landed = threading.Event()
        self.outcome: InstanceOutcome | None = None


class SharedOutcomes:
    """The outcomes of a sweep's runs. Safe for threads; a copy in another process is empty."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._init_state()

    def _init_state(self) -> None:
        self._lock = threading.Lock()
        self._flights: OrderedDict[Hashable, _Flight] = OrderedDict()

    def once(self, key: Hashable, run: Callable[[], InstanceOutcome]) -> InstanceOutcome:
        """What `run` returned for an equal key; whoever comes first runs, the others wait for it.

        An outcome that may not last is everybody's own: those who waited run for themselves, at
        once.
        """
        with self._lock:
            flight = self._flights.get(key)
            first = flight is None
            if flight is None:
                flight = self._flights[key] = _Flight()
                if len(self._flights) > self._most:
                    self._flights.popitem(last=False)
            else:
                self._flights.move_to_end(key)
        if not first:
            flight.landed.wait()
            return run() if flight.outcome is None else flight.outcome
        try:
            outcome = run()
            if outcome.verdict in _LASTING:
                flight.outcome = outcome
            return outcome
        finally:
            if flight.outcome is None:
                with self._lock:
                    if self._flights.get(key) is flight:
                        del self._flights[key]
            flight.landed.set()

    def __getstate__(self) -> dict[str, Any]:
        return {"most": self._most}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._most = state["most"]
        self._init_state()
