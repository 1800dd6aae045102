"""YAML with strict keys, and JSON Schema errors told by file, line and key."""

import re
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from qeval.errors import InputError, did_you_mean
from qeval.suites.documents import KeyPath

_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SHOWN = 60  # characters of a wrong value
_UNWANTED = ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool")


class _Loader(_BaseLoader):  # type: ignore[misc]
    """Dates stay text, only `true` and `false` are booleans, a key may not come twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        seen: set[Hashable] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key must be a word, not a list or a mapping; "
                                           "text that begins with { or [ needs quotes",
                                           problem_mark=key.start_mark)  # fmt: skip
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key.value!r} comes twice",
                                           problem_mark=key.start_mark)  # fmt: skip
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002
        try:
            return super().construct_object(node, deep)
        except (ValueError, OverflowError) as error:  # !!int x, 0b_
            raise yaml.MarkedYAMLError(problem=str(error), problem_mark=node.start_mark) from error


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _UNWANTED]
    for first, resolvers in _BaseLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), ["t", "f"])


def parse(path: Path, content: bytes) -> Any:
    """The content of a YAML file. Raises `InputError` with file and line."""
    try:
        return yaml.load(content, Loader=_Loader)  # noqa: S506
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{path}{line}: not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {error}") from error


def parse_and_validate(path: Path, content: bytes, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Parse `content` and check it. Raises one `InputError` naming every fault."""
    from jsonschema import Draft202012Validator, FormatChecker

    document = parse(path, content)
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    errors = sorted(validator.iter_errors(document), key=lambda e: list(map(str, e.absolute_path)))
    faults = [
        f"{path}:{locate(content, keys)}: {key_name(keys)}: {message}"
        for error in errors
        for keys, message in _explain(error)
    ]
    if faults:
        raise InputError("\n".join(faults))
    valid: dict[str, Any] = document
    return valid


def key_name(keys: KeyPath) -> str:
    """`cases[2].answer.top_k` for ("cases", 2, "answer", "top_k")."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return text.lstrip(".") or "(the whole file)"


def _explain(error: Any) -> Iterator[tuple[KeyPath, str]]:
    """(key path, message) pairs for one error of jsonschema."""
    keys = tuple(error.absolute_path)
    found = error.instance
    shown = repr(found)
    shown = shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"
    match error.validator:
        case "additionalProperties" if isinstance(found, dict):
            known = error.schema.get("properties", {})
            for extra in [key for key in found if key not in known]:
                near = did_you_mean(str(extra), known)
                yield (*keys, extra), f"unknown key.{near} Known keys: {', '.join(known)}"
        case "required":
            missing = [key for key in error.validator_value if key not in found]
            yield keys, f"missing {', '.join(map(repr, missing))}"
        case "enum":
            options = ", ".join(map(str, error.validator_value))
            near = did_you_mean(str(found), map(str, error.validator_value))
            yield keys, f"found {shown}, expected one of {options}.{near}"
        case "type":
            yield keys, f"found {shown}, expected {_TYPE_NAMES[error.validator_value]}"
        case "oneOf" if all(list(option) == ["required"] for option in error.validator_value):
            names = [name for option in error.validator_value for name in option["required"]]
            given = ", ".join(name for name in names if name in found) or "none"
            yield keys, f"found {given}, expected exactly one of {', '.join(names)}"
        case "const":
            yield keys, f"found {shown}, expected {str(error.validator_value).lower()}"
        case "pattern" | "format":
            yield keys, f"found {shown}, expected {error.validator} {error.validator_value}"
        case _:
            yield keys, error.message


_TYPE_NAMES = {
    "object": "keys with values",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}


def locate(content: bytes, keys: KeyPath) -> int:
    """The 1-based line of the value at `keys`, or of the deepest part of the path that exists."""
    node: Any = yaml.compose(content, Loader=_Loader)
    line = 1
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == str(key)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line + 1
        else:
            break
    return line
