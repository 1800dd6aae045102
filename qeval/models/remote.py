"""Every model behind an API, through litellm."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from qeval.errors import InputError, did_you_mean
from qeval.models.base import Generation, ModelError, Request, Usage
from qeval.models.calling import Gate, Retry, call_with_retries, gate, is_worth_retrying
from qeval.models.keys import Alternatives, alternatives, is_set, scrub, single_key, spoken
from qeval.models.prices import Price, price_of, table_entry

_MODES = ("chat", "completion", "json", "tool", "auto")
QUERY_SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "The query alone."}},
    "required": ["query"],
    "additionalProperties": False,
}


def _form(mode: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a model answer in a form; a provider that knows neither refuses the request."""
    if mode == "json":
        wanted = {"name": "answer", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    if mode != "tool":
        return {}
    described = "Hand in the query." if schema is QUERY_SCHEMA else "Hand in the answer."
    function = {"name": "answer", "description": described, "parameters": schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "answer"}},
    }


_CARRIES = {"json": "response_format", "tool": "tools"}
# What a model may refuse without the question becoming another one. Never the token limit. Without
# tool_choice the model may answer in words, in which the query is looked for as always.
_DISPENSABLE = ("temperature", "top_p", "seed", "tool_choice")
_REFUSED = (400, 422)  # statuses that say so
_NOT_SETTINGS = frozenset(
    {"messages", "prompt", "system", "contents", "input", "systemInstruction", "system_instruction"}
    | {"extra_headers", "headers", "api_key", "user"}
)


@dataclass(slots=True)
class RemoteModel:
    """A model by its litellm id (`provider/model`).

    `params` are the OpenAI-style parameters to send (temperature, max_tokens, seed,
    reasoning_effort …); what was really sent is in each `Generation.sent`, with `refused` naming
    what the model would not take. `timeout_s` seconds bound each wait for the provider's bytes,
    `retry` the whole of a call; `max_concurrent` calls run at once per process. `price` is US
    dollars per million tokens (`input`, `output`) where litellm's table does not know it; `window`
    the context in tokens. `answer_schema` is the JSON schema that the modes json and tool ask for
    (None: an object with the query); auto is json, and chat where the schema is known or turns out
    not to be taken. The key is read from the variables of `key_env`, see
    `qeval.models.keys`, and is part of no text, hash or file.
    """

    name: str
    id: str
    key_env: str | Sequence[str | Sequence[str]] | None
    base_url: str | None
    answer_mode: str
    params: Mapping[str, Any]
    extra_body: Mapping[str, Any]
    timeout_s: float
    max_concurrent: int
    retry: Mapping[str, Any]
    price: Mapping[str, float] | None = None
    window: int | None = None
    end_of_life: str | None = None
    notes: str = ""
    cache: bool = True
    answer_schema: Mapping[str, Any] | None = None
    _keys: Alternatives = field(init=False, repr=False)
    _refused: set[str] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.id:
            raise InputError(f"model={self.name} needs model.id=… (the name the server knows)")
        if self.answer_mode not in _MODES:
            raise InputError(
                f"model.answer_mode={self.answer_mode!r}: expected {', '.join(_MODES)}."
                + did_you_mean(self.answer_mode, _MODES)
            )
        try:
            Retry(**self.retry)
        except TypeError as error:
            raise InputError(f"model.retry: {error}") from None
        self._keys = alternatives(self.key_env)
        if self.base_url is not None:
            _check_url(self.base_url)

    def identity(self) -> dict[str, object]:
        """Model, server and everything that is sent apart from the prompt."""
        return {
            "adapter": "litellm",
            "id": self.id,
            "base_url": self.base_url,
            "answer_mode": self.answer_mode,
            "params": dict(self.params),
            "extra_body": dict(self.extra_body),
            **({} if self.answer_schema is None else {"answer_schema": self.answer_schema}),
        }

    def preflight(self) -> None:
        """Check key, URL and provider. Raises `InputError` naming the variable that is not set."""
        if not is_set(self._keys):
            raise InputError(
                f"model={self.name} ({self.id}) needs a key in the environment: set "
                f"{spoken(self._keys)}. The key is never written anywhere."
            )
        litellm = load_litellm()
        try:
            litellm.get_llm_provider(self.id, api_base=self.base_url)
        except Exception:  # noqa: BLE001
            provider = self.id.partition("/")[0]
            known = [str(getattr(name, "value", name)) for name in litellm.provider_list]
            raise InputError(
                f"model.id={self.id!r}: expected provider/model with a provider litellm knows."
                + did_you_mean(provider, known)
            ) from None
        carrier = _CARRIES.get(self.answer_mode)
        taken = litellm.get_supported_openai_params(model=self.id) if carrier else None
        if taken is not None and carrier not in taken:
            raise InputError(
                f"model={self.name} ({self.id}) has no answer_mode={self.answer_mode}; use chat"
            )

    def generate(self, request: Request) -> Generation:
        """Ask once, and again where that helps. Raises `ModelError` with every key blanked."""
        started = time.perf_counter()
        entrance = gate(f"{self.id} {self.base_url}", self.max_concurrent)
        try:
            return self._ask(request, entrance, started)
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001
            if _declined(error):
                # The provider declined this question, as a model would: an answer, no failure.
                return Generation("", finish_reason="content_filter", sent=dict(self.params))
            raise ModelError(self._spoken(error), retryable=is_worth_retrying(error)) from None

    def close(self) -> None:
        """End all waits between attempts of this model's calls."""
        gate(f"{self.id} {self.base_url}", self.max_concurrent).closed.set()

    def usd_per_mtok(self) -> Price | None:
        """The price, for planning; None where it is unknown."""
        return price_of(self.id, self.price, self.base_url)

    def _ask(self, request: Request, entrance: Gate, started: float) -> Generation:
        entrance.closed.clear()
        params = {**self.params, **_form(self._mode(), self.answer_schema or QUERY_SCHEMA)}
        optional = (*_DISPENSABLE, *(["response_format"] if self.answer_mode == "auto" else []))
        while True:
            refused = sorted(self._refused & params.keys())
            wanted = {name: value for name, value in params.items() if name not in refused}
            asked: list[dict[str, Any]] = []
            call = self._call(request, wanted, asked)
            try:
                response = call_with_retries(call, Retry(**self.retry), entrance)
            except Exception as error:
                refusal = _refusal(error, wanted, optional)
                if refusal is None:
                    raise
                if refusal == "max_tokens":
                    params["max_completion_tokens"] = params.pop("max_tokens")
                else:
                    self._refused.add(refusal)
                continue
            sent = asked[-1] if asked else wanted
            if refused:
                sent = {**sent, "refused": refused}
            return self._generation(response, sent, started)

    def _mode(self) -> str:
        """How it is asked: `auto` is decided by litellm's table, and tried where that is silent."""
        if self.answer_mode != "auto":
            return self.answer_mode
        entry = table_entry(self.id) if self.base_url is None else None
        return "chat" if entry and not entry.get("supports_response_schema") else "json"

    def _call(
        self, request: Request, wanted: Mapping[str, Any], asked: list[dict[str, Any]]
    ) -> Callable[[], Any]:
        litellm = load_litellm()
        options: dict[str, Any] = {
            "model": self.id,
            "timeout": self.timeout_s,
            "max_retries": 0,
            "drop_params": False,
            "logger_fn": lambda details: asked.extend(self._really_sent(details)),
            **wanted,
        }
        if self.base_url is not None:
            options["api_base"] = self.base_url
        key = single_key(self._keys)
        if key is not None and not self.id.startswith("bedrock/"):
            options["api_key"] = key
        elif not self._keys:
            options["api_key"] = "none"  # a server of one's own asks for no key, its client does
        if self.extra_body:
            options["extra_body"] = dict(self.extra_body)
        messages = [{"role": m.role, "content": m.content} for m in request.prompt.messages]
        if self.answer_mode != "completion":
            return lambda: _checked(litellm.completion(messages=messages, **options))
        prompt = "\n\n".join(message["content"] for message in messages)
        return lambda: _checked(litellm.text_completion(prompt=prompt, **options))

    def _really_sent(self, details: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The settings in the body that went out, if any; litellm also calls this after errors."""
        body = (details.get("additional_args") or {}).get("complete_input_dict") or {}
        if isinstance(body, str | bytes):
            body = json.loads(body)
        if not body:
            return []
        settings = {k: v for k, v in dict(body).items() if k not in _NOT_SETTINGS and v != {}}
        text = scrub(json.dumps(settings, default=str), self._keys)
        plain: dict[str, Any] = json.loads(text)
        return [plain]

    def _generation(self, response: Any, sent: Mapping[str, Any], started: float) -> Generation:
        choice = response.choices[0]
        message = getattr(choice, "message", None)
        text = choice.text if message is None else _said(message)
        usage = _usage(response)
        price = self.usd_per_mtok()
        cost = None
        if price is not None and price.source == "litellm":
            cost = self._billed(response)
        elif price is not None:
            cost = price.cost(usage.prompt_tokens, usage.completion_tokens)
        return Generation(
            text or "",
            finish_reason=str(choice.finish_reason or ""),
            reasoning=getattr(message, "reasoning_content", None) or None,
            usage=Usage(usage.prompt_tokens, usage.completion_tokens, cost),
            seconds=time.perf_counter() - started,
            served_by=str(getattr(response, "model", "") or ""),
            sent=sent,
        )

    def _billed(self, response: Any) -> float | None:
        """The sum by litellm, which knows cached and reasoning tokens; unknown rather than zero."""
        if _usage(response).prompt_tokens is None:
            return None
        try:
            cost = load_litellm().completion_cost(completion_response=response, model=self.id)
        except Exception:  # noqa: BLE001
            return None
        return float(cost) or None

    def _spoken(self, error: Exception) -> str:
        status = getattr(error, "status_code", None)
        text = re.sub(r"^(?:litellm\.)?(\w+Error: )(?:litellm\.)?\1?", r"\1", str(error))
        where = f" at {self.base_url}" if self.base_url else ""
        said = scrub(" ".join(text.split()), self._keys)[:500]
        if status == HTTPStatus.UNAUTHORIZED:
            said += f" (check {spoken(self._keys) or 'whether the server wants a key'})"
        return f"{self.name} ({self.id}){where}: {type(error).__name__}: {said}"


def _said(message: Any) -> str | None:
    """The arguments of a tool that was called (a JSON object), else text, else a refusal's."""
    calls = getattr(message, "tool_calls", None)
    if calls:
        return str(calls[0].function.arguments)
    text: str | None = message.content or getattr(message, "refusal", None)
    return text


_SECRET = re.compile(r"(key|token|secret|password|sig|signature|code)=", re.IGNORECASE)
"""Parameters of an address that hold a key somewhere: it would be in every journal and message."""


def _check_url(text: str) -> None:
    url = urlsplit(text)
    if url.username or url.password or _SECRET.search(url.query):
        raise InputError(
            "model.base_url must not hold a user name, password or key; put the key into an "
            "environment variable and name it: model.key_env=MY_KEY"
        )
    if url.scheme not in ("http", "https") or not url.hostname:
        raise InputError(f"model.base_url={text!r}: expected http://HOST:PORT/v1")


@cache
def load_litellm() -> ModuleType:
    """Import litellm, silent and offline: no telemetry, no fetching of tables, no printing."""
    import logging
    import os

    os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = False
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return litellm


def _checked(response: Any) -> Any:
    """Raise for an answer without choices here, where asking again is still possible."""
    if not response.choices:
        raise ValueError("the answer has no choices")
    return response


def _refusal(error: Exception, sent: Mapping[str, Any], optional: Sequence[str]) -> str | None:
    """The one of the sent parameters that the provider (or litellm's table) does not take."""
    if getattr(error, "status_code", None) not in _REFUSED:
        return None
    text = str(error)
    if "max_completion_tokens" in text and "max_tokens" in sent:
        return "max_tokens"
    named = (name for name in optional if name in sent and re.search(rf"\b{name}\b", text))
    return next(named, None)


def _declined(error: Exception) -> bool:
    """Whether the provider's content policy, not the request's form, was the reason."""
    return type(error).__name__ == "ContentPolicyViolationError" or (
        getattr(error, "status_code", None) == HTTPStatus.BAD_REQUEST
        and re.search(r"content_(?:policy_violation|filter)\b", str(error)) is not None
    )


def _usage(response: Any) -> Usage:
    """Token counts as the provider reported them; all zero means it reported none."""
    usage = getattr(response, "usage", None)
    asked = getattr(usage, "prompt_tokens", None)
    said = getattr(usage, "completion_tokens", None)
    return Usage(asked, said) if asked or said else Usage()


def compatible(*, id: str, base_url: str | None, **settings: Any) -> RemoteModel:  # noqa: A002
    """A model on any OpenAI-compatible server; `id` is the name it has there.

    Raises `InputError` where address or name are missing.
    """
    if base_url is None or not id:
        raise InputError(
            "model=openai_compatible needs model.base_url=http://HOST:PORT/v1 and model.id=NAME "
            "(the model's name on that server; GET base_url/models lists them)"
        )
    # Ollama's and vLLM's names hold slashes and colons; only this prefix is litellm's.
    return RemoteModel(id=f"openai/{id}", base_url=base_url, **settings)
