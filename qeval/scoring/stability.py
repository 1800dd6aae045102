"""How stable answers are over repeats, and what k tries are worth.

Agreement is pairwise: the share of pairs of answers to one case that are the same, averaged over
cases. pass@k is the unbiased estimate 1 - C(n-c, k) / C(n, k) of n answers of which c are right
(Chen et al., *Evaluating Large Language Models Trained on Code*, 2021), averaged over cases.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import comb

from qeval.record import Record

PASS_AT = (1, 2, 3, 5, 10)


def stability_scores(
    records: Sequence[Record], is_right: Callable[[Record], bool]
) -> dict[str, dict[str, float]]:
    """Score in 0..1 of each case by measure: exact_agreement, verdict_agreement, pass_at_k.

    Only counted records with several repeats of a case; `exact_agreement` compares the answers'
    queries character by character (answers without a query: their raw texts). Empty with one
    repeat. pass_at_k is there for every k of `PASS_AT` that all those cases have answers for.
    """
    by_case: dict[str, list[Record]] = {}
    for record in records:
        if record.verdict.counted:
            by_case.setdefault(record.case_id, []).append(record)
    several = {case: found for case, found in by_case.items() if len(found) > 1}
    if not several:
        return {}
    fewest = min(map(len, several.values()))
    scores = {
        "exact_agreement": _each(several, lambda r: (r.query is None, r.query or r.raw)),
        "verdict_agreement": _each(several, lambda r: r.verdict),
    }
    for k in PASS_AT:
        if k <= fewest:
            scores[f"pass_at_{k}"] = {
                case: pass_at(k, len(found), sum(map(is_right, found)))
                for case, found in several.items()
            }
    return scores


def pass_at(k: int, answers: int, right: int) -> float:
    """Chance that at least one of k answers drawn from `answers` is right."""
    return 1.0 - comb(answers - right, k) / comb(answers, k)


def agreement(values: Sequence[Hashable]) -> float:
    """Share of pairs that are equal; at least two values."""
    pairs = sum(comb(count, 2) for count in Counter(values).values())
    return pairs / comb(len(values), 2)


def _each(
    cases: Mapping[str, Sequence[Record]], key: Callable[[Record], Hashable]
) -> dict[str, float]:
    return {case: agreement([key(record) for record in found]) for case, found in cases.items()}
