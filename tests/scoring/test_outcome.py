"""From tables to the outcome on an instance, and from outcomes to the verdict."""

import pytest

from qeval.engines.base import Execution
from qeval.record import InstanceOutcome
from qeval.scoring import AnswerSpec, Policy, Table, Verdict
from qeval.scoring.outcome import final_verdict, judge_instance

GOLD = Table(["a"], [(1,), (2,)])


def judged(
    *rows: tuple[int, ...],
    gold: Table = GOLD,
    truncated: bool = False,
    spec: AnswerSpec | None = None,
) -> InstanceOutcome:
    width = len(rows[0]) if rows else 1
    execution = Execution(Table([f"c{i}" for i in range(width)], rows), 0.5, truncated)
    return judge_instance("base", gold, execution, spec or AnswerSpec(), Policy())


def test_right_rows() -> None:
    found = judged((2,), (1,))
    assert found.verdict is Verdict.CORRECT
    assert (found.relaxed_equal, found.inconclusive, found.kind) == (True, False, "")
    assert (found.rows, found.seconds, found.difference) == (2, 0.5, None)


def test_wrong_rows_carry_what_differs() -> None:
    found = judged((2,), (3,))
    assert found.verdict is Verdict.WRONG_RESULT
    assert found.kind == "other"
    assert found.difference is not None
    assert (found.difference["missing"], found.difference["extra"]) == ([[1]], [[3]])


def test_extra_columns_are_relaxed_equal() -> None:
    found = judged((1, 9), (2, 9))
    assert (found.verdict, found.relaxed_equal) == (Verdict.WRONG_RESULT, True)
    assert found.kind == "extra_columns"


def test_a_cut_result_is_too_large() -> None:
    found = judged((1,), (2,), truncated=True)
    assert (found.verdict, found.kind) == (Verdict.WRONG_RESULT, "too_large")
    assert not found.relaxed_equal


def test_a_gold_that_does_not_fit_is_a_gold_error() -> None:
    found = judged((1,), (2,), spec=AnswerSpec(["a", "b"]))
    assert found.verdict is Verdict.GOLD_ERROR
    assert "declares 2 columns" in found.message


def test_two_empty_tables_are_inconclusive() -> None:
    found = judged(gold=Table(["a"], []))
    assert (found.verdict, found.inconclusive, found.kind) == (
        Verdict.CORRECT,
        True,
        "inconclusive",
    )


def outcomes(*verdicts: str) -> list[InstanceOutcome]:
    """`correct?` is an inconclusive one."""
    return [
        InstanceOutcome(f"i{i}", Verdict(v.rstrip("?")), inconclusive=v.endswith("?"))
        for i, v in enumerate(verdicts)
    ]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (("correct",), "correct"),
        (("correct", "correct"), "correct"),
        (("correct", "correct?"), "correct"),
        (("correct", "wrong_result"), "refuted"),
        (("correct", "timeout"), "refuted"),
        (("wrong_result",), "wrong_result"),
        (("syntax_error",), "syntax_error"),
        (("correct?",), "wrong_result"),
        (("correct?", "correct?"), "wrong_result"),
        (("correct?", "correct"), "correct"),
        (("correct?", "wrong_result"), "refuted"),
        (("correct", "gold_error"), "gold_error"),
    ],
)
def test_final_verdict(found: tuple[str, ...], verdict: str) -> None:
    assert final_verdict(outcomes(*found)) == Verdict(verdict)


def test_no_outcome_is_no_verdict() -> None:
    with pytest.raises(ValueError, match="at least one outcome"):
        final_verdict([])
