"""Metrics out of records: what is counted, what is absent."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from qeval.errors import InputError
from qeval.record import InstanceOutcome, Record
from qeval.scoring import Policy, Verdict
from qeval.scoring.metrics import cell_metrics, check_weights
from qeval.scoring.statistics import wilson

SETTINGS = yaml.safe_load(
    (Path(__file__).parents[2] / "conf" / "scoring" / "default.yaml").read_text("utf-8")
)
WEIGHTS = SETTINGS["weights"]


def outcome(verdict: Verdict, instance: str = "base", **changes: Any) -> InstanceOutcome:
    return InstanceOutcome(instance, verdict, **changes)


def record(verdict: Verdict, case: str = "c", **changes: Any) -> Record:
    base = {Verdict.REFUTED: Verdict.CORRECT, Verdict.EQUIVALENT: Verdict.WRONG_RESULT}
    values: dict[str, Any] = {
        "repeat": 0,
        "difficulty": "easy",
        "tags": (),
        "question": "",
        "gold": "",
        "outcomes": (outcome(base.get(verdict, verdict)),),
    }
    if verdict is Verdict.NO_QUERY:
        values["outcomes"] = ()
    return Record(case_id=case, verdict=verdict, **{**values, **changes})


ONE_OF_EACH = [record(verdict, f"c{i}") for i, verdict in enumerate(Verdict)]


def counts(records: list[Record], **options: Any) -> dict[str, tuple[float, int]]:
    overall = cell_metrics(records, WEIGHTS, **options).overall
    return {name: (metric.numerator, metric.denominator) for name, metric in overall.items()}


def test_each_verdict_counts_where_it_should() -> None:
    assert counts(ONE_OF_EACH, variants=3, judged=True) == {
        "syntax_pass": (8, 10),  # all but syntax_error and no_query
        "valid": (4, 10),  # correct, equivalent, refuted, wrong_result
        "execution_accuracy": (2, 10),  # correct, refuted
        "execution_accuracy_relaxed": (2, 10),
        "robust_accuracy": (1, 10),
        "semantic_equivalence": (2, 10),  # correct, equivalent
        "composite": (pytest.approx(0.2 * 8 + 0.5 * 2 + 0.3 * 2), 10),
    }


def test_what_was_not_measured_is_absent() -> None:
    plain = [record(Verdict.CORRECT), record(Verdict.WRONG_RESULT, "d")]
    assert set(counts(plain)) == {
        "syntax_pass",
        "valid",
        "execution_accuracy",
        "execution_accuracy_relaxed",
    }
    assert "robust_accuracy" in counts(plain, variants=1)
    assert "semantic_equivalence" not in counts(plain, variants=1)
    assert "composite" not in counts(plain, variants=1)
    judged = counts(plain, judged=True)
    assert {"semantic_equivalence", "composite"} <= set(judged)
    assert "robust_accuracy" not in judged
    assert "composite" in counts([*plain, record(Verdict.EQUIVALENT, "e")])
    # A reviewer who found no other right answer has looked, too.
    looked = [*plain, record(Verdict.WRONG_RESULT, "e", review="different")]
    assert counts(looked)["semantic_equivalence"] == (1, 3)


def test_nothing_counted_is_no_metric() -> None:
    found = cell_metrics([record(Verdict.INFRA_ERROR)], WEIGHTS, variants=2, judged=True)
    assert found.overall == {}
    assert found.verdicts["infra_error"] == 1
    assert (found.records, found.cases) == (0, 0)


def test_relaxed_counts_extra_columns() -> None:
    extra = record(
        Verdict.WRONG_RESULT, outcomes=(outcome(Verdict.WRONG_RESULT, relaxed_equal=True),)
    )
    assert counts([extra])["execution_accuracy"] == (0, 1)
    assert counts([extra])["execution_accuracy_relaxed"] == (1, 1)


def test_two_empty_tables_count_only_when_confirmed() -> None:
    empty = outcome(Verdict.CORRECT, inconclusive=True, relaxed_equal=True)
    confirmed = record(
        Verdict.CORRECT, "a", outcomes=(empty, outcome(Verdict.CORRECT, "variant-1"))
    )
    refuted = record(
        Verdict.REFUTED, "b", outcomes=(empty, outcome(Verdict.WRONG_RESULT, "variant-1"))
    )
    unclear = record(Verdict.WRONG_RESULT, "c", outcomes=(empty,))
    found = counts([confirmed, refuted, unclear])
    assert found["execution_accuracy"] == (1, 3)
    assert found["execution_accuracy_relaxed"] == (1, 3)


def test_intervals_and_groups() -> None:
    records = [
        record(
            Verdict.CORRECT if i < 15 else Verdict.SYNTAX_ERROR,
            f"c{i}",
            difficulty="easy" if i < 40 else "hard",
            tags=("join", "count") if i % 2 else ("join",),
        )
        for i in range(148)
    ]
    found = cell_metrics(records, WEIGHTS)
    accuracy = found.overall["execution_accuracy"]
    assert accuracy.value == pytest.approx(15 / 148)
    assert (accuracy.low, accuracy.high) == pytest.approx(wilson(15, 148))
    assert found.by_difficulty["easy"]["execution_accuracy"].denominator == 40
    assert found.by_difficulty["hard"]["execution_accuracy"].value == 0
    assert found.by_tag["join"]["execution_accuracy"].denominator == 148
    assert found.by_tag["count"]["execution_accuracy"].numerator == 7
    assert found.by_repeat == {}


def test_repeats_of_a_case_go_together() -> None:
    records = [
        record(Verdict.CORRECT if case < 7 else Verdict.TIMEOUT, f"c{case}", repeat=repeat)
        for case in range(10)
        for repeat in range(5)
    ]
    found = cell_metrics(records, WEIGHTS)
    accuracy = found.overall["execution_accuracy"]
    assert (accuracy.numerator, accuracy.denominator) == (35, 50)
    assert (accuracy.low, accuracy.high) == pytest.approx(wilson(7, 10))
    assert found.cases == 10
    assert set(found.by_repeat) == {"0", "1", "2", "3", "4"}
    assert found.by_repeat["3"]["execution_accuracy"].denominator == 10


def test_unknown_cost_and_tokens_stay_unknown() -> None:
    known = record(Verdict.CORRECT, prompt_tokens=10, completion_tokens=5, cost_usd=0.25)
    free = record(Verdict.CORRECT, "d", prompt_tokens=1, completion_tokens=1, cost_usd=0.0)
    unknown = record(Verdict.CORRECT, "e", prompt_tokens=3)
    found = cell_metrics([known, free], WEIGHTS)
    assert (found.cost.usd, found.tokens.prompt, found.tokens.completion) == (0.25, 11, 6)
    found = cell_metrics([known, unknown], WEIGHTS)
    assert (found.cost.usd, found.cost.known_usd, found.cost.unknown) == (None, 0.25, 1)
    assert (found.tokens.prompt, found.tokens.completion, found.tokens.unknown) == (13, None, 1)


def test_latency_leaves_out_the_cache_and_keeps_phases_apart() -> None:
    records = [
        record(Verdict.CORRECT, "a", generation_s=1.0, execution_s=0.1),
        record(Verdict.CORRECT, "b", generation_s=3.0),
        record(Verdict.CORRECT, "c", generation_s=99.0, cached=True),
    ]
    found = cell_metrics(records, WEIGHTS)
    assert (found.generation_s.p50, found.generation_s.n) == (2.0, 2)
    assert (found.execution_s.p50, found.execution_s.p95, found.execution_s.n) == (0.1, 0.1, 1)


def test_json_has_the_documented_shape() -> None:
    data = json.loads(json.dumps(cell_metrics(ONE_OF_EACH, WEIGHTS).to_json()))
    assert set(data["overall"]["valid"]) == {"value", "numerator", "denominator", "low", "high"}
    assert data["by_difficulty"]["easy"]["valid"]["denominator"] == 10
    assert data["verdicts"]["gold_error"] == 1


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"syntax_pas": 1.0}, "Did you mean 'syntax_pass'"),
        ({"syntax_pass": 0.5}, "must add up to 1, found 0.5"),
        ({"syntax_pass": 1.5, "valid": -0.5}, "must be between 0 and 1"),
    ],
)
def test_weights_are_checked(weights: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_weights(weights)


def test_default_settings_are_the_policys_own() -> None:
    ours = ("weights", "variants", "counterexamples", "counterexample_s", "keep_golds")
    known = {k: v for k, v in SETTINGS.items() if k not in ours}
    assert Policy(**known) == Policy()
    check_weights(WEIGHTS)
    assert WEIGHTS == {"syntax_pass": 0.2, "execution_accuracy": 0.5, "semantic_equivalence": 0.3}


def test_refuted_are_counted_among_those_that_base_accepted() -> None:
    """Whatever a judge or a reviewer made of them; and only where variants were run."""
    two = (outcome(Verdict.CORRECT), outcome(Verdict.WRONG_RESULT, "variant-1"))
    records = [
        record(Verdict.CORRECT, "a", outcomes=(two[0], outcome(Verdict.CORRECT, "variant-1"))),
        record(Verdict.REFUTED, "b", outcomes=two),
        record(Verdict.EQUIVALENT, "c", outcomes=two, review="equivalent"),
        record(Verdict.WRONG_RESULT, "d"),
        record(Verdict.NO_QUERY, "e"),
    ]
    found = cell_metrics(records, WEIGHTS, variants=1)
    share = found.behaviour["refuted_share"]
    assert (share.numerator, share.denominator) == (2, 3)
    assert found.layers == {"base": 1, "failure": 1, "instances": 2, "review": 1}
    assert "refuted_share" not in cell_metrics(records, WEIGHTS).behaviour
    assert cell_metrics(records[:1], WEIGHTS).layers == {}
    assert "refuted_share" not in cell_metrics([records[3]], WEIGHTS, variants=1).behaviour
