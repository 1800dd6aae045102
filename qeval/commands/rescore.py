"""`qeval rescore`: judge recorded answers again with today's extraction, engines and scoring."""

import argparse
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.errors import InputError
from qeval.exit_codes import ExitCode

if TYPE_CHECKING:
    from qeval.record import Record


def main(argv: Sequence[str]) -> int:
    """Re-score cell folders into `<runs_dir>/rescored-<time>/` and list the changed verdicts.

    Exit status as for a run, and 1 when a verdict changed although no setting was overridden.
    """
    parser = argparse.ArgumentParser(
        prog="qeval rescore",
        description="Extract, execute and compare recorded answers again; no model is asked.",
    )
    parser.add_argument("folders", nargs="+", help="cell folders, or a folder that holds them")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a setting, e.g. --set scoring.variants=3 (may be given several times)",
    )
    parser.add_argument("--into", type=Path, help="where the new cell folders go")
    options = parser.parse_intermixed_args(argv)

    from qeval.recorded import recorded_cell
    from qeval.sweep import evaluate

    folders = list(_cell_folders(options.folders))
    into = (
        options.into or folders[0].parent / f"rescored-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    )
    old = []
    cells = []
    for folder in folders:
        cell, records = recorded_cell(folder, options.set, into)
        cells.append(cell)
        old.append(records)
    _carry_reviews(folders, into)
    result = evaluate(cells)
    changes = [
        (cell.name, before, after)
        for cell, records in zip(result.cells, old, strict=True)
        for before, after in _changes(records, cell.records)
    ]
    _show(changes, sum(len(records) for records in old))
    if result.exit_code is ExitCode.DONE and changes and not options.set:
        return ExitCode.MISSED
    return result.exit_code


def _cell_folders(names: Sequence[str]) -> Iterator[Path]:
    from qeval.journal import JOURNAL

    for name in names:
        path = Path(name)
        if (path / JOURNAL).is_file():
            yield path
            continue
        inside = sorted(journal.parent for journal in path.glob(f"*/{JOURNAL}"))
        if not inside:
            raise InputError(f"{path} is no cell folder and holds none (no {JOURNAL})")
        yield from inside


def _carry_reviews(folders: Sequence[Path], into: Path) -> None:
    """What people decided holds for the same queries in the new folders as well."""
    from qeval.review import decisions

    known = set(decisions.read(into))
    made = [one for source in sorted({f.parent for f in folders}) for one in decisions.read(source)]
    if new := [one for one in dict.fromkeys(made) if one not in known]:
        into.mkdir(parents=True, exist_ok=True)
        decisions.append(into, new)


def _changes(old: "list[Record]", new: "list[Record]") -> "Iterator[tuple[Record, Record]]":
    after = {(record.case_id, record.repeat): record for record in new}
    for before in old:
        now = after.get((before.case_id, before.repeat))
        if now is not None and now.verdict is not before.verdict:
            yield before, now


def _show(changes: "Sequence[tuple[str, Record, Record]]", total: int) -> None:
    from rich.table import Table

    from qeval.report.console import output

    console = output()
    console.print(f"{total - len(changes)} of {total} verdicts reproduced, {len(changes)} changed")
    if changes:
        table = Table("cell", "case", "was", "is", "message")
        for name, before, after in changes:
            table.add_row(name, after.case_id, before.verdict, after.verdict, after.message[:80])
        console.print(table)
