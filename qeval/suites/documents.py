"""Read a suite's YAML files: parse, validate against the JSON Schema, remember what was valid.

A valid file's parsed content is kept in the user's cache under the hash of the file, so that the
YAML parser and the schema validator are not even imported the next time.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from qeval.errors import InputError
from qeval.paths import cache_dir, shipped

SchemaName = Literal["suite", "cases"]
KeyPath = Sequence[str | int]


def read_document(path: Path, schema: SchemaName, *, fresh: bool = False) -> dict[str, Any]:
    """The content of the YAML file at `path`, valid by `schemas/<schema>.schema.json`.

    `fresh` validates even a file that is remembered as valid. Raises `InputError` with
    file, line and key of every fault.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    rules = shipped("schemas").joinpath(f"{schema}.schema.json").read_bytes()
    digest = hashlib.sha256(b"1\0" + rules + b"\0" + content).hexdigest()
    if not fresh:
        with suppress(OSError, ValueError):
            cached: dict[str, Any] = json.loads(_remembered(digest).read_bytes())
            return cached
    from qeval.suites.validation import parse_and_validate

    document = parse_and_validate(path, content, json.loads(rules))
    with suppress(OSError):  # a cache that can't be written costs time, nothing else
        _remember(_remembered(digest), document)
    return document


def _remembered(digest: str) -> Path:
    return cache_dir("suites") / f"{digest}.json"


def _remember(path: Path, document: dict[str, Any]) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(document, file, ensure_ascii=False)
    Path(name).replace(path)


def read_yaml(path: Path) -> Any:
    """Parse a YAML file that has no JSON Schema (a mapping). Raises `InputError`."""
    from qeval.suites.validation import parse

    try:
        return parse(path, path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error


def line_of(path: Path, keys: KeyPath) -> int:
    """The 1-based line of the value at `keys` in the YAML file (or of the deepest part there)."""
    from qeval.suites.validation import locate

    return locate(path.read_bytes(), keys)
