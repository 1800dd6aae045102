"""Result tables and live progress for people."""

from qeval.report.progress import Progress, make_progress
from qeval.report.table import print_results

__all__ = ["Progress", "make_progress", "print_results"]
