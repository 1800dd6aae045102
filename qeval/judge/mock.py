"""Scripted judges: good and bad ones, to see what they can and can't do to a result."""

import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from qeval.errors import InputError, did_you_mean
from qeval.judge.llm import LlmJudge
from qeval.models.base import Generation, ModelError, Request, Usage
from qeval.settings import check

BEHAVIOURS = {
    "yes": "another_reading, always",
    "same": "same_rows, always, whatever the results show",
    "no": "different, always, with `row_set`",
    "columns": "another_reading where the prediction only has further columns, else different",
    "contradict": "another_reading in every second vote, different in the others",
    "garbage": "no JSON",
    "prose": "a sentence with a word of the menu in it",
    "off_menu": "JSON with a word that is not on the menu",
    "refuse": "declines to answer",
    "flaky": "garbage first, different when asked again",
    "timeout": "never answers",
}
_REASON = "scripted"
_TEXTS = {
    "garbage": "lorem ipsum dolor sit amet 1234 %%% }{",
    "prose": 'They look the same to me: "same_rows", that is equivalent, not different.',
    "refuse": "I'm sorry, but I can't help with that request.",
}


@dataclass(slots=True)
class ScriptedModel:
    """Answers a judge's prompt by `behaviour` (see `BEHAVIOURS`), the same everywhere.

    `row_set` is given with every `different`; `latency_s` is slept per call (seconds);
    `usd_per_call` is reported as its price.
    """

    name: str
    behaviour: str
    row_set: Sequence[Any] | None = None
    latency_s: float = 0.0
    usd_per_call: float = 0.0
    cache: bool = False
    reads_case = True
    calls: Counter[str] = field(default_factory=Counter, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.behaviour not in BEHAVIOURS:
            raise InputError(
                f"judge.behaviour={self.behaviour!r}: expected {', '.join(BEHAVIOURS)}."
                + did_you_mean(self.behaviour, BEHAVIOURS)
            )
        for key in ("latency_s", "usd_per_call"):
            check(float, getattr(self, key), f"judge.{key}")

    def identity(self) -> dict[str, object]:
        """The script; latency and price change no answer."""
        return {"adapter": "mock", "behaviour": self.behaviour, "row_set": self.row_set}

    def preflight(self) -> None:
        """Nothing can be missing."""

    def generate(self, request: Request) -> Generation:
        """Answer by script. Raises `ModelError` for `timeout`."""
        if self.latency_s:
            time.sleep(self.latency_s)
        with _counting:
            self.calls[request.case.id] += 1
        if self.behaviour == "timeout":
            raise ModelError("mock: scripted time-out")
        text = self._text(request)
        asked = sum(len(message.content) for message in request.prompt.messages)
        return Generation(
            text,
            usage=Usage(asked // 4, len(text) // 4, self.usd_per_call),
            served_by=f"mock/{self.behaviour}",
        )

    def close(self) -> None:
        """Nothing is held."""

    def _text(self, request: Request) -> str:
        behaviour = self.behaviour
        if behaviour == "flaky" and not request.round:
            behaviour = "garbage"
        if behaviour in _TEXTS:
            return _TEXTS[behaviour]
        if behaviour == "columns":
            fits = request.prompt.parts.get("kind") == "extra_columns"
            return self._answer("another_reading" if fits else "different")
        if behaviour == "contradict":
            return self._answer("another_reading" if request.repeat % 2 else "different")
        words = {"yes": "another_reading", "same": "same_rows", "off_menu": "equivalent"}
        return self._answer(words.get(behaviour, "different"))

    def _answer(self, word: str) -> str:
        rows = self.row_set if word == "different" else None
        return json.dumps({"reason": _REASON, "answer": word, "row_set": rows})


_counting = threading.Lock()  # not in the model, which must be picklable


def mock_judge(
    *,
    behaviour: str,
    row_set: Sequence[Any] | None,
    latency_s: float,
    usd_per_call: float,
    model: None = None,
    **settings: Any,
) -> LlmJudge:
    """A judge by a scripted model; everything else is as with a real one."""
    assert model is None
    scripted = {
        "_target_": "qeval.judge.mock.ScriptedModel",
        "name": f"mock-{behaviour}",
        "behaviour": behaviour,
        "row_set": row_set,
        "latency_s": latency_s,
        "usd_per_call": usd_per_call,
    }
    return LlmJudge(model=scripted, **settings)
