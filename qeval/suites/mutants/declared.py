"""Mutants argued to be equivalent: no data can tell them from the gold."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qeval.errors import InputError
from qeval.suites.documents import read_yaml

FOLDER = "mutants"  # of a suite's folder: equivalent.yaml and one summary per language


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A mutant by name, and why it always answers as the gold does."""

    case: str
    language: str
    operator: str
    change: str
    reason: str


def read_equivalents(folder: Path, language: str) -> tuple[Equivalent, ...]:
    """The declared mutants of a language in `<suite folder>/mutants/equivalent.yaml`, if any.

    Raises `InputError` for an entry that lacks a key or has an unknown one.
    """
    file = folder / FOLDER / "equivalent.yaml"
    if not file.exists():
        return ()
    return tuple(entry for entry in _entries(file, read_yaml(file)) if entry.language == language)


def _entries(file: Path, content: Any) -> Iterable[Equivalent]:
    listed = content.get("equivalent") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise InputError(f"{file}: expected a list under the key 'equivalent'")
    for index, entry in enumerate(listed):
        try:
            yield Equivalent(**entry)
        except TypeError as error:
            raise InputError(f"{file}: equivalent[{index}]: {error}") from error
