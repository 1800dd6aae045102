"""Mutants argued to be equivalent: no data can tell them from the gold."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qeval.errors import InputError
from qeval.suites.documents import read_yaml

FOLDER = "mutants"  # of a suite's folder: what is declared and one summary per language


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A mutant by name, and why it always answers as the gold does."""

    case: str
    language: str
    operator: str
    change: str
    reason: str


def read_equivalents(folder: Path, language: str) -> tuple[Equivalent, ...]:
    """The declared mutants in `<suite folder>/mutants/equivalent.<language>.yaml`, if any.

    Raises `InputError` for an entry that lacks a key, has an unknown one or another language.
    """
    file = folder / FOLDER / f"equivalent.{language}.yaml"
    if not file.exists():
        return ()
    return tuple(_entries(file, language, read_yaml(file)))


def _entries(file: Path, language: str, content: Any) -> Iterable[Equivalent]:
    listed = content.get("equivalent") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise InputError(f"{file}: expected a list under the key 'equivalent'")
    for index, entry in enumerate(listed):
        try:
            found = Equivalent(**{"language": language, **entry})
        except TypeError as error:
            raise InputError(f"{file}: equivalent[{index}]: {error}") from error
        if found.language != language:
            raise InputError(
                f"{file}: equivalent[{index}]: found a mutant of {found.language}, expected one of"
                f" {language}"
            )
        yield found
