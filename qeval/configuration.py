"""Composing Hydra configurations, and turning Hydra's errors into messages for people."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qeval.errors import InputError, did_you_mean
from qeval.paths import shipped
from qeval.redaction import redact_override, redact_text

if TYPE_CHECKING:
    from omegaconf import DictConfig

ONLY_INTO_ITSELF = "every cell would translate a language into itself"

ALIASES = {"lang": "language"}
_ALIAS = re.compile(r"^(\+{0,2}|~)(" + "|".join(ALIASES) + r")(?=[=.@]|$)")


def spell_out(overrides: Sequence[str]) -> list[str]:
    """Replace the short group names people type (`lang=sql`) by the real ones."""
    return [_ALIAS.sub(lambda m: m[1] + ALIASES[m[2]], word) for word in overrides]


def compose(overrides: Sequence[str], config_dir: str | Path | None = None) -> "DictConfig":
    """Compose one cell's configuration outside the Hydra application.

    `config_dir` is a user's own folder of groups, searched first. Raises `InputError`.
    """
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    words = spell_out(overrides)
    if config_dir is not None:
        words.append(f"hydra.searchpath=[file://{Path(config_dir).resolve()}]")
    GlobalHydra.instance().clear()
    with (
        explained(words),
        initialize_config_dir(config_dir=str(shipped("conf")), version_base="1.3"),
    ):
        return hydra_compose("config", overrides=words)


def plain(config: "DictConfig") -> dict[str, Any]:
    """The resolved configuration as plain dictionaries; names a key left at `???`."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        container = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        key = getattr(error, "full_key", None)
        where = f"{key}: " if key else ""
        raise InputError(f"configuration: {where}{_first_line(error)}") from None
    assert isinstance(container, dict)
    return {str(key): value for key, value in container.items()}


def options(group: str, config_dir: str | None = None) -> list[str]:
    """The names one can choose in a configuration group."""
    folders = [shipped("conf") / group]
    if config_dir is not None:
        folders.append(Path(config_dir) / group)
    return sorted({path.stem for folder in folders for path in folder.glob("*.yaml")})


def groups(config_dir: str | None = None) -> dict[str, list[str]]:
    """Every configuration group with its options, in the order of `conf/config.yaml`."""
    text = (shipped("conf") / "config.yaml").read_text(encoding="utf-8")
    named = re.findall(r"^  - (\w+): ", text, flags=re.MULTILINE)
    found = {path.name for path in shipped("conf").iterdir() if path.is_dir()}
    if config_dir is not None and Path(config_dir).is_dir():
        found |= {path.name for path in Path(config_dir).iterdir() if path.is_dir()}
    rest = sorted(found - set(named) - {"hydra"})
    return {group: options(group, config_dir) for group in [*named, *rest]}


@contextmanager
def explained(overrides: Sequence[str]) -> Iterator[None]:
    """Turn what Hydra and OmegaConf raise for a wrong configuration into `InputError`."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        yield
    except HydraException as error:
        raise InputError(_explain(error, overrides)) from error
    except OmegaConfBaseException as error:
        raise InputError(f"configuration: {_first_line(error)}") from error
    except YAMLError as error:
        raise InputError(f"configuration: {_place(error)}") from error
    except ValueError as error:
        if not str(error).startswith("Only one of --"):
            raise
        raise InputError(f"{error}. For one cell of a sweep: --cfg without -m") from error


def _place(error: Exception) -> str:
    """Where a YAML file is broken, and how."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return f"not YAML: {_first_line(error)}"
    return f"{mark.name}:{mark.line + 1}: not YAML: {getattr(error, 'problem', error)}"


def _explain(error: Exception, overrides: Sequence[str]) -> str:
    return redact_text(_explanation(error, overrides))


def _explanation(error: Exception, overrides: Sequence[str]) -> str:
    from hydra.errors import MissingConfigException, OverrideParseException

    if isinstance(error, OverrideParseException):
        given, shown = str(error.override), redact_override(str(error.override))
        return (
            f"can't read the override {shown!r}: {_first_line(error).replace(given, shown)}\n"
            "Values with , = % | # spaces, or letters beyond a-z, need quotes inside quotes: "
            "'key=\"a,b\"'."
        )
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, option = str(error.missing_cfg_file).rpartition("/")
        known = list(error.options or [])
        return (
            f"{group or 'configuration'} has no option {option!r}."
            f"{did_you_mean(option, known)} It has: {', '.join(known)}"
        )
    ambiguous = re.match(r"Ambiguous value for argument '([^=']+)=", str(error))
    if ambiguous:
        return (
            f"Ambiguous value: several values for {ambiguous[1]} are a sweep: qeval -m "
            f"{' '.join(overrides)}. For one list write {ambiguous[1]}=[…]"
        )
    # Of `group.key={…}` only the cause names the key inside the braces.
    word = getattr(error.__cause__, "full_key", None) or _unknown_word(str(error))
    if word is None:
        return f"configuration: {_first_line(error)}"
    return _unknown(word, overrides)


def _unknown_word(message: str) -> str | None:
    found = re.search(r"Could not (?:override|delete|find) (?:from config\. )?'([^']+)'", message)
    found = found or re.search(r"Key '([^']+)' is not in struct", message)
    return found[1] if found else None


def _unknown(word: str, overrides: Sequence[str]) -> str:
    """Explain a group or key that the configuration does not have."""
    path = _path(word)
    known = groups()
    if path in known:
        return f"{path!r} is not chosen by default: write +{path}=…, one of: " + ", ".join(
            known[path]
        )
    if "." not in path:
        near = did_you_mean(path, [*known, *ALIASES, *_keys("")])
        return f"there is no group or key {path!r}.{near} Groups: {', '.join(known)}"
    parent, _, leaf = path.rpartition(".")
    keys = _keys(parent, [w for w in overrides if _path(w) in known and "={" not in w])
    if not keys:
        return f"there is no key {path!r}; qeval --cfg job shows all of them"
    return f"{parent!r} has no key {leaf!r}.{did_you_mean(leaf, keys)} It has: {', '.join(keys)}"


def _path(override: str) -> str:
    """The key or group that an override is about."""
    return override.lstrip("+~").split("=")[0].split("@")[0]


def _keys(path: str, choices: Sequence[str] = ()) -> list[str]:
    """Keys below `path` in the configuration with these choices of groups."""
    from omegaconf import OmegaConf

    try:
        node = compose([choice for choice in choices if "," not in choice])
        selected = OmegaConf.select(node, path) if path else node
    except (InputError, ValueError):
        return []
    return [str(key) for key in selected] if hasattr(selected, "keys") else []


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def compose_grid(
    overrides: Sequence[str], config_dir: str | Path | None = None
) -> "list[DictConfig]":
    """Compose every combination that `qeval -m` would make of comma-separated values.

    A recipe (`+experiment=…`) adds the values it sweeps, where they are not given; translations of
    a language into itself are left out. Raises `InputError`, also where nothing else is left.
    """
    from itertools import product

    from hydra.core.override_parser.overrides_parser import OverridesParser

    words = spell_out(overrides)
    with explained(words):
        words += _swept_by_recipe(words, config_dir)
        parsed = OverridesParser.create().parse_overrides(words)
        choices = [
            [f"{_left(override)}={value}" for value in override.sweep_string_iterator()]
            if override.is_sweep_override()
            else [override.input_line or ""]
            for override in parsed
        ]
    made = [compose(combination, config_dir) for combination in product(*choices)]
    kept = [config for config in made if not into_itself(config)]
    if not kept:
        raise InputError(ONLY_INTO_ITSELF)
    return kept


def into_itself(config: "DictConfig") -> bool:
    """Whether a cell would translate a query language into itself."""
    from omegaconf import OmegaConf

    source = OmegaConf.select(config, "prompt_strategy.source_language")
    return source is not None and source == OmegaConf.select(config, "language.name")


def _swept_by_recipe(words: Sequence[str], config_dir: str | Path | None) -> list[str]:
    """The `key=values` that a recipe's `hydra.sweeper.params` has and the words don't."""
    import yaml

    name = next((w.partition("=")[2] for w in words if w.startswith("+experiment=")), None)
    folders = [Path(config_dir)] if config_dir is not None else []
    for folder in (*folders, shipped("conf")):
        path = folder / "experiment" / f"{name}.yaml"
        if name is not None and path.is_file():
            with path.open(encoding="utf-8") as file:
                recipe = yaml.safe_load(file) or {}
            swept = recipe.get("hydra", {}).get("sweeper", {}).get("params", {})
            given = {word.partition("=")[0] for word in words}
            return [f"{key}={values}" for key, values in swept.items() if key not in given]
    return []


def _left(override: Any) -> str:
    return str(override.input_line).partition("=")[0]
