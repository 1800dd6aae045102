"""A cap on money holds with many calls in flight, and tokens are counted by the right tokenizer."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.models.budget import Budget, BudgetReachedError, price_per_call
from qeval.models.tokens import answer_tokens_of, counter, window_of
from qeval.prompts.base import Message
from tests.models.ask import model


@given(
    st.lists(st.tuples(st.floats(0.001, 1), st.floats(0, 1)), min_size=1, max_size=30),
    st.floats(0, 5),
)
def test_no_order_of_calls_spends_more_than_the_limit(
    calls: list[tuple[float, float]], limit: float
) -> None:
    budget = Budget(limit)

    def pay(call: tuple[float, float]) -> bool:
        bound, part = call
        try:
            number = budget.reserve(bound)
        except BudgetReachedError:
            return False
        budget.settle(number, bound * part)
        return True

    with ThreadPoolExecutor(4) as pool:
        paid = list(pool.map(pay, calls))
    assert budget.spent_usd <= limit + 1e-6
    if sum(bound for bound, _ in calls) <= limit:
        assert all(paid)


def test_a_call_waits_for_those_that_may_turn_out_cheaper() -> None:
    budget = Budget(1.0)
    first = budget.reserve(0.9)
    got_through = threading.Event()

    def second() -> None:
        budget.reserve(0.9)
        got_through.set()

    waiting = threading.Thread(target=second)
    waiting.start()
    assert not got_through.wait(0.05)
    budget.settle(first, 0.05)
    assert got_through.wait(5)
    waiting.join()


def test_what_was_spent_before_counts() -> None:
    with pytest.raises(BudgetReachedError):
        Budget(1.0, spent_usd=0.95).reserve(0.1)


def test_prices_are_known_free_or_unknown() -> None:
    assert price_per_call(model("gold")) == 0.0
    assert price_per_call(model("mock", "usd_per_call=0.5")) == 0.5
    assert price_per_call(model("gpt4"), 1000) == pytest.approx(0.03 + 512 * 0.06 / 1000)
    stated = model("openai_compatible", "base_url=http://x/v1", "id=y")
    assert price_per_call(stated, 1000) is None


def test_openais_tokenizers_are_exact_and_others_stand_in() -> None:
    hello = [Message("user", "hello world")]
    exact = counter(model("gpt4"))
    assert (exact.exact, exact.how) == (True, "cl100k_base")
    assert exact.messages(hello) == 2 + 4 + 3
    assert counter(model("gpt4o")).how == "o200k_base"
    other = counter(model("claude2"))
    assert not other.exact
    assert other.shown(1234) == "about 1,234"


def test_windows_and_answers_come_from_yaml_or_table() -> None:
    assert window_of(model("gpt4")) == 8192
    assert window_of(model("gpt4o")) == 128_000
    assert window_of(model("gold")) is None
    assert answer_tokens_of(model("gpt4")) == 512
