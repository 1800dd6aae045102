"""Delta debugging of a data set: the few rows that still make a difference.

Rows are taken away with all that refers to them, so every part that is tried keeps its references
whole: first whole tables, then halves, quarters … of what is left of each, at last row by row until
no single one can go.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from qeval.data.model import Dataset
from qeval.data.references import References


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What is left of a data set, in how many trials.

    `minimal`: no row can go (with what refers to it) without losing the difference; False where
    the time was up before that was known.
    """

    dataset: Dataset
    rows: int
    minimal: bool
    trials: int


def shrink(
    dataset: Dataset,
    differs: Callable[[Dataset], bool],
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> Shrunk:
    """Take rows away while `differs` stays true, for at most `seconds`.

    `differs` must hold of `dataset` itself. The same `dataset` and `differs` give the same result
    as long as the time suffices.
    """
    search = _Search(dataset, differs, clock, clock() + seconds)
    minimal = True
    try:
        search.run()
    except _TimeIsUpError:
        minimal = False
    kept = search.kept
    return Shrunk(search.references.part(kept), len(kept), minimal, search.trials)


class _TimeIsUpError(Exception):
    """What was found so far must do."""


class _Search:
    def __init__(
        self,
        dataset: Dataset,
        differs: Callable[[Dataset], bool],
        clock: Callable[[], float],
        deadline: float,
    ) -> None:
        self.references = References(dataset)
        self.kept = set(range(len(self.references.table_of)))
        self.trials = 0
        self._differs = differs
        self._clock = clock
        self._deadline = deadline
        self._failed: set[frozenset[int]] = set()

    def run(self) -> None:
        # What nothing refers to goes first: its loss is the smallest change.
        tables = list(self.references.numbers)
        for table in reversed(tables):
            self._without(self._rows(table))
        halving = True
        progress = True
        while halving or progress:
            progress = False
            for table in tables:
                size = max(1, len(self._rows(table)) // 2) if halving else 1
                while size:
                    progress = self._pass(table, size) or progress
                    size //= 2
            halving = False

    def _pass(self, table: str, size: int) -> bool:
        """Try to take away each run of `size` rows that are left of the table."""
        taken = [self._without(chunk) for chunk in _chunks(self._rows(table), size)]
        return any(taken)

    def _rows(self, table: str) -> list[int]:
        return [number for number in self.references.numbers[table] if number in self.kept]

    def _without(self, rows: Sequence[int]) -> bool:
        gone = self.references.with_dependents(row for row in rows if row in self.kept)
        candidate = frozenset(self.kept - gone)
        if len(candidate) == len(self.kept) or candidate in self._failed:
            return False
        if self._clock() >= self._deadline:
            raise _TimeIsUpError
        self.trials += 1
        if self._differs(self.references.part(candidate)):
            self.kept = set(candidate)
            return True
        self._failed.add(candidate)
        return False


def _chunks(rows: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
