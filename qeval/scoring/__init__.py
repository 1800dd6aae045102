"""Comparing result tables and turning comparisons into verdicts and metrics."""

from qeval.scoring.compare import Comparison, compare
from qeval.scoring.difference import Difference
from qeval.scoring.spec import AnswerSpec, Column, OrderKey, Policy
from qeval.scoring.table import Table
from qeval.scoring.verdict import Verdict

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
