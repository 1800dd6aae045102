"""What a judge may cost before anything is spent; nobody is asked and nothing is run."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qeval.judge.asking import MOST_ROWS, dispute_of
from qeval.judge.base import Dispute, Shown
from qeval.models.base import Request
from qeval.models.budget import price_per_call
from qeval.models.cache import CachedModel, request_key
from qeval.models.tokens import answer_tokens_of, counter
from qeval.scoring.difference import SAMPLE_ROWS, SAMPLE_TEXT

if TYPE_CHECKING:
    from qeval.cells import Cell
    from qeval.judge.base import Judge
    from qeval.judge.calibration import Item
    from qeval.models.base import Model
    from qeval.suite import Case

_LENGTH = 3  # a prediction is taken to be so many times as long as its gold


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """Calls of a judge, their tokens and US dollars (None: unknown), each vote asked for once.

    `prompt_tokens` are an estimate, `answer_tokens` a bound. A vote that can't be used is asked
    for once more, so twice as much is possible; it is seldom more than a few.
    """

    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int | None = 0
    cost_usd: float | None = 0.0


def plan_judge(cell: "Cell") -> JudgePlan:
    """What the judge of a cell costs if every prediction differs. Empty without a judge."""
    if cell.judge is None:
        return JudgePlan()
    disputes = [_filled(cell, case, case.gold[cell.language.name] * _LENGTH) for case in cell.cases]
    return _planned(cell.judge, disputes * cell.repeats)


def plan_calibration(cell: "Cell", items: "Iterable[Item]") -> JudgePlan:
    """What asking about the items costs: each alone, and in runs where instances may tell it apart.

    Answers in the cache cost nothing, which is known for the first half only.
    """
    assert cell.judge is not None
    disputes = []
    for item in items:
        if item.source != "reviewed":
            disputes.append(dispute_of(cell, item.case, item.query, question=item.question))
        if not (item.source == "suite" and item.truth == "equivalent"):  # proven to be equal
            disputes.append(_filled(cell, item.case, item.query))
    return _planned(cell.judge, disputes)


def _planned(judge: "Judge", disputes: Iterable[Dispute]) -> JudgePlan:
    calls = asked = 0
    said: int | None = 0
    cost: float | None = 0.0
    for dispute in disputes:
        votes: Counter[int] = Counter()  # of this dispute, by model
        for model, prompt in judge.prompts(dispute):
            request = Request(prompt, dispute.case, dispute.language.name, votes[id(model)])
            votes[id(model)] += 1
            if isinstance(model, CachedModel) and model.responses.get(request_key(model, request)):
                continue
            inner = _inner(model)
            tokens = counter(inner).messages(prompt.messages)
            longest, price = answer_tokens_of(inner), price_per_call(inner, tokens)
            calls += 1
            asked += tokens
            said = None if said is None or longest is None else said + longest
            cost = None if cost is None or price is None else cost + price
    return JudgePlan(calls, asked, said, cost)


def _inner(model: "Model") -> "Model":
    return model.model if isinstance(model, CachedModel) else model


def _filled(cell: "Cell", case: "Case", query: str) -> Dispute:
    """A dispute in runs, whose results fill every prompt up to its bounds."""
    rows = tuple((_filling(SAMPLE_TEXT, number),) for number in range(MOST_ROWS))
    result = Shown(("value",), rows, MOST_ROWS)
    lone = [list(row) for row in rows[:SAMPLE_ROWS]]
    question = max(case.question.values(), key=len)
    return replace(
        dispute_of(cell, case, query, question=question),
        gold_result=result,
        predicted_result=result,
        difference={
            "missing": lone, "missing_count": len(lone), "extra": lone, "extra_count": len(lone),
        },
        differing="base",
    )  # fmt: skip


def _filling(length: int, number: int) -> str:
    """Text that no tokenizer finds easy."""
    text = ""
    while len(text) < length:
        text += hashlib.sha256(f"{number} {len(text)}".encode()).hexdigest()
    return text[:length]
