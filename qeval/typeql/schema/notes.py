"""What ``@doc`` and ``@meta`` say of types, capabilities and functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from qeval.typeql.syntax import ast
from qeval.typeql.values.reading import read_literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Subject: TypeAlias = tuple[str, ...]
"""What a note is about: ``("type", label)``, ``("owns", owner, attribute)``, ``("fun", name)``."""


@dataclass(slots=True)
class Notes:
    """The documentation and the metadata of one subject."""

    doc: str = ""
    meta: dict[str, str] = field(default_factory=dict)


class NoteBook:
    """The notes of a schema, by subject."""

    def __init__(self) -> None:
        self._notes: dict[Subject, Notes] = {}

    def of(self, subject: Subject) -> Notes:
        """Return the notes of a subject, empty ones if there are none."""
        return self._notes.get(subject) or Notes()

    def take(self, subject: Subject, annotations: Iterable[ast.Annotation]) -> None:
        """Take up the notes among some annotations."""
        for annotation in annotations:
            if isinstance(annotation, ast.Doc):
                self._at(subject).doc = _text(annotation.text)
            elif isinstance(annotation, ast.Meta):
                self._at(subject).meta[_text(annotation.key)] = _text(annotation.value)

    def _at(self, subject: Subject) -> Notes:
        return self._notes.setdefault(subject, Notes())


def _text(literal: ast.Literal) -> str:
    return str(read_literal("string", literal.text))
