"""The result of a sweep, for people: wide or narrow, one cell or a hundred."""

import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.equivalence.counterexample import of_record, read_counterexamples
from qeval.exit_codes import ExitCode
from qeval.redaction import redact_override
from qeval.report.figures import unicode
from qeval.report.judging import judging
from qeval.report.many_cells import print_cells
from qeval.report.one_cell import print_cell
from qeval.scoring.verdict import Verdict

if TYPE_CHECKING:
    from rich.console import Console

    from qeval.results import CellResult, SweepResult

TOP_FAILURES = 6
LISTED_FOLDERS = 4
SHOWN_ERRORS = 3
SHOWN_COUNTEREXAMPLES = 3
ERROR_LENGTH = 300  # characters of a reason


def print_results(result: "SweepResult", console: "Console | None" = None) -> None:
    """Print the table, the failure classes, the notes and where everything was written."""
    from qeval.report.console import output

    console = output(whole_lines=False) if console is None else console
    if not unicode(console) and isinstance(console.file, TextIOWrapper):
        console.file.reconfigure(errors="replace")  # a name in another script must not end the run
    console.print()
    if len(result.cells) == 1:
        print_cell(console, result.cells[0])
    elif result.cells:
        print_cells(console, result.cells)
    for line in judging(result.cells):
        console.print(line, soft_wrap=True)
    _print_failures(console, result.cells)
    _print_places(console, result)
    for note in result.notes:
        console.print(f"\n! {note}", style="bold yellow")
    if result.exit_code in (ExitCode.INTERRUPTED, ExitCode.INCOMPLETE):
        console.print(f"\n{_resume(result)}", soft_wrap=True)


def _print_failures(console: "Console", cells: Sequence["CellResult"]) -> None:
    verdicts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for cell in cells:
        verdicts.update(cell.metrics.verdicts)
        kinds.update(cell.metrics.kinds)
    failed = [(v, n) for v, n in verdicts.most_common() if n and not Verdict(v).right]
    if not failed:
        return
    names = {str(verdict) for verdict in Verdict}
    detail = [f"{kind} {n}" for kind, n in kinds.most_common() if kind not in names][:TOP_FAILURES]
    text = ", ".join(f"{verdict} {count}" for verdict, count in failed)
    console.print(f"failures: {text}")
    if detail:
        console.print(f"  of kind: {', '.join(detail)}")
    for line in (*_counterexamples(cells), *_first_errors(cells)):
        console.print(line, soft_wrap=True)


def _counterexamples(cells: Sequence["CellResult"]) -> Iterator[str]:
    """The predictions that fewest rows refute, and how to see these rows."""
    found = []
    for cell in cells:
        if cell.metrics.verdicts.get(Verdict.REFUTED):
            known = read_counterexamples(cell.folder)
            pairs = ((record, of_record(record, known)) for record in cell.records)
            found += [
                (one.rows, str(_near(cell.folder)), record.case_id, one)
                for record, one in pairs
                if one is not None and one.cut and record.verdict is Verdict.REFUTED
            ]
    for rows, folder, case, one in sorted(found, key=lambda f: f[:3])[:SHOWN_COUNTEREXAMPLES]:
        size = "1 row" if rows == 1 else f"{rows} rows"
        yield f"  {case} is refuted by {size} of {one.instance}: qeval explain {folder} {case}"


def _first_errors(cells: Sequence["CellResult"]) -> Iterator[str]:
    """What kept cases from being counted, each reason once: a person has to act on it."""
    reasons: Counter[str] = Counter()
    for cell in cells:
        if cell.errors:
            uncounted = (r for r in cell.records if not r.verdict.counted)
            reasons.update(f"{r.verdict}: {r.message.partition(chr(10))[0]}" for r in uncounted)
    for reason, count in reasons.most_common(SHOWN_ERRORS):
        yield f"  {reason[:ERROR_LENGTH]}" + (f" ({count} times)" if count > 1 else "")


def _print_places(console: "Console", result: "SweepResult") -> None:
    folders = list(dict.fromkeys(cell.folder for cell in result.cells))
    console.print()
    if len(folders) <= LISTED_FOLDERS:
        for folder in folders:
            console.print(f"written: {_near(folder)}/", soft_wrap=True)
    else:
        place = _near(folders[0].parent)
        console.print(f"written: {len(folders)} cell folders in {place}/", soft_wrap=True)
    if result.tracking:
        console.print(f"MLflow:  {result.tracking}", soft_wrap=True)


def _resume(result: "SweepResult") -> str:
    done = sum(cell.done for cell in result.cells)
    total = sum(cell.total for cell in result.cells)
    errors = sum(cell.errors for cell in result.cells)
    what = "interrupted" if result.exit_code is ExitCode.INTERRUPTED else "incomplete"
    program = Path(sys.argv[0]).name
    command = "the same command"
    if program.startswith("qeval"):
        command = shlex.join(["qeval", *map(redact_override, sys.argv[1:])])
    failed = f", {errors} of them failed and are tried again" if errors else ""
    return f"{what}: {done} of {total} cases are recorded{failed}. To go on: {command}"


def _near(path: Path) -> Path:
    try:
        return path.absolute().relative_to(Path.cwd())
    except ValueError:
        return path
