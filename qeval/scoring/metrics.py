"""Metrics of a cell out of its records: each with its denominator and a 95 % interval.

A metric that was not measured is absent; it is never 0 and never copied from another.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isclose
from typing import Any

from qeval.errors import InputError, did_you_mean
from qeval.record import Record
from qeval.scoring.stability import stability_scores
from qeval.scoring.statistics import clustered_interval, percentile
from qeval.scoring.verdict import Verdict

_EXECUTED = (Verdict.CORRECT, Verdict.EQUIVALENT, Verdict.REFUTED, Verdict.WRONG_RESULT)
_UNPARSED = (Verdict.SYNTAX_ERROR, Verdict.NO_QUERY)

HEADLINE = "execution_accuracy"
COMPOSITE = "composite"
UNCALIBRATED = "_uncalibrated"
"""Ends the names of scores that depend on a judge whose word may not make headlines."""


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A share in 0..1: `value` = `numerator` / `denominator`, and its 95 % interval.

    The numerator is a count of records, for `composite` a sum of scores.
    """

    value: float
    numerator: float
    denominator: int
    low: float
    high: float


Metrics = Mapping[str, MetricValue]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Sums over records; None where the count of at least one answer (`unknown`) isn't known."""

    prompt: int | None = None
    completion: int | None = None
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars; `usd` is None where the price of at least one answer (`unknown`) isn't known.

    `known_usd` is the sum of the prices that are known.
    """

    usd: float | None = None
    known_usd: float = 0.0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds: median and 95th percentile over `n` measured records; None where none was."""

    p50: float | None = None
    p95: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True)
class CellMetrics:
    """All metrics of a cell, overall and by difficulty, tag and repeat.

    `stability` (agreement and pass@k) is empty with one repeat, `before_repair` (the metrics of the
    first answers alone) where no error went back; `behaviour` holds `copy_rate`, the share of
    answers to prompts with examples that carry something out of them, `repaired`, the share of
    answers that were asked again, and `refuted_share`, the share of those right on base that a
    variant refuted (where variants were run).

    `judgements` counts what a judge said (labels; `failed`, `split`, `contradicted`; what came of
    its row sets as `claim_…`), `layers` which layer decided how many records: `failure` (nothing
    executed), `base`, `instances` (the variants), `judge`, `unscored` (asked, without a label),
    `review`. Both are empty without a judge or reviews, `layers` only if no variant was run either.

    `cases` are the case ids that were counted, `records` the counted records; `verdicts` counts
    all records. `by_repeat` is empty with one repeat. `variants` and `judged` say what was run.
    """

    overall: Metrics
    by_difficulty: Mapping[str, Metrics] = field(default_factory=dict)
    by_tag: Mapping[str, Metrics] = field(default_factory=dict)
    by_repeat: Mapping[str, Metrics] = field(default_factory=dict)
    stability: Metrics = field(default_factory=dict)
    before_repair: Metrics = field(default_factory=dict)
    behaviour: Metrics = field(default_factory=dict)
    verdicts: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    judgements: Mapping[str, int] = field(default_factory=dict)
    layers: Mapping[str, int] = field(default_factory=dict)
    cases: int = 0
    records: int = 0
    variants: int = 0
    judged: bool = False
    tokens: Tokens = Tokens()
    cost: Cost = Cost()
    generation_s: Latency = Latency()
    execution_s: Latency = Latency()

    def to_json(self) -> dict[str, Any]:
        """JSON-ready: groups of `{metric: {value, numerator, denominator, low, high}}`, counts."""
        return asdict(self)


def check_weights(weights: Mapping[str, float]) -> None:
    """Raise `InputError` unless weights name parts of the composite and add up to 1."""
    parts = [name for name in _MEASURES if name != COMPOSITE]
    for name, weight in weights.items():
        if name not in parts:
            raise InputError(
                f"scoring.weights: {name!r} is no metric; there are {', '.join(parts)}."
                + did_you_mean(str(name), parts)
            )
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not 0 <= weight <= 1:
            raise InputError(f"scoring.weights.{name} must be between 0 and 1, found {weight!r}")
    if weights and not isclose(sum(weights.values()), 1.0, abs_tol=1e-9):
        raise InputError(f"scoring.weights must add up to 1, found {sum(weights.values()):g}")


def is_syntax_pass(record: Record) -> bool:
    """A query was found and the engine's parser took it."""
    return record.verdict not in _UNPARSED


def is_valid(record: Record) -> bool:
    """The query ran on the base instance without an error."""
    return record.verdict in _EXECUTED


def is_right(record: Record) -> bool:
    """The strict comparison holds on the base instance.

    Two empty tables say nothing: then the case counts if the other instances confirmed it.
    """
    base = record.outcomes[0] if record.outcomes else None
    if base is None or base.inconclusive:
        return record.verdict is Verdict.CORRECT
    return base.verdict is Verdict.CORRECT


def is_right_relaxed(record: Record) -> bool:
    """The relaxed comparison holds on the base instance (whoever is right is also here)."""
    base = record.outcomes[0] if record.outcomes else None
    return is_right(record) or (base is not None and base.relaxed_equal and not base.inconclusive)


def is_robust(record: Record) -> bool:
    """Right on the base instance and on every variant that was run."""
    return record.verdict is Verdict.CORRECT


def is_refuted(record: Record) -> bool:
    """Right on the base instance and wrong on another, whatever a judge or reviewer made of it."""
    return is_right(record) and any(o.verdict is not Verdict.CORRECT for o in record.outcomes[1:])


def is_equivalent(record: Record) -> bool:
    """Robust, or judged or reviewed as another right reading of the question."""
    return record.verdict.right


_MEASURES: dict[str, Callable[[Record], bool]] = {
    "syntax_pass": is_syntax_pass,
    "valid": is_valid,
    HEADLINE: is_right,
    "execution_accuracy_relaxed": is_right_relaxed,
    "robust_accuracy": is_robust,
    "semantic_equivalence": is_equivalent,
}


_JUDGED = ("semantic_equivalence", COMPOSITE)


def cell_metrics(
    records: Sequence[Record],
    weights: Mapping[str, float],
    *,
    variants: int = 0,
    judged: bool = False,
    calibrated: bool = True,
) -> CellMetrics:
    """Compute a cell's metrics.

    `variants` is how many variants a right prediction was checked on: `robust_accuracy` is
    measured only if there was one. `judged` tells that a judge looked at the mismatches:
    `semantic_equivalence` is measured only then (or if a reviewer did), and `composite` only if all
    of its parts are. Where that judge is not `calibrated`, both end in
    `_uncalibrated`: they are told, and are no headline. Raises `InputError` for wrong weights.
    """
    check_weights(weights)
    counted = [record for record in records if record.verdict.counted]
    judged = judged or any(r.review or r.verdict is Verdict.EQUIVALENT for r in counted)
    measures = dict(_MEASURES)
    if not variants:
        del measures["robust_accuracy"]
    if not judged:
        del measures["semantic_equivalence"]
    parts = weights if weights and weights.keys() <= measures.keys() else {}

    def measure(group: Sequence[Record]) -> Metrics:
        found = _measure(group, measures, parts)
        if calibrated:
            return found
        return {name + UNCALIBRATED * (name in _JUDGED): value for name, value in found.items()}

    repeats = sorted({record.repeat for record in counted})
    answered = [r for r in records if r.verdict is not Verdict.INFRA_ERROR or r.raw]
    generated = [r.generation_s for r in answered if r.generation_s is not None and not r.cached]
    executed = [r.execution_s for r in counted if r.execution_s is not None]
    return CellMetrics(
        overall=measure(counted),
        by_difficulty=_grouped(counted, lambda r: (r.difficulty,), measure),
        by_tag=_grouped(counted, lambda r: r.tags, measure),
        by_repeat=(
            _grouped(counted, lambda r: (str(r.repeat),), measure) if len(repeats) > 1 else {}
        ),
        stability={
            name: _value(list(scores.values()), list(scores))
            for name, scores in stability_scores(counted, is_right).items()
        },
        before_repair=(
            measure([_first_answer(record) for record in counted])
            if any(record.rounds for record in counted)
            else {}
        ),
        behaviour=_behaviour(counted, variants),
        verdicts={str(v): sum(r.verdict is v for r in records) for v in Verdict},
        kinds=dict(sorted(Counter(r.kind for r in records if r.kind).items())),
        judgements=_judgements(records),
        layers=_layers(counted, variants),
        cases=len({record.case_id for record in counted}),
        records=len(counted),
        variants=variants,
        judged=judged,
        tokens=_tokens(answered),
        cost=_cost(answered),
        generation_s=_latency(generated),
        execution_s=_latency(executed),
    )


def _measure(
    group: Sequence[Record],
    measures: Mapping[str, Callable[[Record], bool]],
    weights: Mapping[str, float],
) -> Metrics:
    if not group:
        return {}
    clusters = [record.case_id for record in group]
    scores = {name: [float(is_so(r)) for r in group] for name, is_so in measures.items()}
    if weights:
        columns = [[weight * x for x in scores[name]] for name, weight in weights.items()]
        scores[COMPOSITE] = [sum(parts) for parts in zip(*columns, strict=True)]
    return {name: _value(values, clusters) for name, values in scores.items()}


def _first_answer(record: Record) -> Record:
    """The record as it would be had nothing gone back to the model."""
    if record.first_verdict is record.verdict:
        return record
    return replace(record, verdict=record.first_verdict, outcomes=())


def _behaviour(records: Sequence[Record], variants: int) -> Metrics:
    found: dict[str, tuple[list[Record], Callable[[Record], bool]]] = {
        "refuted_share": ([r for r in records if variants and is_right(r)], is_refuted),
        "copy_rate": ([r for r in records if r.examples], lambda r: bool(r.copied)),
        "repaired": ([r for r in records if r.rounds], lambda r: len(r.rounds) > 1),
    }
    return {
        name: _value([float(is_so(r)) for r in group], [r.case_id for r in group])
        for name, (group, is_so) in found.items()
        if group
    }


def _judgements(records: Sequence[Record]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for record in records:
        said = record.judgement
        if said is not None:
            counts[said.label] += 1
            counts.update(n for n in ("failed", "split", "contradicted") if getattr(said, n))
            if said.claim is not None:
                counts[f"claim_{said.claim.outcome}"] += 1
    return dict(sorted(counts.items()))


def _layers(records: Sequence[Record], variants: int) -> dict[str, int]:
    looked_at = any(record.judgement is not None or record.review for record in records)
    if not variants and not looked_at:
        return {}
    return dict(sorted(Counter(map(_layer, records)).items()))


def _layer(record: Record) -> str:
    """Who had the last word on a record."""
    if record.review in ("equivalent", "different"):
        return "review"
    if record.judgement is not None:
        return "unscored" if record.judgement.label == "unscored" else "judge"
    if record.verdict not in _EXECUTED:
        return "failure"
    return "instances" if len(record.outcomes) > 1 else "base"


def _value(scores: Sequence[float], clusters: Sequence[str]) -> MetricValue:
    low, high = clustered_interval(scores, clusters)
    total = sum(scores)
    return MetricValue(total / len(scores), total, len(scores), low, high)


def _grouped(
    records: Iterable[Record],
    groups_of: Callable[[Record], Iterable[str]],
    measure: Callable[[Sequence[Record]], Metrics],
) -> dict[str, Metrics]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        for group in groups_of(record):
            groups.setdefault(group, []).append(record)
    return {group: measure(groups[group]) for group in sorted(groups)}


def _tokens(records: Sequence[Record]) -> Tokens:
    prompts = [r.prompt_tokens for r in records]
    completions = [r.completion_tokens for r in records]
    unknown = sum(None in pair for pair in zip(prompts, completions, strict=True))
    return Tokens(_sum(prompts), _sum(completions), unknown)


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _cost(records: Sequence[Record]) -> Cost:
    known = [r.cost_usd for r in records if r.cost_usd is not None]
    unknown = len(records) - len(known)
    total = sum(known)
    return Cost(None if unknown or not records else total, total, unknown)


def _latency(seconds: Sequence[float]) -> Latency:
    return Latency(percentile(seconds, 0.5), percentile(seconds, 0.95), len(seconds))
