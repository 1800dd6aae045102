"""Answers as a JSON schema or a tool call come out as text that holds the query."""

import gc
import json
import warnings
from collections.abc import Iterator

import pytest

from qeval.cells import build_cell, compose
from qeval.errors import InputError
from qeval.extraction import extract
from qeval.models.mock_server import MockServer, Rule, Script
from tests.models.ask import model, request

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture(scope="module", autouse=True)
def _clients_closed() -> Iterator[None]:
    """Keep litellm's forgotten sockets from failing whichever test the collector runs in."""
    yield
    import litellm

    litellm.in_memory_llm_clients_cache.flush_cache()  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def tool_call(arguments: str) -> str:
    function = {"name": "answer", "arguments": arguments}
    call = {"id": "1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return json.dumps(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "mock",
            "choices": [choice],
            "usage": usage,
        }
    )


@pytest.mark.parametrize("mode", ["json", "tool"])
def test_a_query_in_a_form_is_extracted(mode: str) -> None:
    arguments = json.dumps({"query": 'SELECT "a" FROM t'})
    rule = Rule(body=tool_call(arguments)) if mode == "tool" else Rule(answer=arguments)
    with MockServer(Script(rules=(rule,))) as server:
        asked = model("openai_compatible", f"base_url={server.url}", "id=m", f"answer_mode={mode}")
        answer = asked.generate(request())
        (sent,) = server.requests()
    assert ("tools" in sent) == (mode == "tool")
    assert ("response_format" in sent) == (mode == "json")
    cell = build_cell(compose(["model=gold"]))
    found = extract(answer.text, cell.language, answer.finish_reason)
    assert found.query == 'SELECT "a" FROM t'


def test_another_mode_is_explained() -> None:
    with pytest.raises(InputError, match="Did you mean 'tool'"):
        model("gpt4", "answer_mode=tol")
