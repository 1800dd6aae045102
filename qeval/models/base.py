"""What the pipeline asks of a model, whichever it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from qeval.prompts.base import Prompt
from qeval.suite import Case


class ModelError(Exception):
    """The model could not be asked (network, quota, server). Says nothing of the prediction.

    `retryable` is False where asking again can't help (bad key, unknown model name).
    """

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one call; None means *unknown*, which is not zero."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model. Only `gold` and `replay` look at `case`.

    `round` counts the follow-ups of a conversation; the prompt holds all of it.
    """

    prompt: Prompt
    case: Case
    language: str
    repeat: int = 0
    round: int = 0


@dataclass(frozen=True, slots=True)
class Generation:
    """A model's answer.

    `finish_reason`: "stop", "length" (truncated), "content_filter", … as the API says it.
    `sent`: the parameters really sent. `seconds`: of the original call, also when `cached`.
    """

    text: str
    finish_reason: str = "stop"
    reasoning: str | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    cached: bool = False
    served_by: str = ""  # the model name the API reported
    sent: Mapping[str, Any] = field(default_factory=dict)
    is_query: bool = False  # the text is the query itself: nothing to extract


@runtime_checkable
class Model(Protocol):
    """Built by Hydra from `conf/model/<name>.yaml`; must be cheap to build and thread-safe."""

    name: str

    def identity(self) -> dict[str, object]:
        """All that can change an answer (model id, parameters, base URL); never a key."""
        ...

    def preflight(self) -> None:
        """Raise `InputError` naming what is missing (environment variable, file) before work."""
        ...

    def generate(self, request: Request) -> Generation:
        """Answer one request. Raises `ModelError`."""
        ...

    def close(self) -> None:
        """Release what the model holds. Safe to call twice."""
        ...


@runtime_checkable
class NeedsCases(Protocol):
    """A model whose answers come from a list: it can tell before work which cases it lacks."""

    def preflight_cases(self, case_ids: Sequence[str], language: str, repeats: int) -> None:
        """Raise `InputError` naming the cases (of repeats 0 … `repeats` - 1) without an answer."""
        ...
