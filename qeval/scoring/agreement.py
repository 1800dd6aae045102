"""Agreement of two raters beyond chance: Cohen's kappa with an interval."""

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from qeval.scoring.statistics import CONFIDENCE, percentile

RESAMPLES = 2000
_SEED = 20251


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa (−1..1) over `n` items with its 95 % interval; `agreement` is the raw share.

    `error` is the large-sample standard error, also where the interval is a bootstrap's.
    """

    value: float
    low: float
    high: float
    error: float
    agreement: float
    n: int


def kappa_of_table(
    table: Sequence[Sequence[float]], confidence: float = CONFIDENCE
) -> Kappa | None:
    """Kappa of a square table of counts: a row per category of one rater, a column of the other.

    Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and
    Psychological Measurement 20 (1960); the standard error is that of J. L. Fleiss, J. Cohen and
    B. S. Everitt, "Large sample standard errors of kappa and weighted kappa", Psychological
    Bulletin 72 (1969). None where chance alone makes the raters agree always (both know but one
    category) or there is nothing to compare: kappa is undefined then. Raises `ValueError` for a
    table that is not square or has negative counts.
    """
    size = len(table)
    if any(len(row) != size for row in table) or any(cell < 0 for row in table for cell in row):
        raise ValueError("expected a square table of counts")
    total = float(sum(map(sum, table)))
    if total <= 0:
        return None
    shares = [[cell / total for cell in row] for row in table]
    first = [sum(row) for row in shares]
    second = [sum(row[place] for row in shares) for place in range(size)]
    observed = sum(shares[i][i] for i in range(size))
    chance = sum(a * b for a, b in zip(first, second, strict=True))
    if chance >= 1 - 1e-12:
        return None
    value = (observed - chance) / (1 - chance)
    on_diagonal = sum(
        shares[i][i] * (1 - (first[i] + second[i]) * (1 - value)) ** 2 for i in range(size)
    )
    beside = (1 - value) ** 2 * sum(
        shares[i][j] * (second[i] + first[j]) ** 2
        for i in range(size)
        for j in range(size)
        if i != j
    )
    variance = on_diagonal + beside - (value - chance * (1 - value)) ** 2
    error = sqrt(max(0.0, variance) / total) / (1 - chance)
    spread = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    low, high = max(-1.0, value - spread), min(1.0, value + spread)
    return Kappa(value, low, high, error, observed, round(total))


def cohens_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    clusters: Sequence[Hashable] | None = None,
    confidence: float = CONFIDENCE,
) -> Kappa | None:
    """Kappa of two raters' labels of the same items, in the same order.

    With `clusters` (one per item) the interval is the percentile one of a seeded bootstrap that
    draws whole clusters: items of one cluster, such as pairs of one case, are not independent.
    None where kappa is undefined. Raises `ValueError` for lists of different lengths.
    """
    items = list(zip(first, second, strict=True))
    kappa = _of_items(items, confidence)
    if kappa is None or clusters is None:
        return kappa
    groups: dict[Hashable, list[tuple[Hashable, Hashable]]] = {}
    for item, cluster in zip(items, clusters, strict=True):
        groups.setdefault(cluster, []).append(item)
    counts = [Counter(group) for group in groups.values()]
    draw = random.Random(_SEED)  # noqa: S311 - a resampling, no secret
    values = []
    for _ in range(RESAMPLES):
        sample: Counter[tuple[Hashable, Hashable]] = Counter()
        for drawn in draw.choices(counts, k=len(counts)):
            sample.update(drawn)
        resampled = _value(sample)
        if resampled is not None:
            values.append(resampled)
    low, high = percentile(values, (1 - confidence) / 2), percentile(values, (1 + confidence) / 2)
    if low is None or high is None:
        return kappa
    return Kappa(kappa.value, low, high, kappa.error, kappa.agreement, kappa.n)


def _of_items(items: Sequence[tuple[Hashable, Hashable]], confidence: float) -> Kappa | None:
    labels = list(dict.fromkeys(label for item in items for label in item))
    counted = Counter(items)
    return kappa_of_table([[counted[a, b] for b in labels] for a in labels], confidence)


def _value(counted: Counter[tuple[Hashable, Hashable]]) -> float | None:
    """Kappa alone, for the many resamples."""
    total = sum(counted.values())
    ours: Counter[Hashable] = Counter()
    theirs: Counter[Hashable] = Counter()
    same = 0
    for (a, b), count in counted.items():
        ours[a] += count
        theirs[b] += count
        same += count if a == b else 0
    chance = sum(count * theirs[label] for label, count in ours.items()) / total**2
    return None if chance >= 1 - 1e-12 else (same / total - chance) / (1 - chance)
