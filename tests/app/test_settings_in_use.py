"""What a run does with its settings: it uses them as they are, and writes secrets nowhere."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

import qeval
from qeval.errors import IncompleteError, InputError
from qeval.exit_codes import ExitCode
from qeval.recorded import recorded_cell
from qeval.results import close_cell
from qeval.tracking import NoTracker
from qeval.tracking.cell import metrics, read_cell

FEW = ["model=gold", "language=typeql", "suite=flights", "difficulty.limit=2", "workers=1"]


class _Listening(NoTracker):
    """A sink that only remembers where it was told to log."""

    heard: list[str]

    def __init__(self, uri: str, name: str = "", **_: object) -> None:
        super().__init__(name)
        self.heard.append(uri)


def test_a_password_reaches_the_tracker_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Listening, "heard", [], raising=False)
    monkeypatch.setattr("qeval.tracking.Listening", _Listening, raising=False)
    uri = "postgresql://me:hunter@2@db.example/mlflow"
    words = ["tracking._target_=qeval.tracking.Listening", f"tracking.uri={uri}"]
    qeval.run([*FEW, *words, f"runs_dir={tmp_path}", "scoring.variants=0"])
    assert _Listening.heard == [uri]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("me:***@db.example" in path.read_text(encoding="utf-8") for path in files)
    for part in ("hunter", "2@db"):
        assert not any(part in path.read_text(encoding="utf-8") for path in files)


def test_a_folder_named_by_the_environment_is_that_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QEVAL_TEST_RUNS", str(tmp_path / "elsewhere"))
    where = "runs_dir=${oc.env:QEVAL_TEST_RUNS}/runs"
    result = qeval.run([*FEW, "tracking=none", "scoring.variants=0", where])
    assert result.cells[0].folder.parent == tmp_path / "elsewhere" / "runs"
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]


def test_a_cell_tells_the_settings_of_its_latest_run(tmp_path: Path) -> None:
    words = [*FEW, "tracking=none", "scoring.variants=0", f"runs_dir={tmp_path}"]
    qeval.run(words)
    folder = qeval.run([*words, "repeats=3"]).cells[0].folder
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    assert config["repeats"] == 3
    # As a review or a rescoring builds it again: with all that was asked for.
    again = close_cell(folder, recorded_cell(folder)[0])
    assert (again.total, again.metrics.records, again.metrics.cases) == (6, 6, 2)

    fewer = qeval.run(words)
    assert len(fewer.cells[0].records) == len(fewer.frame) == fewer.cells[0].total == 2
    logged = read_cell(folder)
    assert len(logged.records) == metrics(logged)["records"] == 2
    assert len(recorded_cell(folder)[1]) == 2


def test_cells_alike_in_their_records_are_told_by_their_own_settings(tmp_path: Path) -> None:
    words = [*FEW, "tracking=none", "scoring.variants=0", f"runs_dir={tmp_path}"]
    swept = ["repeats=1,2", "fail_under.robust_accuracy=null,0.5"]
    result = qeval.run([*words, *swept])
    assert len({cell.folder for cell in result.cells}) == 1
    assert [cell.total for cell in result.cells] == [2, 2, 4, 4]
    assert [cell.metrics.records for cell in result.cells] == [2, 2, 4, 4]
    assert [len(cell.records) for cell in result.cells] == [2, 2, 4, 4]
    assert [bool(cell.missed) for cell in result.cells] == [False, True, False, True]
    assert result.exit_code is ExitCode.MISSED
    assert [note.partition(":")[2] for note in result.notes] == [
        " robust_accuracy is not measured, below fail_under.robust_accuracy=0.5"
    ]


@pytest.mark.parametrize("swept", ["runs_dir=a,b", "tracking=none,mlflow", "limits.budget_usd=1,2"])
def test_what_a_sweep_has_one_of_can_not_be_swept(swept: str) -> None:
    name = swept.partition("=")[0]
    with pytest.raises(InputError, match=f"{name} is one for all cells of a sweep"):
        qeval.run([*FEW, "tracking=none", swept])


def test_what_closing_would_meet_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "reviews.jsonl").write_text("damaged\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"reviews\.jsonl:1: this line is damaged"):
        qeval.run([*FEW, "tracking=none", "scoring.variants=0", f"runs_dir={tmp_path}"])
    assert [path.name for path in tmp_path.iterdir()] == ["reviews.jsonl"]


class _Meddling(NoTracker):
    """Damages the reviews when the sweep has begun."""

    def open(self, sweep: str, folders: Sequence[Path]) -> None:
        super().open(sweep, folders)
        (folders[0].parent / "reviews.jsonl").write_text("damaged\n", encoding="utf-8")


def test_a_cell_that_can_not_be_closed_leaves_the_sweep_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qeval.tracking.Meddling", _Meddling, raising=False)
    words = [*FEW, "tracking=none", "scoring.variants=0", f"runs_dir={tmp_path}"]
    with pytest.raises(IncompleteError, match=r"reviews\.jsonl:1: this line is damaged"):
        qeval.run([*words, "tracking._target_=qeval.tracking.Meddling"])
    (tmp_path / "reviews.jsonl").unlink()
    again = qeval.run(words)
    assert (again.exit_code, again.cells[0].headline) == (ExitCode.DONE, 1.0)


@pytest.mark.parametrize(
    "words",
    [
        ["prompt_strategy=translate", "language=sql", "prompt_strategy.source_language=sql"],
        ["model=gold,mock", "prompt_strategy=translate", "prompt_strategy.source_language=sql"],
    ],
)
def test_a_grid_of_nothing_but_translations_into_themselves_is_wrong_input(
    words: Sequence[str],
) -> None:
    with pytest.raises(InputError, match="every cell would translate a language into itself"):
        qeval.run(words)


def test_a_recipe_that_is_no_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    recipe = tmp_path / "experiment" / "broken.yaml"
    recipe.parent.mkdir()
    recipe.write_text("# @package _global_\nhydra: [\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"{recipe}:\d: not YAML"):
        qeval.run(["+experiment=broken"], config_dir=tmp_path)
