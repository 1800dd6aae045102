"""Composing a hundred cells without reading the same files a hundred times.

Hydra reads and parses every configuration file anew for each job of a multirun, and looks every
group up on disk again; that is a third of the cost of planning a sweep.
"""

import copy
from typing import Any


class RememberingRepository:
    """Hydra's repository of configuration files, asked once per file and group.

    Each load hands out a copy of its own, because composition adopts the nodes it is given.
    """

    def __init__(self, delegate: Any) -> None:
        self._delegate = delegate
        self._loaded: dict[str, Any] = {}
        self._answers: dict[tuple[str, str], bool] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> "RememberingRepository":
        # Hydra copies the repository for every job only to keep a search path apart that no job
        # of a sweep may change.
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._delegate, name)

    def load_config(self, config_path: str) -> Any:
        """The parsed file (None if there is none), as a copy."""
        if config_path not in self._loaded:
            self._loaded[config_path] = self._delegate.load_config(config_path)
        loaded = self._loaded[config_path]
        if loaded is None:
            return None
        own = copy.copy(loaded)
        own.config = copy.deepcopy(loaded.config)
        own.header = dict(loaded.header)
        return own

    def group_exists(self, config_path: str) -> bool:
        """Whether the folder of a group exists."""
        return self._ask("group_exists", config_path)

    def config_exists(self, config_path: str) -> bool:
        """Whether a configuration file exists."""
        return self._ask("config_exists", config_path)

    def _ask(self, question: str, path: str) -> bool:
        if (question, path) not in self._answers:
            self._answers[question, path] = getattr(self._delegate, question)(path)
        return self._answers[question, path]


def remember(config_loader: Any) -> None:
    """Let a Hydra configuration loader remember what it has read."""
    if not isinstance(config_loader.repository, RememberingRepository):
        config_loader.repository = RememberingRepository(config_loader.repository)
