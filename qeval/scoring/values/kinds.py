"""Canonical values that no plain Python type stands for: nodes, paths and maps.

The whole set of canonical values is: None, bool, int, Decimal, float, str, bytes, date or `Day`,
datetime (aware, UTC) or `Instant`, `Clock`, `Duration`, tuple (a list), `Map`, `Node`, `Path`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Node:
    """A node, relationship or entity: equal to another with the same `kind` and `key`.

    `kind` are its labels or its type, sorted; `key` the value of its key property, or the
    engine's own id where the schema names none; `properties` are (name, value) pairs by name.
    """

    kind: tuple[str, ...]
    key: Any
    properties: tuple[tuple[str, Any], ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"({':'.join(self.kind)} {self.key})"


@dataclass(frozen=True, slots=True)
class Path:
    """A path: nodes and relationships in turn; order counts."""

    elements: tuple[Any, ...]

    def __str__(self) -> str:
        return "-".join(map(str, self.elements))


@dataclass(frozen=True, slots=True)
class Map:
    """A map, document or JSON object: (key, value) pairs sorted by key."""

    items: tuple[tuple[str, Any], ...]

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self.items)

    def __str__(self) -> str:
        return "{" + ", ".join(f"{key}: {value}" for key, value in self.items) + "}"
