"""All (cell, case) pairs of a sweep through one pool, into journals, MLflow and a result table.

The main thread is the only writer: workers hand back records, it appends them, so a record is
either in its journal or not there at all.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from qeval.bench import Bench
from qeval.cells import Cell, build_cell, construct
from qeval.equivalence.background import Search
from qeval.errors import IncompleteError, QevalError
from qeval.exit_codes import ExitCode
from qeval.interruption import Stop
from qeval.judge.asking import out_of_money
from qeval.models.budget import Budget, BudgetReachedError
from qeval.opening import OpenCell, open_cells, share_budget, start_engines, sweep_id
from qeval.pipeline import Answered, run_case
from qeval.preflight import ASKS_NOBODY, preflight, warnings_of
from qeval.record import Record
from qeval.results import CellResult, SweepResult, close_cell, write_summary
from qeval.spending import Purse, all_spent
from qeval.suite import Case, Suite
from qeval.workers import pool_of, run_elsewhere, shares_memory

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from qeval.tracking import Tracker

T = TypeVar("T")


def evaluate_cells(configs: Sequence["DictConfig"], *, quiet: bool = False) -> SweepResult:
    """Validate every composed configuration, then `evaluate` the cells they make."""
    suites: dict[str, Suite] = {}
    return evaluate([build_cell(config, suites) for config in configs], quiet=quiet)


def evaluate(cells: Sequence[Cell], *, quiet: bool = False) -> SweepResult:
    """Run what the cells' journals lack, and close each complete cell.

    Raises `InputError` or `EngineUnavailableError` before any work; later trouble is in the
    result's exit code and notes, or an `IncompleteError` where a cell could not be closed at all.
    `quiet` prints nothing.
    """
    settings = cells[0].composed
    runs_dir = Path(str(settings["runs_dir"]))
    stop = Stop()
    with ExitStack() as stack:
        stack.enter_context(stop.listening())
        for cell in cells:
            stack.callback(cell.model.close)
            if cell.judge is not None:
                stack.callback(cell.judge.close)
        preflight(cells)
        warnings = warnings_of(cells)
        tracker: Tracker = construct(settings["tracking"], "tracking")
        stack.callback(tracker.abandon)
        tracker.warm_up()
        benches = start_engines(cells, stack)
        opened, keys = open_cells(cells, benches, runs_dir, stack)
        budget = share_budget(settings["limits"].get("budget_usd"), opened, runs_dir, stack)
        tracker.open(sweep_id(opened), [open_cell.folder for open_cell in opened.values()])
        run = _Run(list(opened.values()), stop, tracker, settings, budget, quiet=quiet)
        run.notes += warnings
        run.take_fingerprints()
        with _preparing_variants(opened.values()):
            run.work()
        if run.data_changed():
            run.notes.append(
                "THE DATA CHANGED during this sweep: a query got past the read-only walls, or "
                "someone wrote to the database. Do not trust these results."
            )
            run.incomplete = True
        else:
            for bench in benches.values():
                bench.kept.save()
        tracked = tracker.close()
        if run.out_of_money and budget is not None:
            run.notes.append(all_spent(budget))
    if tracked.warning:
        run.notes.append(tracked.warning)
    if len(run.results) < len(opened):
        raise IncompleteError("\n".join(run.notes))
    results = [
        _as_asked(run.results[key], opened[key].cell, cell)
        for key, cell in zip(keys, cells, strict=True)
    ]
    missed = [line for result in results for line in result.missed]
    exit_code = run.exit_code(missed=bool(missed))
    if exit_code is ExitCode.MISSED:
        run.notes += dict.fromkeys(missed)
    result = SweepResult(tuple(results), exit_code, tuple(run.notes), tracked.where)
    if not quiet:
        from qeval.report import print_results

        print_results(result)
    return result


class _Run:
    """The loop of one sweep: pool in, journals out."""

    def __init__(
        self,
        cells: list[OpenCell],
        stop: Stop,
        tracker: "Tracker",
        settings: Mapping[str, Any],
        budget: Budget | None,
        *,
        quiet: bool,
    ) -> None:
        from qeval.report import make_progress

        self.cells = cells
        self.stop = stop
        self.tracker = tracker
        self.workers = int(settings["workers"])
        self.backend = str(settings["backend"])
        self.purse = None if budget is None else Purse.of(budget)
        self.in_threads = shares_memory(self.backend)
        self.progress = make_progress(quiet=quiet)
        self.notes: list[str] = []
        self.incomplete = False
        self.out_of_money = False
        self.broken = False  # the disk, or a prompt that can't be rendered: nothing new is begun
        self.results: dict[str, CellResult] = {}
        self.search = Search(lambda: self.stop.asked.is_set() or self.broken)

    def work(self) -> None:
        """Run every missing (case, repeat) of every cell; journal each as it arrives."""
        pending = [open_cell for open_cell in self.cells if open_cell.missing]
        by_key = {open_cell.key: open_cell for open_cell in pending}
        self.progress.start(
            [(cell.key, cell.cell.name, cell.cell.total, cell.missing) for cell in self.cells]
        )
        for open_cell in self.cells:
            for record in list(open_cell.journal.pointing.values()):
                self._surely(self._seek, open_cell, record)
        try:
            with pool_of(self.backend, self.workers) as pool:
                for key, answered in pool(self._tasks(pending)):
                    if answered is None and not self.in_threads:
                        self.out_of_money = True
                    # After trouble the pool still runs dry: what is in flight is asked again.
                    if answered is not None and not self.broken:
                        self._surely(self._keep, by_key[key], answered)
        except KeyboardInterrupt:
            self.stop.asked.set()
        except QevalError as error:
            self._trouble(error)
        finally:
            for open_cell in self.cells:
                if open_cell.key not in self.results:
                    self._surely(self._close, open_cell)
            self.progress.stop()
            self.search.close()
            self.notes += self.search.trouble

    def _tasks(self, cells: list[OpenCell]) -> Iterator[Any]:
        """Round-robin over cells, so that slow models do not hold fast ones back."""
        from joblib import delayed

        queues = [(open_cell, open_cell.unfinished()) for open_cell in cells]
        while queues and not self._ending():
            for queue in list(queues):
                open_cell, unfinished = queue
                case, repeat = next(unfinished, (None, 0))
                if case is None:
                    queues.remove(queue)
                elif self.in_threads:
                    yield delayed(self._one)(open_cell, case, repeat)
                else:
                    where = (open_cell.key, case.id, repeat)
                    yield delayed(run_elsewhere)(open_cell.cell.composed, *where, self.purse)

    def _one(self, open_cell: OpenCell, case: Case, repeat: int) -> tuple[str, Answered | None]:
        if self._ending():
            return open_cell.key, None
        try:
            return open_cell.key, run_case(open_cell.cell, case, repeat, open_cell.bench)
        except BudgetReachedError:
            self.out_of_money = True
            return open_cell.key, None

    def _ending(self) -> bool:
        return self.stop.asked.is_set() or self.out_of_money or self.broken

    def _keep(self, open_cell: OpenCell, answered: Answered) -> None:
        open_cell.journal.append(answered.record, answered.prompt, answered.follow_ups)
        if out_of_money(answered.record):
            self.out_of_money = True
        self.progress.case_done(open_cell.key, answered.record.verdict)
        self._seek(open_cell, answered.record)
        open_cell.missing -= 1
        if open_cell.missing == 0 and not self.search.pending(open_cell.folder):
            self._close(open_cell)

    def _seek(self, open_cell: OpenCell, record: Record) -> None:
        """Look for the counterexample that a record points at, beside the sweep."""
        if record.counterexample:
            self.search.seek(open_cell.cell, open_cell.bench, open_cell.folder, record)

    def _close(self, open_cell: OpenCell) -> None:
        self.search.finish(open_cell.folder)
        open_cell.journal.close()
        result = close_cell(open_cell.folder, open_cell.cell)
        self.results[open_cell.key] = result
        self.progress.cell_done(open_cell.key)
        self.incomplete = self.incomplete or not result.complete
        self._surely(write_summary, result)
        self.tracker.cell_closed(open_cell.folder)

    def _surely(self, work: Callable[..., None], *arguments: object) -> None:
        """Do `work`; what goes wrong with it is noted and ends the sweep in good order."""
        try:
            work(*arguments)
        except QevalError as error:
            self._trouble(error)

    def _trouble(self, error: QevalError) -> None:
        self.broken = True
        if str(error) not in self.notes:
            self.notes.append(str(error))

    def take_fingerprints(self) -> None:
        """Make each base instance ready; variants follow when they are needed."""
        for open_cell in self.cells:
            self._watch(partial(open_cell.bench.ready, open_cell.cell, "base"), open_cell.bench)

    def data_changed(self) -> bool:
        """Whether an instance that was asked has another fingerprint than before.

        One that can't be taken says so itself; it is no sign of a change.
        """
        changed = False
        for bench in {id(cell.bench): cell.bench for cell in self.cells}.values():
            for instance, before in list(bench.before.values()):
                now = self._watch(partial(bench.engine.fingerprint, instance), bench)
                changed = changed or now not in (None, before)
        return changed

    def _watch(self, look: Callable[[], T], bench: Bench) -> T | None:
        try:
            return bench.lasting(look)
        except QevalError as error:
            self.notes.append(f"the data could not be checked for changes: {error}")
            self.incomplete = True
            return None

    def exit_code(self, *, missed: bool) -> ExitCode:
        """What the sweep ended with, worst first; `missed`: a threshold was."""
        if self.stop.asked.is_set() and any(r.records_missing for r in self.results.values()):
            return ExitCode.INTERRUPTED
        if self.incomplete or self.out_of_money or self.broken:
            return ExitCode.INCOMPLETE
        return ExitCode.MISSED if missed else ExitCode.DONE


@contextmanager
def _preparing_variants(cells: Iterable[OpenCell]) -> Iterator[None]:
    """Load variants while the first answers are waited for; whoever needs one sooner loads it.

    Where nobody is waited for, each is loaded when a prediction needs it.
    """
    wanted = {
        (id(cell.bench), cell.bench.instance(cell.cell, name).key): (cell, name)
        for cell in cells
        if cell.missing and cell.cell.model.identity().get("adapter") not in ASKS_NOBODY
        for name in cell.cell.instances[1:]
    }
    ended = threading.Event()

    def prepare() -> None:
        for cell, name in wanted.values():
            # What is wrong is told by the first case that needs the variant.
            with suppress(QevalError):
                if not ended.is_set():
                    cell.bench.ready(cell.cell, name)

    thread = threading.Thread(target=prepare, name="variants", daemon=True)
    if wanted:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if wanted:
            thread.join()


def _as_asked(result: CellResult, ran: Cell, asked: Cell) -> CellResult:
    """The result by the settings of the cell that asked for it, where another one was run.

    Cells alike in all that can change a record share a folder; names, repeats, weights and
    thresholds may differ.
    """
    settings = [(cell.repeats, cell.weights, cell.thresholds) for cell in (ran, asked)]
    if settings[0] != settings[1]:
        result = close_cell(result.folder, asked)
    return replace(result, name=asked.name, header={**result.header, "config": asked.config})
