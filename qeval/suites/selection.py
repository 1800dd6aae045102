"""Which cases of a suite are asked."""

from collections.abc import Mapping, Sequence
from typing import Any

from qeval.errors import InputError, did_you_mean
from qeval.suite import Case, Suite

_FILTERS = ("levels", "tags", "ids", "sources", "limit")


def select_cases(
    suite: Suite, filters: Mapping[str, Any] | None = None, *, language: str | None = None
) -> tuple[Case, ...]:
    """The cases that match every filter of `conf/difficulty/*.yaml`, in the suite's order.

    `levels`, `ids` and `sources` list accepted words, `tags` lets a case through that has any of
    them; an empty list lets all through. `limit` then keeps the first n. `language` keeps cases
    with a gold in it. Raises `InputError` for an unknown filter, for a word no case has, and when
    nothing is left.
    """
    chosen = dict(filters or {})
    name = chosen.pop("name", None)
    for key in chosen:
        if key not in _FILTERS:
            raise InputError(f"difficulty: no filter {key!r}.{did_you_mean(key, _FILTERS)}")
    levels, tags, ids, sources = (_words(chosen, key) for key in _FILTERS[:4])
    limit = chosen.get("limit")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise InputError(f"difficulty.limit must be a whole number of at least 1, not {limit!r}")
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
        and (language is None or language in case.gold)
    ]
    if not kept:
        told = {key: value for key, value in chosen.items() if value}
        raise InputError(
            f"difficulty={name}: {told or 'no filter'} leaves no"
            f"{' ' + language if language else ''} case of suite {suite.name!r}"
        )
    return tuple(kept[:limit])


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
            raise InputError(
                f"difficulty.{key}: no case has {word!r}; there are {', '.join(options[:40])}."
                f"{did_you_mean(word, options)}"
            )
