"""From an executed prediction to the outcome on one instance, and from outcomes to a verdict."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qeval.record import InstanceOutcome
from qeval.scoring.comparison import UndeclaredError, compare
from qeval.scoring.spec import AnswerSpec, Policy
from qeval.scoring.table import Table
from qeval.scoring.verdict import Verdict

if TYPE_CHECKING:
    from qeval.engines.base import Execution


def judge_instance(
    instance: str, gold: Table, execution: "Execution", spec: AnswerSpec, policy: Policy
) -> InstanceOutcome:
    """Compare an executed prediction with the gold's table on the named instance.

    A result that limits cut is `wrong_result` of kind `too_large` (the gold's fitted); a gold that
    doesn't fit its declaration is a `gold_error`.
    """
    rows = len(execution.table)
    if execution.truncated:
        return InstanceOutcome(
            instance,
            Verdict.WRONG_RESULT,
            kind="too_large",
            message=f"the result was cut after {rows} rows; the gold has {len(gold)}",
            rows=rows,
            seconds=execution.seconds,
        )
    try:
        comparison = compare(gold, execution.table, spec, policy)
    except UndeclaredError as error:
        return InstanceOutcome(instance, Verdict.GOLD_ERROR, kind="gold", message=str(error))
    difference = comparison.difference
    kind = message = ""
    if difference is not None:
        kind, message = difference.kind, difference.message
    elif comparison.inconclusive:
        kind, message = "inconclusive", "gold and prediction are both empty: this decides nothing"
    return InstanceOutcome(
        instance,
        Verdict.CORRECT if comparison.equal else Verdict.WRONG_RESULT,
        relaxed_equal=comparison.relaxed_equal,
        inconclusive=comparison.inconclusive,
        kind=kind,
        message=message,
        rows=rows,
        seconds=execution.seconds,
        difference=None if difference is None else difference.to_json(),
    )


def final_verdict(outcomes: Sequence[InstanceOutcome]) -> Verdict:
    """The verdict of a case from its outcomes, the base instance's first.

    What base says stands, unless it is `correct` and another instance refutes it. Where base is
    inconclusive (both sides empty) another instance must agree on rows: as long as none has, the
    case is `wrong_result`, for two empty tables are no evidence of a right query.
    Raises `ValueError` without outcomes.
    """
    if not outcomes:
        raise ValueError("expected at least one outcome")
    if any(outcome.verdict is Verdict.GOLD_ERROR for outcome in outcomes):
        return Verdict.GOLD_ERROR
    base = outcomes[0]
    if base.verdict is not Verdict.CORRECT:
        return base.verdict
    if any(outcome.verdict is not Verdict.CORRECT for outcome in outcomes[1:]):
        return Verdict.REFUTED
    if all(outcome.inconclusive for outcome in outcomes):
        return Verdict.WRONG_RESULT
    return Verdict.CORRECT
