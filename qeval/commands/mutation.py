"""The mutation part of `qeval check`: measure, judge and show the strength of golds and data."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from qeval.suite import Suite
    from qeval.suites.check import Bench, GateSettings, Problem
    from qeval.suites.mutants import Strength

_SHOWN = 40  # survivors that a table lists


def measured(
    suite: "Suite",
    folder: Path,
    benches: Mapping[str, "Bench"],
    settings: "GateSettings",
    options: argparse.Namespace,
    *,
    whole: "Suite",
    tell: Callable[[str], None],
) -> "list[Strength]":
    """The strength in each language that has a mutator, on base and all variants.

    With `options.record` its summary is written to the suite's folder. What is declared of cases of
    the `whole` suite that are not in `suite` is passed over.
    """
    from qeval.suites.mutants import (
        measure,
        mutated_languages,
        read_equivalents,
        summary_of,
        write_summary,
    )
    from qeval.suites.trials import TrialSettings

    instances = sorted(suite.instances, key=lambda name: name == "base")  # the largest comes last
    bounds = TrialSettings(
        settings.limits, settings.policy, settings.workers, options.mutant_seconds
    )
    left_out = {case.id for case in whole.cases} - {case.id for case in suite.cases}
    strengths = []
    for language, bench in benches.items():
        if language not in mutated_languages():
            continue
        strength = measure(
            suite, bench, instances, bounds,
            declared=tuple(
                entry
                for entry in read_equivalents(folder, language)
                if entry.case not in left_out
            ),
            on_instance=lambda name, alive: tell(f"{alive} mutants alive before {name}"),
        )  # fmt: skip
        strengths.append(strength)
        if options.record:
            write_summary(folder, language, summary_of(suite, strength, tuple(instances)))
    return strengths


def faults(strength: "Strength", least: float) -> Iterator["Problem"]:
    """Too small a share of killed mutants, and declarations that fit no surviving mutant."""
    from qeval.suites.check import Problem

    share = strength.share()
    if share is not None and share < least:
        message = f"{share:.1%} of the mutants are refuted, at least {least:.1%} are asked for"
        yield Problem("(all)", strength.language, "", "mutants", message)
    for entry in strength.unneeded:
        account = f"no {entry.operator} mutant survives with the change {entry.change!r}"
        yield Problem(entry.case, strength.language, "", "equivalent", f"declared, but {account}")


def show_strength(console: "Console", strength: "Strength") -> None:
    """Print the share of killed mutants by operator, and the survivors."""
    from rich.table import Table as Grid

    grid = Grid(title=f"Mutants of the {strength.language} golds", title_justify="left")
    grid.add_column("operator", no_wrap=True)
    for heading in ("killed", "survived", "equivalent", "invalid", "killed of valid"):
        grid.add_column(heading, justify="right")
    for operator in (*strength.operators, None):
        counts, share = strength.counts(operator), strength.share(operator)
        grid.add_row(
            operator or "all",
            *(str(counts[fate]) for fate in ("killed", "survived", "equivalent", "invalid")),
            "-" if share is None else f"{share:.1%}",
        )
    console.print(grid)
    survivors = [outcome for outcome in strength.outcomes if outcome.fate == "survived"]
    for outcome in survivors[:_SHOWN]:
        mutant = outcome.mutant
        console.print(f"survived: {outcome.case} {mutant.operator}: {mutant.change}")
    if len(survivors) > _SHOWN:
        console.print(f"… and {len(survivors) - _SHOWN} more")
