"""Read a suite's YAML files: parse, validate against the JSON Schema, remember what was valid.

A valid file's parsed content is kept in the user's cache under the hash of the file, so that the
YAML parser and the schema validator are not even imported the next time.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from qeval.errors import InputError
from qeval.paths import cache_dir, shipped

SchemaName = Literal[
    "suite", "cases", "mapping.cypher", "mapping.typeql", "rewrites", "calibration"
]
KeyPath = Sequence[str | int]


def read_document(path: Path, schema: SchemaName, *, fresh: bool = False) -> dict[str, Any]:
    """The content of the YAML file at `path`, valid by `schemas/<schema>.schema.json`.

    `fresh` validates even a file that is remembered as valid. Raises `InputError` with
    file, line and key of every fault.
    """
    content = _content(path)
    rules = shipped("schemas").joinpath(f"{schema}.schema.json").read_bytes()

    def validated() -> Any:
        from qeval.suites.validation import parse_and_validate

        return parse_and_validate(path, content, json.loads(rules))

    document: dict[str, Any] = _remember(content, rules, validated, fresh=fresh)
    return document


def read_yaml(path: Path, *, fresh: bool = False) -> Any:
    """Parse a YAML file that has no JSON Schema (a mapping). Raises `InputError`."""
    content = _content(path)

    def parsed() -> Any:
        from qeval.suites.validation import parse

        return parse(path, content)

    return _remember(content, b"", parsed, fresh=fresh)


def read_mapping(path: Path, language: str, *, fresh: bool = False) -> Any:
    """A language's mapping; checked where `schemas/` says what it holds. Raises `InputError`."""
    if language == "cypher":
        return read_document(path, "mapping.cypher", fresh=fresh)
    if language == "typeql":
        return read_document(path, "mapping.typeql", fresh=fresh)
    return read_yaml(path, fresh=fresh)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error


def _remember(content: bytes, rules: bytes, make: Callable[[], Any], *, fresh: bool) -> Any:
    """What `make` returned for this content and these rules before, else what it returns now."""
    digest = hashlib.sha256(b"1\0" + rules + b"\0" + content).hexdigest()
    if not fresh:
        with suppress(OSError, ValueError):
            return json.loads(_remembered(digest).read_bytes())
    made = make()
    text = json.dumps(made, ensure_ascii=False)
    with suppress(OSError):  # a cache that can't be written costs time, nothing else
        _write(_remembered(digest), text)
    return json.loads(text)  # as it will be remembered: a key such as 2024 becomes a text


def _remembered(digest: str) -> Path:
    return cache_dir("suites") / f"{digest}.json"


def _write(path: Path, text: str) -> None:
    """Atomically, as two processes may do the same."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).replace(path)


def line_of(path: Path, keys: KeyPath) -> int:
    """The 1-based line of the value at `keys` in the YAML file (or of the deepest part there)."""
    from qeval.suites.validation import locate

    return locate(path.read_bytes(), keys)
