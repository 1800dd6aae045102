"""Runs in MLflow: one parent a sweep, one child a cell, made or brought up to date from disk."""

import getpass
import json
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, urlsplit

from qeval.choices import GROUPS
from qeval.equivalence.counterexample import COUNTEREXAMPLES, read_counterexamples
from qeval.report.glossary import meaning
from qeval.scoring.metrics import HEADLINE
from qeval.tracking import failures, overview
from qeval.tracking.cell import LoggedCell, metrics, parameters, read_cell, tags
from qeval.tracking.overview import CellRun
from qeval.tracking.store import Location

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

DIGEST = "qeval.digest"
PARENT = "mlflow.parentRunId"
BATCH = 100  # MLflow's limit of parameters in one call

State = Literal["new", "updated", "unchanged"]


@dataclass(frozen=True, slots=True)
class Logged:
    """A cell's run and what was done to it."""

    run_id: str
    state: State


class Runs:
    """The runs of one experiment. Not for several threads; several processes may have one each."""

    def __init__(self, client: "MlflowClient", location: Location, experiment: str) -> None:
        self._client = client
        self._location = location
        self._experiment = experiment
        self._user = _user()

    def open_sweep(self, sweep: str, started_at: str) -> str:
        """The parent run's id: the one an earlier command of the same cells made, or a new one."""
        with self._location.lock:
            found = self._find("sweep", "qeval.sweep", sweep)
            if found is not None:
                if found.info.status != "RUNNING":
                    self._client.update_run(found.info.run_id, status="RUNNING")
                return str(found.info.run_id)
            when = started_at[:16].replace("T", " ") if started_at else "rebuilt from journals"
            run = self._client.create_run(
                self._experiment,
                start_time=_now_ms(),
                tags={**self._source(), "qeval.kind": "sweep", "qeval.sweep": sweep},
                run_name=f"sweep {sweep} ({when})",
            )
        return str(run.info.run_id)

    def log_cell(self, folder: Path, sweep: str, parent: str) -> Logged:
        """Log one cell folder below `parent`. Raises `InputError` and MLflow's own errors.

        The run of the same cell folder (its name holds the cell's key and what it was called) is
        brought up to date, never doubled, and moves below the latest sweep it was part of.
        """
        cell = read_cell(folder)
        with self._location.lock:
            run = self._find("cell", "qeval.folder", cell.folder.name)
            known = run.data.tags.get(DIGEST) if run else None
            if run is not None and known == cell.digest and run.info.status != "RUNNING":
                if run.data.tags.get(PARENT) != parent:
                    self._tag(run.info.run_id, {PARENT: parent, "qeval.sweep": sweep})
                return Logged(run.info.run_id, "unchanged")
            state: State = "new" if run is None else "updated"
            named = {**tags(cell, sweep), PARENT: parent, "mlflow.note.content": _note(cell)}
            if run is None:
                run = self._client.create_run(
                    self._experiment,
                    start_time=cell.span_ms[0] or _now_ms(),
                    tags={**self._source(), **named, "mlflow.loggedArtifacts": _TABLE},
                    run_name=cell.name or cell.folder.name,
                )
                named = {}
        self._log_artifacts(run, _cell_files(cell))
        # The digest goes last: a run without it is one that was cut short, and is done again.
        self._log_values(run, metrics(cell), parameters(cell), {**named, DIGEST: cell.digest})
        self._client.set_terminated(
            run.info.run_id,
            status="FINISHED" if cell.complete else "FAILED",
            end_time=cell.span_ms[1],
        )
        return Logged(run.info.run_id, state)

    def close_sweep(self, sweep: str, parent: str, status: str) -> None:
        """Write the comparison of all the sweep's cells into its parent and end it."""
        cells = self._cells(sweep)
        run = self._client.get_run(parent)
        title = overview.title(cells)
        best = overview.ranked(cells)[:1]
        numbers: dict[str, float] = {
            "cells": len(cells),
            "cells_incomplete": sum(cell.tags.get("complete") != "yes" for cell in cells),
            "cases": sum(cell.metrics.get("cases", 0.0) for cell in cells),
        }
        if best and HEADLINE in best[0].metrics:
            numbers["best_execution_accuracy"] = best[0].metrics[HEADLINE]
        files = {
            "overview.html": overview.page(title, cells),
            "overview.json": json.dumps(overview.table(cells), ensure_ascii=False),
        }
        self._log_artifacts(run, files)
        named = {
            "mlflow.runName": title,
            "mlflow.note.content": overview.note(cells),
            "mlflow.loggedArtifacts": _table_tag("overview.json"),
            # Only what all cells share, so that a filter on a sweep never says too much.
            **{c: cells[0].tags[c] for c in GROUPS if _shared(cells, c)},
        }
        if best:
            named["best_cell"] = best[0].name
        self._log_values(run, numbers, {}, named)
        self._client.set_terminated(parent, status=status)

    def where(self, parent: str) -> str:
        """Where a person finds the sweep: a link, or the store's file and the command for it."""
        from qeval.tracking.store import without_password

        uri = self._location.uri
        if self._location.database is not None:
            return f"{self._location.database} (open it with: qeval ui)"
        if uri.startswith("http"):
            base = without_password(uri).replace("***@", "").rstrip("/")
            return f"{base}/#/experiments/{self._experiment}/runs/{parent}"
        return without_password(uri)

    def _find(self, kind: str, tag: str, value: str) -> "Run | None":
        value = value.replace("'", "_")
        found = self._client.search_runs(
            [self._experiment],
            f"tags.`{tag}` = '{value}' and tags.`qeval.kind` = '{kind}'",
            max_results=1,
        )
        return found[0] if found else None

    def _cells(self, sweep: str) -> list[CellRun]:
        cells: list[CellRun] = []
        token: str | None = None
        while True:
            runs = self._client.search_runs(
                [self._experiment],
                f"tags.`qeval.sweep` = '{sweep}' and tags.`qeval.kind` = 'cell'",
                max_results=500,
                page_token=token,
            )
            cells += [
                CellRun(r.info.run_id, r.info.run_name or "", r.data.tags, _present(r.data.metrics))
                for r in runs
            ]
            token = runs.token
            if not token:
                return cells

    def _log_values(
        self,
        run: "Run",
        numbers: Mapping[str, float],
        texts: Mapping[str, str],
        named: Mapping[str, str],
    ) -> None:
        """Log what differs from what the run has.

        MLflow can neither change a parameter nor delete a metric: what is measured no longer
        becomes NaN there, for an old number would pass for today's.
        """
        from mlflow.entities import Metric, Param, RunTag

        now = _now_ms()
        changed = [k for k, v in texts.items() if run.data.params.get(k, v) != v]
        known = run.data.metrics
        gone = {
            k: nan for k in known.keys() - numbers.keys() if _is_ours(k) and not isnan(known[k])
        }
        points = [Metric(k, v, now, 0) for k, v in {**numbers, **gone}.items() if known.get(k) != v]
        params = [Param(k, v) for k, v in texts.items() if k not in run.data.params]
        labels = [RunTag(k, v) for k, v in named.items() if v != ""]
        if changed:
            labels.append(RunTag("params_changed_since", ", ".join(changed)[:5000]))
        for start in range(BATCH, len(params), BATCH):
            self._client.log_batch(run.info.run_id, params=params[start : start + BATCH])
        most = 1000 - BATCH - len(labels)  # MLflow's limit of entities in one call
        for start in range(most, len(points), most):
            self._client.log_batch(run.info.run_id, metrics=points[start : start + most])
        self._client.log_batch(
            run.info.run_id, metrics=points[:most], params=params[:BATCH], tags=labels
        )

    def _tag(self, run_id: str, named: Mapping[str, str]) -> None:
        from mlflow.entities import RunTag

        self._client.log_batch(run_id, tags=[RunTag(k, v) for k, v in named.items()])

    def _log_artifacts(self, run: "Run", files: Mapping[str, "str | Path"]) -> None:
        """Write straight into a local artifact folder; hand them to MLflow otherwise."""
        address = urlsplit(run.info.artifact_uri)
        if address.scheme in ("", "file"):
            _write(Path(unquote(address.path)), files)
            return
        with tempfile.TemporaryDirectory(prefix="qeval-") as folder:
            _write(Path(folder), files)
            self._client.log_artifacts(run.info.run_id, folder)

    def _source(self) -> dict[str, str]:
        return {
            "mlflow.user": self._user,
            "mlflow.source.name": "qeval",
            "mlflow.source.type": "LOCAL",
        }


def _cell_files(cell: LoggedCell) -> dict[str, "str | Path"]:
    title = f"{cell.name}: failed queries ({cell.choices['engine']})"
    table = failures.table(cell.failed, read_counterexamples(cell.folder))
    files: dict[str, str | Path] = {
        "failed_queries.html": failures.page(title, table["data"], len(cell.records)),
        "failed_queries.json": json.dumps(table, ensure_ascii=False),
    }
    for source, name in (
        ("config.yaml", "config.yaml"),
        ("summary.json", "summary.json"),
        ("prompts.jsonl", "prompts.jsonl"),
        ("journal.jsonl", "records.jsonl"),
        (COUNTEREXAMPLES, COUNTEREXAMPLES),
    ):
        if (cell.folder / source).is_file():
            files[name] = cell.folder / source
    return files


def _write(folder: Path, files: Mapping[str, "str | Path"]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if isinstance(content, Path):
            shutil.copyfile(content, folder / name)
        else:
            (folder / name).write_text(content, encoding="utf-8", errors="backslashreplace")


def _note(cell: LoggedCell) -> str:
    overall: Mapping[str, Any] = cell.summary.get("metrics", {}).get("overall", {})
    accuracy = overall.get(HEADLINE) or {}
    lines = []
    if accuracy.get("value") is not None:
        lines.append(
            f"**Execution accuracy {accuracy['value']:.3f}** (95 % interval "
            f"{accuracy['low']:.2f} to {accuracy['high']:.2f}): {accuracy['numerator']:g} of "
            f"{accuracy['denominator']:g} cases, executed on {cell.choices['engine']}."
        )
    lines += _layers_note(cell)
    if not cell.complete:
        lines.append("**Not complete**: cases are missing or ended in errors of the machinery.")
    lines.append(
        f"{len(cell.failed)} failed queries: artifact *failed_queries.html*. Prompts, all records "
        "and the composed configuration are artifacts too."
    )
    told = [(name, text) for name in overall if (text := meaning(name))]
    lines.append("\n".join(f"* `{name}`: {text}" for name, text in told))
    return "\n\n".join(filter(None, lines))


def _layers_note(cell: LoggedCell) -> list[str]:
    """Why fewer answers may stand than base accepted, and more be right than the gold says."""
    metrics: Mapping[str, Any] = cell.summary.get("metrics", {})
    refuted = metrics.get("behaviour", {}).get("refuted_share") or {}
    lines = []
    if refuted.get("numerator"):
        lines.append(
            f"Of these, {refuted['numerator']:g} were right by luck: a variant of the data refutes "
            "them (`refuted_share`)."
        )
    alike = metrics.get("verdicts", {}).get("equivalent")
    if alike:
        lines.append(
            f"{alike} with other rows than the gold are right in the eyes of the judge or of "
            "reviewers (`semantic_equivalence`)."
        )
    return lines


def _shared(cells: list[CellRun], choice: str) -> bool:
    return bool(cells) and len({c.tags.get(choice) for c in cells}) == 1 and choice in cells[0].tags


def _is_ours(metric: str) -> bool:
    """Whether a run's metric is of those that qeval logs, not somebody's own."""
    parts = ("verdict/", "layer/", "judge/", "judge_card/", "tag/", "before_repair/", "tokens/",
             "latency/")  # fmt: skip
    single = ("cost_usd", "best_execution_accuracy")
    return metric.startswith(parts) or metric in single or meaning(metric.partition(".")[0]) != ""


def _present(metrics: Mapping[str, float]) -> dict[str, float]:
    """The metrics that are still measured."""
    return {name: value for name, value in metrics.items() if not isnan(value)}


def _table_tag(path: str) -> str:
    return json.dumps([{"path": path, "type": "table"}])


_TABLE = _table_tag("failed_queries.json")


def _now_ms() -> int:
    return round(time.time() * 1000)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user id, as in many containers
        return "unknown"
