"""How good a judge's labels are, held against the truth: rates and kappa with 95 % intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from qeval.judge.base import Judgement
from qeval.scoring.agreement import Kappa, cohens_kappa
from qeval.scoring.metrics import MetricValue
from qeval.scoring.statistics import clustered_interval

Truth = Literal["equivalent", "different"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement beside the truth; items of one `case` are not independent."""

    case: str
    truth: Truth
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Figures:
    """A judge's figures over `n` items; None where there was nothing to measure.

    `accuracy`: right labels among all items. `unscored`: items without a label; they are no part of
    the two error rates, so who says little has wide intervals. `false_accept`: different items
    labelled equivalent, among the different ones with a label; `false_refuse`: equivalent items
    labelled different, among the equivalent ones with a label. `split`: items on which votes
    contradict each other. `turned`: items on which votes that saw the queries in one order all say
    the opposite of those that saw them in the other, among items with usable votes in both.
    `contradicted`: items with a vote for equal rows against an instance. `claimed`: row sets given,
    among items labelled different; `confirmed`: those on which the queries do differ, among the
    given. `kappa` is over the items with a label. `labels` counts (truth, label).
    """

    n: int
    accuracy: MetricValue | None = None
    false_accept: MetricValue | None = None
    false_refuse: MetricValue | None = None
    unscored: MetricValue | None = None
    split: MetricValue | None = None
    turned: MetricValue | None = None
    contradicted: MetricValue | None = None
    claimed: MetricValue | None = None
    confirmed: MetricValue | None = None
    kappa: Kappa | None = None
    labels: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready; what was not measured is absent."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Figures":
        """Read figures back. Raises `TypeError` for what is none."""
        values: dict[str, Any] = {}
        for key, value in data.items():
            if key == "kappa":
                values[key] = Kappa(**value)
            elif key in ("n", "labels"):
                values[key] = value
            else:
                values[key] = MetricValue(**value)
        return cls(**values)


def figures(judged: Sequence[Judged]) -> Figures:
    """Count what judgements are worth. Those that failed must be left out before."""
    scored = [item for item in judged if item.judgement.label != "unscored"]
    voted = [item for item in judged if item.judgement.votes]
    refused = [item for item in voted if item.judgement.label == "different"]
    given = [item for item in refused if item.judgement.row_set is not None]
    labels: dict[str, int] = {}
    for item in judged:
        name = f"{item.truth}/{item.judgement.label}"
        labels[name] = labels.get(name, 0) + 1
    return Figures(
        n=len(judged),
        accuracy=share(judged, [item.judgement.label == item.truth for item in judged]),
        false_accept=_wrong(scored, "different"),
        false_refuse=_wrong(scored, "equivalent"),
        unscored=share(judged, [item.judgement.label == "unscored" for item in judged]),
        split=share(voted, [item.judgement.split for item in voted]),
        turned=_turned(judged),
        contradicted=share(voted, [item.judgement.contradicted for item in voted]),
        claimed=share(refused, [item.judgement.row_set is not None for item in refused]),
        confirmed=share(given, [_confirmed(item.judgement) for item in given]),
        kappa=cohens_kappa(
            [item.truth for item in scored],
            [item.judgement.label for item in scored],
            [item.case for item in scored],
        ),
        labels=dict(sorted(labels.items())),
    )


def share(judged: Sequence[Judged], holds: Sequence[bool]) -> MetricValue | None:
    """The share of items for which something holds, its interval clustered by case."""
    if not judged:
        return None
    scores = [float(so) for so in holds]
    low, high = clustered_interval(scores, [item.case for item in judged])
    return MetricValue(sum(scores) / len(scores), sum(scores), len(scores), low, high)


def _wrong(scored: Sequence[Judged], truth: Truth) -> MetricValue | None:
    group = [item for item in scored if item.truth == truth]
    return share(group, [item.judgement.label != truth for item in group])


def _confirmed(judgement: Judgement) -> bool:
    return judgement.claim is not None and judgement.claim.outcome == "confirmed"


def _turned(judged: Sequence[Judged]) -> MetricValue | None:
    group, holds = [], []
    for item in judged:
        said: dict[bool, set[str]] = {False: set(), True: set()}
        for vote in item.judgement.votes:
            if vote.label != "unscored":
                said[vote.swapped].add(vote.label)
        if said[False] and said[True]:
            group.append(item)
            holds.append(said[False].isdisjoint(said[True]))
    return share(group, holds)
