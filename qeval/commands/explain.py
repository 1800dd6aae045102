"""`qeval explain`: why one case of a cell got its verdict, down to the rows that show it."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from qeval.errors import InputError, did_you_mean
from qeval.exit_codes import ExitCode
from qeval.record import Record


def main(argv: Sequence[str]) -> int:
    """Print question, verdict, both queries, the rows that differ and the counterexample."""
    parser = argparse.ArgumentParser(
        prog="qeval explain",
        description="Why a case got its verdict: both queries, the rows that differ, and the few "
        "rows of data on which they differ, if some were found.",
    )
    parser.add_argument("cell", type=Path, help="a cell's folder, as runs end with")
    parser.add_argument("case", help="the case's id")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="which answer (from 1)")
    options = parser.parse_args(argv)

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
    }
    console = output()
    for title, text in parts.items():
        if text:
            console.print(title, style="bold", markup=False)
            console.print(text, markup=False, soft_wrap=True)
    return ExitCode.DONE


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
        rows = "" if outcome.rows is None else f", {outcome.rows} rows"
        yield f"{outcome.instance}: {outcome.verdict}{rows}"
