"""The models one can choose by name: what their YAML files say, composed but not built."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qeval.models.keys import alternatives, is_set, spoken


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of `conf/model`. `key` names its variables ("" where none is needed)."""

    name: str
    provider: str
    id: str
    key: str
    ready: bool  # the key is set, or none is needed
    end_of_life: str
    notes: str
    settings: Mapping[str, Any]


def entries(config_dir: str | None = None) -> list[Entry]:
    """All models, shipped and of the user's `config_dir`, by name. Raises `InputError`."""
    from qeval.configuration import options

    return [entry(name, config_dir) for name in options("model", config_dir)]


def entry(name: str, config_dir: str | None = None) -> Entry:
    """One model. Raises `InputError` with *did you mean* for an unknown name."""
    from qeval.configuration import compose, plain

    settings = plain(compose([f"model={name}"], config_dir))["model"]
    keys = alternatives(settings.get("key_env"))
    model_id = str(settings.get("id") or "")
    provider = model_id.partition("/")[0] if model_id else "here"
    return Entry(
        name=name,
        provider="any" if name == "openai_compatible" else provider,
        id=model_id,
        key=spoken(keys),
        ready=is_set(keys),
        end_of_life=str(settings.get("end_of_life") or ""),
        notes=str(settings.get("notes") or ""),
        settings=settings,
    )
