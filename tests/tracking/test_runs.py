"""What MLflow holds after a sweep, and that telling it twice changes nothing."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from qeval.record import Record
from qeval.tracking import MlflowTracker, TrackingResult
from qeval.tracking.view import VIEW_TAG, page_of, saved_view


def log(directory: Path, folders: list[Path], sweep: str = "s1", **options: Any) -> TrackingResult:
    tracker = MlflowTracker(directory=str(directory), **options)
    tracker.open(sweep, folders)
    for folder in folders:
        tracker.cell_closed(folder)
    return tracker.close()


def uri(directory: Path) -> str:
    return f"sqlite:///{directory}/mlflow.db"


def cells_of(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [run for run in runs if run["tags"]["qeval.kind"] == "cell"]


def test_a_sweep_becomes_a_parent_with_a_run_per_cell(
    tmp_path: Path, make_cell: Any, search: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_RUN_ID", "0123456789abcdef0123456789abcdef")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "another")
    folders = [make_cell("a", key="aaaa", model="日本-gpt"), make_cell("b", key="bbbb")]
    store = tmp_path / "mlruns"

    result = log(store, folders)

    assert result.warning == ""
    assert (result.logged, result.unchanged) == (2, 0)
    assert str(store / "mlflow.db") in result.where
    runs = search(uri(store))
    parent = next(run for run in runs if run["tags"]["qeval.kind"] == "sweep")
    assert parent["id"] == result.run_id
    assert parent["status"] == "FINISHED"
    assert parent["metrics"]["cells"] == 2
    assert parent["metrics"]["best_execution_accuracy"] == 0.5
    assert parent["artifacts"] == ["overview.html", "overview.json"]
    assert parent["name"] == "replay, 日本-gpt"
    cell = next(run for run in runs if run["tags"].get("qeval.cell_key") == "aaaa")
    assert cell["tags"]["mlflow.parentRunId"] == parent["id"]
    assert cell["name"] == "日本-gpt · sql · zero_shot · all"
    assert cell["status"] == "FINISHED"
    assert (
        cell["metrics"]
        | {
            "execution_accuracy": 0.5,
            "execution_accuracy.n": 4.0,
            "execution_accuracy.easy": 1.0,
            "execution_accuracy.medium": 0.0,
            "syntax_pass": 0.75,
            "verdict/wrong_result": 1.0,
            "verdict/timeout": 0.0,
            "tag/null-handling": 0.5,
            "tokens/total": 440.0,
            "latency/generation_s.p50": 0.5,
        }
        == cell["metrics"]
    )
    # What was not measured is absent: no variant, no judge, a price that nobody knows.
    assert not {"robust_accuracy", "composite", "cost_usd"} & set(cell["metrics"])
    assert cell["tags"]["cost"] == "unknown"
    assert cell["tags"]["engine"] == "postgres 18.6 (embedded)"
    assert cell["params"]["model.temperature"] == "0"
    assert cell["params"]["prompt_strategy.question_language"] == "zh"
    assert cell["params"]["hash.suite"] == "0123456789abcdef0123"
    assert cell["params"]["version.qeval"] == "0.1.0"
    assert cell["artifacts"] == [
        "config.yaml",
        "failed_queries.html",
        "failed_queries.json",
        "prompts.jsonl",
        "records.jsonl",
        "summary.json",
    ]
    assert cell["end"] - cell["start"] == 500  # one answer of half a second
    _failed_queries_can_be_read(Path(urlsplit(cell["artifact_uri"]).path), folders[0])
    found = search(
        uri(store),
        "metrics.execution_accuracy > 0.4 and metrics.execution_accuracy.easy = 1"
        " and tags.model = 'replay' and params.language = 'sql'",
    )
    assert [run["tags"]["qeval.cell_key"] for run in found] == ["bbbb"]


def _failed_queries_can_be_read(artifacts: Path, folder: Path) -> None:

    table = json.loads((artifacts / "failed_queries.json").read_text())
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    assert [row["case"] for row in rows] == ["m1", "h1"]
    assert rows[0]["verdict"] == "wrong_result: duplicates"
    assert "日本 ☃ | 2" in rows[0]["difference"]
    assert rows[0]["prediction"] == "SELECT 2"
    assert rows[1]["message"].startswith("[42601] syntax error")
    page = (artifacts / "failed_queries.html").read_text()
    assert "质问 m1: who &amp; what &lt;b&gt;?" in page
    assert "<b>FORM" not in page
    assert "2 of 4 cases failed" in page
    assert (artifacts / "records.jsonl").read_bytes() == (folder / "journal.jsonl").read_bytes()


def experiment_tags(store: Path, *, forget: str = "") -> dict[str, str]:
    """The experiments' tags, of which one is deleted afterwards."""
    with closing(sqlite3.connect(store / "mlflow.db")) as database, database:
        found = dict(database.execute("SELECT key, value FROM experiment_tags"))
        database.execute("DELETE FROM experiment_tags WHERE key = ?", [forget])
    return found


def test_the_ui_has_a_view_of_the_cells_with_their_metrics() -> None:
    view = json.loads(saved_view())
    assert (view["name"], view["createdAt"]) == ("Cells by accuracy", 0)
    state = json.loads(view["state"])
    assert state["searchFilter"] == "tags.`qeval.kind` = 'cell'"
    assert state["selectedColumns"][0] == state["orderByKey"] == "metrics.`execution_accuracy`"
    assert "tags.`prompt_strategy`" in state["selectedColumns"]
    assert set(state["columnWidths"]) == set(state["selectedColumns"])
    told = {"experiment_id": "7", "tags": [{"key": VIEW_TAG, "value": saved_view()}]}
    page = "http://here/#/experiments/7/runs"
    assert page_of("http://here", told) == f"{page}?viewStateShareKey=qeval"
    assert page_of("http://here", {"experiment_id": "7"}) == page


def test_the_same_cells_again_change_nothing_and_changed_ones_are_brought_up_to_date(
    tmp_path: Path, make_cell: Any, search: Any, all_right: list[Record]
) -> None:
    store = tmp_path / "mlruns"
    folder = make_cell("a", key="aaaa", config={"note": "first"})
    other = make_cell("b", key="bbbb")
    log(store, [folder, other])
    before = search(uri(store))
    view = experiment_tags(store, forget=VIEW_TAG)[VIEW_TAG]

    again = log(store, [folder, other])
    assert (again.logged, again.unchanged, again.warning) == (0, 2, "")
    assert experiment_tags(store)[VIEW_TAG] == view  # an older version's experiment gets it too
    assert sorted(run["id"] for run in search(uri(store))) == sorted(run["id"] for run in before)

    # Another run of the cell may not know all tokens.
    unknown = [replace(record, prompt_tokens=None) for record in all_right]
    make_cell("a", key="aaaa", records=unknown, config={"note": "second"})
    changed = log(store, [folder, other])
    assert (changed.logged, changed.unchanged, changed.warning) == (1, 1, "")
    after = search(uri(store))
    assert len(after) == len(before)
    cell = next(run for run in after if run["tags"].get("qeval.cell_key") == "aaaa")
    assert cell["metrics"]["execution_accuracy"] == 1.0
    assert isnan(cell["metrics"]["tokens/total"])  # an old number would pass for today's
    assert cell["params"]["note"] == "first"  # MLflow never changes a parameter
    assert cell["tags"]["params_changed_since"] == "note"

    # A cell that a later sweep is part of too is shown below that one.
    later = log(store, [folder], sweep="later")
    assert (later.logged, later.unchanged) == (0, 1)
    parents = {
        run["tags"]["qeval.cell_key"]: run["tags"]["mlflow.parentRunId"]
        for run in cells_of(search(uri(store)))
    }
    assert parents == {"aaaa": later.run_id, "bbbb": again.run_id}


def test_cells_alike_in_content_keep_their_own_runs(
    tmp_path: Path, make_cell: Any, search: Any
) -> None:
    folders = [
        make_cell("gold-sql-all-aaaa", key="aaaa"),
        make_cell("gold-sql-easy-aaaa", key="aaaa"),
    ]
    log(tmp_path / "mlruns", folders)
    again = log(tmp_path / "mlruns", folders)
    assert (again.logged, again.unchanged) == (0, 2)
    tagged = [run["tags"]["qeval.folder"] for run in cells_of(search(uri(tmp_path / "mlruns")))]
    assert sorted(tagged) == ["gold-sql-all-aaaa", "gold-sql-easy-aaaa"]


def test_long_values_and_incomplete_cells(
    tmp_path: Path, make_cell: Any, search: Any, with_infra_error: list[Record]
) -> None:
    config = {
        "exactly": "e" * 6000,
        "longer": "ü" * 7000,
        "exec acc (%)": {"a/../b": 1, "": "x"},
        "many": {f"key_{number}": number for number in range(250)},
    }
    folder = make_cell("a", key="aaaa", config=config, records=with_infra_error)
    result = log(tmp_path / "m", [folder])
    assert result.warning == ""
    cell = cells_of(search(uri(tmp_path / "m")))[0]
    params = cell["params"]
    assert params["exactly"] == "e" * 6000
    assert len(params["longer"]) == 6000
    assert params["longer"].endswith("[cut, 7000 characters; whole in config.yaml]")
    assert params["many.key_249"] == "249"
    assert cell["status"] == "FAILED"
    assert cell["tags"]["complete"] == "no"
    assert cell["metrics"]["verdict/infra_error"] == 1
    assert cell["metrics"]["execution_accuracy.n"] == 4


def test_two_processes_on_a_new_store_at_once(tmp_path: Path, make_cell: Any, search: Any) -> None:
    code = """
import sys
from pathlib import Path
from qeval.tracking import MlflowTracker
tracker = MlflowTracker(directory=sys.argv[1])
tracker.open(sys.argv[2], [Path(sys.argv[3])])
tracker.cell_closed(Path(sys.argv[3]))
sys.exit(tracker.close().warning or 0)
"""
    store = tmp_path / "mlruns"
    folders = [make_cell("a", key="aaaa"), make_cell("b", key="bbbb")]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(store), f"sweep{number}", str(folder)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, folder in enumerate(folders)
    ]
    assert [process.communicate()[1] for process in running] == ["", ""]
    assert {run["tags"]["qeval.cell_key"] for run in cells_of(search(uri(store)))} == {
        "aaaa",
        "bbbb",
    }
