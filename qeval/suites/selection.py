"""Which cases of a suite are asked."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from qeval.errors import InputError, did_you_mean
from qeval.suite import Case, Suite

_FILTERS = ("levels", "tags", "ids", "sources", "representative", "limit")
_NUMBERS = ("representative", "limit")
SHOWN = 40  # existing words that an error names


def select_cases(
    suite: Suite, filters: Mapping[str, Any] | None = None, *, language: str | None = None
) -> tuple[Case, ...]:
    """The cases that match every filter of `conf/difficulty/*.yaml`, in the suite's order.

    `levels`, `ids` and `sources` list accepted words, `tags` lets a case through that has any of
    them; an empty list lets all through. `representative` then keeps n that stand for the rest
    (see `representative`), in all languages the same, and `limit` the first n. `language` keeps
    cases with a gold in it. Raises `InputError` for an unknown filter, for a word no case has,
    and when nothing is left.
    """
    chosen = dict(filters or {})
    name = chosen.pop("name", None)
    chosen.pop("subset", None)
    for key in chosen:
        if key not in _FILTERS:
            raise InputError(f"difficulty: no filter {key!r}.{did_you_mean(key, _FILTERS)}")
    levels, tags, ids, sources = (_words(chosen, key) for key in _FILTERS[:4])
    size, limit = (_number(chosen, key) for key in _NUMBERS)
    cases = suite.cases
    _known("levels", levels, [case.difficulty for case in cases])
    _known("tags", tags, [tag for case in cases for tag in case.tags])
    _known("ids", ids, [case.id for case in cases])
    _known("sources", sources, [case.source for case in cases])
    kept = [
        case
        for case in cases
        if (not levels or case.difficulty in levels)
        and (not tags or not set(tags).isdisjoint(case.tags))
        and (not ids or case.id in ids)
        and (not sources or case.source in sources)
    ]
    if size is not None:
        kept = representative(kept, size)
    kept = [case for case in kept if language is None or language in case.gold]
    if not kept:
        told = {key: value for key, value in chosen.items() if value}
        raise InputError(
            f"difficulty={name}: {told or 'no filter'} leaves no"
            f"{' ' + language if language else ''} case of suite {suite.name!r}"
        )
    return tuple(kept[:limit])


def representative(cases: Sequence[Case], size: int) -> list[Case]:
    """`size` cases in which levels, patterns and sources are as even as they can be.

    The same cases give the same choice, whatever their order; fewer than `size` are all kept.
    Case by case the level with the fewest chosen is taken, within it the pattern, then the source
    with the fewest; the hash of the id decides among equals.
    """
    left = sorted(cases, key=lambda case: hashlib.sha256(case.id.encode()).digest())
    taken: Counter[tuple[str, str]] = Counter()
    chosen: set[str] = set()

    def crowding(case: Case) -> tuple[int, int, int]:
        return (
            taken["level", case.difficulty],
            taken["pattern", case.pattern],
            taken["source", case.source],
        )

    while left and len(chosen) < size:
        best = min(left, key=crowding)
        left.remove(best)
        chosen.add(best.id)
        for stratum in (
            ("level", best.difficulty),
            ("pattern", best.pattern),
            ("source", best.source),
        ):
            taken[stratum] += 1
    return [case for case in cases if case.id in chosen]


def _number(filters: Mapping[str, Any], key: str) -> int | None:
    value = filters.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise InputError(f"difficulty.{key} must be a whole number of at least 1, not {value!r}")
    return value


def _words(filters: Mapping[str, Any], key: str) -> Sequence[str]:
    value = filters.get(key) or ()
    if isinstance(value, str) or not all(isinstance(word, str) for word in value):
        raise InputError(f"difficulty.{key} must be a list of words, e.g. [a,b], not {value!r}")
    words: Sequence[str] = value
    return words


def _known(key: str, wanted: Sequence[str], existing: Sequence[str]) -> None:
    options = sorted(set(existing))
    for word in wanted:
        if word not in options:
            more = f" and {len(options) - SHOWN} more" if len(options) > SHOWN else ""
            raise InputError(
                f"difficulty.{key}: no case has {word!r}; there are {', '.join(options[:SHOWN])}"
                f"{more}.{did_you_mean(word, options)}"
            )
