"""A grid that is killed and run again ends with the records of one that was left alone."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from qeval.journal import read_lines
from qeval.record import Record
from tests.conftest import command

CELLS = 4
CASES = 24


def grid(language: str) -> list[str]:
    return command(
        "-m", "model=mock", "model.seed=0,1", "model.latency_s=0.03", "model.repairs=0.5",
        "model.shares={gold: 0.4, wrong: 0.25, syntax_error: 0.25, refuse: 0.1}",
        f"language={language}", "prompt_strategy=schema_few_shot,self_repair",
        "difficulty=all", f"difficulty.limit={CASES}", "scoring.variants=1", "tracking=none",
        "workers=4",
    )  # fmt: skip


def records(folder: Path) -> dict[tuple[str, str, int], Record]:
    """All whole records by cell folder, case and repeat, without what tells the time."""
    found = {}
    for journal in folder.glob("runs/*/journal.jsonl"):
        for _, line in read_lines(journal):
            if line.pop("type") == "record":
                record = Record.from_json(line)
                where = (journal.parent.name, record.case_id, record.repeat)
                assert where not in found, "a finished case was asked again"
                found[where] = record.without_times()
    return found


def prompts(folder: Path) -> dict[str, set[bytes]]:
    return {
        file.parent.name: set(file.read_bytes().splitlines())
        for file in folder.glob("runs/*/prompts.jsonl")
    }


@pytest.mark.parametrize("language", ["sql", "typeql"])
def test_a_grid_resumed_after_kill_9_has_the_same_records(tmp_path: Path, language: str) -> None:
    alone, killed = tmp_path / "alone", tmp_path / "killed"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for folder in (alone, killed):
        folder.mkdir()
    subprocess.run(grid(language), cwd=alone, check=True, **quiet)
    process = subprocess.Popen(grid(language), cwd=killed, **quiet)
    while len(records(killed)) < CASES and process.poll() is None:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    survived = len(records(killed))
    assert CASES <= survived < CELLS * CASES
    resumed = subprocess.run(grid(language), cwd=killed, check=False, **quiet)
    assert resumed.returncode == 0
    wanted, found = records(alone), records(killed)
    assert len(wanted) == CELLS * CASES
    assert found == wanted
    assert prompts(killed) == prompts(alone)
