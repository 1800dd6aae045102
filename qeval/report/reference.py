"""Published figures beside our own: shown, dated, marked as not re-run, mixed with nothing."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qeval.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from qeval.results import CellResult

REFERENCES = ("published",)


@lru_cache(maxsize=4)
def reference(name: str) -> Mapping[str, Any]:
    """A set of published figures (`reference=…` in the configuration). Raises `InputError`."""
    if name not in REFERENCES:
        raise InputError(
            f"reference={name}: there is {', '.join(REFERENCES)}.{did_you_mean(name, REFERENCES)}"
        )
    import yaml

    path = Path(__file__).with_name(f"{name}.yaml")
    figures: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return figures


def figure(cell: "CellResult", metric: str) -> float | None:
    """The published figure (0..1) of a cell's model, language and strategy, or None."""
    config = cell.header.get("config", {})
    if not config.get("reference"):
        return None
    known = reference(str(config["reference"]))
    if _name(config, "prompt_strategy") != known["strategy"]:
        return None
    found = known["models"].get(_name(config, "model"), {}).get(_name(config, "language"), {})
    return found[metric] / 100 if metric in found else None


def account(cell: "CellResult") -> str:
    """Where the figures come from and what they are not; empty where none are shown."""
    name = cell.header.get("config", {}).get("reference")
    if not name:
        return ""
    known = reference(str(name))
    engines = ", ".join(known["engines"].values())
    return (
        f"published: figures of the article that started this project, as published, written down "
        f"{known['noted']} and NOT re-run here: other questions, other engines ({engines})"
    )


def _name(config: Mapping[str, Any], group: str) -> str:
    return str((config.get(group) or {}).get("name", ""))
