"""The way through both passes of a match, and the second: equal within the tolerance."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from math import isfinite
from typing import Any

from qeval.scoring.assignment import Assignment, Keys, Undecided, assignments
from qeval.scoring.coercion import Coercion, Number, is_inexact, is_number, near_a_half, numbers_in
from qeval.scoring.matching import Blocks, Matcher, runs
from qeval.scoring.tolerance import (
    NOISE_OF_LAST_PLACE,
    Chains,
    Close,
    all_matched,
    closeness,
    is_measured,
    matching_covers,
    pairs_up,
)
from qeval.scoring.values import Map, Path

PAIRS = 20_000_000
"""Pairs of rows that one loose group may hold before the comparison is given up."""

SHORT = 17
"""A Decimal printed in so few characters has at most 15 significant digits."""

_SOFT = ("decimal", "float", "mixed", "list")


def find(matcher: Matcher) -> Assignment | None:
    """The predicted column of each gold column, or None where the rows differ.

    Raises `Undecided` when that could not be found out.
    """
    if not matcher.sizes_fit:
        return None
    if not matcher.expected.rows or not matcher.size:
        return tuple(range(len(matcher.expected.columns)))
    found = matcher.exactly()
    if found is not None:
        return found
    tolerant = TolerantPass(matcher)
    return tolerant.find() if tolerant.applies else None


class TolerantPass:
    """Searches again with numbers replaced by their chains, then verifies the pairs found.

    A pair of columns is *soft* if it is read as floats or if either column holds inexact numbers
    (with a scale: numbers near a rounding boundary); only soft pairs are compared within a
    tolerance.
    """

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.expected = matcher.expected
        self.closeness = [closeness(c.view) for c in self.expected.coercions]
        self.soft_views = [coercion.view.type in _SOFT for coercion in self.expected.coercions]
        self._gold_inexact = list(map(any_inexact, self.expected.columns))
        self._inexact = list(map(any_inexact, matcher.predicted))
        self._apart: dict[int, _Measured] = {}
        self._edgy: dict[tuple[int, int], bool] = {}
        self._pooled: dict[int, Chains] = {}

    @property
    def applies(self) -> bool:
        """Whether any pair of columns is soft; otherwise the exact pass was the last word."""
        pairs = range(len(self.expected.columns)), range(len(self.matcher.predicted))
        return any(self.is_soft(j, c) for j in pairs[0] for c in pairs[1])

    def is_soft(self, j: int, c: int) -> bool:
        """Whether gold column `j` and predicted column `c` are compared within a tolerance."""
        if not self.soft_views[j]:
            return False
        view = self.expected.coercions[j].view
        if view.type == "float":
            return True
        if not self._gold_inexact[j] and not self._inexact[c]:
            return False
        if view.type != "decimal" or view.scale is None:
            return True
        return self._is_edgy(-1 - j, view.scale) or self._is_edgy(c, view.scale)

    def _is_edgy(self, column: int, scale: int) -> bool:
        if (column, scale) not in self._edgy:
            columns = self.matcher.predicted if column >= 0 else self.expected.columns
            values = columns[column if column >= 0 else -1 - column]
            numbers = filter(is_measured, numbers_in(values))
            reach = 2 * NOISE_OF_LAST_PLACE
            self._edgy[column, scale] = any(near_a_half(n, scale, reach) for n in numbers)
        return self._edgy[column, scale]

    def find(self) -> Assignment | None:
        """The first assignment that holds within the tolerance."""
        matcher = self.matcher
        blocks = matcher.blocks(self._order_columns())
        options = self._options(blocks)
        if not all(options):
            return None
        gold, predicted = self._chained(options)
        problem = matcher.problem(blocks, gold, predicted, options)
        for found in assignments(problem):
            if self._is_settled(found) or self.holds(found):
                return found
        return None

    def _is_settled(self, found: Assignment) -> bool:
        """Whether equal keys of the search already mean equal rows: no chain was wide."""
        if any(self.is_soft(j, found[j]) for j in self.expected.order):
            return False
        for j, c in enumerate(found):
            chains = self._pooled.get(self.matcher.views[j])
            if chains is not None and (chains.loose or not self.is_soft(j, c)):
                return False
        return True

    def _order_columns(self) -> list[Sequence[Hashable]]:
        """Keys that cut the gold into blocks: up to the first order key that may be soft."""
        columns: list[Sequence[Hashable]] = []
        for j in self.expected.order:
            if any(self.is_soft(j, c) for c in range(len(self.matcher.predicted))):
                reading = self.expected.coercions[j]
                columns.append(_neighbours(self.expected.columns[j], self.closeness[j], reading))
                break
            columns.append(self.matcher.gold_keys[j])
        return columns

    def _options(self, blocks: Blocks) -> list[list[int]]:
        options = self.matcher.options(blocks)
        for j, values in enumerate(self.expected.columns):
            softly = [c for c in range(len(self.matcher.predicted)) if self.is_soft(j, c)]
            if not softly:
                continue
            gold = _Measured.of(values[: blocks.kept])
            fit = set(options[j])
            fit.update(c for c in softly if c not in fit and self._may_pair(j, c, gold, blocks))
            options[j] = sorted(fit)
        return options

    def _may_pair(self, j: int, c: int, gold: "_Measured", blocks: Blocks) -> bool:
        if c not in self._apart:
            self._apart[c] = _Measured.of(self.matcher.predicted[c])
        other = self._apart[c]
        if gold.nested or other.nested:
            return gold.nested == other.nested
        reading, close = self.expected.coercions[j], self.closeness[j]
        few, many = (gold, other) if self.matcher.relation == "around" else (other, gold)
        if self.matcher.relation == "equal" and blocks.spare is None:
            if len(few.numbers) != len(many.numbers):
                return False
        elif len(few.numbers) > len(many.numbers):
            return False
        rest = Counter(map(reading.key, many.rest))
        if not Counter(map(reading.key, few.rest)) <= rest:
            return False
        return pairs_up(few.numbers, many.numbers, close)

    def _chained(self, options: list[list[int]]) -> tuple[list[Keys], dict[tuple[int, int], Keys]]:
        """Keys with numbers replaced by chains that are common to all columns of a view."""
        matcher = self.matcher
        gold = list(matcher.gold_keys)
        predicted: dict[tuple[int, int], Keys] = {}
        for view, reading in enumerate(matcher.readings):
            columns = [j for j, number in enumerate(matcher.views) if number == view]
            others = sorted({c for j in columns for c in options[j]})
            if not any(self.is_soft(j, c) for j in columns for c in others):
                predicted.update({(view, c): matcher.keys(view, c) for c in others})
                continue
            pool = [self.expected.columns[j] for j in columns]
            pool += [matcher.predicted[c] for c in others]
            chains = self._pooled[view] = _chains(pool, self.closeness[columns[0]])
            for j in columns:
                gold[j] = _chain_keys(self.expected.columns[j], reading, chains)
            for c in others:
                predicted[view, c] = _chain_keys(matcher.predicted[c], reading, chains)
        return gold, predicted

    def holds(self, found: Assignment) -> bool:
        """Whether whole rows match under an assignment, within the tolerance.

        Raises `Undecided` when a group of loosely chained rows is too large to be matched.
        """
        fine = self._fine_blocks(found)
        if fine is None:
            return False
        pairs = [self.pair(j, c, fine.kept) for j, c in enumerate(found)]
        relation = self.matcher.relation
        if relation == "equal" and fine.spare is not None:
            relation = "inside"
        gold = _indexed(fine.gold, [pair.gold for pair in pairs])
        other = _indexed(fine.predicted, [pair.predicted for pair in pairs])
        inner, outer = (gold, other) if relation == "around" else (other, gold)
        if relation == "equal" and len(inner) != len(outer):
            return False
        some_loose = any(pair.chains is not None and pair.chains.loose for pair in pairs)
        for key, few in inner.items():
            many = outer.get(key, ())
            if len(few) > len(many) or (relation == "equal" and len(few) != len(many)):
                return False
            if some_loose:
                cells = zip(pairs, key[1:], strict=True)
                loose = [pair for pair, cell in cells if pair.is_loose(cell)]
                if loose and not _rows_pair_up(loose, few, many, swapped=relation == "around"):
                    return False
        return True

    def pair(self, j: int, c: int, kept: int) -> "Pair":
        """Gold column `j` (its first `kept` rows) and predicted column `c`, as keys of both."""
        matcher, close = self.matcher, self.closeness[j]
        gold, other = self.expected.columns[j][:kept], matcher.predicted[c]
        if not self.is_soft(j, c):
            exact = matcher.gold_keys[j][:kept], matcher.keys(matcher.views[j], c)
            return Pair(*exact, gold, other, None, close, ordered=False)
        reading = self.expected.coercions[j]
        chains = _chains([gold, other], close)
        keys = _chain_keys(gold, reading, chains), _chain_keys(other, reading, chains)
        return Pair(*keys, gold, other, chains, close, reading.view.ordered)

    def _fine_blocks(self, found: Assignment) -> Blocks | None:
        """Blocks by the order keys of both sides; None where a position holds another key.

        Where noise, on either side, decides the order among rows of close keys, later keys say
        nothing about their order, so such rows are one block.
        """
        if self.matcher.relation != "equal" or not self.expected.order:
            return self.matcher.blocks([])
        numbers: list[int] = []
        cuts = self._cut(found, 0, 0, self.expected.size)
        for number, length in enumerate(cuts):
            if length is None:
                return None
            numbers += [number] * length
        return Blocks.of(numbers, self.expected)

    def _cut(self, found: Assignment, level: int, start: int, end: int) -> Iterator[int | None]:
        """Lengths of the blocks of gold rows `start` to `end`; None ends a contradiction."""
        if level == len(self.expected.order) or start >= self.expected.rows:
            yield end - start
            return
        j = self.expected.order[level]
        c = found[j]
        gold = self.expected.columns[j]
        soft, close, reading = self.is_soft(j, c), self.closeness[j], self.expected.coercions[j]
        keys = _neighbours(gold[start:end], close, reading) if soft else None
        groups = runs([keys or self.matcher.gold_keys[j][start:end]], end - start)
        first = start
        for i in range(start + 1, end + 1):
            if i < end and groups[i - start] == groups[first - start]:
                continue
            asked = range(first, min(i, self.expected.rows))
            others = [self.matcher.predicted[c][at] for at in asked]
            if soft:
                pairs = zip(gold[first:i], others, strict=False)
                if not all(_same(a, b, close, reading) for a, b in pairs):
                    yield None
                    return
                if len({*gold[first:i]}) > 1 or len({*others}) > 1:
                    yield i - first
                    first = i
                    continue
            yield from self._cut(found, level + 1, first, i)
            first = i


def any_inexact(values: Sequence[Any]) -> bool:
    """Whether a column holds an inexact number, also inside lists and maps."""
    classes = set(map(type, values))
    if classes <= {float}:
        return not all(map(float.is_integer, values))
    if not classes & {float, Decimal, *_NESTED}:
        return False
    if classes <= {Decimal} and max(map(len, map(str, values))) <= SHORT:
        return False
    return any(map(is_inexact, numbers_in(values)))


def _indexed(
    blocks: Sequence[int] | None, columns: Sequence[Keys]
) -> dict[tuple[Any, ...], list[int]]:
    """The positions of each distinct row of keys, its block first."""
    rows: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    numbers = repeat(0) if blocks is None else blocks
    for i, key in enumerate(zip(numbers, *columns, strict=blocks is not None)):
        rows[key].append(i)
    return rows


@dataclass(frozen=True, slots=True)
class _Measured:
    """A column apart: its measurable numbers in order, and all other cells."""

    numbers: list[Number]
    rest: list[Any]
    nested: bool

    @classmethod
    def of(cls, values: Sequence[Any]) -> "_Measured":
        classes = set(map(type, values))
        if classes <= {float} and all(map(isfinite, values)):
            return cls(sorted(values), [], nested=False)
        numbers = [value for value in values if is_number(value) and is_measured(value)]
        rest = [v for v in values if not (is_number(v) and is_measured(v))]
        return cls(sorted(numbers), rest, nested=not classes.isdisjoint(_NESTED))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two paired columns: keys and values of both, and their chains if the pair is soft."""

    gold: Keys
    predicted: Keys
    gold_values: Sequence[Any]
    predicted_values: Sequence[Any]
    chains: Chains | None
    close: Close
    ordered: bool

    def is_loose(self, cell: Any) -> bool:
        """Whether cells of this key may differ by more than the tolerance."""
        if self.chains is None or not self.chains.loose:
            return False
        return cell in self.chains.loose if cell.__class__ is int else cell.__class__ is tuple

    def fits(self, a: Any, b: Any) -> bool:
        """Whether two cells of one key are close: numbers, or lists number by number."""
        if is_number(a) and is_number(b):
            return self.close(a, b)
        left, right = [list(numbers_in((value,))) for value in (a, b)]
        if not self.ordered:
            left.sort()
            right.sort()
        return len(left) == len(right) and all(map(self.close, left, right))


def _rows_pair_up(
    loose: list[Pair], inner: list[int], outer: Sequence[int], *, swapped: bool
) -> bool:
    """Whether rows (of one key) pair up in the columns where chains are wide."""
    sides = [(p.gold_values, p.predicted_values) for p in loose]
    few = [tuple(side[not swapped][i] for side in sides) for i in inner]
    many = [tuple(side[swapped][i] for side in sides) for i in outer]
    fits = _fits(loose)
    if not all(is_number(cell) for row in few + many for cell in row):
        if len(few) * len(many) > PAIRS:
            raise Undecided
        return all_matched(few, many, fits)
    few.sort()
    many.sort()
    if len(loose) == 1:
        return pairs_up([row[0] for row in few], [row[0] for row in many], loose[0].close)
    if len(few) == len(many) and all(map(fits, few, many)):
        return True
    near = _near(few, many, loose[0].close, fits)
    return matching_covers(near, len(many))


def _near(
    few: list[Any], many: list[Any], close: Close, fits: Callable[[Any, Any], bool]
) -> list[list[int]]:
    """For each of `few` those of `many` that fit; both sorted by a number that must be close."""
    near: list[list[int]] = []
    start = total = 0
    for row in few:
        while start < len(many) and many[start][0] < row[0] and not close(row[0], many[start][0]):
            start += 1
        options = []
        for j in range(start, len(many)):
            if many[j][0] > row[0] and not close(row[0], many[j][0]):
                break
            total += 1
            if fits(row, many[j]):
                options.append(j)
        if total > PAIRS:
            raise Undecided
        near.append(options)
    return near


def _fits(loose: list[Pair]) -> Callable[[Any, Any], bool]:
    def fits(a: Any, b: Any) -> bool:
        return all(pair.fits(x, y) for pair, x, y in zip(loose, a, b, strict=True))

    return fits


_NESTED = (tuple, Map, Path)


def _chains(columns: Sequence[Sequence[Any]], close: Close) -> Chains:
    numbers: set[Number] = set()
    for values in columns:
        if set(map(type, values)) <= {float} and all(map(isfinite, values)):
            numbers.update(values)
        else:
            numbers.update(filter(is_measured, numbers_in(values)))
    return Chains.of(numbers, close)


def _chain_keys(values: Sequence[Any], reading: Coercion, chains: Chains) -> Keys:
    """Keys with measurable numbers replaced by the number of their chain (an int)."""
    known = chains.chain
    if set(map(type, values)) <= {float, int, Decimal} and all(map(known.__contains__, values)):
        return [known[value] for value in values]

    def chain(number: Number) -> Hashable:
        return known[number] if is_measured(number) else ("far", number)

    def key(value: Any) -> Hashable:
        return chain(value) if is_number(value) and value in known else reading.key(value, chain)

    return list(map(key, values))


def _neighbours(values: Sequence[Any], close: Close, reading: Coercion) -> list[Hashable]:
    """Number the runs of consecutive values in which each is close to the next."""
    numbers: list[Hashable] = []
    run = 0
    for i, value in enumerate(values):
        if i and not _same(values[i - 1], value, close, reading):
            run += 1
        numbers.append(run)
    return numbers


def _same(a: Any, b: Any, close: Close, reading: Coercion) -> bool:
    if is_number(a) and is_number(b) and is_measured(a) and is_measured(b):
        return close(a, b)
    return reading.key(a) == reading.key(b)
