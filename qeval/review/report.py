"""How far reviewers agree with each other, and judges with what reviewers agreed on."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from qeval.review.decisions import Said, agreed
from qeval.scoring.agreement import Kappa, cohens_kappa


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two raters and the items both rated; `kappa` None where it is undefined."""

    first: str
    second: str
    items: int
    same: int
    kappa: Kappa | None


def between_reviewers(said: Said) -> list[Agreement]:
    """Every pair of reviewers with common items, intervals by case."""
    names = sorted({name for reviewers in said.values() for name in reviewers})
    found = []
    for first, second in combinations(names, 2):
        both = [(r[first], r[second]) for r in said.values() if first in r and second in r]
        if both:
            pairs = [(a.choice, b.choice) for a, b in both]
            found.append(_agreement(first, second, pairs, [a.case_id for a, _ in both]))
    return found


def with_judges(said: Said) -> Agreement | None:
    """The judge's labels against what reviewers agreed on without having seen the judge's word.

    None where there is nothing to compare. A judge that was split or gave no label is left out.
    """
    both = []
    for reviewers in said.values():
        blind = {name: d for name, d in reviewers.items() if not d.saw_judge}
        choice = agreed(blind)
        latest = next(reversed(blind.values()), None)
        if latest is not None and choice and latest.judge in ("equivalent", "different"):
            both.append((latest.judge, choice, latest.case_id))
    if not both:
        return None
    pairs = [(label, choice) for label, choice, _ in both]
    return _agreement("judge", "reviewers", pairs, [case for *_, case in both])


def divided(said: Said) -> list[str]:
    """The items on which no majority agrees."""
    return [item for item, reviewers in said.items() if agreed(reviewers) is None]


def _agreement(
    first: str, second: str, pairs: Sequence[tuple[str, str]], cases: Sequence[str]
) -> Agreement:
    mine, theirs = zip(*pairs, strict=True)
    kappa = cohens_kappa(mine, theirs, cases)
    return Agreement(first, second, len(pairs), sum(a == b for a, b in pairs), kappa)
