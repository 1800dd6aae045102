"""Comparing result tables and turning comparisons into verdicts and metrics."""

from qeval.scoring.spec import AnswerSpec, Column, OrderKey, Policy
from qeval.scoring.table import Table
from qeval.scoring.verdict import Verdict

__all__ = ["AnswerSpec", "Column", "OrderKey", "Policy", "Table", "Verdict"]
