"""A scripted server that speaks the OpenAI protocol: for trying things out and for tests.

It answers `/v1/models`, `/v1/chat/completions` and `/v1/completions` by rules, may fail in every
way that a real one does, and counts calls (`GET /calls`): whether something was asked twice can be
seen.
"""

import hashlib
import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from qeval.errors import InputError, did_you_mean

_LARGEST_BODY = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Rule:
    """What to do with requests whose prompt matches the regular expression `match`.

    `times`: for the first so many matching calls only (None: all). `status` other than 200 answers
    an error (`message` in it; `retry_after` as that header, seconds or a date). `latency_s` is
    slept first. `answer`, `reasoning`, `finish_reason`, `usage` (False: none reported) make the
    answer. `body` is sent as it is instead of JSON; `cut` drops the connection in the middle of the
    answer; `refuse_params` answers 400 to requests that carry one of these parameters.
    """

    match: str = ""
    times: int | None = None
    status: int = HTTPStatus.OK
    message: str = ""
    retry_after: str | float | None = None
    latency_s: float = 0.0
    answer: str | None = None
    reasoning: str | None = None
    finish_reason: str = "stop"
    usage: bool = True
    body: str | None = None
    cut: bool = False
    refuse_params: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """The rules, first match wins; where none does, the gold of the question found in the prompt.

    `right_share` (0…1, drawn by hash of `seed` and question) of the questions get their gold, the
    others `wrong`. `golds` are by question text, then by language; `latency_s` is slept per call.
    """

    rules: tuple[Rule, ...] = ()
    right_share: float = 1.0
    seed: int = 0
    model: str = "mock"
    latency_s: float = 0.0
    golds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)


def read_script(path: Path) -> dict[str, Any]:
    """The keywords of `Script` from a YAML or JSON file (golds apart). Raises `InputError`."""
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"mock-server script: {error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not YAML or JSON: {error}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: expected a mapping with rules, right_share, seed …")
    known = {f.name for f in fields(Script)} - {"golds"}
    _only(known, values, str(path))
    rules = values.pop("rules", None) or []
    return {**values, "rules": tuple(_rule(path, n, rule) for n, rule in enumerate(rules, 1))}


def _rule(path: Path, number: int, values: Any) -> Rule:
    where = f"{path}: rule {number}"
    if not isinstance(values, dict):
        raise InputError(f"{where}: expected a mapping (match, answer, status …)")
    _only({f.name for f in fields(Rule)}, values, where)
    try:
        re.compile(values.get("match", ""))
    except re.error as error:
        raise InputError(f"{where}: match is not a regular expression: {error}") from None
    return Rule(**{**values, "refuse_params": tuple(values.get("refuse_params", ()))})


def _only(known: set[str], values: Mapping[str, Any], where: str) -> None:
    for key in values:
        if key not in known:
            raise InputError(
                f"{where}: unknown key {key!r}.{did_you_mean(str(key), known)} It may have: "
                + ", ".join(sorted(known))
            )


class MockServer:
    """A running server on the loopback interface (by default); a context manager.

    `url` is the base URL to give to a client (`http://127.0.0.1:PORT/v1`).
    """

    def __init__(self, script: Script, host: str = "127.0.0.1", port: int = 0) -> None:
        self.script = script
        self._lock = threading.Lock()
        self._used: dict[int, int] = {}
        self._prompts: dict[str, int] = {}
        self._requests: list[dict[str, Any]] = []
        self._running = 0
        self._most = 0
        handler = type("Handler", (_Handler,), {"mock": self})
        try:
            self._http = ThreadingHTTPServer((host, port), handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "expected 0 to 65535"
            raise InputError(
                f"mock-server can't listen on {host}:{port}: {reason}. Choose another "
                "port, or --port 0 for a free one"
            ) from None
        self._http.daemon_threads = True
        self.url = f"http://{host}:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def serve(self) -> None:
        """Answer until stopped."""
        self._http.serve_forever(poll_interval=0.05)

    def calls(self) -> dict[str, Any]:
        """How often it was asked: `total`, `by_prompt` (digest → count), `most_at_once`."""
        with self._lock:
            return {
                "total": sum(self._prompts.values()),
                "by_prompt": dict(self._prompts),
                "most_at_once": self._most,
            }

    def requests(self) -> list[dict[str, Any]]:
        """The bodies of all generation requests so far, oldest first."""
        with self._lock:
            return list(self._requests)

    def forget(self) -> None:
        """Set all counts to zero."""
        with self._lock:
            self._prompts.clear()
            self._requests.clear()
            self._used.clear()
            self._most = 0

    def enter(self, prompt: str, body: dict[str, Any]) -> Rule:
        """Count a call and choose its rule."""
        digest = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:16]
        with self._lock:
            self._prompts[digest] = self._prompts.get(digest, 0) + 1
            self._requests.append(body)
            self._running += 1
            self._most = max(self._most, self._running)
            for number, rule in enumerate(self.script.rules):
                used = self._used.get(number, 0)
                fits = re.search(rule.match, prompt, re.DOTALL)
                refused = not rule.refuse_params or any(p in body for p in rule.refuse_params)
                if fits and refused and (rule.times is None or used < rule.times):
                    self._used[number] = used + 1
                    return rule
        return Rule()

    def leave(self) -> None:
        """A call has been answered."""
        with self._lock:
            self._running -= 1

    def answer(self, prompt: str) -> str:
        """The gold of the question in the prompt, a wrong query, or a refusal."""
        asked = max((q for q in self.script.golds if q in prompt), key=len, default=None)
        if asked is None:
            return "I'm sorry, I can't answer that."
        golds = self.script.golds[asked]
        language = next((name for name in golds if f"```{name}" in prompt), next(iter(golds)))
        mark = hashlib.sha256(f"{self.script.seed}/{asked}/{language}".encode()).digest()[:8]
        right = int.from_bytes(mark) / 2**64 < self.script.right_share
        query = golds[language] if right else self.script.wrong.get(language, "none (")
        return f"```{language}\n{query}\n```"


class _Handler(BaseHTTPRequestHandler):
    mock: MockServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing: the terminal belongs to the user."""

    def do_GET(self) -> None:
        if self.path == "/calls":
            self._send(HTTPStatus.OK, self.mock.calls())
        elif self.path.rstrip("/") == "/v1/models":
            entry = {"id": self.mock.script.model, "object": "model", "owned_by": "qeval"}
            self._send(HTTPStatus.OK, {"object": "list", "data": [entry]})
        else:
            self._send(HTTPStatus.NOT_FOUND, {"error": {"message": f"nothing at {self.path}"}})

    def do_DELETE(self) -> None:
        if self.path == "/calls":
            self.mock.forget()
        self._send(HTTPStatus.OK, self.mock.calls())

    def do_POST(self) -> None:
        size = min(int(self.headers.get("Content-Length") or 0), _LARGEST_BODY)
        raw = self.rfile.read(size)
        chat = self.path.endswith("/chat/completions")
        if not (chat or self.path.endswith("/completions")):
            self._send(HTTPStatus.NOT_FOUND, {"error": {"message": f"nothing at {self.path}"}})
            return
        try:
            body = json.loads(raw)
            prompt = _prompt(body)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            self._send(HTTPStatus.BAD_REQUEST, {"error": {"message": f"not a request: {error}"}})
            return
        if body.get("stream"):
            self._send(
                HTTPStatus.BAD_REQUEST, {"error": {"message": "the mock server does not stream"}}
            )
            return
        rule = self.mock.enter(prompt, body)
        try:
            self._respond(rule, prompt, body, chat=chat)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client gave up waiting
        finally:
            self.mock.leave()

    def _respond(self, rule: Rule, prompt: str, body: dict[str, Any], *, chat: bool) -> None:
        time.sleep(rule.latency_s or self.mock.script.latency_s)
        refused = next((p for p in rule.refuse_params if p in body), None)
        if refused is not None:
            message = f"Unsupported value: '{refused}' does not support {body[refused]} here."
            error = {"message": message, "type": "invalid_request_error", "param": refused}
            self._send(HTTPStatus.BAD_REQUEST, {"error": error})
        elif rule.status != HTTPStatus.OK:
            error = {"message": rule.message or f"scripted {rule.status}", "type": "scripted"}
            self._send(rule.status, {"error": error}, rule.retry_after)
        elif rule.body is not None:
            self._send_text(HTTPStatus.OK, rule.body)
        else:
            answer = rule.answer if rule.answer is not None else self.mock.answer(prompt)
            text = json.dumps(_completion(self.mock.script.model, rule, prompt, answer, chat=chat))
            self._send_text(HTTPStatus.OK, text, cut=rule.cut)

    def _send(self, status: int, value: Any, retry_after: str | float | None = None) -> None:
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        self._send_text(status, json.dumps(value), headers=headers)

    def _send_text(
        self, status: int, text: str, *, headers: Mapping[str, str] | None = None, cut: bool = False
    ) -> None:
        data = text.encode("utf-8", "surrogatepass")
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            self.close_connection = True


def _prompt(body: Mapping[str, Any]) -> str:
    if "messages" in body:
        return "\n\n".join(_text(message["content"]) for message in body["messages"])
    prompt = body["prompt"]
    return _text(prompt[0] if isinstance(prompt, list) else prompt)


def _text(content: str | Sequence[Mapping[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content)


def _completion(model: str, rule: Rule, prompt: str, answer: str, *, chat: bool) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "finish_reason": rule.finish_reason}
    if chat:
        message = {"role": "assistant", "content": answer}
        if rule.reasoning is not None:
            message["reasoning_content"] = rule.reasoning
        choice["message"] = message
    else:
        choice["text"] = answer
    completion: dict[str, Any] = {
        "id": "cmpl-mock",
        "object": "chat.completion" if chat else "text_completion",
        "created": int(time.time()),
        "model": model,
        "choices": [choice],
    }
    if rule.usage:
        # Four characters a token: good enough for a server that means nothing.
        asked, said = len(prompt) // 4, len(answer) // 4
        completion["usage"] = {
            "prompt_tokens": asked,
            "completion_tokens": said,
            "total_tokens": asked + said,
        }
    return completion
