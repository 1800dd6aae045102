"""Whether a prediction's rows are the gold's, under some assignment of columns.

Two passes: the first, here, by exact keys decides nearly every comparison; the second, only where
inexact numbers are about, is within the tolerance (`qeval.scoring.tolerant`, which has the way
through both). What the first pass accepts the second would accept too.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from qeval.scoring.assignment import Assignment, Keys, Problem, Relation, assignments
from qeval.scoring.coercion import Coercion


@dataclass(frozen=True, slots=True)
class Expected:
    """The gold, prepared: its columns in the declared order and how each is read.

    `order` are indices of the order keys' columns; `size` the number of gold rows.
    """

    names: tuple[str, ...]
    columns: tuple[Sequence[Any], ...]
    coercions: tuple[Coercion, ...]
    order: tuple[int, ...]
    top_k: int | None
    size: int

    @property
    def rows(self) -> int:
        """How many rows a right prediction has."""
        return self.size if self.top_k is None else min(self.top_k, self.size)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Numbered blocks of rows that must match within themselves; None: all rows are one block.

    `gold` numbers the first `kept` gold rows (those that count), `predicted` the prediction's rows
    by position. `spare` is the block that holds more gold rows than are asked for: the ties at the
    k-th place.
    """

    gold: Sequence[int] | None
    predicted: Sequence[int] | None
    spare: int | None
    kept: int

    @classmethod
    def of(cls, numbers: Sequence[int] | None, expected: Expected) -> "Blocks":
        """Cut numbered gold rows at the end of the block that holds the last asked row."""
        if not expected.size or (numbers is None and expected.rows == expected.size):
            return cls(None, None, None, expected.size)
        numbers = [0] * expected.size if numbers is None else numbers
        last = numbers[expected.rows - 1]
        kept = max(i for i, number in enumerate(numbers) if number == last) + 1
        spare = last if kept > expected.rows else None
        return cls(numbers[:kept], numbers[: expected.rows], spare, kept)


def runs(columns: Sequence[Sequence[Hashable]], size: int) -> list[int]:
    """Number the runs of consecutive rows that are equal in all `columns`."""
    numbers, current, before = [], -1, None
    for row in zip(*columns, strict=True):
        if row != before:
            current, before = current + 1, row
        numbers.append(current)
    return numbers or [0] * size


class Matcher:
    """Matches a gold with a prediction's columns (canonical values, all of one length).

    `relation` other than "equal" asks whether the prediction's rows are among the gold's or the
    other way round, as bags; it is for telling what is wrong. `preferred` is tried first.
    """

    def __init__(
        self,
        expected: Expected,
        predicted: Sequence[Sequence[Any]],
        preferred: Assignment = (),
        relation: Relation = "equal",
    ) -> None:
        self.expected = expected
        self.predicted = predicted
        self.preferred = preferred
        self.relation = relation
        self.size = len(predicted[0]) if predicted else 0
        self.views: list[int] = []
        self.readings: list[Coercion] = []
        for coercion in expected.coercions:
            same = (i for i, other in enumerate(self.readings) if other.reads_as(coercion))
            number = next(same, len(self.readings))
            if number == len(self.readings):
                self.readings.append(coercion)
            self.views.append(number)
        pairs = zip(expected.coercions, expected.columns, strict=True)
        self.gold_keys: list[Keys] = [coercion.keys(values) for coercion, values in pairs]
        self._keys: dict[tuple[int, int], Keys] = {}

    @property
    def sizes_fit(self) -> bool:
        """Whether there are as many rows, and columns enough, as the relation needs."""
        if len(self.predicted) < len(self.expected.columns):
            return False
        if self.relation == "equal":
            return self.size == self.expected.rows
        if self.relation == "inside":
            return self.size <= self.expected.size
        return self.size >= self.expected.size

    def exactly(self) -> Assignment | None:
        """The first assignment under which rows have equal exact keys. Raises `Undecided`."""
        blocks = self.blocks([self.gold_keys[j] for j in self.expected.order])
        options = self.options(blocks)
        problem = self.problem(blocks, self.gold_keys, None, options)
        return next(assignments(problem), None)

    def keys(self, view: int, c: int) -> Keys:
        """Exact keys of predicted column `c` read in the way of `view`."""
        if (view, c) not in self._keys:
            self._keys[view, c] = self.readings[view].keys(self.predicted[c])
        return self._keys[view, c]

    def blocks(self, columns: Sequence[Sequence[Hashable]]) -> Blocks:
        """The blocks that follow from the gold's order keys, given as `columns` of keys."""
        if self.relation != "equal":
            return Blocks(None, None, None, self.expected.size)
        return Blocks.of(runs(columns, self.expected.size) if columns else None, self.expected)

    def problem(
        self,
        blocks: Blocks,
        gold: Sequence[Keys],
        column: dict[tuple[int, int], Keys] | None,
        candidates: Sequence[Sequence[int]],
    ) -> Problem:
        """The assignment problem of some keys; `column` None takes the exact ones."""
        if column is None:
            return self._problem(blocks, gold, lambda j, c: self.keys(self.views[j], c), candidates)
        table = column
        return self._problem(
            blocks, gold, lambda j, c: table[self.views[j], c], candidates, exact=False
        )

    def _problem(
        self,
        blocks: Blocks,
        gold: Sequence[Keys],
        column: Any,
        candidates: Any,
        *,
        exact: bool = True,
    ) -> Problem:
        relation: Relation = self.relation
        if relation == "equal" and blocks.spare is not None:
            relation = "inside"
        return Problem(
            gold=[keys[: blocks.kept] for keys in gold],
            column=column,
            views=self.views,
            candidates=candidates,
            preferred=self.preferred,
            gold_blocks=blocks.gold,
            predicted_blocks=blocks.predicted,
            relation=relation,
            open_block=blocks.spare,
            exact=exact,
        )

    def options(self, blocks: Blocks) -> list[list[int]]:
        """For each gold column the predicted columns that hold the same bag of keys."""
        return [
            self._fitting(j, keys[: blocks.kept], blocks) for j, keys in enumerate(self.gold_keys)
        ]

    def _fitting(self, j: int, gold: Keys, blocks: Blocks) -> list[int]:
        view = self.views[j]
        every: Iterable[int] = range(len(self.predicted))
        if self.relation != "around":
            known = set(gold)
            every = [c for c in every if self._is_likely(view, c, known)]
            if len(every) <= 1:  # a single one is verified on whole rows anyway
                return every
        if self.relation != "equal" or blocks.spare is not None:
            bag = _bag(gold, blocks.gold)
            bags = ((c, _bag(self.keys(view, c), blocks.predicted)) for c in every)
            around = self.relation == "around"
            return [c for c, other in bags if (bag <= other if around else other <= bag)]
        asked = _sum_of_hashes(gold, blocks.gold)
        fit = [c for c in every if _sum_of_hashes(self.keys(view, c), blocks.predicted) == asked]
        if len(fit) <= 1:  # a single one is verified on whole rows anyway
            return fit
        bag = _bag(gold, blocks.gold)
        return [c for c in fit if dict.__eq__(_bag(self.keys(view, c), blocks.predicted), bag)]

    def _is_likely(self, view: int, c: int, known: AbstractSet[Hashable]) -> bool:
        """Whether a few cells of a predicted column are among the gold's, before all are read."""
        values = self.predicted[c]
        step = max(1, len(values) // _SAMPLE)
        return all(self.readings[view].key(value) in known for value in values[::step])


_SAMPLE = 8


def _sum_of_hashes(keys: Keys, blocks: Sequence[int] | None) -> int:
    return sum(map(hash, keys if blocks is None else zip(blocks, keys, strict=True)))


def _bag(keys: Keys, blocks: Sequence[int] | None) -> Counter[Any]:
    return Counter(keys if blocks is None else zip(blocks, keys, strict=True))
