"""Who looks at what: every disagreement, and a seeded, stratified share of the rest."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from math import ceil

from qeval.review.decisions import Said, agreed
from qeval.review.items import Item


def queue(items: Sequence[Item], said: Said, *, share: float, seed: int) -> list[Item]:
    """The items to review, disagreements first.

    A disagreement is between votes, judges, a judge and the evidence, or reviewers. Of what judges
    agree on (of all items where there was no judge) `share` (0..1) is drawn from each stratum of
    language, label and difficulty, at least one of each. The draw depends on `seed` and the items
    alone, so two reviewers get the same ones and more cells do not turn it over.
    """
    disputed = [item for item in items if item.is_disputed or is_divided(item, said)]
    first = {item.key for item in disputed}
    rest = [item for item in items if item.key not in first]
    judged = [item for item in rest if item.judged]
    if not share:
        return disputed
    strata: dict[tuple[str, str, str], list[Item]] = defaultdict(list)
    for item in judged or rest:
        strata[item.language, item.judged, item.record.difficulty].append(item)
    drawn: set[str] = set()
    for members in strata.values():
        members.sort(key=lambda item: _draw(seed, item.key))
        drawn.update(item.key for item in members[: ceil(share * len(members))])
    return disputed + [item for item in rest if item.key in drawn]


def is_divided(item: Item, said: Said) -> bool:
    """Whether reviewers looked at the item and no majority agrees."""
    reviewers = said.get(item.key)
    return bool(reviewers) and agreed(reviewers or {}) is None


def _draw(seed: int, key: str) -> str:
    return hashlib.sha256(f"{seed} {key}".encode()).hexdigest()
