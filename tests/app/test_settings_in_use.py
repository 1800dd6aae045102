"""What a run does with its settings: it uses them as they are, and writes secrets nowhere."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

import qeval
from qeval.errors import InputError
from qeval.recorded import recorded_cell
from qeval.results import close_cell
from qeval.tracking import NoTracker
from qeval.tracking.cell import metrics, read_cell

FEW = ["model=gold", "language=typeql", "difficulty=easy", "difficulty.limit=2", "workers=1"]


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
