"""A rendered prompt and who renders it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from qeval.languages.base import Language
from qeval.suite import Case, Suite


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent for one case. `template_hash` names the template files it was made from.

    `parts` are the texts of instructions, notes, schema, examples and question, as far as there
    are any: they tell what makes a prompt long. `schema` says how much of the schema is shown.
    """

    messages: tuple[Message, ...]
    template_hash: str
    examples: tuple[str, ...] = ()  # ids of the few-shot examples it shows
    parts: Mapping[str, str] = field(default_factory=dict, compare=False)
    schema: str = ""  # none | full | linked | oracle

    @property
    def digest(self) -> str:
        """SHA-256 of the messages: the same prompt has the same digest on every machine."""
        text = json.dumps([[m.role, m.content] for m in self.messages], ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Trial:
    """What trying a query out told, without looking at the gold.

    `kind` is `fine`, `no_query` or an engine's class of failure; `message` is the error as the
    engine says it.
    """

    kind: str
    message: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is something to repair."""
        return self.kind != "fine"


@runtime_checkable
class PromptStrategy(Protocol):
    """Built by Hydra from `conf/prompt_strategy/<name>.yaml`."""

    name: str

    def render(self, case: Case, suite: Suite, language: Language) -> Prompt:
        """The prompt of one case; never shows the case's gold in `language`."""
        ...

    def identity(self) -> dict[str, object]:
        """What can change a prompt's text: settings and the hashes of the templates."""
        ...


@runtime_checkable
class FollowsUp(Protocol):
    """A strategy that may answer back: it sees how a query fared and asks again."""

    repair_rounds: int

    def follow_up(self, prompt: Prompt, answer: str, trial: Trial, language: Language) -> Prompt:
        """The conversation so far, with the model's answer and what is wrong with it."""
        ...
