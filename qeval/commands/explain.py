"""`qeval explain`: what results mean, and why a case got its verdict, down to the rows."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from qeval.errors import InputError, did_you_mean
from qeval.exit_codes import ExitCode
from qeval.record import Record


def main(argv: Sequence[str]) -> int:
    """Print the case's question, queries and evidence; without arguments, what results mean."""
    parser = argparse.ArgumentParser(
        prog="qeval explain",
        description="Why a case got its verdict: both queries, the rows that differ, the few rows "
        "of data on which they differ, if some were found, and what judge and reviewers said. "
        "Without arguments: what the metrics, verdicts and layers of a result mean.",
    )
    parser.add_argument("cell", type=Path, nargs="?", help="a cell's folder, as runs end with")
    parser.add_argument("case", nargs="?", help="the case's id")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="which answer (from 1)")
    options = parser.parse_args(argv)
    if options.cell is None:
        return _glossary()
    if options.case is None:
        parser.error(f"which case of {options.cell}? qeval explain {options.cell} CASE")

    from qeval.equivalence.counterexample import read_counterexamples
    from qeval.report.console import output
    from qeval.review.standing import read_reviewed
    from qeval.tracking.failures import (
        counterexample_text,
        difference_text,
        message,
        prediction,
        verdict_text,
    )

    _, records = read_reviewed(options.cell)
    record = _record(records, options.case, options.repeat - 1)
    known = read_counterexamples(options.cell).get(record.counterexample)
    parts = {
        f"{record.case_id}: {verdict_text(record)}": record.question,
        "prediction": prediction(record),
        "gold": record.gold,
        "instances": "\n".join(_outcomes(record)),
        "message": message(record),
        "rows that differ": difference_text(record),
        "counterexample": "" if known is None else counterexample_text(known),
        "judge": "\n".join(_judge(record)),
        "reviewers": "\n".join(_reviewers(options.cell, record)),
    }
    console = output()
    for title, text in parts.items():
        if text:
            console.print(title, style="bold")
            console.print(text, soft_wrap=True)
    return ExitCode.DONE


def _glossary() -> ExitCode:
    from rich.table import Table

    from qeval.report.console import output
    from qeval.report.glossary import LAYERS, METRICS, VERDICTS

    console = output(whole_lines=False)
    for title, words in (
        ("Metrics: shares of the answers that count, with 95 % intervals", METRICS),
        ("Verdicts: one for each answer", VERDICTS),
        ("Layers (decided by): who had the last word on an answer", LAYERS),
    ):
        grid = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        for word, text in words.items():
            grid.add_row(word, text)
        console.print(title, style="bold")
        console.print(grid)
    return ExitCode.DONE


def _judge(record: Record) -> Iterator[str]:
    from qeval.review.terminal import printable

    said = record.judgement
    if said is None:
        return
    odd = {"votes disagree": said.split, "contradicted by the evidence": said.contradicted}
    marks = [name for name, holds in odd.items() if holds]
    yield f"{said.judge}: {said.label}" + (f" ({', '.join(marks)})" if marks else "")
    for vote in said.votes:
        yield printable(f"  {vote.label}: {vote.reason}")


def _reviewers(cell: Path, record: Record) -> Iterator[str]:
    from qeval.review.decisions import read, standing
    from qeval.review.standing import item_of
    from qeval.review.terminal import printable

    for name, decision in standing(read(cell.absolute().parent)).get(item_of(record), {}).items():
        reason = f", {decision.reason}" if decision.reason else ""
        yield printable(f"{name}: {decision.choice}{reason}")


def _record(records: Sequence[Record], case: str, repeat: int) -> Record:
    for record in records:
        if (record.case_id, record.repeat) == (case, repeat):
            return record
    ids = sorted({record.case_id for record in records})
    if case not in ids:
        raise InputError(f"the cell has no record of case {case!r}.{did_you_mean(case, ids)}")
    raise InputError(f"case {case} has no answer {repeat + 1} in this cell")


def _outcomes(record: Record) -> Iterator[str]:
    for outcome in record.outcomes:
        many = "" if outcome.rows == 1 else "s"
        rows = "" if outcome.rows is None else f", {outcome.rows} row{many}"
        yield f"{outcome.instance}: {outcome.verdict}{rows}"
