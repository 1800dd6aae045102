"""`qeval check`: the gold gate."""

import argparse
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from qeval.errors import InputError
from qeval.exit_codes import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from qeval.cells import Cell
    from qeval.suite import Suite
    from qeval.suites.check import Bench, GateReport, GateSettings, Problem


_COMPARED = {
    "languages": "between languages",
    "shuffled": "between orders of the same rows",
    "again": "between two runs",
}
"""Why tables were compared, by the report's word for it."""


def main(argv: Sequence[str]) -> int:
    """Check every gold of a suite; exit status 1 when one of them breaks a promise."""
    options = _parser().parse_intermixed_args(argv)
    _refuse_nonsense(options)

    from qeval.cells import build_engine
    from qeval.report.console import output
    from qeval.suites import load_suite
    from qeval.suites.check import Bench, GateSettings, Problem, check_suite
    from qeval.suites.leaks import leaks

    console = output()
    suite, folder, cells = _cells(options.overrides)
    whole = load_suite(folder)
    if options.record and len(suite.cases) < len(whole.cases):
        raise InputError(
            "--record is for the whole suite; leave out what chooses cases (difficulty, subset)"
        )
    for language in suite.languages:
        if language not in cells:
            console.print(f"{language} golds are not checked.", style="yellow")
    variants = [name for name in suite.instances if name != "base"]
    if options.variants is not None:
        variants = variants[: options.variants]
    first = next(iter(cells.values()))
    settings = GateSettings(
        first.limits, first.policy, options.max_seconds, options.workers, options.shuffled
    )
    with ExitStack() as stack:
        benches, labels = {}, {}
        for language, cell in cells.items():
            engine = build_engine(cell.engine_config)
            stack.callback(engine.stop)
            labels[language] = str(engine.start())
            benches[language] = Bench(cell.language, engine)
        with console.status("") as status:
            instances = ["base", *variants]
            report = check_suite(
                suite, benches, [] if options.only else instances, settings,
                on_instance=lambda name: status.update(f"checking golds on {name}"),
            )  # fmt: skip
            check = _Check(suite, whole, folder, benches, settings, options, instances)
            further, shows = _further(check, status.update)
    missing = [
        Problem(entry, language, "", "missing", f"there is no {language} gold")
        for language, entries in report.missing.items()
        for entry in entries
        if options.complete
    ]
    leaked = [
        Problem(example, "", "", "leak", account)
        for example, account in leaks(suite, options.max_shared_words)
    ]
    problems = [*report.problems, *missing, *leaked, *further]
    if not options.only:
        _show_golds(console, suite, labels, report)
    _show_problems(console, problems)
    for show in shows:
        show(console)
    return ExitCode.MISSED if problems else ExitCode.DONE


@dataclass(frozen=True, slots=True)
class _Check:
    """What is checked, and how; `whole` has the cases, too, that are left out of `suite`."""

    suite: "Suite"
    whole: "Suite"
    folder: "Path"
    benches: Mapping[str, "Bench"]
    settings: "GateSettings"
    options: argparse.Namespace
    instances: Sequence[str]


def _further(
    check: _Check, tell: Callable[[str], None]
) -> tuple[list["Problem"], list[Callable[["Console"], None]]]:
    """The checks asked for beyond the golds' own: their problems, and what shows their tables."""
    from qeval.commands.mutation import faults, measured, show_strength
    from qeval.commands.pairs import layered, show_layers
    from qeval.commands.rewriting import rewritten, show_rewrites

    suite, whole, folder, benches = check.suite, check.whole, check.folder, check.benches
    settings, options = check.settings, check.options
    problems: list[Problem] = []
    shows: list[Callable[[Console], None]] = []
    if options.mutants:
        for strength in measured(suite, folder, benches, settings, options, whole=whole, tell=tell):
            problems += faults(strength, options.least_killed)
            shows.append(partial(show_strength, strength=strength))
    if options.rewrites:
        kits = rewritten(suite, folder, benches, check.instances, settings, whole=whole, tell=tell)
        problems += [problem for kit in kits for problem in kit.problems]
        shows.append(partial(show_rewrites, reports=kits))
    if options.calibration:
        layers, mislabelled = layered(
            suite, folder, benches, settings, whole=whole, record=options.record, tell=tell
        )
        problems += mislabelled
        shows.append(partial(show_layers, reports=layers))
    return problems, shows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="qeval check",
        description="Run every gold of the suite on its instances and check what its case declares:"
        " it executes, has the declared columns, types and order, isn't empty, gives the same rows"
        " again, on rows loaded in another order, and in every language.",
        epilog="Example: qeval check suite.path=my/suite language=sql,cypher --variants 2",
    )
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE",
                        help="configuration, e.g. suite=ecommerce language=sql")  # fmt: skip
    parser.add_argument(
        "--variants",
        type=int,
        metavar="N",
        help="variants to check next to base (default: all of the suite)",
    )
    parser.add_argument("--shuffled", type=int, default=3, metavar="N",
                        help="on so many instances, base first, golds run again on the same rows "
                        "in another physical order (default: %(default)s)")  # fmt: skip
    parser.add_argument("--max-seconds", type=float, default=1.0, metavar="S",
                        help="longest time of one gold (default: %(default)s)")  # fmt: skip
    parser.add_argument("--max-shared-words", type=float, default=0.75, metavar="SHARE",
                        help="largest share of words that an example may have in common with a "
                        "case (default: %(default)s)")  # fmt: skip
    parser.add_argument("--complete", action="store_true",
                        help="a case or example without a gold in a checked language is a "
                        "problem")  # fmt: skip
    parser.add_argument("--mutants", action="store_true",
                        help="also run near misses of the golds on base and all variants, and "
                        "report the share that the comparison refutes")  # fmt: skip
    parser.add_argument("--rewrites", action="store_true",
                        help="also run the rewrites of the golds (rewrites/<language>.yaml in the "
                        "suite's folder), which must all be judged correct")  # fmt: skip
    parser.add_argument("--calibration", action="store_true",
                        help="also run the labelled pairs that judges are calibrated on "
                        "(calibration/<language>.yaml) on base and all variants")  # fmt: skip
    parser.add_argument("--only", action="store_true",
                        help="with --mutants, --rewrites or --calibration: leave out the golds' "
                        "own check")  # fmt: skip
    parser.add_argument("--least-killed", type=float, default=0.98, metavar="SHARE",
                        help="smallest share of mutants that must be refuted, those declared "
                        "equivalent apart (default: %(default)s)")  # fmt: skip
    parser.add_argument("--mutant-seconds", type=float, default=2.0, metavar="S",
                        help="longest time of one mutant; what takes longer counts as refuted "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--record", action="store_true",
                        help="with --mutants: write the summary to mutants/<language>.yaml in the "
                        "suite's folder; with --calibration: build the pairs anew and write "
                        "them")  # fmt: skip
    parser.add_argument("--workers", type=int, default=4, metavar="N",
                        help="golds executed at once (default: %(default)s)")  # fmt: skip
    return parser


def _refuse_nonsense(options: argparse.Namespace) -> None:
    """Raise `InputError` for numbers out of range, and for flags that would do nothing."""
    bounds = {
        "variants": (0, math.inf), "shuffled": (0, math.inf), "workers": (1, math.inf),
        "max_seconds": (0, math.inf), "mutant_seconds": (0, math.inf),
        "max_shared_words": (0, 1), "least_killed": (0, 1),
    }  # fmt: skip
    for name, (least, most) in bounds.items():
        value = getattr(options, name)
        if value is not None and not least <= value <= most:
            upper = "" if most == math.inf else f" to {most}"
            expected = f"{least}{upper}" if upper else f"{least} or more"
            flag = name.replace("_", "-")
            raise InputError(f"--{flag} {value:g}: expected {expected}")
    if options.only and not (options.mutants or options.rewrites or options.calibration):
        raise InputError(
            "--only leaves the golds' own check out; say what is to be done instead: --mutants, "
            "--rewrites or --calibration"
        )
    if options.record and not (options.mutants or options.calibration):
        raise InputError("--record writes what --mutants or --calibration found; add one of them")


def _cells(overrides: Sequence[str]) -> "tuple[Suite, Path, dict[str, Cell]]":
    """The suite, freshly validated, its folder, and one cell per language that is checked."""
    from qeval.cells import build_cell
    from qeval.configuration import compose, options, plain, spell_out
    from qeval.suites import load_suite, select_cases
    from qeval.suites.loader import suite_folder

    given = ["model=gold", *spell_out(overrides)]
    asked = [word.partition("=")[2] for word in given if word.startswith("language=")]
    words = [word for word in given if not word.startswith("language=")]
    values = plain(compose(words))
    suite, folder = load_suite(values["suite"], fresh=True), suite_folder(values["suite"])
    known = options("language")
    languages = [language for language in suite.languages if language in known]
    if asked:
        languages = [name for name in re.split(r"[\[\],\s]+", asked[-1]) if name]
    cells = [build_cell(compose([*words, f"language={language}"])) for language in languages]
    chosen = select_cases(suite, values["difficulty"])
    return replace(suite, cases=chosen), folder, {cell.language.name: cell for cell in cells}


def _show_golds(
    console: "Console", suite: "Suite", labels: dict[str, str], report: "GateReport"
) -> None:
    from rich.table import Table as Grid

    from qeval.suites.check import slowest

    golds = Grid(title=f"Golds of suite {suite.name} {suite.version}", title_justify="left")
    for heading in ("language", "engine", "cases", "examples", "executions", "slowest", "problems"):
        golds.add_column(heading, justify="left" if heading in ("language", "engine") else "right")
    for language, label in labels.items():
        runs = [run for run in report.runs if run.language == language]
        golds.add_row(
            language,
            label,
            str(sum(language in case.gold for case in suite.cases)),
            str(sum(language in example.gold for example in suite.examples)),
            str(len(runs)),
            f"{max((run.seconds for run in runs), default=0) * 1000:.0f} ms",
            str(sum(problem.language == language for problem in report.problems)),
        )
    console.print(golds)
    counts = sorted(report.comparisons.items())
    compared = ", ".join(f"{count} {_COMPARED.get(kind, kind)}" for kind, count in counts)
    for language, entries in report.missing.items():
        cases = sum(case.id in entries for case in suite.cases)
        if entries:
            console.print(
                f"{cases} cases and {len(entries) - cases} examples have no {language} gold.",
                style="yellow",
            )
    console.print(f"Tables compared: {compared or 'none'}.")
    late = ", ".join(
        f"{run.entry} on {run.instance} {run.seconds * 1000:.0f} ms" for run in slowest(report, 3)
    )
    console.print(f"Slowest: {late}.")
    if not report.problems:
        console.print("Every gold keeps its promises.", style="green")


def _show_problems(console: "Console", problems: "Sequence[Problem]") -> None:
    from rich.table import Table as Grid

    if not problems:
        return
    listed = Grid(title=f"{len(problems)} problems", title_justify="left")
    for heading in ("case", "language", "instance", "problem", "what was found"):
        listed.add_column(heading, overflow="fold")
    for problem in sorted(problems, key=lambda p: (p.entry, p.language, p.instance)):
        listed.add_row(
            problem.entry, problem.language, problem.instance, problem.kind, problem.message
        )
    console.print(listed)
