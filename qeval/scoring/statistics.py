"""Intervals for proportions and the paired comparison of two cells."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from statistics import NormalDist

CONFIDENCE = 0.95


def wilson(successes: float, trials: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval of a proportion.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927). Raises `ValueError` for no trials or for successes outside 0..trials.
    """
    if trials <= 0 or not 0 <= successes <= trials:
        raise ValueError(f"expected 0 <= successes <= trials > 0, found {successes} of {trials}")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    spread = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if successes == 0 else (centre - spread) / scale
    high = 1.0 if successes == trials else (centre + spread) / scale
    return max(0.0, low), min(1.0, high)


def clustered_interval(
    scores: Sequence[float], clusters: Sequence[Hashable], confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Wilson's interval of a mean of scores in 0..1 of which those of one cluster go together.

    Repeats of a case are no independent trials. The number of trials is replaced by the effective
    one, mean·(1 - mean) / variance, the variance being that of the mean over clusters (Kish,
    "Survey Sampling", 1965, design effect; Miller, "Adding error bars to evals", 2024, for
    clustered questions). With one score per cluster this is Wilson's interval, with identical
    repeats it is Wilson's over the clusters; it never claims more trials than there are scores.
    Raises `ValueError` for no scores.
    """
    total = len(scores)
    if not total:
        raise ValueError("expected at least one score")
    mean = sum(scores) / total
    sums: dict[Hashable, float] = defaultdict(float)
    for score, cluster in zip(scores, clusters, strict=True):
        sums[cluster] += score - mean
    variance = sum(part * part for part in sums.values()) / total**2
    bernoulli = mean * (1 - mean)
    effective = float(len(sums))
    if bernoulli > 0:
        effective = min(float(total), bernoulli / variance) if variance > 0 else float(total)
    return wilson(min(max(mean, 0.0), 1.0) * effective, effective, confidence)


def percentile(values: Iterable[float], share: float) -> float | None:
    """The value below which `share` (0..1) of the values lie, interpolated; None without any."""
    ordered = sorted(values)
    if not ordered:
        return None
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p-value of McNemar's test for the two discordant counts.

    Under the null hypothesis each discordant case falls to either side with probability 1/2; the
    p-value is twice the smaller tail of that binomial, at most 1. Source: Q. McNemar, "Note on the
    sampling error of the difference between correlated proportions", Psychometrika 12 (1947), in
    its exact binomial form.
    """
    total = only_first + only_second
    tail = sum(comb(total, i) for i in range(min(only_first, only_second) + 1))
    return min(1.0, float(2 * tail / 2**total))


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Two cells on the cases that both answered.

    Counts are cases in which both, only one or neither did well; `difference` is second minus
    first in mean score (−1..1) with its 95 % interval; `p_value` is that of exact McNemar.
    """

    cases: int
    both: int
    only_first: int
    only_second: int
    neither: int
    difference: float
    low: float
    high: float
    p_value: float


def compare_paired(
    first: Mapping[str, Sequence[bool]], second: Mapping[str, Sequence[bool]]
) -> PairedComparison:
    """Compare two cells case by case; mappings go from case id to the outcome of each repeat.

    A case counts for the cell that did better in it, by its share of good repeats; a case in which
    both shares are equal is `both` if that share is over a half, else `neither`. With one repeat
    this is McNemar's table. The interval is Wald's with Agresti and Min's adjustment (half a case
    added to each count; "Simple improved confidence intervals for comparing matched proportions",
    Statistics in Medicine 24, 2005) of the counts. Raises `ValueError` without a common case.
    """
    common = sorted(first.keys() & second.keys())
    shares = [(_share(first[case]), _share(second[case])) for case in common]
    if not shares:
        raise ValueError("the two cells have no case in common")
    only_first = sum(a > b for a, b in shares)
    only_second = sum(b > a for a, b in shares)
    both = sum(a == b and 2 * a > 1 for a, b in shares)
    cases = len(shares)
    b, c, n = only_first + 0.5, only_second + 0.5, cases + 2
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    centre = (c - b) / n
    spread = z * sqrt(max(0.0, (b + c) - (c - b) ** 2 / n)) / n
    return PairedComparison(
        cases=cases,
        both=both,
        only_first=only_first,
        only_second=only_second,
        neither=cases - both - only_first - only_second,
        difference=sum(b - a for a, b in shares) / cases,
        low=max(-1.0, centre - spread),
        high=min(1.0, centre + spread),
        p_value=mcnemar(only_first, only_second),
    )


def _share(outcomes: Sequence[bool]) -> float:
    if not outcomes:
        raise ValueError("a case without outcomes can't be compared")
    return sum(outcomes) / len(outcomes)
