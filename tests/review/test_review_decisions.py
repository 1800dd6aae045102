"""Decisions: kept, reversible, and of effect on nothing but disputed verdicts."""

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.errors import InputError
from qeval.record import Record
from qeval.review.decisions import (
    Decision,
    agreed,
    append,
    item_key,
    now,
    read,
    standing,
)
from qeval.review.standing import item_of, read_reviewed, reviewed
from qeval.scoring.metrics import cell_metrics
from qeval.scoring.verdict import Verdict

from .disputes import cell, judgement, record


def decision(item: str, choice: str, reviewer: str = "ann", **more: object) -> Decision:
    values: dict[str, object] = {
        "item": item, "suite": "s", "case_id": "c1", "language": "sql", "choice": choice,
        "reviewer": reviewer, "at": now(),
    }  # fmt: skip
    return Decision(**(values | more))  # type: ignore[arg-type]


def verdict_after(found: Record, *choices: str) -> Verdict:
    """The verdict when reviewers r0, r1, … said `choices` of the record's item."""
    said = [decision(item_of(found), c, f"r{i}") for i, c in enumerate(choices)]
    return reviewed([found], standing(said))[0].verdict


def test_a_decision_is_read_back_as_it_was_made(tmp_path: Path) -> None:
    made = [decision("a", "equivalent", reason="两个 'words'\n;", judge="different"),
            decision("b", "different", "bob", saw_judge=True)]  # fmt: skip
    append(tmp_path, made[:1])
    append(tmp_path, made[1:])
    assert read(tmp_path) == made


def test_a_half_written_decision_is_lost_alone(tmp_path: Path) -> None:
    first, second = decision("a", "equivalent"), decision("b", "different")
    append(tmp_path, [first])
    path = tmp_path / "reviews.jsonl"
    path.write_bytes(path.read_bytes() + b'{"item": "c", "cho')
    assert read(tmp_path) == [first]
    append(tmp_path, [second])
    assert read(tmp_path) == [first, second]


ANOTHER_CHOICE = json.dumps({"item": "a", "suite": "s", "case_id": "c", "language": "sql",
                             "choice": "yes", "reviewer": "r", "at": ""})  # fmt: skip


LISTED = ANOTHER_CHOICE.replace('"yes"', '"different"').replace('"a"', '["a"]')
NOBODY = ANOTHER_CHOICE.replace('"yes"', '"different"').replace('"r"', "null")


@pytest.mark.parametrize(
    "line", ['{"item": "a"}', '["a"]', "junk", "[" * 5000, ANOTHER_CHOICE, LISTED, NOBODY]
)
def test_a_damaged_decision_is_named(tmp_path: Path, line: str) -> None:
    append(tmp_path, [decision("a", "equivalent")])
    with (tmp_path / "reviews.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match=r"reviews\.jsonl:2"):
        read(tmp_path)


def test_many_reviewers_at_once_lose_nothing(tmp_path: Path) -> None:
    def write(name: str) -> None:
        for number in range(20):
            append(tmp_path, [decision(f"i{number}", "equivalent", name)])

    threads = [threading.Thread(target=write, args=(f"r{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = standing(read(tmp_path))
    assert {item: len(reviewers) for item, reviewers in said.items()} == {
        f"i{number}": 4 for number in range(20)
    }


def test_the_last_word_of_a_reviewer_stands() -> None:
    said = [decision("a", "equivalent"), decision("a", "different", "bob"),
            decision("a", "different"), decision("b", "equivalent"),
            decision("b", "withdrawn")]  # fmt: skip
    standing_now = standing(said)
    assert {name: d.choice for name, d in standing_now["a"].items()} == {
        "bob": "different", "ann": "different"}  # fmt: skip
    assert "b" not in standing_now


@pytest.mark.parametrize(("choices", "expected"), [
    (["equivalent"], "equivalent"),
    (["equivalent", "different"], None),
    (["equivalent", "different", "different"], "different"),
    (["equivalent", "equivalent", "different", "different"], None),
])  # fmt: skip
def test_more_than_half_decide(choices: list[str], expected: str | None) -> None:
    said = [decision("a", c, f"r{i}") for i, c in enumerate(choices)]
    assert agreed(standing(said)["a"]) == expected


def test_another_question_gold_or_query_is_another_item() -> None:
    keys = {item_key(*texts) for texts in (("q", "g", "p"), ("q2", "g", "p"), ("q", "g2", "p"),
                                           ("q", "g", "p2"), ("q", "gp", ""))}  # fmt: skip
    assert len(keys) == 5


@pytest.mark.parametrize(("verdict", "choices", "expected"), [
    (Verdict.WRONG_RESULT, ["equivalent"], Verdict.EQUIVALENT),
    (Verdict.REFUTED, ["equivalent"], Verdict.EQUIVALENT),
    (Verdict.WRONG_RESULT, ["different"], Verdict.WRONG_RESULT),
    (Verdict.EQUIVALENT, ["different"], Verdict.WRONG_RESULT),
    (Verdict.EQUIVALENT, ["equivalent"], Verdict.EQUIVALENT),
    (Verdict.WRONG_RESULT, ["equivalent", "different"], Verdict.WRONG_RESULT),
    (Verdict.EQUIVALENT, ["equivalent", "different"], Verdict.EQUIVALENT),
    (Verdict.CORRECT, ["different"], Verdict.CORRECT),
    (Verdict.TIMEOUT, ["equivalent"], Verdict.TIMEOUT),
    (Verdict.SYNTAX_ERROR, ["equivalent"], Verdict.SYNTAX_ERROR),
    (Verdict.INFRA_ERROR, ["equivalent"], Verdict.INFRA_ERROR),
])  # fmt: skip
def test_what_reviewers_agree_on_counts(
    verdict: Verdict, choices: list[str], expected: Verdict
) -> None:
    assert verdict_after(record(verdict=verdict), *choices) is expected


def test_a_judged_refuted_query_falls_back_to_refuted() -> None:
    refuted = record(verdict=Verdict.REFUTED)
    judged = record(verdict=Verdict.EQUIVALENT, outcomes=refuted.outcomes, judgement=judgement())
    assert verdict_after(judged, "different") is Verdict.REFUTED


@given(st.lists(st.sampled_from(list(Verdict)), min_size=1, max_size=12),
       st.lists(st.sampled_from(["equivalent", "different"]), max_size=3))  # fmt: skip
def test_no_review_changes_what_execution_found(
    verdicts: list[Verdict], choices: list[str]
) -> None:
    records = [record(i, verdict) for i, verdict in enumerate(verdicts)]
    said = [decision(item_of(r), c, f"r{i}") for r in records for i, c in enumerate(choices)]
    after = reviewed(records, standing(said))
    measures = ("syntax_pass", "valid", "execution_accuracy", "execution_accuracy_relaxed")
    for name in (*measures, "robust_accuracy"):
        before = cell_metrics(records, {}, variants=1).overall.get(name)
        assert cell_metrics(after, {}, variants=1).overall.get(name) == before, name
    assert [r.outcomes for r in after] == [r.outcomes for r in records]


def test_reviews_beside_a_cell_are_laid_over_its_journal(tmp_path: Path) -> None:
    wrong, right = record(1), record(2, Verdict.CORRECT)
    folder = cell(tmp_path / "a", wrong, right)
    journal = (folder / "journal.jsonl").read_bytes()
    append(tmp_path, [decision(item_of(wrong), "equivalent")])
    found = read_reviewed(folder)[1]
    assert [(r.verdict, r.review) for r in found] == [
        (Verdict.EQUIVALENT, "equivalent"), (Verdict.CORRECT, "")]  # fmt: skip
    append(tmp_path, [decision(item_of(wrong), "withdrawn")])
    assert read_reviewed(folder)[1] == [wrong, right]
    assert (folder / "journal.jsonl").read_bytes() == journal
