"""How many tokens a prompt has: by the model's own tokenizer where it is known, else estimated."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from qeval.models.base import Model
from qeval.models.prices import table_entry
from qeval.prompts.base import Message

_TURN = 4  # tokens that OpenAI's chat format adds to a message
_CHAT = 3  # ... and to a conversation
_FALLBACK = "cl100k_base"


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts tokens of chats and of bare texts. `how` names the tokenizer.

    `exact` is False where another model's tokenizer stands in: then a count is an estimate.
    """

    how: str
    exact: bool
    messages: Callable[[Sequence[Message]], int]
    text: Callable[[str], int]

    def shown(self, tokens: int) -> str:
        """A count for people: an estimate is marked as one."""
        return f"{tokens:,}" if self.exact else f"about {tokens:,}"


def counter(model: Model) -> TokenCounter:
    """The counter for a model. Nothing is downloaded and no model is asked."""
    ready = getattr(model, "ready_tokenizer", None)
    if ready is not None and ready():
        return _own(model)
    model_id = str(getattr(model, "id", "") or "")
    provider, _, name = model_id.partition("/")
    if provider == "openai" and getattr(model, "base_url", None) is None:
        encoding = _encoding_of(name)
        if encoding is not None:
            return _by_tiktoken(encoding, exact=True)
    return _by_tiktoken(_FALLBACK, exact=False)


def window_of(model: Model) -> int | None:
    """Tokens of prompt and answer together that a model can hold; None: unknown."""
    stated = getattr(model, "window", None)
    if stated is not None:
        return int(stated)
    entry = table_entry(str(getattr(model, "id", "") or ""))
    if getattr(model, "base_url", None) is not None or entry is None:
        return None
    known = entry.get("max_input_tokens") or entry.get("max_tokens")
    return int(known) if isinstance(known, int | float) else None


def answer_tokens_of(model: Model) -> int | None:
    """Tokens of an answer at most; None: unknown."""
    stated = getattr(model, "max_tokens", None)
    params = getattr(model, "params", None) or {}
    for value in (stated, params.get("max_tokens"), params.get("max_completion_tokens")):
        if value is not None:
            return int(value)
    return None


def _own(model: Model) -> TokenCounter:
    count = getattr(model, "count_tokens", None)
    assert count is not None  # it has `ready_tokenizer`, which makes this one ready
    empty = int(count([Message("user", "x")])) - 1
    return TokenCounter(
        how=f"{model.name}'s own tokenizer",
        exact=True,
        messages=lambda messages: int(count(messages)),
        text=lambda text: int(count([Message("user", text)])) - empty,
    )


def _by_tiktoken(encoding: str, *, exact: bool) -> TokenCounter:
    count = _counting(encoding)
    return TokenCounter(
        how=encoding if exact else f"{encoding}, not the model's own",
        exact=exact,
        messages=lambda messages: _CHAT + sum(_TURN + count(m.content) for m in messages),
        text=count,
    )


@lru_cache(maxsize=8)
def _counting(name: str) -> Callable[[str], int]:
    """Counting with one of tiktoken's encodings; texts that come again are counted once."""
    tiktoken = _tiktoken()
    encoding = tiktoken.get_encoding(name)

    @lru_cache(maxsize=4096)
    def count(text: str) -> int:
        return len(encoding.encode(text, disallowed_special=()))

    return count


def _encoding_of(name: str) -> str | None:
    try:
        return str(_tiktoken().encoding_name_for_model(name))
    except KeyError:
        return None


@lru_cache(maxsize=1)
def _tiktoken() -> Any:
    """The library with the encodings that litellm carries, so that nothing is downloaded."""
    spec = find_spec("litellm")
    if spec is not None and spec.origin is not None:
        carried = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
        if carried.is_dir():
            os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(carried))
    import tiktoken

    return tiktoken
