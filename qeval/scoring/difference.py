"""What is wrong with a prediction whose rows are not the gold's: a kind, words, and some rows."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Difference:
    """How a prediction's table differs from the gold's (see `kinds` in docs/comparison.md)."""

    kind: str
    message: str
    columns: tuple[str, ...] = ()
    missing: tuple[tuple[Any, ...], ...] = ()
    extra: tuple[tuple[Any, ...], ...] = ()
    missing_count: int = 0
    extra_count: int = 0

    def to_json(self) -> dict[str, Any]:
        """JSON-ready and bounded in size."""
        return {"kind": self.kind, "message": self.message}
