"""Numbers that are equal within a tolerance, and the matching of rows that hold them.

"Close" is not transitive, so rounding numbers into buckets or sorting them as text gives wrong
answers. Here every number reaches the numbers of an interval around it, and the ends of these
intervals never move backwards as the number grows. Two facts follow and are all that is used:

* two bags of single numbers can be paired if and only if they can be paired in sorted order;
* sorted numbers in which each is close to the next form a *chain*; numbers of different chains
  are never close, and if a chain's first is close to its last (a *tight* chain), all in it are.

Rounding noise is far smaller than the gaps between values, so chains are nearly always tight, and
the chain's number is then as good as an exact key. Only rows in loose chains are matched one by
one (Hopcroft–Karp, "An n^5/2 Algorithm for Maximum Matchings in Bipartite Graphs", 1973).
"""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isclose, isfinite
from typing import Any

from qeval.scoring.coercion import Number, View, scaled

NOISE_OF_LAST_PLACE = 1e-3
"""How far from a rounding boundary, in units of the last place, noise may carry a value over."""


Close = Callable[[Number, Number], bool]
"""Whether two finite numbers count as equal: symmetric, and reaching an interval around each."""


def closeness(view: View) -> Close:
    """The closeness that a view asks for.

    Without a scale: by the relative or the absolute tolerance, as `math.isclose`. With a scale: if
    both round to the same, or differ by no more than noise, so that a half that lost its last bit
    doesn't fall to the other side.
    """
    if view.type != "decimal" or view.scale is None:
        return partial(isclose, rel_tol=view.relative, abs_tol=view.absolute)
    scale, noise = view.scale, NOISE_OF_LAST_PLACE * 10.0**-view.scale

    def close(a: Number, b: Number) -> bool:
        if a == b or scaled(a, scale) == scaled(b, scale):
            return True
        return isclose(a, b, rel_tol=view.relative) and abs(float(a) - float(b)) <= noise

    return close


def is_measured(value: Any) -> bool:
    """Whether a value takes part in closeness: a finite number that a float can hold."""
    try:
        return isfinite(value)
    except (OverflowError, ValueError):
        return False


def pairs_up(few: Sequence[Number], many: Sequence[Number], close: Close) -> bool:
    """Whether each of `few` gets a close partner of its own among `many` (both sorted).

    For lists of one length this is: whether they are equal as bags within the tolerance.
    """
    if len(few) > len(many):
        return False
    if len(few) == len(many):
        return all(map(close, few, many))
    position = 0
    for number in few:
        while (
            position < len(many) and many[position] < number and not close(number, many[position])
        ):
            position += 1
        if position == len(many) or not close(number, many[position]):
            return False
        position += 1
    return True


@dataclass(frozen=True, slots=True)
class Chains:
    """Numbers cut where sorted neighbours aren't close: the chain of each, and the wide chains."""

    chain: Mapping[Number, int]
    loose: frozenset[int]

    @classmethod
    def of(cls, numbers: Collection[Number], close: Close) -> "Chains":
        """Cut `numbers` (any order, repeats allowed)."""
        chain: dict[Number, int] = {}
        loose: set[int] = set()
        current = -1
        first: Number = 0
        before: Number = 0
        for number in sorted(set(numbers)):
            if current < 0 or not close(before, number):
                current, first = current + 1, number
            elif not close(first, number):
                loose.add(current)
            chain[number] = current
            before = number
        return cls(chain, frozenset(loose))


def all_matched(few: Sequence[Any], many: Sequence[Any], fits: Callable[[Any, Any], bool]) -> bool:
    """Whether each of `few` can be given a partner of its own among `many` that `fits` it."""
    if len(few) > len(many):
        return False
    return matching_covers(
        [[j for j, other in enumerate(many) if fits(item, other)] for item in few], len(many)
    )


def matching_covers(near: list[list[int]], partners: int) -> bool:
    """Whether a matching gives every item one of the partners (by number) that are `near` it."""
    if not all(near):
        return False
    of_few: list[int] = [-1] * len(near)
    of_many: list[int] = [-1] * partners
    matched = 0
    while True:
        depth = _layers(near, of_few, of_many)
        found = sum(
            _augment(root, near, of_few, of_many, depth) for root, j in enumerate(of_few) if j < 0
        )
        if not found:
            return matched == len(near)
        matched += found


def _layers(near: list[list[int]], of_few: list[int], of_many: list[int]) -> list[float]:
    depth: list[float] = [0 if j < 0 else inf for j in of_few]
    queue = deque(i for i, j in enumerate(of_few) if j < 0)
    while queue:
        i = queue.popleft()
        for j in near[i]:
            other = of_many[j]
            if other >= 0 and depth[other] == inf:
                depth[other] = depth[i] + 1
                queue.append(other)
    return depth


def _augment(
    root: int, near: list[list[int]], of_few: list[int], of_many: list[int], depth: list[float]
) -> bool:
    """Look for an alternating path from `root` to a free partner and flip it."""
    path = [(root, iter(near[root]))]
    taken: list[int] = []
    while path:
        i, options = path[-1]
        for j in options:
            other = of_many[j]
            if other < 0:
                taken.append(j)
                for (owner, _), partner in zip(path, taken, strict=True):
                    of_few[owner], of_many[partner] = partner, owner
                return True
            if depth[other] == depth[i] + 1:
                taken.append(j)
                path.append((other, iter(near[other])))
                break
        else:
            depth[i] = inf
            path.pop()
            if taken and path:
                taken.pop()
    return False
