"""The files of a cell folder are what their JSON Schemas say, and Python gets the same values."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import qeval
from qeval.errors import InputError
from qeval.exit_codes import ExitCode
from qeval.paths import shipped


def schema(name: str) -> Draft202012Validator:
    document: dict[str, Any] = json.loads((shipped("schemas") / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> qeval.SweepResult:
    folder = tmp_path_factory.mktemp("run")
    words = [
        "model=gold,mock",
        "difficulty=easy",
        "difficulty.limit=12",
        "tracking=none",
        "repeats=2",
    ]
    return qeval.run([*words, "scoring.variants=1", f"runs_dir={folder}"])


def test_every_line_of_a_journal_fits_its_schema(result: qeval.SweepResult) -> None:
    validator = schema("journal.schema.json")
    for cell in result.cells:
        lines = (cell.folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()
        assert len(lines) == 1 + 24
        for line in lines:
            validator.validate(json.loads(line))


def test_a_summary_fits_its_schema(result: qeval.SweepResult) -> None:
    validator = schema("summary.schema.json")
    for cell in result.cells:
        validator.validate(json.loads((cell.folder / "summary.json").read_text(encoding="utf-8")))


def test_results_are_typed_values(result: qeval.SweepResult) -> None:
    gold, mock = result.cells
    assert result.exit_code is ExitCode.DONE
    assert gold.headline == 1.0
    assert gold.metrics.overall["robust_accuracy"].value == 1.0
    assert mock.headline is not None
    assert 0 < mock.headline < 1
    assert len(gold.records) == 24


def test_a_data_frame_has_a_row_per_record(result: qeval.SweepResult) -> None:
    frame = result.frame
    assert len(frame) == 48
    assert set(frame["model"]) == {"gold", "mock"}
    assert (frame[frame["model"] == "gold"]["verdict"] == "correct").all()


def test_wrong_input_is_an_exception_for_programs() -> None:
    with pytest.raises(InputError, match="Did you mean 'gold'"):
        qeval.run(["model=golt"])


def test_nothing_is_printed(result: qeval.SweepResult, capfd: pytest.CaptureFixture[str]) -> None:
    qeval.run(["model=gold", "difficulty=easy", "tracking=none", f"runs_dir={runs(result)}"])
    assert capfd.readouterr() == ("", "")


def runs(result: qeval.SweepResult) -> Path:
    return result.cells[0].folder.parent
