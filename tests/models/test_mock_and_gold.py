"""The models that need nothing: gold, and the scripted one."""

from collections import Counter
from dataclasses import replace

import pytest

from qeval.errors import InputError
from qeval.models.base import Model, ModelError
from qeval.models.recorded import RecordedModel
from qeval.record import Record, Round
from qeval.scoring.verdict import Verdict
from tests.models.ask import GOLD, model, request


def test_gold_answers_the_gold_of_the_language() -> None:
    answer = model("gold").generate(request(language="cypher"))
    assert (answer.text, answer.is_query, answer.usage.cost_usd) == (GOLD["cypher"], True, 0.0)
    with pytest.raises(ModelError, match="no typeql gold"):
        model("gold").generate(request(language="typeql"))


def test_every_adapter_is_a_model() -> None:
    assert all(isinstance(model(name), Model) for name in ("gold", "mock", "smollm2", "gpt4"))


def test_the_mix_is_the_same_everywhere_and_near_its_shares() -> None:
    def kinds(seed: int) -> list[str]:
        asked = model("mock", f"seed={seed}", "style=bare")
        return [asked.generate(request(f"c{n}")).text for n in range(1000)]

    assert kinds(1) == kinds(1)
    assert kinds(1) != kinds(2)
    counts = Counter(kinds(1))
    assert counts[GOLD["sql"]] / 1000 == pytest.approx(0.55, abs=0.05)
    assert counts["SELECT -1 AS wrong"] / 1000 == pytest.approx(0.2, abs=0.05)


def test_repeats_of_the_mix_differ() -> None:
    asked = model("mock", "style=bare")
    texts = {asked.generate(request(repeat=n)).text for n in range(30)}
    assert len(texts) > 1


@pytest.mark.parametrize(
    ("mode", "style", "text", "is_query", "finish"),
    [
        ("gold", "query", GOLD["sql"], True, "stop"),
        ("gold", "bare", GOLD["sql"], False, "stop"),
        ("gold", "fenced", f"```sql\n{GOLD['sql']}\n```", False, "stop"),
        ("echo", "fenced", "How many users are there (easy-01)?", False, "stop"),
        ("truncated", "fenced", "```sql\nSELECT count(", False, "length"),
    ],
)
def test_modes_and_styles(mode: str, style: str, text: str, is_query: bool, finish: str) -> None:  # noqa: FBT001
    answer = model("mock", f"mode={mode}", f"style={style}").generate(request())
    assert (answer.text, answer.is_query, answer.finish_reason) == (text, is_query, finish)


def test_scripted_failures_fail_so_often_and_then_answer() -> None:
    asked = model("mock", "mode=gold", "fail_rate=1", "fail_times=2")
    for _ in range(2):
        with pytest.raises(ModelError, match="scripted failure"):
            asked.generate(request())
    assert "count(*)" in asked.generate(request()).text


@pytest.mark.parametrize(
    ("override", "complaint"),
    [
        ("mode=golden", "Did you mean 'gold'"),
        ("style=fence", "Did you mean 'fenced'"),
        ("shares={golld: 1}", "'model.shares' has no key 'golld'. Did you mean 'gold'"),
        ("shares={helpful: 1}", "'model.shares' has no key 'helpful'. It has: gold, wrong"),
        ("+model.shares={golld: 1}", "model.shares: 'golld' is none of .* Did you mean 'gold'"),
        ("shares.gold=0.9", "must sum to 1"),
        ("fail_rate=2", r"must lie in 0…1"),
        ("latency_s=-1", "latency_s must be a number of at least 0"),
        ("usd_per_call=-5", "usd_per_call must be a number of at least 0"),
    ],
)
def test_wrong_settings_are_explained(override: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        model("mock", override)


def test_a_recorded_conversation_is_told_again_to_its_last_thought() -> None:
    record = Record(
        case_id="easy-01", repeat=0, difficulty="easy", tags=(), question="?", gold="SELECT 1",
        verdict=Verdict.CORRECT, raw="SELECT 2", reasoning="hm", finish_reason="stop",
        rounds=(Round("SELEC", None, "syntax_error"), Round("SELECT 2", "SELECT 2", "fine")),
    )  # fmt: skip
    asked = RecordedModel("told", records=[record])
    first, last = (asked.generate(replace(request(), round=number)) for number in (0, 1))
    assert (first.text, first.reasoning) == ("SELEC", None)
    assert (last.text, last.reasoning) == ("SELECT 2", "hm")
