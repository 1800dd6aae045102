"""The rewrites part of `qeval check`: run the rewrite kit and show what came of it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from qeval.suite import Suite
    from qeval.suites.check import Bench, GateSettings
    from qeval.suites.rewrites import RewriteReport

_NAMED = 8  # kinds of rewrites that the table names


def rewritten(
    suite: "Suite",
    folder: Path,
    benches: Mapping[str, "Bench"],
    instances: Sequence[str],
    settings: "GateSettings",
    *,
    whole: "Suite",
    tell: Callable[[str], None],
) -> "list[RewriteReport]":
    """One report per language: the rewrites of `suite`'s cases on `instances`.

    The files may hold those of the `whole` suite.
    """
    from qeval.suites.rewrites import check_rewrites, read_rewrites
    from qeval.suites.trials import TrialSettings

    bounds = TrialSettings(settings.limits, settings.policy, settings.workers)
    chosen = {case.id for case in suite.cases}
    reports = []
    for language, bench in benches.items():
        kit = tuple(
            rewrite
            for rewrite in read_rewrites(folder, whole, language, fresh=True)
            if rewrite.case in chosen
        )
        on_instance = partial(_tell, tell, language)
        report = check_rewrites(suite, bench, kit, instances, bounds, on_instance=on_instance)
        reports.append(report)
    return reports


def _tell(tell: Callable[[str], None], language: str, instance: str) -> None:
    tell(f"{language} rewrites on {instance}")


def show_rewrites(console: "Console", reports: "Sequence[RewriteReport]") -> None:
    """Print how many rewrites there are per language, of which kinds, and how they fared."""
    from rich.table import Table as Grid

    grid = Grid(title="Rewrites of the golds", title_justify="left")
    grid.add_column("language", no_wrap=True)
    for heading in ("golds", "with rewrites", "rewrites", "kinds", "executions"):
        grid.add_column(heading, justify="right")
    grid.add_column("all equal", justify="left")
    for report in reports:
        unequal = [problem for problem in report.problems if problem.instance]
        verdict = f"no, {len(unequal)} trials differ" if unequal else "yes"
        grid.add_row(
            report.language,
            str(report.golds),
            str(report.cases),
            str(len(report.rewrites)),
            str(len(report.kinds)),
            str(report.executions),
            verdict if report.rewrites else "-",
        )
    console.print(grid)
    for report in reports:
        if report.rewrites:
            common = ", ".join(f"{kind} {n}" for kind, n in report.kinds.most_common(_NAMED))
            console.print(f"{report.language} kinds: {common}, …")
        if report.empty:
            named = ", ".join(f"{rewrite.case} {rewrite.kind}" for rewrite in report.empty)
            console.print(f"Without a row on any instance: {named}", style="yellow")
