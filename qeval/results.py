"""What a finished sweep hands back, and the closing of a cell: metrics out of its journal."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qeval.atomic import write_atomically
from qeval.choices import chosen
from qeval.errors import InputError
from qeval.exit_codes import ExitCode
from qeval.journal import asked_for, read_journal
from qeval.judge.cards import Trust, trust_of
from qeval.record import Record
from qeval.review.decisions import read, standing
from qeval.review.standing import read_reviewed, reviewed
from qeval.scoring.metrics import HEADLINE, UNCALIBRATED, CellMetrics, cell_metrics

if TYPE_CHECKING:
    import pandas as pd

    from qeval.cells import Cell

SUMMARY = "summary.json"


@dataclass(frozen=True)
class CellResult:
    """One cell as its journal tells it. `records` reads the journal again when asked for."""

    name: str
    key: str
    folder: Path
    header: Mapping[str, Any]
    metrics: CellMetrics
    total: int
    done: int
    errors: int  # infra_error and gold_error records
    unjudged: int = 0  # records whose judge could not be asked
    reviews: int = 0  # decisions of reviewers that the metrics know of
    trust: Trust | None = None  # what the judge's word is worth; None without a judge
    missed: tuple[str, ...] = ()  # thresholds that were asked for and missed

    @property
    def records_missing(self) -> int:
        """How many cases have no record yet."""
        return self.total - self.done

    @property
    def complete(self) -> bool:
        """Whether every case has a verdict about the model, and every judge asked a label."""
        return not (self.records_missing or self.errors or self.unjudged)

    @property
    def headline(self) -> float | None:
        """Execution accuracy in 0..1, or None where no case was counted."""
        metric = self.metrics.overall.get(HEADLINE)
        return None if metric is None else metric.value

    @cached_property
    def records(self) -> list[Record]:
        """The cell's records as reviewers left them, the latest of each (case, repeat)."""
        _, records = read_reviewed(self.folder)
        return asked_for(self.header, records)


@dataclass(frozen=True)
class SweepResult:
    """All cells of one command, in the order they were asked for."""

    cells: tuple[CellResult, ...]
    exit_code: ExitCode
    notes: tuple[str, ...] = field(default=())
    tracking: str = ""  # where MLflow has it, "" when it was not tracked

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """One row per record: the cell's choices, then the record's fields (pandas)."""
        import pandas as pd

        rows = []
        for cell in self.cells:
            options = chosen(cell.header)
            groups = ("model", "language", "prompt_strategy", "difficulty", "suite")
            choices = {group: options.get(group) for group in groups}
            for record in cell.records:
                values = record.to_json()
                values.pop("outcomes")
                values["case_difficulty"] = values.pop("difficulty")
                rows.append({"cell": cell.key, **choices, **values, "verdict": str(record.verdict)})
        return pd.DataFrame(rows)


def close_cell(folder: Path, cell: "Cell") -> CellResult:
    """Compute a cell's metrics from its journal. Raises `InputError` for a damaged journal."""
    decisions = read(folder.parent)
    header, records = read_journal(folder)
    records = reviewed(records, standing(decisions))
    wanted = {(case.id, repeat) for case in cell.cases for repeat in range(cell.repeats)}
    records = [record for record in records if (record.case_id, record.repeat) in wanted]
    trust = _trust(folder.parent, cell)
    metrics = cell_metrics(
        records,
        cell.weights,
        variants=len(cell.instances) - 1,
        judged=trust is not None,
        calibrated=trust is None or trust.accepted,
    )
    errors = sum(not record.verdict.counted for record in records)
    return CellResult(
        name=cell.name,
        key=header["key"],
        folder=folder,
        header=header,
        metrics=metrics,
        total=cell.total,
        done=len(records),
        errors=errors,
        unjudged=sum(r.judgement is not None and r.judgement.failed for r in records),
        reviews=len(decisions),
        trust=trust,
        missed=tuple(_missed(cell, metrics)),
    )


def closing_problems(cells: Iterable["Cell"]) -> list[str]:
    """What would keep cells from being closed when all is done: damaged reviews, damaged cards."""
    problems = []
    for cell in cells:
        runs_dir = Path(str(cell.composed["runs_dir"]))
        try:
            read(runs_dir)
            _trust(runs_dir, cell)
        except InputError as error:
            problems.append(str(error))
    return problems


def _trust(runs_dir: Path, cell: "Cell") -> Trust | None:
    from qeval.suites.loader import suite_folder

    if cell.judge is None:
        return None
    place = suite_folder(cell.composed["suite"])
    return trust_of(cell.judge, runs_dir, cell.suite, place, cell.language.name)


def write_summary(result: CellResult) -> None:
    """Write a cell's `summary.json` and `config.yaml`. Raises `IncompleteError` on a full disk."""
    summary = {
        "key": result.key,
        "name": result.name,
        "engine": result.header["engine"],
        "complete": result.complete,
        "cases": {"total": result.total, "recorded": result.done, "errors": result.errors},
        "reviews": result.reviews,
        "metrics": result.metrics.to_json(),
        **({} if result.trust is None else {"judge": result.trust.to_json()}),
    }
    text = json.dumps(summary, ensure_ascii=False, indent=1)
    write_atomically(result.folder / SUMMARY, text + "\n")
    write_atomically(result.folder / "config.yaml", _yaml(result.header["config"]))


def summed_reviews(folder: Path) -> int | None:
    """How many decisions a cell's summary knows of; None where the cell has no summary."""
    try:
        return int(json.loads((folder / SUMMARY).read_bytes()).get("reviews", 0))
    except FileNotFoundError:
        return None
    except ValueError:  # damaged: due to be written again
        return 0


def _missed(cell: "Cell", metrics: CellMetrics) -> list[str]:
    lines = []
    for name, bound in cell.thresholds.items():
        metric = metrics.overall.get(name)
        value = None if metric is None else metric.value
        if value is None or value < bound:
            shown = "not measured" if value is None else f"{value:.4f}"
            if value is None and name + UNCALIBRATED in metrics.overall:
                shown = "refused (the judge is not calibrated)"
            lines.append(f"{cell.name}: {name} is {shown}, below fail_under.{name}={bound}")
    return lines


def _yaml(config: Mapping[str, Any]) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(dict(config), Dumper=dumper, allow_unicode=True, sort_keys=False)
    return text
