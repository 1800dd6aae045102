"""From votes to a judgement: the bad days of a judge end in `unscored`, never in a guess."""

import gc
import json
import warnings
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.errors import InputError
from qeval.judge.answers import answer_schema
from qeval.judge.base import Judgement, Vote, digest_of
from qeval.judge.voting import majority, settled
from qeval.models.budget import Budget, BudgetReachedError
from qeval.models.mock_server import MockServer, Rule, Script
from qeval.models.remote import load_litellm
from tests.judge.disputes import dispute, judge

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture(scope="module", autouse=True)
def _clients_closed() -> Iterator[None]:
    """Keep litellm's forgotten sockets from failing whichever test the collector runs in."""
    yield
    load_litellm().in_memory_llm_clients_cache.flush_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


LABELS = st.sampled_from(["equivalent", "different", "unscored"])


def decided(behaviour: str, *words: str, **changes: object) -> Judgement:
    found: Judgement = judge(f"judge.behaviour={behaviour}", *words).decide(
        dispute(**changes)  # type: ignore[arg-type]
    )
    return found


@pytest.mark.parametrize(
    ("behaviour", "label", "attempts"),
    [
        ("yes", "equivalent", 1),
        ("no", "different", 1),
        ("garbage", "unscored", 2),
        ("prose", "unscored", 2),
        ("off_menu", "unscored", 2),
        ("refuse", "unscored", 2),
        ("flaky", "different", 2),
        ("contradict", "unscored", 1),
    ],
)
def test_a_behaviour_has_its_label(behaviour: str, label: str, attempts: int) -> None:
    found = decided(behaviour)
    assert found.label == label
    assert len(found.votes) == 3
    assert {vote.attempts for vote in found.votes} == {attempts}
    assert found.split == (behaviour == "contradict")
    assert not found.failed
    assert [vote.swapped for vote in found.votes].count(True) in (1, 2)


def test_a_judge_that_can_not_be_asked_has_failed_and_said_nothing() -> None:
    found = decided("timeout")
    assert found.label == "unscored"
    assert found.failed
    assert all(vote.attempts == 0 and vote.raw == "" for vote in found.votes)
    assert "time-out" in found.reason


def test_equal_rows_can_not_be_claimed_against_an_instance() -> None:
    against = decided("same", differing="variant-3")
    assert (against.label, against.contradicted, against.to_review) == ("unscored", True, True)
    assert {vote.ground for vote in against.votes} == {"same_rows"}
    unopposed = decided("same", differing="")
    assert (unopposed.label, unopposed.contradicted) == ("equivalent", False)


def test_further_columns_are_another_reading_to_the_rule_based_mock() -> None:
    assert decided("columns", difference={"kind": "extra_columns"}).label == "equivalent"
    assert decided("columns", difference={"kind": "subset"}).label == "different"


def test_a_judgement_survives_the_journal() -> None:
    rows = "[{table: users, columns: [age], rows: [[18]]}]"
    found = decided("no", f"judge.row_set={rows}")
    assert found.row_set == [{"table": "users", "columns": ["age"], "rows": [[18]]}]
    again = Judgement.from_json(json.loads(json.dumps(found.to_json())))
    assert again == found


@given(st.lists(LABELS, min_size=1, max_size=5))
def test_a_label_is_what_all_votes_say(labels: list[str]) -> None:
    found = settled([Vote(label) for label in labels], judge="j", identity="i")  # type: ignore[arg-type]
    assert found.label == (labels[0] if len(set(labels)) == 1 else "unscored")
    assert found.split == ({"equivalent", "different"} <= set(labels))


@given(st.lists(LABELS, min_size=2, max_size=5))
def test_a_panel_says_what_more_than_half_of_it_say(labels: list[str]) -> None:
    members = [Judgement(label) for label in labels]  # type: ignore[arg-type]
    found = majority(members, judge="p", identity="i")
    for label in set(labels) - {"unscored"}:
        assert (found.label == label) == (2 * labels.count(label) > len(labels))
    assert found.split == ({"equivalent", "different"} <= set(labels))


def test_a_panel_of_mocks_decides_by_majority() -> None:
    words = ["judge=panel"]
    for place, behaviour in (("first", "yes"), ("second", "yes"), ("third", "no")):
        words += [
            f"judge@judge.members.{place}=mock",
            f"judge.members.{place}.behaviour={behaviour}",
        ]
    panel = judge(*words)
    found = panel.decide(dispute())
    assert (found.label, found.split, len(found.votes)) == ("equivalent", True, 9)
    assert found.identity == digest_of(panel)
    assert len(panel.prompts(dispute())) == panel.votes == 9


def test_identity_follows_prompt_model_and_votes_and_nothing_else() -> None:
    same = digest_of(judge())
    assert (
        digest_of(judge("judge.latency_s=1", "judge.max_false_accept=1", "judge.notes=x")) == same
    )
    for change in ("judge.votes=1", "judge.behaviour=no", "judge.seed=1", "judge.result_rows=3"):
        assert digest_of(judge(change)) != same


def test_a_judge_is_told_apart_from_nonsense() -> None:
    with pytest.raises(InputError, match="Did you mean 'garbage'"):
        judge("judge.behaviour=garbadge")
    with pytest.raises(InputError, match=r"judge\.votes must be 1 or more"):
        judge("judge.votes=0")
    with pytest.raises(InputError, match=r"judge\.template: no file"):
        judge("judge.template=nowhere.jinja")
    with pytest.raises(InputError, match="at least 2 members"):
        judge("judge=panel", "judge.members={first: null, second: null, third: null}")


def test_a_missing_key_is_told_before_work(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match=r"judge=gpt4: .*OPENAI_API_KEY"):
        judge("judge=gpt4").preflight()
    with pytest.raises(InputError, match=r"(?s)OPENAI.*ANTHROPIC.*GEMINI"):
        judge("judge=panel").preflight()


def test_the_budget_ends_a_judge_before_it_overspends() -> None:
    paid = judge("judge.usd_per_call=1").paid_from(Budget(2.5))
    with pytest.raises(BudgetReachedError):
        paid.decide(dispute())
    assert paid.model.budget.spent_usd == 2.0
    with pytest.raises(InputError, match="price"):
        judge(
            "judge=llm", "judge.model.base_url=http://localhost:1/v1", "judge.model.id=m"
        ).paid_from(Budget(1))


ANSWER = json.dumps({"reason": "r", "answer": "different", "row_set": None})


@pytest.fixture
def server(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[MockServer]:
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path))
    rules = (Rule(match="^(?!.*be used)", answer="Well.", times=1), Rule(answer=ANSWER))
    with MockServer(Script(rules=rules)) as running:
        yield running


@pytest.mark.parametrize("form", ["auto", "chat", "json", "tool"])
def test_a_model_behind_an_api_is_asked_in_its_form_and_never_twice(
    server: MockServer, form: str
) -> None:
    asked = judge(
        "judge=llm", f"judge.model.base_url={server.url}", "judge.model.id=m", f"judge.form={form}"
    )
    found = asked.decide(dispute())
    assert found.label == "different"
    assert [vote.attempts for vote in found.votes] == [2, 1, 1]
    sent = server.requests()
    assert len(sent) == 4
    assert ("response_format" in sent[0]) == (form in ("json", "auto"))
    assert ("tools" in sent[0]) == (form == "tool")
    if form == "json":
        wanted = sent[0]["response_format"]["json_schema"]
        assert (wanted["strict"], wanted["schema"]) == (True, answer_schema(claims=True))
    assert "can't be used" in sent[1]["messages"][-1]["content"]
    again = asked.decide(dispute())
    assert len(server.requests()) == 4
    assert all(vote.cached for vote in again.votes)
    assert again.label == found.label


def test_a_server_that_takes_no_schema_is_asked_by_the_prompt_alone(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path))
    rules = (Rule(refuse_params=("response_format",)), Rule(answer=ANSWER))
    with MockServer(Script(rules=rules)) as server:
        asked = judge("judge=llm", f"judge.model.base_url={server.url}", "judge.model.id=m")
        found = asked.decide(dispute())
        sent = server.requests()
    assert (found.label, [vote.attempts for vote in found.votes]) == ("different", [1, 1, 1])
    # Once refused it is not tried again.
    assert ["response_format" in request for request in sent] == [True, False, False, False]


def test_where_no_rows_are_tried_none_are_asked_for(server: MockServer) -> None:
    asked = judge(
        "judge=llm", f"judge.model.base_url={server.url}", "judge.model.id=m", "judge.votes=1",
        "judge.claim_rows=0",
    )  # fmt: skip
    # The server's answers have a row_set, which is off the menu now.
    assert asked.decide(dispute()).label == "unscored"
    first, again = server.requests()
    schema = first["response_format"]["json_schema"]["schema"]
    assert schema["required"] == list(schema["properties"]) == ["reason", "answer"]
    assert not any("row_set" in turn["content"] for turn in first["messages"])
    assert 'keys "reason" and "answer", and' in again["messages"][-1]["content"]


@pytest.mark.parametrize("word", ["judge.latency_s=-1", "judge.usd_per_call=-5",
                                  "judge.usd_per_call=x", "judge.latency_s=.nan"])  # fmt: skip
def test_a_judge_can_t_earn_money_or_time(word: str) -> None:
    with pytest.raises(InputError, match=rf"{word.partition('=')[0]} must be a number"):
        judge(word)
