"""The figures of a result as people read them: never a zero for what was not measured."""

from typing import TYPE_CHECKING

from qeval.scoring.metrics import HEADLINE

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid

    from qeval.results import CellResult
    from qeval.scoring.metrics import Metrics

MEASURES = {
    HEADLINE: "accuracy",
    "execution_accuracy_relaxed": "relaxed",
    "robust_accuracy": "robust",
    "semantic_equivalence": "semantic",
    "composite": "composite",
    "semantic_equivalence_uncalibrated": "semantic (uncalibrated)",
    "composite_uncalibrated": "composite (uncalibrated)",
    "valid": "valid",
    "syntax_pass": "syntax",
}
"""Metrics in the order of the table, by what it calls them."""

LEVELS = ("easy", "medium", "hard")


def unicode(console: "Console") -> bool:
    """Whether the console can show every character."""
    return "utf" in console.encoding.lower()


def dash(console: "Console") -> str:
    """The dash of intervals, and the mark of *not measured*."""
    return "–" if unicode(console) else "-"


def share(metrics: "Metrics", metric: str, absent: str) -> str:
    """A share in three decimals, `absent` where it was not measured."""
    return f"{metrics[metric].value:.3f}" if metric in metrics else absent


def interval(metrics: "Metrics", metric: str, absent: str) -> str:
    """The ends of a metric's 95 % interval, `absent` (a dash) between them or alone."""
    if metric not in metrics:
        return absent
    return f"{metrics[metric].low:.2f}{absent}{metrics[metric].high:.2f}"


def counted(metrics: "Metrics") -> str:
    """How many answers count."""
    return str(metrics[HEADLINE].denominator) if HEADLINE in metrics else "0"


def tokens(cell: "CellResult", absent: str) -> str:
    """All tokens of a cell, `absent` where one answer's are not known."""
    found = cell.metrics.tokens
    if found.prompt is None or found.completion is None:
        return absent
    return f"{found.prompt + found.completion:,}"


def cost(cell: "CellResult") -> str:
    """A price, or *unknown*; a local model's 0 is a real zero."""
    usd = cell.metrics.cost.usd
    if usd is None:
        return "unknown"
    return "$0" if usd == 0 else f"${usd:.4f}" if usd < 1 else f"${usd:,.2f}"


def seconds(value: float) -> str:
    """`250 ms`, `1.5 s`."""
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def plain_grid() -> "Grid":
    """An empty table with a line under its headings and no other."""
    from rich import box
    from rich.table import Table as Grid

    return Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
