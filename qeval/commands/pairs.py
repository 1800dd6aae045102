"""The calibration part of `qeval check`: build the labelled pairs, and hold instances to them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from qeval.judge.calibration_build import LayerReport
    from qeval.suite import Suite
    from qeval.suites.check import Bench, GateSettings, Problem

LEAST_DECIDED = 0.95  # share of the pairs that the instances must decide as labelled


def layered(
    suite: "Suite",
    folder: Path,
    benches: Mapping[str, "Bench"],
    settings: "GateSettings",
    *,
    whole: "Suite",
    record: bool,
    tell: Callable[[str], None],
) -> "tuple[list[LayerReport], list[Problem]]":
    """What all instances say of the pairs of `suite`'s cases, and what is wrong with it.

    The files hold those of the `whole` suite; they are stale if any gold of it has changed.
    With `record` the sets are built anew from rewrites and mutants first, and written.
    """
    from qeval.judge.calibration_build import build_set, by_size, run_layer
    from qeval.judge.calibration_set import read_set, write_set
    from qeval.suites.mutants import golds_digest, read_equivalents
    from qeval.suites.rewrites import read_rewrites
    from qeval.suites.trials import TrialSettings

    bounds = TrialSettings(settings.limits, settings.policy, settings.workers)
    chosen = {case.id for case in suite.cases}
    reports: list[LayerReport] = []
    problems: list[Problem] = []
    for language, bench in benches.items():
        if record:
            kit = read_rewrites(folder, suite, language, fresh=True)
            declared = read_equivalents(folder, language)
            told = partial(_tell, tell, f"choosing {language} pairs")
            built = build_set(suite, bench, kit, declared, bounds, on_instance=told)
            if built.pairs:
                write_set(folder, built)
        found = read_set(folder, language)
        if found is None:
            continue
        told = partial(_tell, tell, f"{language} pairs")
        order = by_size(suite, language)
        pairs = [pair for pair in found.pairs if pair.case in chosen]
        report = run_layer(suite, bench, pairs, order, bounds, on_instance=told)
        reports.append(report)
        problems += _problems(report, stale=found.golds != golds_digest(whole, language))
    return reports, problems


def _tell(tell: Callable[[str], None], what: str, instance: str) -> None:
    tell(f"{what} on {instance}")


def _problems(report: "LayerReport", *, stale: bool) -> "Iterator[Problem]":
    from qeval.suites.check import Problem

    if stale:
        account = (
            "the labels were proven on other golds or data: qeval check --calibration --record"
        )
        yield Problem("(all)", report.language, "", "calibration", account)
    for pair in report.refuted:
        account = f"{pair.id} ({pair.kind}) is labelled equivalent, but differs"
        yield Problem(pair.case, report.language, report.deciding[pair.id], "calibration", account)
    if report.share is not None and report.share < LEAST_DECIDED:
        account = (
            f"the instances decide {report.share:.1%} of the pairs as labelled, at least"
            f" {LEAST_DECIDED:.0%} are asked for"
        )
        yield Problem("(all)", report.language, "", "calibration", account)


def show_layers(console: "Console", reports: "Sequence[LayerReport]") -> None:
    """Print how many pairs there are per language, and how many the instances alone decide."""
    from rich.table import Table as Grid

    if not reports:
        console.print(
            "The suite has no calibration pairs (calibration/<language>.yaml): --calibration "
            "--record builds them from mutants and rewrites.",
            style="yellow",
        )
        return
    grid = Grid(title="Calibration sets, decided by instances alone", title_justify="left")
    grid.add_column("", no_wrap=True)
    for heading in ("pairs", "equal", "wrongly refuted", "other", "right on base", "not refuted",
                    "no rows", "decided"):  # fmt: skip
        grid.add_column(heading, justify="right")
    for report in reports:
        labels = Counter(pair.label for pair in report.pairs)
        share = report.share
        grid.add_row(
            report.language,
            str(len(report.pairs)),
            str(labels["equivalent"]),
            str(len(report.refuted)),
            str(labels["different"]),
            str(len(report.lucky)),
            str(len(report.wrong) - len(report.refuted)),
            str(len(report.undecided)),
            "-" if share is None else f"{share:.1%}",
        )
    console.print(grid)
