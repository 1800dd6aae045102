"""Hydra's door to qeval's own launcher: `hydra/launcher=qeval`, the default for `-m`.

Hydra accepts plugins only from this namespace package, so this file holds the registration and
nothing else; what happens is in `qeval.sweep`.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict


@dataclass
class LauncherConf:
    """The launcher needs no settings: workers and backend belong to the cells."""

    _target_: str = "hydra_plugins.qeval_launcher.QevalLauncher"


ConfigStore.instance().store(
    group="hydra/launcher", name="qeval", node=LauncherConf, provider="qeval"
)


class QevalLauncher(Launcher):
    """Sends all cells of a sweep through one pool instead of running job after job."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what composing the cells needs; the task function is not used."""
        from qeval.grid import speed_up

        speed_up(hydra_context.config_loader)
        self.hydra_context = hydra_context
        self.config = config
        self._aside: tempfile.TemporaryDirectory[str] | None = None
        sweeper = str(config.hydra.sweeper.get("_target_"))
        if sweeper.endswith(".BasicSweeper") and config.hydra.sweep.dir == ".":
            # Hydra writes multirun.yaml there: the words as typed, passwords among them. Cells keep
            # their configuration, without these.
            self._aside = tempfile.TemporaryDirectory(prefix="qeval-")
            with open_dict(config):
                config.hydra.sweep.dir = self._aside.name

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Compose all cells of a batch and evaluate them together, in the order given."""
        from qeval.app import launch_grid

        if self._aside is not None:
            self._aside.cleanup()
            self._aside = None
            self.config.hydra.sweep.dir = "."
        loader = self.hydra_context.config_loader
        grid = [list(overrides) for overrides in job_overrides]
        cells = [loader.load_sweep_config(self.config, overrides) for overrides in grid]
        return launch_grid(grid, cells, self.config.hydra, initial_job_idx)
