"""The size of prompts: what they have in tokens, which part is the fattest, what is too much."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qeval.errors import InputError
from qeval.models.tokens import TokenCounter, answer_tokens_of, counter, window_of

if TYPE_CHECKING:
    from qeval.cells import Cell
    from qeval.prompts.base import Prompt

WARN_ABOVE = 2000
"""Tokens of a prompt above which people are told which part is the fattest."""

_ADVICE = {
    "schema": "prompt_strategy.schema=linked, or schema_form=short",
    "examples": "prompt_strategy.shots=…",
    "notes": "prompt_strategy.notes=false",
    "repair": "prompt_strategy.repair_rounds=…",
}


@dataclass(frozen=True, slots=True)
class PromptSize:
    """Tokens of a prompt as sent, and of its parts (without the chat format's own)."""

    tokens: int
    parts: Mapping[str, int]

    @property
    def fattest(self) -> str:
        """The name of the largest part."""
        return max(self.parts, key=lambda name: self.parts[name], default="question")


def measure(prompt: "Prompt", count: TokenCounter) -> PromptSize:
    """Count a prompt."""
    parts = {name: count.text(text) for name, text in prompt.parts.items()}
    return PromptSize(count.messages(prompt.messages), parts)


def warning(size: PromptSize, count: TokenCounter) -> str:
    """What to say of a prompt above 2,000 tokens; empty for a smaller one."""
    if size.tokens <= WARN_ABOVE:
        return ""
    part = size.fattest
    advice = f": {_ADVICE[part]} makes it smaller" if part in _ADVICE else ""
    return (
        f"{count.shown(size.tokens)} tokens, above {WARN_ABOVE:,}; the fattest part is the {part} "
        f"({count.shown(size.parts.get(part, 0))}){advice}"
    )


def check_window(cell: "Cell", case_id: str, prompt: "Prompt") -> None:
    """Raise `InputError` when a prompt and its answer exceed what the model can hold."""
    window = window_of(cell.model)
    if window is None:
        return
    room = window - (answer_tokens_of(cell.model) or 0)
    # No tokenizer makes more tokens than there are bytes; few need counting.
    if sum(len(m.content.encode()) + 8 for m in prompt.messages) <= room:
        return
    count = counter(cell.model)
    size = measure(prompt, count)
    if size.tokens > room:
        part = size.fattest
        raise InputError(
            f"{cell.name}: the prompt of case {case_id} has {count.shown(size.tokens)} tokens "
            f"({count.how}), but the window of {cell.model.name} ({window:,}) has room for {room:,}"
            f" beside the answer. The fattest part is the {part} "
            f"({count.shown(size.parts.get(part, 0))} tokens). "
            + (f"Try {_ADVICE[part]}" if part in _ADVICE else "Choose another model")
        )
