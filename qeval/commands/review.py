"""`qeval review`: people look at disputed predictions, and what they say counts."""

import argparse
import getpass
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.errors import InputError
from qeval.exit_codes import ExitCode

if TYPE_CHECKING:
    from qeval.review.report import Agreement
    from qeval.review.session import Session

ENOUGH = 10
"""Items that two raters have in common, below which kappa says nothing."""


def main(argv: Sequence[str]) -> int:
    """Hold a review; afterwards summaries and MLflow say what reviewers agreed on."""
    options = _parser().parse_intermixed_args(argv)

    from qeval.commands.track import cell_folders, folders_and_overrides
    from qeval.configuration import compose
    from qeval.review.decisions import read, standing
    from qeval.review.evidence import Laboratory
    from qeval.review.items import collect
    from qeval.review.sample import queue
    from qeval.review.session import Session, checked_name
    from qeval.settings import check, whole

    named, overrides = folders_and_overrides(options.words)
    config = compose(overrides)
    folders = cell_folders(named or [Path(str(config.runs_dir))])
    home = _home(folders)
    share = check(float, config.review.share, "review.share")
    if not 0 <= share <= 1:
        raise InputError(f"review.share must be between 0 and 1, not {share:g}")
    seed = whole(dict(config.review), "seed", least=0)
    reviewer = checked_name(options.reviewer or getpass.getuser())
    items = collect(folders)
    said = standing(read(home))
    if options.report:
        return _report(home, len(items))
    # Whatever somebody decided stays in the queue, so that a second opinion finds it.
    everything = options.all or options.taken is not None
    wanted = queue(items, said, share=1.0 if everything else share, seed=seed)
    known = {item.key for item in wanted}
    wanted += [item for item in items if item.key in said and item.key not in known]
    laboratory = Laboratory()
    try:
        session = Session(home, wanted, laboratory)
        print(f"{len(wanted)} of {len(items)} disputed predictions to review")
        _hold(session, reviewer, options)
    finally:
        laboratory.close()
    _take_effect(home, folders, overrides)
    if options.export is None and read(home):
        _report(home, len(items))
    return ExitCode.DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="qeval review",
        description="Look at predictions that ran and gave other rows: every disagreement (of "
        "votes, judges or reviewers) and a seeded, stratified share of the rest. Decisions are "
        "kept beside the cells in reviews.jsonl and can be taken back.",
        epilog="Example: qeval review --open; qeval review --terminal --all runs review.seed=7",
    )
    parser.add_argument("words", nargs="*", metavar="FOLDER | KEY=VALUE",
                        help="cell folders or the folder of them (default: runs_dir of the "
                        "configuration), and configuration, e.g. review.share=0.5")  # fmt: skip
    parser.add_argument("--reviewer", metavar="NAME", help="whose decisions (default: your login)")
    parser.add_argument("--all", action="store_true", help="the whole queue instead of a share")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--terminal", action="store_true", help="ask here instead of in a browser")
    how.add_argument("--export", type=Path, metavar="CSV", help="write the queue as a table")
    how.add_argument("--import", type=Path, dest="taken", metavar="CSV",
                     help="take over its column `choice`: equivalent, different or "
                     "withdrawn")  # fmt: skip
    how.add_argument("--report", action="store_true", help="agreement of reviewers and judges")
    parser.add_argument(
        "--port", type=int, default=0, help="port of the page (default: a free one)"
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    return parser


def _home(folders: Sequence[Path]) -> Path:
    homes = sorted({folder.absolute().parent for folder in folders})
    if len(homes) > 1:
        raise InputError(
            f"reviews are kept beside the cells, and these are in {len(homes)} folders "
            f"({homes[0]}, {homes[1]} …); review one of them at a time"
        )
    return homes[0]


def _hold(session: "Session", reviewer: str, options: argparse.Namespace) -> None:
    from qeval.report.console import output
    from qeval.review import exchange, terminal

    if options.export is not None:
        count = exchange.write(session, options.export, reviewer)
        print(
            f"{count} rows: {options.export}\nwrite equivalent or different into the column "
            f"`choice`, then: qeval review --import {options.export}"
        )
    elif options.taken is not None:
        count = exchange.read(session, options.taken, reviewer)
        print(f"{count} decisions taken over from {options.taken}")
    elif options.terminal:
        count = terminal.review(session, reviewer, output(whole_lines=False))
        print(f"{count} decisions by {reviewer}")
    else:
        _serve(session, reviewer, options.port, browse=options.open)


def _serve(session: "Session", reviewer: str, port: int, *, browse: bool) -> None:
    from qeval.review.server import ReviewServer

    with ReviewServer(session, reviewer, port) as server:
        signal.signal(signal.SIGTERM, _interrupt)
        print(f"review page: {server.address}  (Ctrl-C ends the review)", flush=True)
        if browse:
            import webbrowser

            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(file=sys.stderr)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _take_effect(home: Path, folders: Sequence[Path], overrides: Sequence[str]) -> None:
    """Compute the cells that decisions are about again, and log them.

    A cell is due when there are decisions that its summary does not know of, whoever made them: a
    review that was killed, or held while a sweep closed the cell, has its effect with the next one.
    A cell that can't be built again (its suite is gone) is told and keeps its numbers; raises
    `InputError` for it when the others are done.
    """
    from qeval.commands.track import track
    from qeval.configuration import compose
    from qeval.journal import read_journal
    from qeval.recorded import recorded_cell
    from qeval.results import close_cell, summed_reviews, write_summary
    from qeval.review.decisions import read
    from qeval.review.standing import item_of

    decisions = read(home)
    items = {decision.item for decision in decisions}
    changed, left = [], []
    for folder in folders:
        if summed_reviews(folder) in (None, len(decisions)):
            continue
        if not items.isdisjoint(item_of(record) for record in read_journal(folder)[1]):
            try:
                write_summary(close_cell(folder, recorded_cell(folder)[0]))
            except InputError as error:
                left.append(f"{folder} keeps its numbers without the reviews: {error}")
            else:
                changed.append(folder)
    if changed:
        count = f"{len(changed)} cell{'' if len(changed) == 1 else 's'}"
        print(f"metrics of {count} computed again")
        if compose(overrides).tracking.name != "none":
            track(changed, overrides)
    if left:
        raise InputError("\n".join(left))


def _numbers(found: "Agreement") -> tuple[str, str]:
    """Kappa and its interval, where there is enough to speak of them."""
    if found.items < ENOUGH:
        return "too few", ""
    if found.kappa is None:
        return "undefined", ""
    return f"{found.kappa.value:.3f}", f"{found.kappa.low:.3f} … {found.kappa.high:.3f}"


def _report(home: Path, items: int) -> int:
    from rich.table import Table

    from qeval.report.console import output
    from qeval.review.decisions import read, standing
    from qeval.review.report import between_reviewers, divided, with_judges

    said = standing(read(home))
    console = output()
    console.print(f"{len(said)} of {items} disputed predictions are reviewed")
    pairs = between_reviewers(said)
    judged = with_judges(said)
    if pairs or judged is not None:
        table = Table("raters", "items", "same", "kappa", "95 % interval")
        for found in [*pairs, *([judged] if judged is not None else [])]:
            table.add_row(
                f"{found.first} and {found.second}",
                str(found.items),
                f"{found.same / found.items:.1%}",
                *_numbers(found),
            )
        console.print(table)
    if judged is not None:
        console.print("The judge is compared with decisions made without having seen its word.")
    if divided(said):
        console.print(f"divided, no majority: {len(divided(said))}")
    return ExitCode.DONE
