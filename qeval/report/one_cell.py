"""One cell's result: a metric a row, its difficulties beside it."""

from typing import TYPE_CHECKING

from qeval.choices import NAMING, labelled
from qeval.report.figures import (
    LEVELS,
    MEASURES,
    cost,
    counted,
    dash,
    interval,
    plain_grid,
    seconds,
    share,
    unicode,
)
from qeval.scoring.metrics import HEADLINE

if TYPE_CHECKING:
    from rich.console import Console

    from qeval.results import CellResult

LONG = {HEADLINE: "execution accuracy", "syntax_pass": "syntax pass"}
LAYERS = {
    "failure": "failing to run",
    "base": "base",
    "instances": "variants",
    "judge": "judge",
    "unscored": "nobody (the judge gave no label)",
    "review": "review",
}


def print_cell(console: "Console", cell: "CellResult") -> None:
    """Print what was run, its metrics, what else was measured, and what it cost."""
    absent = dash(console)
    options = labelled(cell.header)
    title = (" · " if unicode(console) else " - ").join(options.get(group, "") for group in NAMING)
    console.print(title, style="bold")
    console.print(_facts(cell, options))
    levels = [level for level in LEVELS if level in cell.metrics.by_difficulty]
    parts = [cell.metrics.by_difficulty[level] for level in levels] if len(levels) > 1 else []
    grid = plain_grid()
    for name in ("", "all", "95 % interval", *(levels if parts else ())):
        grid.add_column(name, justify="left" if not name else "right")
    overall = cell.metrics.overall
    for metric, short in MEASURES.items():
        judged = metric.startswith(("composite", "semantic_equivalence"))
        if judged and metric not in overall:
            continue
        grid.add_row(
            LONG.get(metric, short),
            share(overall, metric, absent),
            interval(overall, metric, absent),
            *(share(part, metric, absent) for part in parts),
            style="bold" if metric == HEADLINE else "",
        )
    grid.add_row("answers counted", counted(overall), "", *map(counted, parts))
    console.print(grid)
    for line in _further(cell):
        console.print(line)
    console.print(_spent(cell))


def _further(cell: "CellResult") -> list[str]:
    """What else was measured: stability, repair, variants, copying, and who decided."""
    metrics = cell.metrics
    lines = []
    if metrics.stability:
        shown = ", ".join(
            f"{n.replace('_', ' ')} {m.value:.3f}" for n, m in metrics.stability.items()
        )
        lines.append(f"over repeats: {shown}")
    if HEADLINE in metrics.before_repair and HEADLINE in metrics.overall:
        asked_again = metrics.behaviour["repaired"]
        lines.append(
            f"repair: accuracy {metrics.before_repair[HEADLINE].value:.3f} before, "
            f"{metrics.overall[HEADLINE].value:.3f} after; "
            f"{asked_again.numerator:.0f} of {asked_again.denominator} were asked again"
        )
    refuted = metrics.behaviour.get("refuted_share")
    if refuted is not None and refuted.numerator:
        lines.append(
            f"refuted on variants: {refuted.numerator:.0f} of {refuted.denominator} that base "
            f"accepted, {refuted.value:.3f} ({refuted.low:.2f} to {refuted.high:.2f})"
        )
    copies = metrics.behaviour.get("copy_rate")
    if copies is not None and copies.numerator:
        lines.append(
            f"copied from examples: {copies.numerator:.0f} of {copies.denominator} answers"
        )
    if len(metrics.layers) > 1:
        order = [layer for layer in LAYERS if layer in metrics.layers]
        told = ", ".join(f"{LAYERS[layer]} {metrics.layers[layer]}" for layer in order)
        lines.append(f"decided by: {told}")
    lines.append("what these words mean: qeval explain")
    return lines


def _facts(cell: "CellResult", options: dict[str, str]) -> str:
    missing = f", {cell.records_missing} missing" if cell.records_missing else ""
    errors = f", {cell.errors} errors" if cell.errors else ""
    cases = f"{cell.done} case{'' if cell.done == 1 else 's'}{missing}{errors}"
    return f"suite {options.get('suite', '')}, {cases}, executed on {options.get('engine', '')}"


def _spent(cell: "CellResult") -> str:
    tokens = cell.metrics.tokens
    parts: list[str] = []
    times: list[str] = []
    if tokens.prompt is not None and tokens.completion is not None:
        parts.append(f"tokens {tokens.prompt:,} in, {tokens.completion:,} out")
    else:
        parts.append("tokens unknown")
    parts.append(f"cost {cost(cell)}")
    for title, latency in (
        ("generation", cell.metrics.generation_s),
        ("execution", cell.metrics.execution_s),
    ):
        if latency.p50 is not None and latency.p95 is not None:
            times.append(f"{title} {seconds(latency.p50)} (p95 {seconds(latency.p95)})")
    return "; ".join(parts) + ("\nmedian time a case: " + ", ".join(times) if times else "")
