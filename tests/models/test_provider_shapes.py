"""What goes out to each provider, and what its own shapes of answers become; no network."""

import gc
import json
import threading
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from qeval.cells import build_cell, compose
from qeval.errors import InputError
from qeval.extraction import extract
from qeval.models.base import Generation
from tests.models.ask import model, request

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),  # pydantic's about litellm's own types
]
QUERY = {"query": "SELECT 1"}
TEXT = json.dumps(QUERY)
SQL = build_cell(compose(["model=gold"])).language


class Poser:
    """Answers every request with `answer`, and remembers what it was sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.answer: dict[str, Any] = {}
        poser = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: Any) -> None: ...

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                poser.sent.append((self.path, json.loads(body)))
                data = json.dumps(poser.answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def ask(self, name: str, mode: str, answer: dict[str, Any]) -> Generation:
        self.sent.clear()
        self.answer = answer
        path = "/v1" if ADAPTERS[name] is openai else ""
        words = [f"base_url={self.url}{path}", f"answer_mode={mode}", "retry.attempts=1"]
        words += ["id=m"] if name == "openai_compatible" else []
        found: Generation = model(name, *words).generate(request())
        return found


@pytest.fixture(scope="module")
def poser() -> Iterator[Poser]:
    server = Poser()
    thread = threading.Thread(target=server.http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()
    import litellm

    litellm.in_memory_llm_clients_cache.flush_cache()  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "DEEPSEEK", "DASHSCOPE"):
        monkeypatch.setenv(f"{name}_API_KEY", "not-a-key")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    monkeypatch.setenv("AWS_REGION_NAME", "us-east-1")


def openai(finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return {
        "id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
        "usage": usage,
    }  # fmt: skip


def openai_call(*arguments: str, finish: str = "tool_calls") -> dict[str, Any]:
    calls = [
        {"id": str(n), "type": "function", "function": {"name": "answer", "arguments": text}}
        for n, text in enumerate(arguments)
    ]
    return openai(finish, content=None, tool_calls=calls)


def anthropic(stop: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "x", "type": "message", "role": "assistant", "model": "m", "content": list(content),
        "stop_reason": stop, "usage": {"input_tokens": 9, "output_tokens": 3},
    }  # fmt: skip


def gemini(finish: str, *parts: dict[str, Any]) -> dict[str, Any]:
    content = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
    return {
        "candidates": [{**content, "finishReason": finish, "index": 0}], "usageMetadata": usage,
        "modelVersion": "m",
    }  # fmt: skip


def bedrock(stop: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": list(content)}}, "stopReason": stop,
        "usage": {"inputTokens": 9, "outputTokens": 3, "totalTokens": 12},
        "metrics": {"latencyMs": 1},
    }  # fmt: skip


ADAPTERS = {
    "gpt4o": openai, "gpt6_sol": openai, "deepseek_v4_pro": openai, "qwen3_8_max": openai,
    "openai_compatible": openai, "claude_opus_5_5": anthropic, "claude_haiku_5_5": anthropic,
    "gemini_4_argon": gemini, "llama4_maverick": bedrock, "claude2": bedrock,
}  # fmt: skip
HMM = {"type": "thinking", "thinking": "hmm", "signature": "s"}
TOOL_USE = {"type": "tool_use", "id": "t", "name": "answer", "input": QUERY}
CALL = {"functionCall": {"name": "answer", "args": QUERY}}


def _right(name: str, mode: str) -> dict[str, Any]:
    """A provider's answer with a right query in the form that was asked for."""
    said = "SELECT 1" if mode == "chat" else TEXT
    if ADAPTERS[name] is openai:
        return openai_call(TEXT) if mode == "tool" else openai(content=said)
    if ADAPTERS[name] is anthropic:
        if mode == "tool":
            return anthropic("tool_use", HMM, {"type": "text", "text": "Here."}, TOOL_USE)
        return anthropic("end_turn", HMM, {"type": "text", "text": said})
    if ADAPTERS[name] is gemini:
        thought = {"text": "hmm", "thought": True}
        return gemini("STOP", CALL) if mode == "tool" else gemini("STOP", thought, {"text": said})
    if mode == "chat":
        return bedrock("end_turn", {"text": said})
    tool = "answer" if mode == "tool" else "json_tool_call"
    return bedrock("tool_use", {"toolUse": {"toolUseId": "t", "name": tool, "input": QUERY}})


def _asks_for_form(name: str, mode: str, body: dict[str, Any]) -> bool:
    """Whether a request body asks for an answer in the form, in the provider's own words."""
    if ADAPTERS[name] is openai:
        if mode == "json":
            form = body.get("response_format", {})
            return form.get("type") == "json_schema" and form["json_schema"]["strict"] is True
        return bool(body.get("tools"))
    if ADAPTERS[name] is anthropic:
        return bool(body.get("output_format" if mode == "json" else "tools"))
    if ADAPTERS[name] is gemini:
        return "response_json_schema" in body["generationConfig"] or "tools" in body
    return "toolConfig" in body


@pytest.mark.parametrize("mode", ["chat", "json", "tool"])
@pytest.mark.parametrize("name", sorted(ADAPTERS))
def test_every_provider_is_asked_in_its_own_words(poser: Poser, name: str, mode: str) -> None:
    answer = poser.ask(name, mode, _right(name, mode))
    ((_, body),) = poser.sent
    assert _asks_for_form(name, mode, body) == (mode != "chat")
    assert "How many users are there" in json.dumps(body)
    assert extract(answer.text, SQL, answer.finish_reason).query == "SELECT 1"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (9, 3)
    assert "not-a-key" not in json.dumps(dict(answer.sent))
    assert "messages" not in answer.sent
    if ADAPTERS[name] is anthropic:
        assert answer.reasoning == "hmm"


@pytest.mark.parametrize("name", ["claude_opus_5_5", "llama4_maverick"])
def test_a_model_that_can_not_be_forced_to_call_is_left_to_choose(poser: Poser, name: str) -> None:
    answer = poser.ask(name, "tool", _right(name, "tool"))
    assert "tool_choice" in answer.sent["refused"]


@pytest.mark.parametrize("mode", ["json", "tool"])
def test_a_mode_that_a_model_lacks_is_refused_before_work(mode: str) -> None:
    with pytest.raises(InputError, match=rf"llama2_70b .* has no answer_mode={mode}; use chat"):
        model("llama2_70b", f"answer_mode={mode}").preflight()
    model("gpt4o", f"answer_mode={mode}").preflight()


REFUSED = [
    ("gpt4o", "chat", openai("content_filter", content="")),
    ("claude_opus_5_5", "chat", anthropic("refusal")),
    ("claude_opus_5_5", "chat", anthropic("refusal", {"type": "text", "text": "SELECT 1"})),
    ("gemini_4_argon", "chat", gemini("SAFETY")),
    ("gemini_4_argon", "chat", gemini("RECITATION")),
    (
        "gemini_4_argon",
        "chat",
        {
            "promptFeedback": {"blockReason": "SAFETY"},
            "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9},
            "modelVersion": "m",
        },
    ),
    ("llama4_maverick", "chat", bedrock("content_filtered")),
    ("llama4_maverick", "chat", bedrock("guardrail_intervened", {"text": "Sorry"})),
]
CUT = [
    ("gpt4o", "chat", openai("length", content="SELECT 1 FR")),
    ("gpt4o", "tool", openai_call('{"query": "SELECT 1 FR', finish="length")),
    ("gpt6_sol", "chat", openai("length", content="")),
    ("openai_compatible", "chat", openai("length", content="<think>SELECT 9 is")),
    ("claude_opus_5_5", "chat", anthropic("max_tokens", HMM)),
    (
        "claude_opus_5_5",
        "chat",
        anthropic("model_context_window_exceeded", {"type": "text", "text": "SEL"}),
    ),
    ("claude_haiku_5_5", "tool", anthropic("max_tokens", {**TOOL_USE, "input": {}})),
    ("gemini_4_argon", "chat", gemini("MAX_TOKENS")),
    ("gemini_4_argon", "chat", gemini("MAX_TOKENS", {"text": "hmm", "thought": True})),
    ("llama4_maverick", "chat", bedrock("max_tokens", {"text": "SEL"})),
]


@pytest.mark.parametrize(("name", "mode", "given"), REFUSED)
def test_a_refusal_is_told_from_an_answer(
    poser: Poser, name: str, mode: str, given: dict[str, Any]
) -> None:
    answer = poser.ask(name, mode, given)
    assert answer.finish_reason == "content_filter"
    found = extract(answer.text, SQL, answer.finish_reason)
    assert (found.query, found.rule) == (None, "filtered")


@pytest.mark.parametrize(("name", "mode", "given"), CUT)
def test_a_cut_answer_is_told_from_a_whole_one(
    poser: Poser, name: str, mode: str, given: dict[str, Any]
) -> None:
    answer = poser.ask(name, mode, given)
    assert answer.finish_reason == "length"
    found = extract(answer.text, SQL, answer.finish_reason)
    assert (found.query, found.rule) == (None, "truncated")


@pytest.mark.parametrize("mode", ["chat", "json"])
def test_a_refusal_in_a_field_of_its_own_is_kept(poser: Poser, mode: str) -> None:
    refusal = "I'm sorry, I can't help with that."
    answer = poser.ask("gpt4o", mode, openai(content=None, refusal=refusal))
    assert answer.text == refusal
    assert extract(answer.text, SQL, answer.finish_reason).rule == "refusal"


@pytest.mark.parametrize(
    "message",
    [
        {"content": "SELECT 1", "reasoning_content": "so SELECT 9"},
        {"content": "SELECT 1", "reasoning": "so SELECT 9"},
        {"content": "<think>so SELECT 9</think>SELECT 1"},
    ],
)
def test_reasoning_is_apart_from_the_answer(poser: Poser, message: dict[str, str]) -> None:
    answer = poser.ask("openai_compatible", "chat", openai(**message))
    assert (answer.text, answer.reasoning) == ("SELECT 1", "so SELECT 9")


def test_words_and_several_calls_are_understood(poser: Poser) -> None:
    words = poser.ask("gpt4o", "tool", openai(content="SELECT 2", tool_calls=[]))
    assert extract(words.text, SQL, words.finish_reason).query == "SELECT 2"
    calls = poser.ask("gpt4o", "tool", openai_call(TEXT, '{"query": "SELECT 2"}'))
    assert extract(calls.text, SQL, calls.finish_reason).query == "SELECT 1"
    malformed = poser.ask("gemini_4_argon", "tool", gemini("MALFORMED_FUNCTION_CALL"))
    assert extract(malformed.text, SQL, malformed.finish_reason).rule == "empty"
