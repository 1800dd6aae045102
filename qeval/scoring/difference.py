"""What is wrong with a prediction whose rows are not the gold's: a kind, words, and some rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

Kind = Literal[
    "undecided",
    "extra_columns",
    "empty",
    "missing_columns",
    "order",
    "duplicates",
    "subset",
    "superset",
    "case_or_space",
    "type",
    "scale",
    "null",
    "other",
]
"""The classes of a mismatch in the order in which they are tried; the first that fits is told."""

KINDS: tuple[str, ...] = get_args(Kind)

SAMPLE_ROWS = 5
SAMPLE_COLUMNS = 20
SAMPLE_TEXT = 200
"""How much of the rows that differ is shown: rows a side, cells a row, characters a cell."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How a prediction's table differs from the gold's; kinds are told in docs/comparison.md.

    `columns` are the answer's columns and `mapping` the predicted column taken for each ("" for
    none): where tables differ this is the best guess. `missing` and `extra` are samples of the
    gold's rows that the prediction lacks and of the rows that it has too many, in the answer's
    columns; the counts are of all such rows.
    """

    kind: Kind
    message: str
    columns: tuple[str, ...] = ()
    mapping: tuple[str, ...] = ()
    missing: tuple[tuple[Any, ...], ...] = ()
    extra: tuple[tuple[Any, ...], ...] = ()
    missing_count: int = 0
    extra_count: int = 0

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"

    def to_json(self) -> dict[str, Any]:
        """JSON-ready and bounded: cells are numbers, texts, true, false or null."""
        return {
            "kind": self.kind,
            "message": self.message,
            "columns": [_cut(name) for name in self.columns[:SAMPLE_COLUMNS]],
            "mapping": [_cut(name) for name in self.mapping[:SAMPLE_COLUMNS]],
            "missing": [_shown(row) for row in self.missing],
            "extra": [_shown(row) for row in self.extra],
            "missing_count": self.missing_count,
            "extra_count": self.extra_count,
        }


def _shown(row: Sequence[Any]) -> list[Any]:
    return [shown(value) for value in row[:SAMPLE_COLUMNS]]


def shown(value: Any) -> Any:
    """A canonical value for a person or a JSON file: plain where it can be, else bounded text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(2**53) <= value <= 2**53 else _cut(_digits(value))
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, tuple):
        return _cut("[" + ", ".join(str(shown(item)) for item in value[:SAMPLE_TEXT]) + "]")
    return _cut(str(value))


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # Python refuses to print integers of more than 4,300 digits
        return f"an integer of {value.bit_length()} bits"


def _cut(text: str) -> str:
    return text if len(text) <= SAMPLE_TEXT else text[: SAMPLE_TEXT - 1] + "…"
