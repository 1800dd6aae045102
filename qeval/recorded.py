"""A finished cell built again from its folder, with the recorded answers as its model."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qeval.errors import InputError

if TYPE_CHECKING:
    from qeval.cells import Cell
    from qeval.record import Record

_ABSENT = object()


def recorded_cell(
    folder: Path, changes: Sequence[str] = (), into: Path | None = None
) -> "tuple[Cell, list[Record]]":
    """The cell of a folder with today's code, the recorded answers as its model and judge.

    `changes` are settings to override, `into` where its records would go (default: where they
    are). Raises `InputError` where the suite no longer has its cases.
    """
    from omegaconf import OmegaConf

    from qeval.cells import build_cell
    from qeval.journal import read_journal
    from qeval.judge.recorded import RecordedJudge
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
    config.runs_dir = str(into or folder.parent)
    config.tracking = {"_target_": "qeval.tracking.NoTracker", "name": "none"}
    config.limits.budget_usd = None  # nobody is paid
    config.backend = "threading"  # the answers are in this process
    # Answers come from the journal, so the original's credentials are not needed to build it.
    chosen = header["config"]["model"]
    config.model = {"_target_": "qeval.models.recorded.RecordedModel", "name": chosen["name"]}
    cell = build_cell(config)
    records = [record for record in records if record.repeat < cell.repeats]
    gone = {record.case_id for record in records} - {case.id for case in cell.cases}
    if gone:
        raise InputError(
            f"{folder}: suite {cell.suite.name!r} no longer has the cases {', '.join(sorted(gone))}"
        )
    model = RecordedModel(chosen["name"], header["model"], records)
    judge = cell.judge and RecordedJudge(cell.judge, header.get("judge", {}), records)
    config = {**cell.config, "model": chosen}
    return replace(cell, model=model, judge=judge, config=config), records
