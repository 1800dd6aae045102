"""Live progress: plain lines without a terminal, bars in one, silence on request."""

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from qeval.report import make_progress
from qeval.report.progress import MOST_BARS, BarProgress, CellPlan, PlainProgress, clock
from qeval.scoring.verdict import Verdict

CELLS: Sequence[CellPlan] = [("k1", "gold-sql", 4, 3), ("k2", "mock-[sql]", 4, 4)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_lines_say_what_there_is_to_do_and_what_came_out() -> None:
    stream = io.StringIO()
    progress = make_progress(stream=stream)
    assert isinstance(progress, PlainProgress)
    progress.start(CELLS)
    for verdict in (Verdict.INFRA_ERROR, Verdict.INFRA_ERROR, Verdict.CORRECT):
        progress.case_done("k1", verdict)
    progress.case_done("k2", Verdict.WRONG_RESULT)
    progress.cell_done("k1")
    progress.stop()
    progress.stop()
    first, last = stream.getvalue().splitlines()
    assert first == "qeval: 2 cells, 7 of 8 cases to do (1 recorded before)"
    assert last.startswith("qeval: 4/7 cases; in ")
    # Errors of the machinery come last however many there are.
    assert last.endswith("; 1 correct, 1 wrong_result, 2 infra_error")


@pytest.mark.parametrize("variable", ["CI", "NO_COLOR"])
def test_environment_can_ask_for_plain_lines(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    assert isinstance(make_progress(stream=Terminal()), PlainProgress)


def test_quiet_writes_nothing() -> None:
    stream = Terminal()
    progress = make_progress(quiet=True, stream=stream)
    progress.start(CELLS)
    progress.case_done("k1", Verdict.CORRECT)
    progress.cell_done("k1")
    progress.stop()
    assert stream.getvalue() == ""


@pytest.mark.parametrize("cells", [1, 2, 30])
def test_bars_name_cells_and_count_what_was_recorded_before(cells: int) -> None:
    stream = Terminal()
    progress = BarProgress(Console(file=stream, force_terminal=True, width=100))
    plans = [(f"k{n}", f"cell-[{n}]", 2, 1) for n in range(cells)]
    progress.start(plans)
    for key, *_ in plans:
        progress.case_done(key, Verdict.CORRECT)
        progress.cell_done(key)
    progress.stop()
    progress.stop()
    text = stream.getvalue()
    assert f"{cells}/{2 * cells}" in text
    assert ("cell-[0]" in text) == (cells == 2)
    assert f"{cells} correct" in text


def test_a_cell_that_waited_for_room_gets_its_bar_when_another_ends() -> None:
    stream = Terminal()
    progress = BarProgress(Console(file=stream, force_terminal=True, width=100))
    plans = [(f"k{n}", f"cell-[{n}]", 3, 3) for n in range(MOST_BARS + 2)]
    progress.start(plans)
    for key, *_ in plans:
        progress.case_done(key, Verdict.CORRECT)
    progress.cell_done("k0")
    progress.case_done(f"k{MOST_BARS}", Verdict.CORRECT)
    progress.stop()
    text = stream.getvalue()
    assert "cell-[1]" in text
    assert f"cell-[{MOST_BARS}]" in text
    assert f"cell-[{MOST_BARS + 1}]" not in text


def test_a_sweep_with_nothing_to_do_says_nothing_at_its_end() -> None:
    stream = io.StringIO()
    progress = make_progress(stream=stream)
    progress.start([("k", "gold-sql", 4, 0)])
    progress.stop()
    assert stream.getvalue() == "qeval: 1 cell, 0 of 4 cases to do (4 recorded before)\n"


def test_clock() -> None:
    assert [clock(s) for s in (0.04, 9.94, 59.4, 59.6, 3725)] == [
        "0.0 s", "9.9 s", "59 s", "1:00", "1:02:05",
    ]  # fmt: skip
