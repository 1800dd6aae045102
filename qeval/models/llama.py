"""llama.cpp inside this process: one model file, one slot, the same bytes out for the same in.

Greedy decoding is only repeatable when a prompt is always computed in the same pieces, because
sums of floats depend on how a batch is cut. So a prompt has two pieces, decided by the prompt
alone: the prefix (all turns before the last one's text) and the rest. The state after a prefix is
saved to a file once and restored before every question, which is what makes it quick as well.
"""

import atexit
import json
import os
import secrets
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from qeval.errors import InputError
from qeval.models.base import ModelError
from qeval.paths import cache_dir
from qeval.prompts.base import Message

_MIN_PREFIX = 32  # tokens; computing fewer is quicker than restoring them


@dataclass(frozen=True, slots=True)
class LlamaSettings:
    """What a server is started with: model file, window in tokens, threads, states kept."""

    gguf: Path
    context: int
    threads: int
    saved_prefixes: int
    timeout_s: float
    spin_count: int


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished answer; `prefix` counts the prompt tokens that came from a saved state.

    `seconds` is the time it took, without waiting for a turn.
    """

    text: str
    truncated: bool
    prompt_tokens: int
    completion_tokens: int
    prefix: int
    seconds: float


def load_library(spin_count: int) -> Any:
    """Import `xllamacpp`. Raises `InputError` saying what this machine lacks.

    `spin_count` bounds how long OpenMP's threads spin at a barrier. Without a bound they starve
    each other on busy cores (0.4 tokens/s). Measured on two cores, tokens/s idle and with four
    other busy processes: 0: 26 and 40, 1,000: 117 and 19-99, 10,000: 107 and 8-17.
    """
    # The library reads the variable once, when it is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", str(spin_count))
    try:
        import xllamacpp
    except ImportError as error:
        if "libgomp" in str(error):
            raise InputError(
                "the local model needs the GNU OpenMP library (libgomp.so.1), which this machine "
                "lacks. Install it (Debian, Ubuntu: apt-get install libgomp1; Fedora: dnf install "
                "libgomp), or choose another model, e.g. model=gold"
            ) from None
        raise InputError(
            f"the local model needs the package xllamacpp, which can't be loaded: {error}. "
            "Install it (pip install xllamacpp), or choose another model, e.g. model=gold"
        ) from None
    return xllamacpp


class LlamaServer:
    """A running llama.cpp. All methods may be called from many threads; they take turns."""

    def __init__(self, settings: LlamaSettings) -> None:
        self._settings = settings
        self._states = _states_folder()
        self._saved: OrderedDict[tuple[int, ...], str] = OrderedDict()
        self._prefixes: dict[str, list[int]] = {}
        self._lock = threading.Lock()
        self._connection: HTTPConnection | None = None
        self._token = secrets.token_hex()
        self._server: Any = self._start(load_library(settings.spin_count))
        self._address = str(self._server.listening_address).rpartition("/")[2]

    def _start(self, library: Any) -> Any:
        with self._settings.gguf.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise InputError(f"{self._settings.gguf} is not a GGUF model file")
        params = library.CommonParams()
        params.model.path = str(self._settings.gguf)
        params.n_ctx = self._settings.context
        params.n_parallel = 1
        params.cpuparams.n_threads = self._settings.threads
        params.cpuparams_batch.n_threads = self._settings.threads
        params.flash_attn_type = library.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.slot_save_path = f"{self._states}/"
        params.api_keys = [self._token]
        params.verbosity = -1  # it would write over the progress display
        params.cache_ram_mib = 0  # its own prompt cache cuts prompts where it likes
        params.cache_idle_slots = False
        params.ctx_shift = False  # shifting would drop the start of a long prompt silently
        params.fit_params = False
        params.warmup = False
        params.offline = True
        params.ui = False
        try:
            return library.Server(params)
        except Exception as error:
            raise InputError(f"llama.cpp can't load {self._settings.gguf}: {error}") from error

    def complete(self, messages: Sequence[Message], options: dict[str, Any]) -> Completion:
        """Answer a chat. `options` are llama.cpp's own (`n_predict`, `temperature`, `stop` …).

        Raises `ModelError` when prompt and answer don't fit the window, or nothing comes in time.
        """
        with self._lock:
            started = time.perf_counter()
            text = self._render(messages)
            tokens = self._tokenize(text)
            room = self._settings.context - options["n_predict"]
            if len(tokens) > room:
                raise ModelError(
                    f"the prompt has {len(tokens)} tokens; with {options['n_predict']} for the "
                    f"answer the local model's window of {self._settings.context} holds {room}. "
                    "Ask with a shorter prompt (fewer examples, no schema)",
                    retryable=False,
                )
            prefix = self._prepare(text, messages[-1].content, tokens)
            answer = self._post("/completion", {"prompt": tokens, "id_slot": 0, **options})
            seconds = time.perf_counter() - started
        return Completion(
            text=answer["content"],
            truncated=answer["stop_type"] == "limit",
            prompt_tokens=len(tokens),
            completion_tokens=answer["tokens_predicted"],
            prefix=prefix,
            seconds=seconds,
        )

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """The length of a prompt in the model's own tokens, chat template included."""
        with self._lock:
            return len(self._tokenize(self._render(messages)))

    def close(self) -> None:
        """Stop the server and remove its saved states. Safe to call twice."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._server = None
            shutil.rmtree(self._states, ignore_errors=True)

    def _render(self, messages: Sequence[Message]) -> str:
        turns = [{"role": m.role, "content": m.content} for m in messages]
        return str(self._post("/apply-template", {"messages": turns})["prompt"])

    def _tokenize(self, text: str) -> list[int]:
        body = {"content": text, "add_special": True, "parse_special": True}
        return list(self._post("/tokenize", body)["tokens"])

    def _prepare(self, text: str, last: str, tokens: list[int]) -> int:
        """Put the slot into the state after the prompt's prefix; returns the prefix's length."""
        start = text.rfind(last.strip())
        before = text[: max(start, 0)]
        if before not in self._prefixes:
            if len(self._prefixes) > self._settings.saved_prefixes:
                self._prefixes.clear()
            self._prefixes[before] = self._tokenize(before)
        length = 0
        for mine, whole in zip(self._prefixes[before], tokens, strict=False):
            if mine != whole:
                break
            length += 1
        length = min(length, len(tokens) - 1)
        if length < _MIN_PREFIX:
            self._post("/slots/0?action=erase", {})
            return 0
        self._restore(tuple(tokens[:length]))
        return length

    def _restore(self, prefix: tuple[int, ...]) -> None:
        name = self._saved.get(prefix)
        if name is not None:
            self._saved.move_to_end(prefix)
            self._post("/slots/0?action=restore", {"filename": name})
            return
        body = {"prompt": list(prefix), "id_slot": 0, "n_predict": 0, "cache_prompt": False}
        self._post("/completion", body)
        if len(self._saved) >= self._settings.saved_prefixes:
            _, oldest = self._saved.popitem(last=False)
            (self._states / oldest).unlink(missing_ok=True)
        name = f"{secrets.token_hex(8)}.state"
        # A full disk costs time (the prefix is computed again), not answers.
        with suppress(ModelError):
            self._post("/slots/0?action=save", {"filename": name})
            self._saved[prefix] = name

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if self._server is None:
            raise ModelError("the local model was closed")
        try:
            kept = self._connection is not None
            try:
                status, answer = self._exchange(path, body)
            except ConnectionError:
                # The server closes a connection that was idle for some seconds: that is no failure.
                if not kept:
                    raise
                self._hang_up()
                status, answer = self._exchange(path, body)
        except (OSError, HTTPException, ValueError) as error:
            self._hang_up()
            raise ModelError(
                f"the local model gave no answer within {self._settings.timeout_s:g} s "
                f"({type(error).__name__}: {error})"
            ) from None
        if status >= HTTPStatus.BAD_REQUEST:
            message = answer.get("error", {}).get("message", answer)
            raise ModelError(f"the local model refused {path}: {message}", retryable=False)
        return answer

    def _exchange(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if self._connection is None:
            self._connection = HTTPConnection(self._address, timeout=self._settings.timeout_s)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._token}"}
        self._connection.request("POST", path, json.dumps(body), headers)
        response = self._connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read())
        return response.status, answer

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def _states_folder() -> Path:
    """A folder for this process's saved states; those of processes that were killed go."""
    root = cache_dir("models", "states")
    for folder in root.iterdir():
        owner = folder.name.partition("-")[0]
        if owner.isdigit() and not _alive(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
    folder = root / f"{os.getpid()}-{secrets.token_hex(4)}"
    folder.mkdir()
    return folder


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


_running: dict[tuple[int, LlamaSettings], LlamaServer] = {}
_users: dict[tuple[int, LlamaSettings], set[int]] = {}
_registry = threading.Lock()


def acquire(settings: LlamaSettings, user: int) -> LlamaServer:
    """The process's server for these settings, started by the first of its users.

    `user` identifies who must `release` it. Keyed by process, because a fork has no server.
    """
    key = (os.getpid(), settings)
    with _registry:
        if key not in _running:
            _running[key] = LlamaServer(settings)
            _users[key] = set()
        _users[key].add(user)
        return _running[key]


def release(settings: LlamaSettings, user: int) -> None:
    """Give the server back; the last user stops it."""
    key = (os.getpid(), settings)
    with _registry:
        _users.get(key, set()).discard(user)
        if key in _running and not _users[key]:
            _running.pop(key).close()


@atexit.register
def _stop_all() -> None:
    for (pid, _), server in list(_running.items()):
        if pid == os.getpid():
            server.close()
