"""One case from prompt to record: the flow of the whole project, in order.

prompt → generate → extract → check → execute → compare → verdict → judge → record. Plain
synchronous code; many threads run it at once.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from qeval.bench import Bench, GoldError
from qeval.cells import Cell, side_by_side
from qeval.conversation import converse, query_in
from qeval.engines.base import EngineLostError, Execution, QueryError
from qeval.equivalence.counterexample import counterexample_key, deciding
from qeval.errors import QevalError
from qeval.judge.asking import ask_judge
from qeval.models.base import Generation, ModelError
from qeval.prompts.base import Prompt
from qeval.record import InstanceOutcome, Record
from qeval.scoring.copying import copied
from qeval.scoring.outcome import final_verdict, judge_instance
from qeval.scoring.verdict import Verdict
from qeval.sharing import repeatable
from qeval.suite import Case, Instance

_FAULT_CHARACTERS = 500

MAX_WITNESSES = 3
"""On how many variants a case is asked again, at most, when base is empty on both sides."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What one run of the pipeline hands back: the record and the prompt it belongs to.

    `follow_ups` are the longer prompts of a conversation in which errors went back, and what a
    judge was asked.
    """

    record: Record
    prompt: Prompt | None
    follow_ups: tuple[Prompt, ...] = ()


def run_case(cell: Cell, case: Case, repeat: int, bench: Bench) -> Answered:
    """Ask, execute and judge one case. Every failure becomes a verdict; nothing is raised but
    `InputError` for a prompt that can't be rendered.
    """
    prompt = cell.strategy.render(case, cell.suite, cell.language)
    base = Record(
        case_id=case.id,
        repeat=repeat,
        difficulty=case.difficulty,
        tags=case.tags,
        question=question_of(cell, case),
        gold=case.gold[cell.language.name],
        verdict=Verdict.INFRA_ERROR,
        prompt_digest=prompt.digest,
        template_hash=prompt.template_hash,
        examples=prompt.examples,
        schema_shown=prompt.schema,
        engine=bench.label,
    )
    record = base
    try:
        talk = converse(cell, case, repeat, prompt, bench)
        record = _with(base, **talk.facts())
        record = judge_answer(cell, case, record, talk.last, bench)
        judged, asked = ask_judge(cell, case, record, bench)
        return Answered(_with_copied(cell, judged), prompt, (*talk.follow_ups, *asked))
    except ModelError as error:
        failed = _with(base, verdict=Verdict.INFRA_ERROR, kind="model", message=str(error))
        return Answered(failed, prompt)
    except EngineLostError as error:
        failed = _with(base, verdict=Verdict.INFRA_ERROR, kind="engine", message=str(error))
        return Answered(failed, prompt)
    except QevalError:
        raise
    except Exception as error:  # noqa: BLE001 - our fault in one case costs that case, not the sweep
        failed = _with(record, verdict=Verdict.INFRA_ERROR, kind="qeval", message=_own_fault(error))
        return Answered(failed, prompt)


def _with_copied(cell: Cell, record: Record) -> Record:
    if not record.examples or record.query is None:
        return record
    language = cell.language.name
    shown = [e.gold[language] for e in cell.suite.examples if e.id in record.examples]
    found = copied(record.query, record.question, record.gold, shown)
    return _with(record, copied=found) if found else record


def judge_answer(
    cell: Cell, case: Case, record: Record, generation: Generation, bench: Bench
) -> Record:
    """Extract the query from an answer, run it on the instances and reach the verdict."""
    query, rule, reason = query_in(generation, cell.language)
    record = _with(record, query=query, extraction=rule)
    if query is None:
        return _with(record, verdict=Verdict.NO_QUERY, kind=rule, message=reason)
    try:
        outcomes = bench.lasting(lambda: examine(cell, case, query, bench))
    except EngineLostError as error:
        return _with(record, verdict=Verdict.INFRA_ERROR, kind="engine", message=str(error))
    except GoldError as error:
        return _with(record, verdict=Verdict.GOLD_ERROR, kind="gold", message=str(error))
    verdict = final_verdict(outcomes)
    telling = outcomes[-1] if verdict is Verdict.REFUTED else outcomes[0]
    judged = _with(
        record,
        verdict=verdict,
        outcomes=outcomes,
        kind=telling.kind,
        message=telling.message,
        code=telling.code,
        execution_s=outcomes[0].seconds,
        executed=None if telling.verdict in _NEVER_SENT else query,
    )
    return _pointing(cell, judged, bench)


def _pointing(cell: Cell, record: Record, bench: Bench) -> Record:
    """The record with the key of its counterexample, if one is to be looked for."""
    telling = None if cell.counterexamples == "none" else deciding(record, cell.counterexamples)
    if telling is None or record.query is None:
        return record
    instance = bench.instance(cell, telling.instance)
    if not (instance.tabular and side_by_side(bench.engine)):
        return record
    facts = (record.case_id, record.gold, record.query, instance.key, cell.policy)
    return _with(record, counterexample=counterexample_key(*facts))


_NEVER_SENT = (Verdict.UNSAFE, Verdict.SYNTAX_ERROR, Verdict.SCHEMA_ERROR)


def examine(cell: Cell, case: Case, query: str, bench: Bench) -> tuple[InstanceOutcome, ...]:
    """Run a query on base and, while it is right, on the variants; the first difference ends it.

    Where base is empty on both sides, witness variants are asked until one decides. A query that
    is the gold letter by letter, and can only give the same again, is right on any data.
    """
    outcomes = [run_on(cell, case, query, "base", bench)]
    if outcomes[0].verdict is not Verdict.CORRECT:
        return tuple(outcomes)
    same = query.strip() == case.gold[cell.language.name] and repeatable(cell.language, query)
    if same and not outcomes[0].inconclusive:
        return tuple(outcomes)
    variants = list(cell.instances[1:])
    if outcomes[0].inconclusive:
        witnesses = [name for name in cell.suite.instances if name != "base"][:MAX_WITNESSES]
        variants += [name for name in witnesses if name not in variants]
    for name in variants:
        if name not in cell.instances and not all(o.inconclusive for o in outcomes):
            break
        outcomes.append(run_on(cell, case, query, name, bench))
        if outcomes[-1].verdict is not Verdict.CORRECT:
            break
    return tuple(outcomes)


def run_on(cell: Cell, case: Case, query: str, name: str, bench: Bench) -> InstanceOutcome:
    """The outcome of a query on one instance; cells of a sweep share it (`share_runs`)."""
    if not (cell.composed["share_runs"] and repeatable(cell.language, query)):
        return _run_on(cell, case, query, name, bench)
    key = (
        (cell.suite.content_hash, cell.language.name, case.id),
        (bench.instance(cell, name).key, name),
        (query, cell.limits, cell.policy),
    )
    return bench.shared.once(key, lambda: _run_on(cell, case, query, name, bench))


def _run_on(cell: Cell, case: Case, query: str, name: str, bench: Bench) -> InstanceOutcome:
    """Check and execute a query on one instance and compare it with the gold's table there.

    What base has accepted isn't checked again on variants: no check depends on the data.
    """
    gold = bench.gold(cell, case, name)
    instance = bench.instance(cell, name)
    try:
        if name == "base":
            cell.language.check_safety(query)
            bench.engine.check(query, instance)
            execution = bench.engine.execute(query, instance, cell.limits)
        else:
            execution = _execute_again(cell, query, instance, bench)
    except QueryError as error:
        place = f" (line {error.line}, column {error.column})" if error.line else ""
        return InstanceOutcome(
            instance=name,
            verdict=Verdict(error.kind),
            kind=error.kind,
            message=error.message + place,
            code=error.code,
        )
    return judge_instance(name, gold, execution, case.answer, cell.policy)


def _execute_again(cell: Cell, query: str, instance: Instance, bench: Bench) -> Execution:
    """Execute on a variant what ran on base: a busy machine must not refute it at first try."""
    try:
        return bench.engine.execute(query, instance, cell.limits)
    except QueryError as error:
        if error.kind != "timeout":
            raise
    return bench.engine.execute(query, instance, cell.limits)


def _own_fault(error: Exception) -> str:
    """What broke and where, in one line: a person must be able to report it, or to mend their own
    model, strategy or judge.
    """
    from sysconfig import get_paths
    from traceback import extract_tb

    places = [(Path(place.filename), place.lineno) for place in extract_tb(error.__traceback__)]
    package = Path(__file__).parent
    libraries = {Path(path) for path in get_paths().values()}
    path, line = next(
        (path, line)
        for path, line in reversed(places)
        if package in path.parents or not libraries.intersection(path.parents)
    )
    whose = "qeval" if package in path.parents else "your own code"
    text = f"{type(error).__name__}: {error}"[:_FAULT_CHARACTERS]
    return f"a fault of {whose} ({path.name}:{line}): {text}"


def question_of(cell: Cell, case: Case) -> str:
    """The question in the cell's language for questions, else in the case's first."""
    asked = str(cell.composed.get("question_language", "en"))
    return case.question.get(asked, next(iter(case.question.values())))


def _with(record: Record, **changes: Any) -> Record:
    from dataclasses import replace

    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return replace(record, finished_at=now, **changes)
