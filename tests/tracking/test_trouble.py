"""The sink's bad days: none of them may reach the evaluation."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from qeval.commands import track as track_command
from qeval.errors import InputError
from qeval.tracking import MlflowTracker, NoTracker, Tracker
from qeval.tracking.store import locate, without_password
from qeval.tracking.sweeps import Sweep, sweeps_of

SECRET = "hunter2"


def test_unreachable_server_is_one_warning_and_track_logs_later(
    tmp_path: Path,
    make_cell: Any,
    search: Any,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = [make_cell("a", key="aaaa"), make_cell("b", key="bbbb"), make_cell("c", key="cccc")]
    tracker = MlflowTracker(uri=f"http://user:{SECRET}@127.0.0.1:9", http_retries=0)
    tracker.open("s1", folders)
    for folder in folders:
        tracker.cell_closed(folder)
    result = tracker.close()
    tracker.abandon()
    assert result.warning.startswith("MLflow: 3 of 3 cells are not logged (")
    assert "qeval track" in result.warning
    assert SECRET not in result.warning
    assert (result.where, result.logged) == ("", 0)

    assert track_command.main(["tracking.uri=null"]) == 0
    assert "3 cells logged" in capfd.readouterr().out
    assert track_command.main(["runs", "tracking.uri=null"]) == 0
    assert "0 cells logged, 3 were there already" in capfd.readouterr().out
    runs = search(f"sqlite:///{tmp_path}/mlruns/mlflow.db")
    parents = [run for run in runs if run["tags"]["qeval.kind"] == "sweep"]
    assert [run["tags"]["qeval.sweep"] for run in parents] == ["s1"]
    assert len(runs) == 4


def test_cells_of_a_sweep_that_can_not_be_opened_are_no_part_of_the_one_before(
    tmp_path: Path, make_cell: Any, search: Any
) -> None:
    folders = [make_cell("a", key="aaaa"), make_cell("b", key="bbbb")]
    store = tmp_path / "mlruns"
    tracker = MlflowTracker(directory=str(store))
    tracker.reopen(Sweep("s1", (folders[0],)))
    tracker.cell_closed(folders[0])
    tracker.sweep_done()
    tracker.reopen(Sweep("\udcff", (folders[1],)))  # no database takes half a character
    tracker.cell_closed(folders[1])
    result = tracker.close()
    assert result.warning.startswith("MLflow: 1 of 2 cells are not logged (")
    runs = search(f"sqlite:///{store}/mlflow.db")
    assert sorted(run["tags"]["qeval.kind"] for run in runs) == ["cell", "sweep"]


def test_child_that_is_killed_loses_nothing_for_long(
    tmp_path: Path, make_cell: Any, search: Any
) -> None:
    folders = [make_cell(f"c{number}", key=f"key{number}") for number in range(4)]
    store = tmp_path / "mlruns"
    tracker = MlflowTracker(directory=str(store))
    tracker.open("s1", folders)
    tracker.cell_closed(folders[0])
    child = _only_child()
    while not list(store.glob("qeval/*/artifacts/failed_queries.json")):
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    for folder in folders[1:]:
        tracker.cell_closed(folder)
    result = tracker.close()
    assert "not logged" in result.warning

    resumed = MlflowTracker(directory=str(store))
    resumed.open("s1", folders)
    for folder in folders:
        resumed.cell_closed(folder)
    assert resumed.close().warning == ""
    runs = search(f"sqlite:///{store}/mlflow.db")
    keys = sorted(run["tags"]["qeval.cell_key"] for run in runs if "qeval.cell_key" in run["tags"])
    assert keys == ["key0", "key1", "key2", "key3"]
    assert len(runs) == 5
    assert {run["status"] for run in runs} == {"FINISHED"}
    assert all(run["metrics"]["execution_accuracy"] == 0.5 for run in runs if "cost" in run["tags"])


def test_child_finishes_what_it_was_told_when_its_sweep_is_killed(
    tmp_path: Path, make_cell: Any, search: Any
) -> None:
    folder = make_cell("a", key="aaaa")
    store = tmp_path / "mlruns"
    code = """
import sys, time
from pathlib import Path
from qeval.tracking import MlflowTracker
tracker = MlflowTracker(directory=sys.argv[1])
tracker.open("s1", [Path(sys.argv[2])])
tracker.cell_closed(Path(sys.argv[2]))
time.sleep(0.5)
print("told", flush=True)
time.sleep(600)
"""
    sweep = subprocess.Popen(
        [sys.executable, "-c", code, str(store), str(folder)], stdout=subprocess.PIPE
    )
    assert sweep.stdout is not None
    sweep.stdout.readline()
    child = psutil.Process(sweep.pid).children()[0]
    sweep.kill()
    sweep.communicate()
    with contextlib.suppress(psutil.NoSuchProcess):
        child.wait(timeout=60)
    runs = search(f"sqlite:///{store}/mlflow.db")
    assert {run["tags"]["qeval.kind"]: run["status"] for run in runs} == {
        "cell": "FINISHED",
        "sweep": "KILLED",
    }


def test_damaged_and_unfinished_folders_are_named_and_the_rest_is_logged(
    tmp_path: Path, make_cell: Any, search: Any
) -> None:
    good, damaged, unfinished = (make_cell(name, key=name) for name in ("g", "d", "u"))
    (damaged / "journal.jsonl").write_text('{"type": "cell", "key": "d"}\nnonsense\n')
    (unfinished / "summary.json").unlink()
    tracker = MlflowTracker(directory=str(tmp_path / "m"))
    tracker.open("s1", [damaged, unfinished, good])
    for folder in (damaged, unfinished, good):
        tracker.cell_closed(folder)
    result = tracker.close()
    assert "2 of 3 cells are not logged" in result.warning
    assert "journal.jsonl:2" in result.warning
    assert "summary.json" in result.warning
    assert result.logged == 1
    assert len(search(f"sqlite:///{tmp_path}/m/mlflow.db")) == 2


def test_experiment_in_the_trash_is_said_so(tmp_path: Path, make_cell: Any) -> None:
    folder = make_cell("a", key="aaaa")
    store = f"sqlite:///{tmp_path}/own.db"
    code = """
import sys
from mlflow import MlflowClient
client = MlflowClient(sys.argv[1])
client.delete_experiment(client.create_experiment("qeval"))
"""
    subprocess.run([sys.executable, "-c", code, store], check=True, capture_output=True)
    tracker = MlflowTracker(uri=store)
    tracker.open("s1", [folder])
    tracker.cell_closed(folder)
    warning = tracker.close().warning
    assert "'qeval' is in the trash" in warning
    assert "tracking.experiment=" in warning


def test_nothing_of_mlflow_enters_the_evaluating_process(tmp_path: Path, make_cell: Any) -> None:
    folder = make_cell("a", key="aaaa")
    code = """
import json, sys
from pathlib import Path
from qeval.tracking import MlflowTracker
tracker = MlflowTracker(directory=sys.argv[1])
tracker.open("s1", [Path(sys.argv[2])])
tracker.cell_closed(Path(sys.argv[2]))
warning = tracker.close().warning
print(json.dumps([warning, sorted({"mlflow", "sqlalchemy", "pandas"} & set(sys.modules))]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path / "m"), str(folder)],
        capture_output=True,
        check=True,
        text=True,
    )
    assert json.loads(done.stdout) == ["", []]
    assert done.stderr == ""


def test_no_tracker_only_remembers_which_cells_belong_together(make_cell: Any) -> None:
    first, second = make_cell("a"), make_cell("b")
    tracker = NoTracker()
    assert isinstance(tracker, Tracker)
    assert isinstance(MlflowTracker(), Tracker)
    tracker.open("one", [first])
    tracker.open("two", [first, second])
    tracker.open("one", [first])
    tracker.cell_closed(first)
    assert tracker.close().warning == ""
    known = [(sweep.id, [f.name for f in sweep.folders]) for sweep in sweeps_of([first, second])]
    assert known == [("two", ["a", "b"]), ("one", ["a"])]
    assert [sweep.id for sweep in sweeps_of([second, make_cell("c")])] == ["two", "no-sweep"]


def test_wrong_tracking_uri_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected sqlite:///file\.db, http"):
        locate("mlruns.db", tmp_path)
    assert without_password(f"http://me:{SECRET}@host/x") == "http://***@host/x"
    assert without_password(f"http://me:{SECRET}@2@host/x@y") == "http://***@host/x@y"


@pytest.mark.parametrize("words", [["nowhere"], ["."], ["tracking=none"]])
def test_track_refuses_what_it_cannot_log(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        track_command.main(words)


def _only_child() -> psutil.Process:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for process in psutil.Process(os.getpid()).children():
            if "qeval.tracking" in " ".join(process.cmdline()):
                return process
        time.sleep(0.01)
    raise AssertionError("no tracking process")


def test_a_file_that_is_no_database_is_said_at_once(tmp_path: Path, make_cell: Any) -> None:
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db").write_bytes(b"no database" * 2000)
    tracker = MlflowTracker(directory=str(tmp_path / "mlruns"))
    folder = make_cell()
    tracker.open("s1", [folder])
    tracker.cell_closed(folder)
    result = tracker.close()
    assert "file is not a database" in result.warning
    assert "Move it away" in result.warning
