"""What happens when a run is killed, interrupted, loses its engine, or has company."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from qeval.journal import read_journal
from tests.conftest import Run, command

SLOW = [
    "model=mock",
    "model.latency_s=0.15",
    "workers=2",
    "tracking=none",
    "difficulty=easy",
    "difficulty.limit=12",
]


def start(folder: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command(*words),
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for_records(folder: Path, least: int) -> Path:
    """Wait until the only cell below `folder`/runs has that many records; its folder."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for journal in folder.glob("runs/*/journal.jsonl"):
            if journal.read_bytes().count(b'"type":"record"') >= least:
                return journal.parent
        time.sleep(0.02)
    raise AssertionError("no records appeared")


def metrics(cell: Path) -> dict[str, Any]:
    summary = json.loads((cell / "summary.json").read_text(encoding="utf-8"))
    assert summary["complete"] is True
    found: dict[str, Any] = summary["metrics"]["overall"]
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("undisturbed")
    process = start(folder, *SLOW)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    return metrics(next(folder.glob("runs/*/journal.jsonl")).parent)


def test_kill_9_loses_nothing_and_repeats_nothing(
    tmp_path: Path, undisturbed: dict[str, Any]
) -> None:
    process = start(tmp_path, *SLOW)
    cell = wait_for_records(tmp_path, 4)
    process.kill()
    process.communicate()
    survived = read_journal(cell)[1]
    assert 4 <= len(survived) < 12

    again = start(tmp_path, *SLOW)
    output, _ = again.communicate(timeout=120)
    assert again.returncode == 0, output
    lines = (cell / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    ids = [json.loads(line)["case_id"] for line in lines[1:]]
    assert len(ids) == len(set(ids)) == 12
    assert read_journal(cell)[1][: len(survived)] == survived
    assert metrics(cell) == undisturbed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_finishes_writing_and_tells_how_to_go_on(
    tmp_path: Path, undisturbed: dict[str, Any], number: signal.Signals
) -> None:
    process = start(tmp_path, *SLOW)
    cell = wait_for_records(tmp_path, 3)
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "Traceback" not in output
    assert "qeval model=mock model.latency_s=0.15" in " ".join(output.split())
    assert (cell / "journal.jsonl").read_bytes().endswith(b"\n")
    again = start(tmp_path, *SLOW)
    assert again.wait(timeout=120) == 0
    again.communicate()
    assert metrics(cell) == undisturbed


def test_a_second_interruption_waits_for_no_model(tmp_path: Path) -> None:
    process = start(tmp_path, "model=mock", "model.latency_s=600", "difficulty=easy")
    while not list(tmp_path.glob("runs/*/journal.jsonl")):
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 130, output
    assert "once more ends at once" in output
    assert "Traceback" not in output


def test_a_killed_engine_is_brought_back_once(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    process = start(tmp_path, *SLOW)
    cell = wait_for_records(tmp_path, 3)
    kill_postgres_of(process.pid)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    assert metrics(cell) == undisturbed


def test_an_engine_that_is_lost_again_is_told_as_that(
    tmp_path: Path, undisturbed: dict[str, Any]
) -> None:
    process = start(tmp_path, *SLOW)
    cell = wait_for_records(tmp_path, 2)
    kill_postgres_of(process.pid)
    wait_for_records(tmp_path, 5)
    kill_postgres_of(process.pid)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 3, output
    assert "To go on: qeval model=mock" in " ".join(output.split())
    assert "THE DATA CHANGED" not in output
    again = start(tmp_path, *SLOW)
    assert again.wait(timeout=120) == 0
    again.communicate()
    assert metrics(cell) == undisturbed


def test_no_server_outlives_a_killed_run(tmp_path: Path) -> None:
    process = start(tmp_path, *SLOW)
    wait_for_records(tmp_path, 2)
    servers = postgres_of(process.pid)
    assert servers
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(servers, timeout=15)
    assert alive == []


def test_a_second_process_on_the_same_cell_is_refused(tmp_path: Path, qeval: Run) -> None:
    slower = ["model.latency_s=1.5" if "latency" in word else word for word in SLOW]
    process = start(tmp_path, *slower)
    wait_for_records(tmp_path, 1)
    second = qeval(*slower)
    assert second.returncode == 2
    assert "another qeval process is writing runs/mock-sql-schema_few_shot-easy-" in second.stderr
    assert process.wait(timeout=60) == 0
    process.communicate()


def test_a_half_written_line_is_cut_off_and_its_case_run_again(
    tmp_path: Path, qeval: Run, undisturbed: dict[str, Any]
) -> None:
    assert qeval(*SLOW).returncode == 0
    cell = wait_for_records(tmp_path, 12)
    path = cell / "journal.jsonl"
    os.truncate(path, path.stat().st_size - 40)
    assert len(read_journal(cell)[1]) == 11
    assert qeval(*SLOW).returncode == 0
    assert metrics(cell) == undisturbed


def test_an_unreachable_mlflow_server_does_not_stop_the_run(tmp_path: Path, qeval: Run) -> None:
    done = qeval(
        "model=gold",
        "difficulty=easy",
        "difficulty.limit=12",
        "tracking.uri=http://127.0.0.1:9",
        "tracking.http_retries=0",
        "tracking.http_timeout_s=1",
    )
    assert done.returncode == 0, done.stderr
    told = " ".join((done.stdout + done.stderr).split())
    assert "qeval track" in told
    assert metrics(wait_for_records(tmp_path, 12))["valid"]["value"] == 1.0


def postgres_of(pid: int) -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(pid).children(recursive=True)
        if child.name().startswith("postgres")
    ]


def kill_postgres_of(pid: int) -> None:
    servers = postgres_of(pid)
    assert servers
    for server in servers:
        server.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_ends_in_good_order_and_can_go_on(tmp_path: Path, qeval: Run) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        words = ["-m", "model=gold,mock", "difficulty=easy", "tracking=none", f"runs_dir={disk}"]
        full = qeval(*words)
        told = " ".join((full.stdout + full.stderr).split())
        assert full.returncode == 3, told
        assert "No space left on device" in told
        assert "make room and run the same command again" in told
        assert "Traceback" not in told
        assert "Warning" not in told
        subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
        again = qeval(*words)
        assert again.returncode == 0, again.stdout + again.stderr
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
