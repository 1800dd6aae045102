"""Comparing result tables and turning comparisons into verdicts and metrics.

`compare` and what it returns are loaded when first asked for: commands that only read
configuration do without.
"""

from typing import TYPE_CHECKING, Any

from qeval.scoring.spec import AnswerSpec, Column, OrderKey, Policy
from qeval.scoring.table import Table
from qeval.scoring.verdict import Verdict

if TYPE_CHECKING:
    from qeval.scoring.comparison import Comparison, compare
    from qeval.scoring.difference import Difference

__all__ = [
    "AnswerSpec",
    "Column",
    "Comparison",
    "Difference",
    "OrderKey",
    "Policy",
    "Table",
    "Verdict",
    "compare",
]


def __getattr__(name: str) -> Any:
    if name in ("compare", "Comparison", "Difference"):
        from qeval.scoring import comparison

        return getattr(comparison, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
