"""The litellm adapter against a real HTTP server that behaves as badly as real ones do."""

import gc
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from qeval.errors import InputError
from qeval.models.base import ModelError
from qeval.models.mock_server import MockServer, Rule, Script
from tests.models.ask import model, request

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
KEY = "sk-test-0123456789abcdef"
QUICK = ("retry.first_wait_s=0.01", "retry.longest_wait_s=0.02", "max_concurrent=4")


@pytest.fixture(scope="module", autouse=True)
def _clients_closed() -> Iterator[None]:
    """Keep litellm's forgotten sockets from failing whichever test the collector runs in."""
    yield
    import litellm

    litellm.in_memory_llm_clients_cache.flush_cache()  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def server() -> Iterator[MockServer]:
    with MockServer(Script()) as running:
        yield running


def served(server: MockServer, *rules: Rule, overrides: tuple[str, ...] = ()) -> Any:
    """The `openai_compatible` model on a server with these rules."""
    server.script = Script(rules=rules)
    return model("openai_compatible", f"base_url={server.url}", "id=tiny/model", *QUICK, *overrides)


def test_an_answer_comes_with_everything_that_is_known(server: MockServer) -> None:
    asked = served(server, Rule(answer="SELECT 1", reasoning="because"))
    answer = asked.generate(request(text="x" * 386))
    assert answer.text == "SELECT 1"
    assert answer.finish_reason == "stop"
    assert answer.reasoning == "because"
    assert answer.served_by == "mock"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (101, 2)
    assert answer.usage.cost_usd is None  # nobody knows this model's price
    assert answer.sent == {"model": "tiny/model", "temperature": 0, "max_tokens": 512}
    assert answer.seconds > 0
    sent = server.requests()[0]
    assert [m["role"] for m in sent["messages"]] == ["system", "user"]


def test_a_stated_price_makes_the_cost_known(server: MockServer) -> None:
    asked = served(server, Rule(answer="SELECT 1"), overrides=("price={input:10,output:50}",))
    answer = asked.generate(request(text="x" * 386))
    assert answer.usage.cost_usd == pytest.approx(101 * 10e-6 + 2 * 50e-6)


def test_tokens_that_were_not_reported_are_unknown(server: MockServer) -> None:
    asked = served(server, Rule(answer="a", usage=False), overrides=("price={input:1,output:1}",))
    usage = asked.generate(request()).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cost_usd) == (None, None, None)


def test_a_cut_off_answer_says_so(server: MockServer) -> None:
    asked = served(server, Rule(answer="SELECT", finish_reason="length"))
    assert asked.generate(request()).finish_reason == "length"


def test_rate_limits_are_waited_for_as_the_server_asks(server: MockServer) -> None:
    asked = served(server, Rule(status=429, retry_after=1, times=1), Rule(answer="late"))
    started = time.monotonic()
    assert asked.generate(request()).text == "late"
    assert time.monotonic() - started >= 1
    assert server.calls()["total"] == 2


@pytest.mark.parametrize(
    "bad",
    [
        Rule(status=500, times=2),
        Rule(status=503, message="overloaded", times=2),
        Rule(body="<html>gateway</html>", times=2),
        Rule(body='{"choices": []}', times=2),
        Rule(answer="half", cut=True, times=2),
    ],
    ids=["500", "503", "no JSON", "no choices", "cut connection"],
)
def test_what_passes_is_asked_again(server: MockServer, bad: Rule) -> None:
    asked = served(server, bad, Rule(answer="good"))
    assert asked.generate(request()).text == "good"
    assert server.calls()["total"] == 3


def test_asking_again_ends(server: MockServer) -> None:
    asked = served(server, Rule(status=500), overrides=("retry.attempts=3",))
    with pytest.raises(ModelError, match="500") as failed:
        asked.generate(request())
    assert failed.value.retryable
    assert server.calls()["total"] == 3


def test_a_wait_beyond_the_bound_is_not_begun(server: MockServer) -> None:
    asked = served(server, Rule(status=429, retry_after=3600, message="come back later"))
    with pytest.raises(ModelError, match="come back later") as failed:
        asked.generate(request())
    assert failed.value.retryable
    assert server.calls()["total"] == 1


def test_a_server_that_does_not_answer_is_a_time_out(server: MockServer) -> None:
    asked = served(
        server,
        Rule(latency_s=3, answer="slow"),
        overrides=("timeout_s=0.2", "retry.attempts=2"),
    )
    with pytest.raises(ModelError, match=r"(?i)time") as failed:
        asked.generate(request())
    assert failed.value.retryable
    assert server.calls()["total"] == 2


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "Incorrect API key"),
        (403, "not allowed"),
        (404, "no such model"),
        (400, "bad request"),
        (429, "insufficient_quota: you exceeded your current quota"),
    ],
)
def test_what_will_not_pass_is_asked_once(server: MockServer, status: int, message: str) -> None:
    asked = served(server, Rule(status=status, message=message))
    with pytest.raises(ModelError) as failed:
        asked.generate(request())
    assert not failed.value.retryable
    assert server.calls()["total"] == 1
    assert message.split(":", maxsplit=1)[0] in str(failed.value)


def test_no_error_text_holds_a_key(server: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVER_KEY", KEY)
    monkeypatch.setenv("OTHER_SECRET", "hunter2hunter2")
    echo = (
        f"Incorrect API key provided: {KEY}; Bearer {KEY}, hunter2hunter2, sk-proj-abcdefghijklmno"
    )
    asked = served(server, Rule(status=401, message=echo), overrides=("key_env=MY_SERVER_KEY",))
    asked.preflight()
    with pytest.raises(ModelError) as failed:
        asked.generate(request())
    for secret in (KEY, "hunter2", "sk-proj-abc"):
        assert secret not in str(failed.value)
    assert "MY_SERVER_KEY" in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__
    assert KEY not in repr(asked)
    assert KEY not in str(asked.identity())


def test_a_refused_temperature_is_left_out_and_recorded(server: MockServer) -> None:
    asked = served(server, Rule(refuse_params=("temperature",)), Rule(answer="SELECT 1"))
    first = asked.generate(request())
    assert first.text == "SELECT 1"
    assert first.sent == {"model": "tiny/model", "max_tokens": 512, "refused": ["temperature"]}
    assert server.calls()["total"] == 2
    second = asked.generate(request("easy-02"))
    assert second.sent["refused"] == ["temperature"]
    assert server.calls()["total"] == 3  # known by now: not tried again


def test_a_temperature_that_the_table_says_is_refused_is_never_sent(
    server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.script = Script(rules=(Rule(answer="SELECT 1"),))
    asked = model("gpt6_sol", f"base_url={server.url}", *QUICK)
    answer = asked.generate(request())
    assert answer.sent["refused"] == ["temperature"]
    assert "temperature" not in server.requests()[0]
    assert answer.usage.cost_usd is None  # another server than the vendor's: no known price


def test_a_priced_model_reports_its_cost(
    server: MockServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    server.script = Script(rules=(Rule(answer="SELECT 1"),))
    answer = model("gpt4", *QUICK).generate(request(text="x" * 386))
    assert answer.usage.cost_usd == pytest.approx(101 * 30e-6 + 2 * 60e-6)
    assert capsys.readouterr() == ("", "")


def test_a_completion_model_gets_one_text(server: MockServer) -> None:
    asked = served(server, Rule(answer="SELECT 1"), overrides=("answer_mode=completion",))
    assert asked.generate(request(text="How many?")).text == "SELECT 1"
    assert server.requests()[0]["prompt"] == "You write queries.\n\nHow many?"


def test_a_content_filter_is_an_answer_of_the_model(server: MockServer) -> None:
    message = "The response was filtered: content_policy_violation"
    asked = served(server, Rule(status=400, message=message))
    answer = asked.generate(request())
    assert (answer.text, answer.finish_reason) == ("", "content_filter")


def test_no_more_calls_at_once_than_allowed(server: MockServer) -> None:
    asked = served(
        server,
        Rule(answer="a", latency_s=0.05),
        overrides=("max_concurrent=2", "id=narrow"),
    )
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(asked.generate, [request(f"easy-{n}") for n in range(12)]))
    assert server.calls()["total"] == 12
    assert server.calls()["most_at_once"] == 2


def test_closing_ends_a_wait(server: MockServer) -> None:
    asked = served(
        server,
        Rule(status=500),
        overrides=("retry.first_wait_s=60", "retry.longest_wait_s=60", "id=closing"),
    )
    threading.Timer(0.5, asked.close).start()
    started = time.monotonic()
    with pytest.raises(ModelError):
        asked.generate(request())
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("gpt4", "OPENAI_API_KEY"),
        ("claude_opus_5_5", "ANTHROPIC_API_KEY"),
        ("gemini_4_argon", "GEMINI_API_KEY, or GOOGLE_API_KEY"),
        ("claude2", "AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY"),
        ("deepseek_v4_pro", "DEEPSEEK_API_KEY"),
        ("qwen3_8_max", "DASHSCOPE_API_KEY"),
    ],
)
def test_a_missing_key_names_its_variable(
    name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in variable.replace(",", " ").split():
        if part.isupper():
            monkeypatch.delenv(part, raising=False)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    with pytest.raises(InputError, match=variable):
        model(name).preflight()


def test_an_unknown_provider_is_found_before_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(InputError, match="Did you mean 'openai'"):
        model("gpt4", "id=opennai/gpt-4").preflight()


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("http://me:secret@host/v1", "must not hold a user name"),
        ("http://host/v1?api-version=1&api_key=secret", "must not hold a user name"),
        ("localhost:8000", "expected http://HOST:PORT/v1"),
    ],
)
def test_a_wrong_address_is_refused(url: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as failed:
        model("openai_compatible", f"base_url='{url}'", "id=x")
    assert "secret" not in str(failed.value)


def test_address_and_name_are_asked_for() -> None:
    with pytest.raises(InputError, match=r"model\.base_url=http"):
        model("openai_compatible")


def test_a_strange_answer_mode_is_explained() -> None:
    with pytest.raises(InputError, match="Did you mean 'chat'"):
        model("gpt4", "answer_mode=chatt")


def test_identity_changes_with_whatever_changes_answers() -> None:
    base = model("gpt4").identity()
    assert model("gpt4").identity() == base
    for override in (
        "params.temperature=1",
        "+params.seed=3",
        "id=openai/gpt-4o",
        "answer_mode=completion",
    ):
        word = override if override[0] != "+" else f"+model.{override[1:]}"
        assert model("gpt4", word).identity() != base
    assert model("gpt4", "timeout_s=5", "max_concurrent=1").identity() == base
