"""From a record whose prediction differs to the same record with a judge's word in it."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from qeval.engines.base import QueryError
from qeval.errors import InputError, QevalError
from qeval.judge.base import Claim, Dispute, Judgement, Shown, Vote, digest_of
from qeval.judge.blinding import bounded
from qeval.judge.claims import ClaimTrial, base_rows
from qeval.models.budget import BudgetReachedError
from qeval.scoring.verdict import Verdict

if TYPE_CHECKING:
    from qeval.bench import Bench
    from qeval.cells import Cell
    from qeval.judge.base import Judge
    from qeval.prompts.base import Prompt
    from qeval.record import InstanceOutcome, Record
    from qeval.suite import Case

MOST_ROWS = 50
"""Rows of a result that a dispute holds; a judge shows as many of them as it likes."""

_SPENT = "limits.budget_usd is reached"

DISPUTED = (Verdict.WRONG_RESULT, Verdict.REFUTED)


def telling(record: "Record") -> "InstanceOutcome | None":
    """The outcome that a judge is asked about: rows that differ, or that prove nothing.

    None where there is nothing to ask: right, never executed, or failed on an instance.
    """
    if record.verdict not in DISPUTED or not record.outcomes:
        return None
    last = record.outcomes[-1] if record.verdict is Verdict.REFUTED else record.outcomes[0]
    return last if last.verdict is Verdict.WRONG_RESULT or last.inconclusive else None


def ask_judge(
    cell: "Cell", case: "Case", record: "Record", bench: "Bench"
) -> "tuple[Record, tuple[Prompt, ...]]":
    """The record with a judgement, where its cell has a judge and there is something to judge.

    Beside it what the judge was asked.

    `equivalent` is the one verdict that comes from here, and only in place of `wrong_result` or
    `refuted`; what execution found stays in the record's outcomes. When the budget is spent or
    the judge can't be asked, the judgement has failed and the case is run again on resume.
    """
    judge, outcome = cell.judge, telling(record)
    if judge is None or outcome is None or record.query is None:
        return record, ()
    dispute = dispute_of(
        cell, case, record.query, question=record.question, outcome=outcome, bench=bench
    )
    dispute = replace(dispute, counterexample=_few_rows(cell, case, record, bench))
    try:
        judgement = judge.decide(dispute)
    except BudgetReachedError:
        vote = Vote("unscored", _SPENT, attempts=0, failed=True)
        judgement = Judgement("unscored", (vote,), judge=judge.name, identity=digest_of(judge))
    judgement = replace(judgement, claim=try_claim(cell, case, record.query, judgement, bench))
    verdict = Verdict.EQUIVALENT if judgement.label == "equivalent" else record.verdict
    prompts = dict.fromkeys(prompt for _, prompt in judge.prompts(dispute))
    return replace(record, judgement=judgement, verdict=verdict), tuple(prompts)


def out_of_money(record: "Record") -> bool:
    """Whether a vote on the record was not asked for because the budget is spent."""
    votes = () if record.judgement is None else record.judgement.votes
    return any(vote.failed and vote.reason == _SPENT for vote in votes)


def judge_problems(judge: "Judge | None", seen: set[str]) -> list[str]:
    """What a judge lacks before work; each judge is looked at once (`seen` remembers)."""
    if judge is None or digest_of(judge) in seen:
        return []
    seen.add(digest_of(judge))
    try:
        judge.preflight()
    except InputError as error:
        return [str(error)]
    return []


def dispute_of(
    cell: "Cell",
    case: "Case",
    query: str,
    *,
    question: str,
    outcome: "InstanceOutcome | None" = None,
    bench: "Bench | None" = None,
) -> Dispute:
    """What a judge is shown of a prediction; without a bench results are withheld.

    `outcome` is the one on the instance whose results are shown.
    """
    language = cell.language.name
    gold_result = predicted_result = None
    if outcome is not None and bench is not None:
        predicted_result = _result(cell, query, outcome.instance, bench)
        gold_result = bounded(bench.gold(cell, case, outcome.instance), MOST_ROWS)
    differs = outcome is not None and outcome.verdict is not Verdict.CORRECT
    return Dispute(
        case=case,
        question=question,
        reference_date=cell.suite.reference_date,
        language=cell.language,
        schema=cell.suite.schema_text.get(language, ""),
        gold=case.gold[language],
        predicted=query,
        tables=base_rows(cell.suite, language).tables if _tabular(cell) else (),
        gold_result=gold_result if predicted_result is not None else None,
        predicted_result=predicted_result,
        difference=None if outcome is None else outcome.difference,
        differing=outcome.instance if outcome is not None and differs else "",
    )


def _result(cell: "Cell", query: str, instance: str, bench: "Bench") -> Shown | None:
    """The prediction's rows once more: outcomes keep only what differs."""
    loaded = bench.instance(cell, instance)
    try:
        execution = bench.lasting(lambda: bench.engine.execute(query, loaded, cell.limits))
    except QueryError:
        return None  # it ran before, so this is the machine's fault; queries alone must do
    return bounded(execution.table, MOST_ROWS)


def _few_rows(cell: "Cell", case: "Case", record: "Record", bench: "Bench") -> str | None:
    """The fewest rows on which the queries differ, table by table; None where none are found.

    Only if no row can go: what a busy machine leaves off in between would make another prompt.
    """
    from qeval.equivalence.counterexample import deciding
    from qeval.equivalence.finding import Duel, find_counterexample

    assert cell.judge is not None
    telling = deciding(record, cell.judge.counterexamples)
    if telling is None or record.query is None or not _tabular(cell):
        return None
    duel = Duel(cell, case, record.query, bench.engine)
    try:
        found = bench.lasting(lambda: find_counterexample(duel, telling, "", cell.counterexample_s))
    except QevalError:
        return None  # it is a help for the judge; the dispute stands without it
    if not (found.cut and found.minimal):
        return None
    return "\n".join(
        f"{name} {json.dumps(table['columns'])}: {json.dumps(table['rows'], ensure_ascii=False)}"
        for name, table in found.tables.items()
    )


def _tabular(cell: "Cell") -> bool:
    return cell.suite.instance(cell.language.name, "base").tabular


def try_claim(
    cell: "Cell", case: "Case", query: str, judgement: Judgement, bench: "Bench"
) -> Claim | None:
    """What comes of the row set that a judgement gives; None where there is none to try."""
    judge, row_set = cell.judge, judgement.row_set
    if judge is None or not judge.claim_rows or judgement.label == "equivalent" or not row_set:
        return None
    if not _tabular(cell):
        return Claim("untried", "the suite's data is not in tables: no row set can be built")
    trial = ClaimTrial(
        suite=cell.suite,
        language=cell.language,
        bench=bench,
        limits=cell.limits,
        policy=cell.policy,
        most=judge.claim_rows,
    )
    return trial(case, query, row_set)
