"""What tells strategies of one name apart: the factors that differ from the strategy's YAML."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_NOT_FACTORS = ("_target_", "name", "template", "question_language")
_ALWAYS = {"schema": ("oracle",)}
"""Settings that every report says, also where they are the strategy's own."""


def strategy_label(settings: Mapping[str, Any]) -> str:
    """The strategy's name, and in brackets what was set otherwise, e.g. `few_shot (shots=5)`."""
    name = str(settings.get("name", ""))
    own = _shipped(name)
    told = [
        f"{key}={_plain(value)}"
        for key, value in settings.items()
        if key not in _NOT_FACTORS
        and (
            (own is not None and key in own and own[key] != value)
            or (isinstance(value, str) and value in _ALWAYS.get(key, ()))
        )
    ]
    return f"{name} ({', '.join(told)})" if told else name


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_plain(inner)}" for key, inner in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)


@lru_cache(maxsize=64)
def _shipped(name: str) -> Mapping[str, Any] | None:
    """A shipped strategy's settings, or None for a user's own."""
    import yaml

    from qeval.paths import shipped

    folder = shipped("conf") / "prompt_strategy"
    path = folder / f"{name}.yaml"
    if not name or not path.is_file():
        return None
    base = yaml.safe_load((folder / "base" / "template.yaml").read_text(encoding="utf-8"))
    own = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {**base, **{key: value for key, value in own.items() if key != "defaults"}}
