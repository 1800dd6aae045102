"""What a judge may cost before anything is spent: every case disputed, every vote asked twice."""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qeval.judge.asking import dispute_of
from qeval.judge.base import Dispute, Shown
from qeval.models.budget import price_per_call
from qeval.models.tokens import answer_tokens_of, counter

if TYPE_CHECKING:
    from qeval.cells import Cell
    from qeval.models.base import Model

_AGAIN = 100  # tokens that the request for a usable answer adds, about
_QUERY_TOKENS = 512  # of a prediction, where the model's limit is unknown
_CHARACTERS = 3  # of the filling text that make a token, about
_ROWS = 50
_CELL = 190  # characters


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """Calls of a cell's judge at most, their tokens and US dollars (None: unknown)."""

    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int | None = 0
    cost_usd: float | None = 0.0


def plan_judge(cell: "Cell") -> JudgePlan:
    """Render the largest prompts and count; nobody is asked. Empty without a judge.

    Runs of a cell ask far less: only about what differs, seldom twice, and never about what they
    asked before.
    """
    judge = cell.judge
    if judge is None:
        return JudgePlan()
    calls = asked = 0
    said: int | None = 0
    cost: float | None = 0.0
    for case in cell.cases:
        sizes: dict[int, int] = {}  # prompts of one model are of one length
        for model, prompt in judge.prompts(_largest(cell, case.id)):
            longest = answer_tokens_of(model)
            if id(model) not in sizes:
                sizes[id(model)] = counter(_inner(model)).messages(prompt.messages)
            for tokens in (sizes[id(model)], sizes[id(model)] + (longest or 0) + _AGAIN):
                price = price_per_call(_inner(model), tokens)
                calls += cell.repeats
                asked += tokens * cell.repeats
                said = None if said is None or longest is None else said + longest * cell.repeats
                cost = None if cost is None or price is None else cost + price * cell.repeats
    return JudgePlan(calls, asked, said, cost)


def _inner(model: "Model") -> "Model":
    from qeval.models.cache import CachedModel

    return model.model if isinstance(model, CachedModel) else model


def _largest(cell: "Cell", case_id: str) -> Dispute:
    """A dispute that fills every prompt up to its bounds."""
    from dataclasses import replace

    case = next(case for case in cell.cases if case.id == case_id)
    length = (answer_tokens_of(cell.model) or _QUERY_TOKENS) * _CHARACTERS
    rows = tuple((_filling(_CELL, number),) for number in range(_ROWS))
    result = Shown(("value",), rows, _ROWS)
    lone = [list(row) for row in rows[:5]]
    question = max(case.question.values(), key=len)
    dispute = dispute_of(cell, case, _filling(length, 0), question=question)
    return replace(
        dispute,
        gold_result=result,
        predicted_result=result,
        difference={"missing": lone, "missing_count": 5, "extra": lone, "extra_count": 5},
        differing="base",
    )


def _filling(length: int, number: int) -> str:
    """Text that no tokenizer finds easy."""
    text = ""
    while len(text) < length:
        text += hashlib.sha256(f"{number} {len(text)}".encode()).hexdigest()
    return text[:length]
