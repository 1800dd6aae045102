"""A scripted model: deterministic right, wrong and broken answers, for tests and trying out."""

import hashlib
import math
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from qeval.errors import InputError, did_you_mean
from qeval.models.base import Generation, ModelError, Request, Usage
from qeval.settings import check

Answer = Literal["gold", "wrong", "syntax_error", "garbage", "refuse", "echo", "truncated"]
_ANSWERS: tuple[Answer, ...] = (
    "gold", "wrong", "syntax_error", "garbage", "refuse", "echo", "truncated",
)  # fmt: skip
_counting = threading.Lock()  # not in the model, which must be picklable
_GARBAGE = "lorem ipsum dolor sit amet 1234 %%% }{"
_REFUSAL = "I'm sorry, but I can't help with that request."
_STYLES = ("query", "bare", "fenced", "prose")


@dataclass(slots=True)
class MockModel:
    """Answers by rule; the same request gets the same answer on every machine.

    `mode` is one kind of answer for all cases, or `mixed`: then `shares` says which part of the
    cases (drawn by hash of `seed`, case, language and repeat) gets which kind.
    `style`: the text is the query itself (`query`), needs extraction (`bare`, `fenced`), or is
    buried in explanations (`prose`). `latency_s` is slept per call, in seconds. `fail_rate` is the
    part of the requests that raise `ModelError`, each `fail_times` times (-1: for ever). `repairs`
    is the part of the follow-ups (an error went back) that are answered with the gold.
    """

    name: str
    mode: str
    seed: int
    style: str
    shares: Mapping[str, float]
    wrong: Mapping[str, str]
    latency_s: float
    fail_rate: float
    fail_times: int
    usd_per_call: float
    repairs: float = 0.0
    notes: str = ""
    cache: bool = False
    reads_case = True  # the cache must tell cases apart even where prompts are equal
    _failed: Counter[str] = field(default_factory=Counter, init=False, repr=False)

    def __post_init__(self) -> None:
        for key, kinds, known in (
            ("mode", [self.mode], ("mixed", *_ANSWERS)),
            ("shares", self.shares, tuple(_ANSWERS)),
        ):
            for kind in kinds:
                if kind not in known:
                    near = did_you_mean(kind, known)
                    raise InputError(f"model.{key}: {kind!r} is none of {', '.join(known)}.{near}")
        if self.mode == "mixed" and not math.isclose(sum(self.shares.values()), 1):
            raise InputError(
                f"model.shares must sum to 1, they sum to {sum(self.shares.values()):g}"
            )
        if self.style not in _STYLES:
            raise InputError(
                f"model.style={self.style!r}: expected {', '.join(_STYLES)}."
                + did_you_mean(self.style, _STYLES)
            )
        for key in ("latency_s", "usd_per_call", "fail_rate", "repairs"):
            check(float, getattr(self, key), f"model.{key}")
        if not 0 <= self.fail_rate <= 1:
            raise InputError(f"model.fail_rate must lie in 0…1, not {self.fail_rate:g}")

    def identity(self) -> dict[str, object]:
        """The rules; latency and failures change when an answer comes, not which."""
        return {
            "adapter": "mock",
            "mode": self.mode,
            "seed": self.seed,
            "style": self.style,
            "shares": dict(self.shares) if self.mode == "mixed" else {},
            "wrong": dict(self.wrong),
            **({"repairs": self.repairs} if self.repairs else {}),
        }

    def preflight(self) -> None:
        """Nothing can be missing."""

    def generate(self, request: Request) -> Generation:
        """Answer by rule. Raises `ModelError` for the scripted failures."""
        started = time.perf_counter()
        if self.latency_s:
            time.sleep(self.latency_s)
        self._fail_on_script(request)
        kind = self._kind(request)
        text = self._text(kind, request)
        asked = sum(len(message.content) for message in request.prompt.messages)
        return Generation(
            text,
            finish_reason="length" if kind == "truncated" else "stop",
            usage=Usage(asked // 4, len(text) // 4, self.usd_per_call),
            seconds=time.perf_counter() - started,
            served_by=f"mock/{self.mode}",
            is_query=self.style == "query" and kind in ("gold", "wrong"),
        )

    def close(self) -> None:
        """Nothing is held."""

    def _draw(self, purpose: str, request: Request) -> float:
        """A number in [0, 1) that depends on nothing but seed, purpose and request."""
        where = f"{self.seed}/{purpose}/{request.case.id}/{request.language}/{request.repeat}"
        return int.from_bytes(hashlib.sha256(where.encode()).digest()[:8]) / 2**64

    def _kind(self, request: Request) -> str:
        if request.round and self._draw(f"repair {request.round}", request) < self.repairs:
            return "gold"
        if self.mode != "mixed":
            return self.mode
        mark = self._draw("answer", request)
        for kind, share in self.shares.items():
            if mark < share:
                return kind
            mark -= share
        return list(self.shares)[-1]

    def _fail_on_script(self, request: Request) -> None:
        if self._draw("fail", request) >= self.fail_rate:
            return
        where = f"{request.case.id}/{request.language}/{request.repeat}"
        with _counting:
            self._failed[where] += 1
            times = self._failed[where]
        if self.fail_times < 0 or times <= self.fail_times:
            raise ModelError(f"mock: scripted failure {times} of {where}")

    def _text(self, kind: str, request: Request) -> str:
        language = request.language
        gold = request.case.gold.get(language, "")
        if kind in ("gold", "wrong", "syntax_error"):
            wrong = self.wrong.get(language, "none (")
            query = {"gold": gold, "wrong": wrong, "syntax_error": f"{gold} ) ("}[kind]
            return self._dressed(query, language)
        if kind == "truncated":
            return f"```{language}\n{gold[: len(gold) // 2]}"
        if kind == "echo":
            messages = request.prompt.messages
            return messages[-1].content if messages else ""
        return _GARBAGE if kind == "garbage" else _REFUSAL

    def _dressed(self, query: str, language: str) -> str:
        match self.style:
            case "fenced":
                return f"```{language}\n{query}\n```"
            case "prose":
                return (
                    f"Let me think about it.\n\nHere is the query:\n```{language}\n{query}\n```\n\n"
                    "It selects what you asked for."
                )
            case _:
                return query
