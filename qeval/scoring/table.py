"""A result table: column names and rows of canonical values."""

from collections.abc import Iterable, Sequence
from typing import Any


class Table:
    """An immutable result: `columns` (names, duplicates allowed) and `rows` (tuples of values).

    Takes plain Python values; every row must have one value per column (`ValueError`).
    """

    __slots__ = ("columns", "rows")

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __init__(self, columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
        names = tuple(columns)
        cells = tuple(map(tuple, rows))
        width = len(names)
        if any(len(row) != width for row in cells):
            bad = next(i for i, row in enumerate(cells) if len(row) != width)
            raise ValueError(f"row {bad} has {len(cells[bad])} values, expected {width}")
        object.__setattr__(self, "columns", names)
        object.__setattr__(self, "rows", cells)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Table is immutable; can't set {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.columns == other.columns and self.rows == other.rows

    def __hash__(self) -> int:
        return hash((self.columns, self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Table({list(self.columns)!r}, {len(self.rows)} rows)"
