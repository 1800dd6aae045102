"""A rendered prompt and who renders it."""

import hashlib
import json
from dataclasses import dataclass
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
    """What is sent for one case. `template_hash` names the template files it was made from."""

    messages: tuple[Message, ...]
    template_hash: str
    examples: tuple[str, ...] = ()  # ids of the few-shot examples it shows

    @property
    def digest(self) -> str:
        """SHA-256 of the messages: the same prompt has the same digest on every machine."""
        text = json.dumps([[m.role, m.content] for m in self.messages], ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


@runtime_checkable
class PromptStrategy(Protocol):
    """Built by Hydra from `conf/prompt_strategy/<name>.yaml`."""

    name: str

    def render(self, case: Case, suite: Suite, language: Language) -> Prompt:
        """The prompt of one case; never looks at the case's gold."""
        ...

    def identity(self) -> dict[str, object]:
        """What can change a prompt's text: settings and the hashes of the templates."""
        ...
