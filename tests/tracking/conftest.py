"""Cell folders as a sweep leaves them, and the tracking store's contents as plain values."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from qeval.record import InstanceOutcome, Record
from qeval.scoring.metrics import cell_metrics
from qeval.scoring.verdict import Verdict


class MakeCell(Protocol):
    def __call__(self, name: str = ..., **changes: Any) -> Path: ...


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    # One cache for all tests: the second store is then copied from the first one's template.
    cache = tmp_path_factory.getbasetemp() / "qeval-cache"
    monkeypatch.setenv("QEVAL_CACHE", str(cache))
    for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def make_cell(tmp_path: Path) -> MakeCell:
    def make(name: str = "replay-sql-zero_shot-all-0001", **changes: Any) -> Path:
        return write_cell(tmp_path / "runs" / name, **changes)

    return make


def write_cell(
    folder: Path,
    *,
    key: str = "",
    model: str = "replay",
    records: list[Record] | None = None,
    config: dict[str, Any] | None = None,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    records = some_records() if records is None else records
    composed: dict[str, Any] = {
        "model": {"_target_": "x.Y", "name": model, "temperature": 0},
        "language": {"name": "sql"},
        "prompt_strategy": {"name": "zero_shot", "question_language": "${question_language}"},
        "difficulty": {"name": "all"},
        "suite": {"name": "ecommerce"},
        "engine": {"name": "auto"},
        "tracking": {"name": "mlflow", "uri": "${oc.env:MLFLOW_TRACKING_URI,null}"},
        "question_language": "zh",
        **(config or {}),
    }
    header = {
        "type": "cell",
        "key": key or f"{abs(hash(folder.name)):016x}"[:16],
        "name": folder.name,
        "total": len(records),
        "config": composed,
        "engine": "postgres 18.6 (embedded)",
        "versions": {"qeval": "0.1.0"},
        "hashes": {"suite": "0123456789abcdef0123", "strategy": "aa"},
        "model": {"name": model},
        "instances": ["base", "variant-1"],
    }
    lines = [header, *({"type": "record", **record.to_json()} for record in records)]
    (folder / "journal.jsonl").write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8"
    )
    (folder / "prompts.jsonl").write_text('{"digest": "d", "messages": [["user", "谁?"]]}\n')
    (folder / "config.yaml").write_text("model: {name: replay}\n")
    errors = sum(not record.verdict.counted for record in records)
    summary = {
        "key": header["key"],
        "name": folder.name,
        "engine": header["engine"],
        "complete": not errors,
        "cases": {"total": len(records), "recorded": len(records), "errors": errors},
        "metrics": cell_metrics(records, {}).to_json(),
    }
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    return folder


def some_records() -> list[Record]:
    """Four cases: two right, one wrong with differing rows, one that does not parse."""
    common = {"repeat": 0, "finished_at": "2026-01-02T03:04:05.000+00:00", "generation_s": 0.5}
    wrong = InstanceOutcome(
        "base",
        Verdict.WRONG_RESULT,
        kind="duplicates",
        message="2 rows too many",
        difference={"missing": [], "extra": [["日本 ☃", 2]], "rows": "gold 3, predicted 5"},
    )
    return [
        _record("e1", "easy", Verdict.CORRECT, **common),
        _record("e2", "easy", Verdict.CORRECT, **common),
        _record(
            "m1",
            "medium",
            Verdict.WRONG_RESULT,
            outcomes=(wrong,),
            kind="duplicates",
            message="2 rows too many",
            **common,
        ),
        _record(
            "h1",
            "hard",
            Verdict.SYNTAX_ERROR,
            code="42601",
            message='syntax error at or near "<b>FORM"',
            **common,
        ),
    ]


@pytest.fixture
def all_right() -> list[Record]:
    return [replace(record, verdict=Verdict.CORRECT, outcomes=()) for record in some_records()]


@pytest.fixture
def with_infra_error() -> list[Record]:
    lost = replace(some_records()[0], case_id="lost", verdict=Verdict.INFRA_ERROR, raw="")
    return [*some_records(), lost]


def _record(case: str, level: str, verdict: Verdict, **changes: Any) -> Record:
    values: dict[str, Any] = {
        "case_id": case,
        "difficulty": level,
        "tags": ("join", "null-handling"),
        "question": f"质问 {case}: who & what <b>?",
        "gold": "SELECT 1",
        "verdict": verdict,
        "raw": "```sql\nSELECT 2\n```",
        "query": "SELECT 2",
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "engine": "postgres 18.6 (embedded)",
        "execution_s": 0.01,
    }
    return Record(**{**values, **changes})


_SEARCH = """
import json, sys
from mlflow import MlflowClient
for line in sys.stdin:
    uri, experiment, where = json.loads(line)
    client = MlflowClient(uri)
    found = client.get_experiment_by_name(experiment)
    runs = client.search_runs([found.experiment_id], where) if found else []
    print(json.dumps([{
        "id": r.info.run_id, "name": r.info.run_name, "status": r.info.status,
        "start": r.info.start_time, "end": r.info.end_time,
        "params": r.data.params, "tags": r.data.tags, "metrics": r.data.metrics,
        "artifacts": sorted(a.path for a in client.list_artifacts(r.info.run_id)),
        "artifact_uri": r.info.artifact_uri,
    } for r in runs]), flush=True)
"""

Search = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="session")
def search() -> Iterator[Search]:
    """Runs that MLflow itself finds; in one process for all tests, as its import is heavy."""
    server = subprocess.Popen(
        [sys.executable, "-c", _SEARCH],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"},
    )
    assert server.stdin is not None
    assert server.stdout is not None

    def run(uri: str, where: str = "", experiment: str = "qeval") -> list[dict[str, Any]]:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps([uri, experiment, where]) + "\n")
        server.stdin.flush()
        found: list[dict[str, Any]] = json.loads(server.stdout.readline())
        return found

    yield run
    server.stdin.close()
    server.stdout.close()
    server.wait()
