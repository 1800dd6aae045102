"""Composing the cells of a sweep without composing each from scratch.

Hydra takes some 50 ms for a cell, and its sweeper composes every cell once more to validate it.
In a grid the cells differ by a few group choices and values. So one cell is composed as the base,
each other choice of a group once on top of it, and a cell is put together from these parts:
exact as long as a choice changes nothing but its own group, which is checked for every choice.
Whatever is not that simple is composed by Hydra.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override
    from omegaconf import DictConfig

Compose = Callable[["DictConfig", list[str]], "DictConfig"]
Parts = dict[str, Any]


def speed_up(config_loader: Any) -> None:
    """Let Hydra's configuration loader put the cells of a sweep together from parts."""
    if not isinstance(config_loader.load_sweep_config, Grid):
        config_loader.load_sweep_config = Grid(
            config_loader.load_sweep_config, config_loader.repository.group_exists
        )


class Grid:
    """`load_sweep_config` of Hydra's loader, with a memory of the parts it has seen.

    The configurations it returns have no `hydra` node.
    """

    def __init__(self, compose: Compose, group_exists: Callable[[str], bool]) -> None:
        self._compose = compose
        self._group_exists = group_exists
        self._bases: dict[tuple[str, ...], tuple[dict[str, str], Parts]] = {}
        self._choices: dict[tuple[tuple[str, ...], str, str], Parts | None] = {}
        self._validated: dict[tuple[str, ...], DictConfig] = {}

    def __call__(self, master_config: "DictConfig", sweep_overrides: list[str]) -> "DictConfig":
        """The configuration of one cell; raises what Hydra raises for a wrong override."""
        key = tuple(sweep_overrides)
        # The sweeper asks first, to validate, and drops the answer; the launcher asks second.
        ready = self._validated.pop(key, None)
        if ready is not None:
            return ready
        self._validated[key] = self._cell(master_config, list(sweep_overrides))
        return self._validated[key]

    def _cell(self, master_config: "DictConfig", sweep_overrides: list[str]) -> "DictConfig":
        from hydra._internal.config_loader_impl import ConfigLoaderImpl
        from hydra.core.override_parser.overrides_parser import OverridesParser
        from omegaconf import OmegaConf

        frame: list[str] = []
        chosen: dict[str, str] = {}
        values: list[Override] = []
        for override in OverridesParser.create().parse_overrides(sweep_overrides):
            line = str(override.input_line)
            if not self._is_plain(override):
                frame.append(line)
            elif self._group_exists(override.key_or_group):
                chosen[override.key_or_group] = str(override.value())
            else:
                values.append(override)
        parts = self._assemble(master_config, tuple(frame), chosen)
        if parts is None:
            return without_hydra(self._compose(master_config, sweep_overrides))
        config = OmegaConf.create(parts)
        OmegaConf.set_struct(config, value=True)
        ConfigLoaderImpl._apply_overrides_to_config(values, config)  # noqa: SLF001
        OmegaConf.copy_cache(from_config=master_config, to_config=config)
        return config

    def _is_plain(self, override: "Override") -> bool:
        """Whether it chooses a group's option or sets a value, in the plain form `key=value`."""
        if override.is_delete() or override.is_add() or override.is_force_add():
            return False
        if override.package is not None or override.is_hydra_override():
            return False
        return not self._group_exists(override.key_or_group) or isinstance(override.value(), str)

    def _assemble(
        self, master: "DictConfig", frame: tuple[str, ...], chosen: dict[str, str]
    ) -> Parts | None:
        """The cell's top-level nodes before values are set; None where parts are not enough."""
        if frame not in self._bases:
            self._bases[frame] = (dict(chosen), self._parts(master, frame, chosen))
        choices, base = self._bases[frame]
        if choices.keys() != chosen.keys():
            return None
        parts = dict(base)
        for group, option in chosen.items():
            if option == choices[group]:
                continue
            key = (frame, group, option)
            if key not in self._choices:
                other = self._parts(master, frame, {**choices, group: option})
                self._choices[key] = _own_change(base, other, group)
            change = self._choices[key]
            if change is None:
                return None
            parts |= change
        return parts

    def _parts(self, master: "DictConfig", frame: Sequence[str], chosen: dict[str, str]) -> Parts:
        from omegaconf import OmegaConf

        words = [*frame, *(f"{group}={option}" for group, option in chosen.items())]
        composed = without_hydra(self._compose(master, words))
        parts = OmegaConf.to_container(composed, resolve=False)
        assert isinstance(parts, dict)
        return {str(key): value for key, value in parts.items()}


def without_hydra(config: "DictConfig") -> "DictConfig":
    """The part of a composed configuration that a task sees."""
    from omegaconf import OmegaConf

    return OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])


def _own_change(base: Parts, other: Parts, group: str) -> Parts | None:
    """The group's own node of `other`, or None if anything else differs from `base`."""
    if "/" in group or base.keys() != other.keys():
        return None
    if any(base[key] != other[key] for key in base if key != group):
        return None
    return {group: other[group]}
