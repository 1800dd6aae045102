"""Which cells belonged to which command: `sweeps.jsonl` next to the cell folders.

A cell's journal knows nothing of the commands it was part of (one cell may be part of many), but
`qeval track` must put its run below the same parents as the live sweep did.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SWEEPS = "sweeps.jsonl"


@dataclass(frozen=True, slots=True)
class Sweep:
    """One command's cells. `started_at` is ISO 8601 in UTC, "" where it is not known."""

    id: str
    folders: tuple[Path, ...]
    started_at: str = ""


UNSWEPT = "no-sweep"
"""The sweep of cells that no remembered command names."""


def remember(sweep_id: str, folders: Sequence[Path]) -> Sweep:
    """Append the sweep to the list beside its cells; trouble with the disk is not fatal here."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    sweep = Sweep(sweep_id, tuple(folders), started)
    if folders:
        line = {"sweep": sweep_id, "cells": [f.name for f in folders], "started_at": started}
        try:
            with (folders[0].parent / SWEEPS).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError:
            pass
    return sweep


def sweeps_of(folders: Iterable[Path]) -> list[Sweep]:
    """The sweeps that `folders` were part of, oldest first, each with those of its cells.

    A resumed sweep counts once, at its latest place. Cells of no known sweep come last, together.
    """
    wanted = list(dict.fromkeys(folder.resolve() for folder in folders))
    found: dict[str, Sweep] = {}
    for runs_dir in dict.fromkeys(folder.parent for folder in wanted):
        for line in _lines(runs_dir / SWEEPS):
            named = {runs_dir / str(name) for name in line.get("cells") or ()}
            cells = tuple(folder for folder in wanted if folder in named)
            if cells:
                sweep_id = str(line.get("sweep"))
                found.pop(sweep_id, None)
                found[sweep_id] = Sweep(sweep_id, cells, str(line.get("started_at", "")))
    known = {folder for sweep in found.values() for folder in sweep.folders}
    rest = tuple(folder for folder in wanted if folder not in known)
    return [*found.values(), *([Sweep(UNSWEPT, rest)] if rest else [])]


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    if not path.is_file():
        return
    for raw in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            value = json.loads(raw)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
