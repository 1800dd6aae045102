"""The cap on money outlives processes: what was in flight at a kill counts, workers share it."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.errors import IncompleteError
from qeval.models.budget import Budget, BudgetReachedError
from qeval.models.ledger import FILE, Ledger, Place
from tests.conftest import command


def test_calls_in_flight_when_a_process_is_killed_count_at_their_most(tmp_path: Path) -> None:
    program = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from qeval.models.budget import Budget\n"
        "from qeval.models.ledger import Ledger, Place\n"
        f"budget = Budget(10, 0, Ledger(Path({str(tmp_path / FILE)!r})), 'grid')\n"
        "budget.settle(budget.reserve(2, Place('cell', 'a')), 0.5)\n"
        "budget.reserve(3, Place('cell', 'b'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    died = subprocess.run([sys.executable, "-c", program], check=False)
    assert died.returncode == -signal.SIGKILL
    ledger = Ledger(tmp_path / FILE)
    assert ledger.before() == {Place("cell", "a"): 0.5, Place("cell", "b"): 3.0}
    assert ledger.balance().in_flight == 0
    ledger.close()


def test_calls_of_a_dead_worker_are_paid_in_full_and_nobody_waits_for_them(tmp_path: Path) -> None:
    ours = Ledger(tmp_path / FILE)
    program = (
        "from pathlib import Path\n"
        "from qeval.models.ledger import Ledger, Place\n"
        f"Ledger(Path({str(tmp_path / FILE)!r}), {ours.session!r}).reserve(4, 10, Place())\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    budget = Budget(5.0, 0.0, ours)
    with pytest.raises(BudgetReachedError):
        budget.reserve(2.0)
    assert budget.spent_usd == 4.0
    ours.close()


@given(
    st.lists(st.tuples(st.floats(0.001, 1), st.floats(0, 1)), min_size=1, max_size=12),
    st.floats(0, 3),
)
def test_two_that_share_a_ledger_never_spend_more_than_one_may(
    calls: list[tuple[float, float]], limit: float
) -> None:
    ledger = Ledger()
    # What two processes have of a sweep's budget: objects of their own over one file.
    budgets = [Budget(limit, 0.0, ledger) for _ in range(2)]

    def pay(numbered: tuple[int, tuple[float, float]]) -> None:
        number, (bound, part) = numbered
        budget = budgets[number % 2]
        try:
            call = budget.reserve(bound)
        except BudgetReachedError:
            return
        assert ledger.balance().settled_usd + ledger.balance().reserved_usd <= limit + 1e-6
        budget.settle(call, bound * part)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(pay, enumerate(calls)))
    assert ledger.balance().settled_usd <= limit + 1e-6
    assert ledger.balance().in_flight == 0
    ledger.close()


def test_a_ledger_that_can_not_be_used_stops_the_sweep(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database, " * 100)
    with pytest.raises(IncompleteError, match=r"limits\.budget_usd: .*spending\.sqlite"):
        Ledger(tmp_path / FILE)


SWEEP = (
    "model=mock", "model.mode=gold", "model.usd_per_call=1", "model.latency_s=0.4",
    "language=typeql", "difficulty=easy", "scoring.variants=0", "tracking=none", "workers=4",
    "prompt_strategy=zero_shot",
)  # fmt: skip


def _records(folder: Path) -> int:
    return sum(
        json.loads(line)["type"] == "record"
        for journal in folder.glob("runs/*/journal.jsonl")
        for line in journal.read_bytes().splitlines(keepends=True)
        if line.endswith(b"\n")
    )


def test_a_sweep_resumed_after_kill_9_counts_what_was_in_flight(tmp_path: Path) -> None:
    words = command(*SWEEP, "limits.budget_usd=20")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(words, cwd=tmp_path, **quiet)  # type: ignore[call-overload]
    while _records(tmp_path) < 5 and process.poll() is None:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = _records(tmp_path)
    ledger = Ledger(tmp_path / "runs" / FILE)
    paid = sum(ledger.before().values())
    ledger.close()
    assert 5 <= done <= paid <= done + 8  # four in flight, four answered and not yet written
    finished = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.returncode == 3, finished.stderr
    ledger = Ledger(tmp_path / "runs" / FILE)
    assert sum(ledger.before().values()) == 20.0
    ledger.close()
    assert _records(tmp_path) == 20 - (paid - done)
    assert "the budget is spent: $20.0000" in finished.stdout + finished.stderr


def test_processes_share_the_cap(tmp_path: Path) -> None:
    words = command(*SWEEP, "limits.budget_usd=7", "backend=loky", "workers=2")
    finished = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.returncode == 3, finished.stderr
    assert _records(tmp_path) == 7
    assert "the budget is spent: $7.0000" in finished.stdout + finished.stderr


def test_workers_that_live_on_pay_from_the_purse_of_the_sweep_at_hand(tmp_path: Path) -> None:
    words = ["model=mock", "model.mode=gold", "model.usd_per_call=1", "suite=flights",
             "language=typeql", "scoring.variants=0", "tracking=none", "prompt_strategy=zero_shot",
             "backend=loky", "workers=2"]  # fmt: skip
    program = f"""
import qeval
for budget, expected in ((2, 2), (5, 5)):
    result = qeval.run([*{words!r}, f"limits.budget_usd={{budget}}"])
    assert len(result.cells[0].records) == expected, len(result.cells[0].records)
"""
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
