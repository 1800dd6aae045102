"""Live progress on stderr: bars in a terminal, an occasional plain line anywhere else."""

import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TextIO

from qeval.scoring.verdict import Verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

CellPlan = tuple[str, str, int, int]
"""Key, name, cases in all, cases that are still to be done."""

LINE_EVERY_S = 15.0
MOST_BARS = 10  # more cells than this, and only those at work are shown


class Progress(Protocol):
    """What a sweep tells whoever watches. Called from one thread, once a case: must be cheap."""

    def start(self, cells: Sequence[CellPlan]) -> None:
        """The sweep's cells, in order."""
        ...

    def case_done(self, cell: str, verdict: Verdict) -> None:
        """One more case of the cell with that key is in its journal."""
        ...

    def cell_done(self, cell: str) -> None:
        """The cell with that key is closed."""
        ...

    def stop(self) -> None:
        """No more is coming. Safe to call twice."""
        ...


def make_progress(*, quiet: bool = False, stream: TextIO | None = None) -> Progress:
    """The display that suits `stream` (stderr).

    Bars need a terminal; `CI`, `NO_COLOR` or `TERM=dumb` ask for plain lines.
    """
    stream = sys.stderr if stream is None else stream
    if quiet:
        return NoProgress()
    plain = any(os.environ.get(name) for name in ("CI", "NO_COLOR"))
    if plain or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return PlainProgress(stream)
    from rich.console import Console

    return BarProgress(Console(file=stream))


class NoProgress:
    """Shows nothing."""

    def start(self, cells: Sequence[CellPlan]) -> None:
        """Shows nothing."""

    def case_done(self, cell: str, verdict: Verdict) -> None:
        """Shows nothing."""

    def cell_done(self, cell: str) -> None:
        """Shows nothing."""

    def stop(self) -> None:
        """Shows nothing."""


class Tally:
    """Counts of a sweep, and its pace since it started."""

    def __init__(self, cells: Sequence[CellPlan]) -> None:
        self.cells = len(cells)
        self.total = sum(total for _, _, total, _ in cells)
        self.todo = sum(missing for _, _, _, missing in cells)
        self.found_done = self.total - self.todo
        self.done = 0
        self.verdicts: Counter[Verdict] = Counter()
        self._began = time.monotonic()

    def add(self, verdict: Verdict) -> None:
        """Count one case."""
        self.done += 1
        self.verdicts[verdict] += 1

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    @property
    def pace(self) -> str:
        """`3.2 cases/s, 2:05 left`, or "" as long as it can't be told."""
        if not self.done or self.elapsed_s <= 0:
            return ""
        rate = self.done / self.elapsed_s
        return f"{rate:.3g} cases/s, {clock((self.todo - self.done) / rate)} left"

    @property
    def outcome(self) -> str:
        """`12 correct, 3 wrong_result`: most frequent first, errors of the machinery last."""
        ordered = sorted(self.verdicts.items(), key=lambda pair: (not pair[0].counted, -pair[1]))
        return ", ".join(f"{count} {verdict}" for verdict, count in ordered)


class PlainProgress:
    """A line at the start, one every 15 seconds at most, and one at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._tally: Tally | None = None
        self._next_s = LINE_EVERY_S

    def start(self, cells: Sequence[CellPlan]) -> None:
        """Say how much there is to do."""
        tally = self._tally = Tally(cells)
        known = f" ({tally.found_done} recorded before)" if tally.found_done else ""
        word = "cell" if tally.cells == 1 else "cells"
        self._line(f"{tally.cells} {word}, {tally.todo} of {tally.total} cases to do{known}")

    def case_done(self, cell: str, verdict: Verdict) -> None:  # noqa: ARG002
        """Count it; say so if it is time."""
        assert self._tally is not None
        self._tally.add(verdict)
        if self._tally.elapsed_s >= self._next_s:
            self._next_s = self._tally.elapsed_s + LINE_EVERY_S
            self._status(self._tally.pace)

    def cell_done(self, cell: str) -> None:
        """Nothing: the end of a cell is no news without a terminal."""

    def stop(self) -> None:
        """Say what came out and how long it took."""
        if self._tally is not None and self._tally.done:
            self._status(f"in {clock(self._tally.elapsed_s)}")
        self._tally = None

    def _status(self, pace: str) -> None:
        assert self._tally is not None
        done = f"{self._tally.done}/{self._tally.todo} cases"
        self._line("; ".join(filter(None, [done, pace, self._tally.outcome])))

    def _line(self, text: str) -> None:
        self._stream.write(f"qeval: {text}\n")
        self._stream.flush()


class BarProgress:
    """A bar per cell (at most ten), one for the sweep, and the tally of verdicts."""

    def __init__(self, console: "Console") -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=18),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
            # Bars that are drawn too often cost more than the cases they count.
            refresh_per_second=4,
            transient=True,
        )
        self._width = console.width
        self._cells: dict[str, TaskID] = {}
        self._counts: dict[str, Counter[bool]] = {}
        self._shown: set[str] = set()
        self._all: TaskID | None = None
        self._tally: Tally | None = None

    def start(self, cells: Sequence[CellPlan]) -> None:
        """Draw the bars; what was recorded before is already in them."""
        self._tally = tally = Tally(cells)
        room = max(12, self._width - 50)
        # The bar of a single cell would say the same as the sweep's.
        if 1 < len(cells) <= MOST_BARS:
            self._shown = {key for key, _, _, missing in cells if missing}
        for key, name, total, missing in cells:
            self._cells[key] = self._bars.add_task(
                name if len(name) <= room else name[: room - 1] + "…",
                total=total,
                completed=total - missing,
                note="",
                visible=key in self._shown,
            )
            self._counts[key] = Counter()
        title = "all" if len(cells) == 1 else f"{len(cells)} cells"
        self._all = self._bars.add_task(
            title, total=tally.total, completed=tally.found_done, note=""
        )
        self._bars.start()

    def case_done(self, cell: str, verdict: Verdict) -> None:
        """Move the bars."""
        assert self._tally is not None
        assert self._all is not None
        self._tally.add(verdict)
        counts = self._counts[cell]
        counts[verdict.right] += 1
        if len(self._cells) > 1:
            task = self._cells[cell]
            if cell not in self._shown and len(self._shown) < MOST_BARS:
                self._shown.add(cell)
                self._bars.update(task, visible=True)
            note = f"{counts[True]} right, {counts[False]} not"
            self._bars.update(task, advance=1, note=note)
        self._bars.update(self._all, advance=1, note=self._tally.pace)

    def cell_done(self, cell: str) -> None:
        """Make room for cells that are still at work."""
        if len(self._cells) > MOST_BARS:
            self._shown.discard(cell)
            self._bars.update(self._cells[cell], visible=False)

    def stop(self) -> None:
        """Take the bars away and leave one line of what came out."""
        if self._tally is None:
            return
        tally, self._tally = self._tally, None
        self._bars.stop()
        if tally.done:
            self._bars.console.print(
                f"{tally.done} cases in {clock(tally.elapsed_s)}: {tally.outcome}",
                markup=False,
                highlight=False,
            )


def clock(seconds: float) -> str:
    """`0.8 s`, `42 s`, `2:05`, `1:02:05`."""
    if seconds < 10:  # noqa: PLR2004
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
