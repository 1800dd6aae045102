"""`qeval rescore`: judge recorded answers again with today's extraction, engines and scoring."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qeval.errors import InputError
from qeval.exit_codes import ExitCode

if TYPE_CHECKING:
    from qeval.cells import Cell
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
    options = parser.parse_args(argv)

    from qeval.sweep import evaluate

    folders = list(_cell_folders(options.folders))
    into = options.into or folders[0].parent / f"rescored-{datetime.now():%Y%m%d-%H%M%S}"  # noqa: DTZ005
    old = []
    cells = []
    for folder in folders:
        cell, records = _recorded_cell(folder, options.set, into)
        cells.append(cell)
        old.append(records)
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


def _recorded_cell(folder: Path, changes: Sequence[str], into: Path) -> "tuple[Cell, list[Record]]":
    """The cell of a folder with today's code and the recorded answers as its model."""
    from omegaconf import OmegaConf

    from qeval.cells import build_cell
    from qeval.journal import read_journal
    from qeval.models.recorded import RecordedModel

    header, records = read_journal(folder)
    config: Any = OmegaConf.create(header["config"])
    for change in changes:
        key, sign, _ = change.partition("=")
        if not sign:
            raise InputError(f"--set {change}: expected KEY=VALUE, e.g. --set scoring.variants=3")
        if OmegaConf.select(config, key, default=_ABSENT) is _ABSENT:
            raise InputError(f"--set {change}: the cell's configuration has no key {key!r}")
    config = OmegaConf.merge(config, OmegaConf.from_dotlist(list(changes)))
    config.runs_dir = str(into)
    config.tracking = {"_target_": "qeval.tracking.NoTracker", "name": "none"}
    # Answers come from the journal, so the original's credentials are not needed to build it.
    chosen = header["config"]["model"]
    config.model = {"_target_": "qeval.models.recorded.RecordedModel", "name": chosen["name"]}
    cell = build_cell(config)
    gone = {record.case_id for record in records} - {case.id for case in cell.cases}
    if gone:
        raise InputError(
            f"{folder}: suite {cell.suite.name!r} no longer has the cases {', '.join(sorted(gone))}"
        )
    model = RecordedModel(chosen["name"], header["model"], records)
    return replace(cell, model=model, config={**cell.config, "model": chosen}), records


_ABSENT = object()


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
