"""`qeval judge`: calibrate a judge on labelled pairs, and show its card."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.errors import InputError
from qeval.exit_codes import ExitCode

if TYPE_CHECKING:
    from omegaconf import DictConfig
    from rich.console import Console

    from qeval.cells import Cell
    from qeval.judge.base import Judge
    from qeval.judge.calibration import Item
    from qeval.judge.cards import Entry
    from qeval.judge.figures import Figures
    from qeval.models.budget import Budget
    from qeval.scoring.metrics import MetricValue


def main(argv: Sequence[str]) -> int:
    """Run `calibrate` or `card`; exit status 1 when a judge is refused for headline scores.

    3 when it could not be asked about every pair (the same command goes on).
    """
    options = _parser().parse_intermixed_args(argv)

    from qeval.configuration import compose_grid
    from qeval.report.console import output

    words = ["model=gold", "difficulty=all", "tracking=none", "scoring.counterexamples=none"]
    configs = compose_grid([*words, *options.overrides], options.config_dir)
    console = output()
    codes = []
    for config in configs:
        if options.action == "calibrate":
            codes.append(_calibrate(config, options, console))
        else:
            codes.append(_show(config, console))
    return max(codes)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="qeval judge",
        description="calibrate: ask a judge about labelled pairs and write its card. "
        "card: show what its card says.",
    )
    parser.add_argument("action", choices=("calibrate", "card"))
    parser.add_argument(
        "overrides", nargs="*", metavar="key=value",
        help="judge=… lang=… suite=… workers=… limits.budget_usd=…; several values: several runs",
    )  # fmt: skip
    parser.add_argument(
        "--pairs", action="append", default=[], type=Path, metavar="FILE",
        help="further pairs, in the form of cases/ecommerce/calibration/sql.yaml",
    )  # fmt: skip
    parser.add_argument(
        "--sample", type=int, metavar="N",
        help="calibrate: ask about N of the suite's pairs, each kind in its share; the intervals "
        "are wider for it (a slow or dear judge)",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run", action="store_true",
        help="calibrate: how many calls, and what they cost at most; nobody is asked",
    )  # fmt: skip
    parser.add_argument("--config-dir", help="a folder of your own options, searched first")
    return parser


def _built(config: "DictConfig") -> "tuple[Cell, Judge, Path]":
    from qeval.cells import build_cell

    cell = build_cell(config)
    if cell.judge is None:
        raise InputError("qeval judge needs a judge: judge=gpt4, claude, local, panel, mock …")
    return cell, cell.judge, Path(str(cell.composed["runs_dir"]))


def _calibrate(config: "DictConfig", options: argparse.Namespace, console: "Console") -> ExitCode:
    from qeval.bench import Bench
    from qeval.cells import build_engine
    from qeval.judge.calibration import Kept, calibrate, entry_of, unproven
    from qeval.judge.cards import pairs_digest, write_card
    from qeval.models.budget import BudgetReachedError
    from qeval.spending import all_spent
    from qeval.suites.loader import suite_folder

    cell, judge, runs_dir = _built(config)
    language = cell.language.name
    folder = suite_folder(cell.composed["suite"])
    items, left_out = _items(cell, folder, options, runs_dir)
    if options.dry_run:
        return _plan(cell, items, console)
    judge.preflight()
    if not console.is_terminal:
        print(f"qeval: {judge.name}: {len(items)} {language} pairs", file=sys.stderr)
    with ExitStack() as stack:
        stack.callback(judge.close)
        budget = _budget(cell, judge, runs_dir, stack)
        if budget is not None:
            cell = replace(cell, judge=judge.paid_from(budget))
        engine = build_engine(cell.engine_config)
        stack.callback(engine.stop)
        bench = Bench(engine, engine.start())
        kept = Kept(runs_dir, judge)
        stack.callback(kept.close)
        done = 0
        status = stack.enter_context(console.status(""))

        def tell() -> None:
            nonlocal done
            done += 1
            status.update(f"{judge.name}: {done} of {len(items)} {language} pairs")

        workers = int(cell.composed["workers"])
        try:
            outcomes = calibrate(cell, bench, items, kept, workers, on_item=tell)
        except BudgetReachedError:
            assert budget is not None
            console.print(f"! {all_spent(budget)}", style="bold yellow")
            return ExitCode.INCOMPLETE
        pairs_of = pairs_digest(folder, cell.suite, language) or ""
        entry = entry_of(cell, bench, outcomes, pairs_of, left_out)
        path = write_card(runs_dir, judge, entry)
    for item in unproven(outcomes):
        console.print(
            f"! an instance tells this pair apart, which is labelled equivalent: {item.case.id}: "
            f"{item.query[:80]!r}",
            style="bold yellow",
        )
    code = _show(config, console)
    console.print(f"written: {path}", soft_wrap=True)
    if entry.failed:
        console.print(f"! {entry.failed} pairs could not be asked about; run it again")
        return ExitCode.INCOMPLETE
    return code


def _items(
    cell: "Cell", folder: Path, options: argparse.Namespace, runs_dir: Path
) -> "tuple[list[Item], int]":
    """What is asked about, and how many of the suite's pairs a sample leaves out."""
    from qeval.judge.calibration import items_of, reviewed_items
    from qeval.judge.calibration_set import load_pairs, sample_of

    language = cell.language.name
    own = load_pairs(folder, language, suite=cell.suite)
    extra = load_pairs(folder, language, extra=options.pairs, suite=cell.suite)[len(own) :]
    if options.sample is not None and options.sample < 1:
        raise InputError(f"--sample={options.sample}: expected 1 or more of the {len(own)} pairs")
    asked = own if options.sample is None else sample_of(own, options.sample)
    items = [
        *items_of(asked, cell, "suite"),
        *items_of(extra, cell, "user"),
        *reviewed_items(runs_dir, cell),
    ]
    if not items:
        raise InputError(
            f"suite {cell.suite.name!r} has no {language} pairs; give your own: --pairs FILE"
        )
    return items, len(own) - len(asked)


def _plan(cell: "Cell", items: "Sequence[Item]", console: "Console") -> ExitCode:
    """What calibrating would ask: each query alone, and in runs those that data may tell apart."""
    from qeval.judge.planning import plan_calibration
    from qeval.plan import money_text

    assert cell.judge is not None
    plan = plan_calibration(cell, items)
    different = sum(item.truth == "different" for item in items)
    console.print(
        f"{cell.judge.name} · {cell.language.name}: {len(items)} pairs, {different} of them "
        f"different; at most {plan.calls:,} calls with about {plan.prompt_tokens:,} prompt tokens, "
        f"{money_text(plan.cost_usd)}, as if all results and answers were as long as may be; votes "
        "that can't be used are asked for once more, which is not in it",
        soft_wrap=True,
    )
    console.print("Nobody was asked.")
    return ExitCode.DONE


def _budget(cell: "Cell", judge: "Judge", runs_dir: Path, stack: ExitStack) -> "Budget | None":
    """The cap on this judge's calibration, with what it spent before."""
    from qeval.judge.base import digest_of
    from qeval.settings import check
    from qeval.spending import open_budget

    limit = cell.composed["limits"].get("budget_usd")
    if limit is None:
        return None
    cap = check(float, limit, "limits.budget_usd")
    runs_dir.mkdir(parents=True, exist_ok=True)
    budget = open_budget(cap, runs_dir, f"calibrate-{digest_of(judge)}", {})
    stack.callback(budget.ledger.close)
    return budget


def _show(config: "DictConfig", console: "Console") -> ExitCode:
    from qeval.judge.base import digest_of
    from qeval.judge.cards import trust_of
    from qeval.suites.loader import suite_folder

    cell, judge, runs_dir = _built(config)
    folder = suite_folder(cell.composed["suite"])
    trust = trust_of(judge, runs_dir, cell.suite, folder, cell.language.name)
    title = f"judge {judge.name} ({digest_of(judge)}) · {cell.language.name}"
    console.print(title, style="bold")
    if trust.entry is not None:
        _print_entry(console, trust.entry)
    word = "may make headline scores" if trust.accepted else "is refused for headline scores"
    console.print(f"{judge.name} {word}: {trust.why}", soft_wrap=True)
    return ExitCode.DONE if trust.accepted else ExitCode.MISSED


_ROWS = {
    "accuracy": "right labels %",
    "false_accept": "false accepts %",
    "false_refuse": "false refuses %",
    "unscored": "unscored %",
    "split": "votes split %",
    "turned": "turned round %",
    "contradicted": "against data %",
    "claimed": "row sets given %",
    "confirmed": "… confirmed %",
}
"""Figures and their titles; docs/equivalence.md tells what each is."""


_LEGEND = """\
alone: the judge, shown no results; in runs: asked about what the instances tell apart, with both
results, as in evaluations; instances: base and variants without a judge; chain: both together.
Accepts and refuses: different pairs called equivalent, equivalent ones called different. Row sets:
of the answers "different", those that name data to show it; confirmed: and the data do show it."""


def _print_entry(console: "Console", entry: "Entry") -> None:
    from rich.table import Table

    parts = {
        "alone": entry.alone,
        "in runs": entry.in_runs,
        "instances": entry.instances,
        "chain": entry.chain,
    }
    grid = Table(box=None, pad_edge=False)
    grid.add_column("", no_wrap=True)
    for name in parts:
        grid.add_column(name, justify="right", no_wrap=True)
    for truth in ("different", "equivalent"):
        grid.add_row(f"{truth} pairs", *(str(_count(found, truth)) for found in parts.values()))
    for key, title in _ROWS.items():
        cells = [_rate(getattr(found, key)) for found in parts.values()]
        if any(cells):
            grid.add_row(title, *cells)
    grid.add_row("kappa", *(_kappa(found) for found in parts.values()))
    console.print(grid)
    further = f", all but {entry.left_out}" if entry.left_out else ""
    further += f", {entry.extra} of your own" if entry.extra else ""
    further += f", {entry.reviewed} reviewed" if entry.reviewed else ""
    console.print(f"pairs of suite {entry.suite}{further}; executed on {entry.engine}")
    console.print(_LEGEND)


def _count(found: "Figures", truth: str) -> int:
    return sum(n for name, n in found.labels.items() if name.partition("/")[0] == truth)


def _rate(value: "MetricValue | None") -> str:
    if value is None:
        return ""
    return f"{100 * value.value:.1f} ({100 * value.low:.1f}…{100 * value.high:.1f})"


def _kappa(found: "Figures") -> str:
    kappa = found.kappa
    return "" if kappa is None else f"{kappa.value:.2f} ({kappa.low:.2f}…{kappa.high:.2f})"
