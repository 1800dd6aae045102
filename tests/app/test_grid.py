"""Cells put together from parts are the cells that Hydra composes."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from qeval.grid import Grid, without_hydra
from qeval.paths import shipped

SWEPT = {
    "model": ["gold", "mock", "smollm2", "gpt4"],
    "prompt_strategy": ["zero_shot", "few_shot", "schema_few_shot"],
    "difficulty": ["all", "hard"],
    "limits.timeout_s": ["3", "10"],
}


@pytest.fixture
def loader() -> Iterator[Any]:
    with initialize_config_dir(config_dir=str(shipped("conf")), version_base="1.3"):
        hydra = GlobalHydra.instance().hydra
        assert hydra is not None
        yield hydra.config_loader


def composed(loader: Any, master: DictConfig, words: list[str]) -> tuple[Any, Any]:
    """The same cell by Hydra and by a grid that has seen the others (as plain containers)."""
    by_hydra = without_hydra(loader.load_sweep_config(master, words))
    return OmegaConf.to_container(by_hydra, resolve=False), by_hydra


def test_every_cell_of_a_grid_is_what_hydra_composes(loader: Any) -> None:
    master = loader.load_configuration("config", ["repeats=2"], run_mode=RunMode.MULTIRUN)
    grid = Grid(loader.load_sweep_config, loader.repository.group_exists)
    checked = 0
    for values in list(product(*SWEPT.values()))[::3]:
        words = [f"{key}={value}" for key, value in zip(SWEPT, values, strict=True)]
        cell = grid(master, [*words, "repeats=2"])
        expected, by_hydra = composed(loader, master, [*words, "repeats=2"])
        assert OmegaConf.to_container(cell, resolve=False) == expected
        assert OmegaConf.to_container(cell, resolve=True) == OmegaConf.to_container(
            by_hydra, resolve=True
        )
        checked += 1
    assert checked == 16


@pytest.mark.parametrize(
    "words",
    [
        ["+experiment=smoke"],
        ["+experiment=smoke", "model=mock"],
        ["++model.extra=1", "model=mock"],
        ["~judge", "model=gold"],
        ["model=mock", "model.shares={gold: 1.0}"],
        ["model=gold", "difficulty.ids=[a,b]", "question_language=zh"],
        ["engine=postgres", "engine.uri=postgresql://h/d"],
    ],
)
def test_what_is_not_simple_is_right_too(loader: Any, words: list[str]) -> None:
    master = loader.load_configuration("config", [], run_mode=RunMode.MULTIRUN)
    grid = Grid(loader.load_sweep_config, loader.repository.group_exists)
    grid(master, ["model=gold", "difficulty=easy"])
    cell = grid(master, list(words))
    assert OmegaConf.to_container(cell, resolve=False) == composed(loader, master, list(words))[0]


@pytest.mark.parametrize("words", [["limits.timeout=3"], ["model=nobody"], ["modle=gold"]])
def test_mistakes_are_hydras_errors(loader: Any, words: list[str]) -> None:
    master = loader.load_configuration("config", [], run_mode=RunMode.MULTIRUN)
    grid = Grid(loader.load_sweep_config, loader.repository.group_exists)
    grid(master, ["model=gold"])
    with pytest.raises(HydraException):
        grid(master, ["difficulty=easy", *words])
