"""The result table: right numbers, nothing unmeasured shown as zero, readable when narrow."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qeval.exit_codes import ExitCode
from qeval.record import InstanceOutcome, Record
from qeval.report import print_results
from qeval.report.console import output
from qeval.results import CellResult, SweepResult
from qeval.scoring.metrics import cell_metrics
from qeval.scoring.verdict import Verdict


def record(case: str, verdict: Verdict, level: str = "easy", **changes: Any) -> Record:
    values: dict[str, Any] = {
        "case_id": case,
        "repeat": 0,
        "difficulty": level,
        "tags": (),
        "question": "?",
        "gold": "SELECT 1",
        "verdict": verdict,
        "outcomes": (InstanceOutcome("base", verdict),),
        "raw": "x",
    }
    return Record(**{**values, **changes})


def cell(
    model: str,
    records: list[Record],
    *,
    total: int | None = None,
    strategy: str = "zero_shot",
    language: str = "sql",
    engine: str = "postgres 18.6 (embedded)",
) -> CellResult:
    groups = {"model": model, "language": language, "prompt_strategy": strategy}
    names = {**groups, "difficulty": "all", "suite": "shop"}
    result = CellResult(
        name=f"{model}-{language}",
        key=f"{model}{strategy}",
        folder=Path("/elsewhere/runs") / model,
        header={
            "config": {group: {"name": name} for group, name in names.items()},
            "engine": engine,
        },
        metrics=cell_metrics(records, {}),
        total=len(records) if total is None else total,
        done=len(records),
        errors=sum(not r.verdict.counted for r in records),
    )
    result.__dict__["records"] = records  # no journal behind it
    return result


def shown(*cells: CellResult, width: int = 160, **changes: Any) -> list[str]:
    stream = io.StringIO()
    result = SweepResult(cells=cells, **{"exit_code": ExitCode.DONE, **changes})
    print_results(result, output(file=stream, width=width))
    return stream.getvalue().splitlines()


def row(lines: list[str], start: str) -> list[str]:
    return next(line for line in lines if line.startswith(start)).removeprefix(start).split()


def test_one_cell_shows_each_metric_with_its_difficulties() -> None:
    records = [
        record("a", Verdict.CORRECT, cost_usd=0.5, prompt_tokens=1000, completion_tokens=20),
        record(
            "b", Verdict.WRONG_RESULT, "hard", kind="duplicates", cost_usd=0.25,
            prompt_tokens=500, completion_tokens=10,
        ),
    ]  # fmt: skip
    lines = shown(cell("gpt-[x]", records), tracking="http://host/#/runs/1")
    text = "\n".join(lines)
    assert "gpt-[x] · sql · zero_shot · all" in text
    assert "suite shop, 2 cases, executed on postgres 18.6 (embedded)" in text
    assert row(lines, "execution accuracy") == ["0.500", "0.09–0.91", "1.000", "0.000"]
    assert row(lines, "robust") == ["–", "–", "–", "–"]
    assert "composite" not in text
    assert "tokens 1,500 in, 30 out; cost $0.7500" in text
    assert "failures: wrong_result 1" in text
    assert "of kind: duplicates 1" in text
    assert "written: /elsewhere/runs/gpt-[x]/" in text
    assert "MLflow:  http://host/#/runs/1" in text


def test_cells_are_rows_and_what_they_share_is_said_once() -> None:
    right = [record("a", Verdict.CORRECT, cost_usd=0.0), record("b", Verdict.CORRECT)]
    wrong = [record("a", Verdict.WRONG_RESULT), record("b", Verdict.INFRA_ERROR, raw="")]
    lines = shown(cell("gpt4", right), cell("claude2", wrong))
    assert lines[1] == "2 cells"
    assert "language sql" in lines[2]
    assert "engine postgres 18.6 (embedded)" in lines[2]
    assert "cost unknown" in lines[2]  # one price is not known, so the sum is not
    header = next(line for line in lines if line.startswith("model"))
    assert header.split() == [
        "model", "n", "accuracy", "95", "%", "relaxed", "valid", "syntax", "errors",
    ]  # fmt: skip
    assert "tokens unknown" in " ".join(lines[2:5])
    assert row(lines, "gpt4")[:2] == ["2", "1.000"]
    assert row(lines, "claude2")[:2] == ["1", "0.000"]
    assert row(lines, "claude2")[-1:] == ["1"]


@pytest.mark.parametrize(
    ("postgres", "same"), [("postgres 18.6 (embedded)", True), ("postgres 17", False)]
)
def test_engines_are_a_column_only_where_the_language_does_not_decide_them(
    postgres: str, *, same: bool
) -> None:
    right = [record("a", Verdict.CORRECT)]
    cells = [
        cell("gpt4", right),
        cell("gpt4", right, language="cypher", engine="neo4j 5"),
        cell("claude2", right, engine=postgres),
        cell("claude2", right, language="cypher", engine="neo4j 5"),
    ]
    lines = shown(*cells)
    told = "sql on postgres 18.6 (embedded), cypher on neo4j 5"
    header = next(line for line in lines if line.startswith("model"))
    assert (told in lines[2], "engine" in header) == (same, not same)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_narrow_terminals_get_whole_numbers_in_several_tables(width: int) -> None:
    cells = [
        cell(model, [record(c, Verdict.CORRECT, c) for c in ("easy", "medium", "hard")], strategy=s)
        for model in ("smollm2", "claude-2.1")
        for s in ("zero_shot", "schema_few_shot")
    ]
    lines = shown(*cells, width=width)
    assert max(map(len, lines)) <= width
    words = " ".join(lines)
    for whole in ("accuracy", "0.44–1.00", "schema_few_shot", "claude-2.1", "medium", "tokens"):
        assert whole in words


def test_incomplete_sweep_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/usr/bin/qeval", "-m", "model=a,b", "prompt.x='1 2'"])
    lines = shown(
        cell("gpt4", [record("a", Verdict.CORRECT)], total=4),
        exit_code=ExitCode.INTERRUPTED,
        notes=("the price list is [old]",),
    )
    assert "! the price list is [old]" in lines
    assert lines[-1].startswith(
        "interrupted: 1 of 4 cases are recorded. To go on: qeval -m model=a,b"
    )
    assert "suite shop, 1 case, 3 missing" in "\n".join(lines)


def test_cell_without_a_counted_case_shows_no_zero() -> None:
    lines = shown(cell("gpt4", [record("a", Verdict.INFRA_ERROR, raw="")]))
    assert row(lines, "execution accuracy") == ["–", "–"]
    assert row(lines, "answers counted") == ["0"]
    assert "failures: infra_error 1" in "\n".join(lines)


def test_terminal_without_unicode_is_served_too() -> None:
    binary = io.BytesIO()
    stream = io.TextIOWrapper(binary, encoding="ascii")
    console = output(file=stream, width=80)
    records = [record("a", Verdict.CORRECT)]
    print_results(SweepResult((cell("模型", records),), ExitCode.DONE), console)
    stream.flush()
    lines = binary.getvalue().decode("ascii").splitlines()
    assert row(lines, "execution accuracy")[-1] == "0.21-1.00"
    assert b"?? - sql - zero_shot - all" in binary.getvalue()


def test_errors_say_why_once() -> None:
    lost = [
        record("c1", Verdict.INFRA_ERROR, message="no answer from http://x: connection refused"),
        record("c2", Verdict.INFRA_ERROR, message="no answer from http://x: connection refused"),
    ]
    lines = shown(cell("one", lost))
    told = [line for line in lines if "connection refused" in line]
    assert told == ["  infra_error: no answer from http://x: connection refused (2 times)"]


def test_cells_alike_in_content_keep_the_names_they_were_asked_by() -> None:
    first = cell("one", [record("c1", Verdict.CORRECT)])
    config = {**first.header["config"], "difficulty": {"name": "easy"}}
    second = replace(first, name="two", header={**first.header, "config": config})
    lines = shown(first, second)
    assert row(lines, "all ")[:2] == ["1", "1.000"]
    assert row(lines, "easy ")[:2] == ["1", "1.000"]
    assert sum("written:" in line for line in lines) == 1
