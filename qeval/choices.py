"""What was chosen for a cell, as the header of its journal tells it."""

from collections.abc import Mapping
from typing import Any

from qeval.models.labels import model_label
from qeval.prompts.labels import strategy_label

GROUPS = ("model", "language", "prompt_strategy", "difficulty", "judge", "suite", "engine")
"""What tells the cells of a sweep apart, in the order in which people read it."""

NAMING = GROUPS[:4]
"""What a cell is called by."""


def chosen(header: Mapping[str, Any]) -> dict[str, str]:
    """The option of each of `GROUPS` that the header's configuration has; the engine as it ran."""
    config = header.get("config", {})
    options: dict[str, str] = {}
    for group in GROUPS:
        value = config.get(group)
        if isinstance(value, Mapping):
            value = model_label(value) if group == "model" else value.get("name")
        if value is not None:
            options[group] = str(value)
    if "engine" in header:
        options["engine"] = str(header["engine"])
    return options


def labelled(header: Mapping[str, Any]) -> dict[str, str]:
    """What was chosen, for people: a strategy with what was set otherwise than its name says."""
    strategy = header.get("config", {}).get("prompt_strategy")
    if not isinstance(strategy, Mapping):
        return chosen(header)
    return {**chosen(header), "prompt_strategy": strategy_label(strategy)}
