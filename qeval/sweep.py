"""All (cell, case) pairs of a sweep through one pool, into journals, MLflow and a result table.

The main thread is the only writer: workers hand back records, it appends them, so a record is
either in its journal or not there at all.
"""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from qeval.cells import Cell, build_cell, build_engine, cell_key, construct
from qeval.equivalence.background import Search
from qeval.errors import QevalError
from qeval.exit_codes import ExitCode
from qeval.journal import Journal
from qeval.judge.asking import out_of_money
from qeval.models.budget import Budget, BudgetReachedError
from qeval.pipeline import Answered, Bench, run_case
from qeval.preflight import ASKS_NOBODY, preflight, warnings_of
from qeval.record import Record
from qeval.results import CellResult, SweepResult, close_cell, write_summary
from qeval.settings import check
from qeval.spending import Purse, all_spent, open_budget, paid_cell
from qeval.suite import Case, Suite
from qeval.workers import run_elsewhere, shares_memory

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from qeval.engines.base import Engine
    from qeval.suite import Instance
    from qeval.tracking import Tracker

T = TypeVar("T")


@dataclass(slots=True)
class _OpenCell:
    """A cell while it runs: its journal and how much of it is still to come."""

    cell: Cell
    key: str
    bench: Bench
    journal: Journal
    missing: int

    @property
    def folder(self) -> Path:
        return self.journal.folder


class _Stop:
    """Set by the first Ctrl-C or SIGTERM: begin nothing new, let what is in flight finish."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take over SIGINT and SIGTERM; a second signal ends at once (main thread only)."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def ask(_number: int, _frame: object) -> None:
            if self.asked.is_set():
                raise KeyboardInterrupt
            self.asked.set()

        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def evaluate_cells(configs: Sequence["DictConfig"], *, quiet: bool = False) -> SweepResult:
    """Validate every composed configuration, then `evaluate` the cells they make."""
    suites: dict[str, Suite] = {}
    return evaluate([build_cell(config, suites) for config in configs], quiet=quiet)


def evaluate(cells: Sequence[Cell], *, quiet: bool = False) -> SweepResult:
    """Run what the cells' journals lack, and close each complete cell.

    Raises `InputError` or `EngineUnavailableError` before any work; later trouble is in the
    result's exit code and notes. `quiet` prints nothing.
    """
    settings = cells[0].composed
    runs_dir = Path(str(settings["runs_dir"]))
    stop = _Stop()
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
        benches = _start_engines(cells, stack)
        opened, keys = _open_journals(cells, benches, runs_dir, stack)
        budget = _give_budget(settings, opened, runs_dir, stack)
        tracker.open(_sweep_name(opened), [open_cell.folder for open_cell in opened.values()])
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
    results = {open_cell.key: run.results[open_cell.key] for open_cell in opened.values()}
    result = SweepResult(
        cells=tuple(_as_asked(results[key], cell) for key, cell in zip(keys, cells, strict=True)),
        exit_code=run.exit_code(),
        notes=tuple(run.notes),
        tracking=tracked.where,
    )
    run.report(result)
    return result


class _Run:
    """The loop of one sweep: pool in, journals out."""

    def __init__(
        self,
        cells: list[_OpenCell],
        stop: _Stop,
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
        self.settings = settings
        self.quiet = quiet
        self.purse = None if budget is None else Purse.of(budget)
        self.in_threads = shares_memory(str(settings["backend"]))
        self.progress = make_progress(quiet=quiet)
        self.notes: list[str] = []
        self.incomplete = False
        self.out_of_money = False
        self.broken = False  # the disk, or a prompt that can't be rendered: nothing new is begun
        self.results: dict[str, CellResult] = {}
        self.search = Search(lambda: self.stop.asked.is_set() or self.broken)

    def work(self) -> None:
        """Run every missing (case, repeat) of every cell; journal each as it arrives."""
        from joblib import Parallel, parallel_config

        pending = [open_cell for open_cell in self.cells if open_cell.missing]
        by_key = {open_cell.key: open_cell for open_cell in pending}
        self.progress.start(
            [(cell.key, cell.cell.name, cell.cell.total, cell.missing) for cell in self.cells]
        )
        for open_cell in self.cells:
            for record in list(open_cell.journal.pointing.values()):
                self._surely(self._seek, open_cell, record)
        try:
            with parallel_config(backend=str(self.settings["backend"])):
                pool = Parallel(
                    n_jobs=int(self.settings["workers"]),
                    return_as="generator_unordered",
                    pre_dispatch="n_jobs",
                    batch_size=1,
                )
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
                    self._close(open_cell)
            self.progress.stop()
            self.search.close()
            self.notes += self.search.trouble

    def _tasks(self, cells: list[_OpenCell]) -> Iterator[Any]:
        """Round-robin over cells, so that slow models do not hold fast ones back."""
        from joblib import delayed

        queues = [_missing(open_cell) for open_cell in cells]
        while queues and not self._ending():
            for queue in list(queues):
                task = next(queue, None)
                if task is None:
                    queues.remove(queue)
                elif self.in_threads:
                    yield delayed(self._one)(*task)
                else:
                    open_cell, case, repeat = task
                    composed = open_cell.cell.composed
                    where = (open_cell.key, case.id, repeat)
                    yield delayed(run_elsewhere)(composed, *where, self.purse)

    def _one(self, open_cell: _OpenCell, case: Case, repeat: int) -> tuple[str, Answered | None]:
        if self._ending():
            return open_cell.key, None
        try:
            return open_cell.key, run_case(open_cell.cell, case, repeat, open_cell.bench)
        except BudgetReachedError:
            self.out_of_money = True
            return open_cell.key, None

    def _ending(self) -> bool:
        return self.stop.asked.is_set() or self.out_of_money or self.broken

    def _keep(self, open_cell: _OpenCell, answered: Answered) -> None:
        open_cell.journal.append(answered.record, answered.prompt, answered.follow_ups)
        if out_of_money(answered.record):
            self.out_of_money = True
        self.progress.case_done(open_cell.key, answered.record.verdict)
        self._seek(open_cell, answered.record)
        open_cell.missing -= 1
        if open_cell.missing == 0 and not self.search.pending(open_cell.folder):
            self._close(open_cell)

    def _seek(self, open_cell: _OpenCell, record: Record) -> None:
        """Look for the counterexample that a record points at, beside the sweep."""
        if record.counterexample:
            self.search.seek(open_cell.cell, open_cell.bench, open_cell.folder, record)

    def _close(self, open_cell: _OpenCell) -> None:
        self.search.finish(open_cell.folder)
        open_cell.journal.close()
        result = close_cell(open_cell.folder, open_cell.cell)
        self.results[open_cell.key] = result
        self.progress.cell_done(open_cell.key)
        if result.records_missing or result.errors or result.unjudged:
            self.incomplete = True
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

    def exit_code(self) -> ExitCode:
        """What the sweep ended with, worst first."""
        if self.stop.asked.is_set() and any(r.records_missing for r in self.results.values()):
            return ExitCode.INTERRUPTED
        if self.incomplete or self.out_of_money or self.broken:
            return ExitCode.INCOMPLETE
        missed = [line for result in self.results.values() for line in result.missed]
        self.notes += missed
        return ExitCode.MISSED if missed else ExitCode.DONE

    def report(self, result: SweepResult) -> None:
        """Print the result table, the notes and, after an interruption, how to go on."""
        from qeval.report import print_results

        if not self.quiet:
            print_results(result)


@contextmanager
def _preparing_variants(cells: Iterable[_OpenCell]) -> Iterator[None]:
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


def _missing(open_cell: _OpenCell) -> Iterator[tuple[_OpenCell, Case, int]]:
    for repeat in range(open_cell.cell.repeats):
        for case in open_cell.cell.cases:
            if not open_cell.journal.finished(case.id, repeat):
                yield open_cell, case, repeat


def _start_engines(cells: Sequence[Cell], stack: ExitStack) -> dict[str, Bench]:
    """Start each distinct engine once, side by side, and load what every cell needs first.

    Servers spend their start waiting, the embedded engine computing. Raises the error of the first
    engine, in the order of the cells, that can't be had.
    """
    from concurrent.futures import ThreadPoolExecutor

    engines: dict[str, Engine] = {}
    needed: dict[str, dict[str, Instance]] = {}
    for cell in cells:
        if cell.engine_id not in engines:
            engines[cell.engine_id] = build_engine(cell.engine_config)
            stack.callback(engines[cell.engine_id].stop)
        instance = cell.suite.instance(cell.language.name, "base")
        needed.setdefault(cell.engine_id, {})[instance.key] = instance

    def start(wanted: str) -> Bench:
        engine = engines[wanted]
        bench = Bench(engine, engine.start())
        for instance in needed[wanted].values():
            engine.load(instance)
        return bench

    with ThreadPoolExecutor(len(engines), thread_name_prefix="start") as pool:
        starting = {wanted: pool.submit(start, wanted) for wanted in engines}
    return {wanted: started.result() for wanted, started in starting.items()}


def _give_budget(
    settings: Mapping[str, Any], cells: Mapping[str, _OpenCell], runs_dir: Path, stack: ExitStack
) -> Budget | None:
    """Pay all model calls of the sweep from `limits.budget_usd`, if there is one."""
    limit = settings["limits"].get("budget_usd")
    if limit is None:
        return None
    folders = {key: open_cell.folder for key, open_cell in cells.items()}
    limit_usd = check(float, limit, "limits.budget_usd")
    budget = open_budget(limit_usd, runs_dir, _sweep_name(cells), folders)
    stack.callback(budget.ledger.close)
    for key, open_cell in cells.items():
        open_cell.cell = paid_cell(open_cell.cell, budget, key)
    return budget


def _open_journals(
    cells: Sequence[Cell], benches: Mapping[str, Bench], runs_dir: Path, stack: ExitStack
) -> tuple[dict[str, _OpenCell], list[str]]:
    """Open a journal per distinct cell; also the key of each cell in the order asked for."""
    opened: dict[str, _OpenCell] = {}
    keys = []
    for cell in cells:
        bench = benches[cell.engine_id]
        key = cell_key(cell, bench.info)
        keys.append(key)
        if key in opened:
            continue
        journal = Journal(runs_dir / f"{cell.name}-{key[:8]}", _header(cell, key, bench))
        stack.callback(journal.close)
        opened[key] = _OpenCell(cell, key, bench, journal, 0)
        opened[key].missing = sum(1 for _ in _missing(opened[key]))
    return opened, keys


def _header(cell: Cell, key: str, bench: Bench) -> dict[str, Any]:
    """The first line of a journal: what was run, with which versions, over which content."""
    import platform

    from qeval import __version__

    return {
        "key": key,
        "name": cell.name,
        "total": cell.total,
        "config": cell.config,
        "engine": bench.label,
        "versions": {"qeval": __version__, "python": platform.python_version()},
        "hashes": {
            "suite": cell.suite.content_hash,
            "strategy": cell.strategy.identity().get("template_hash"),
        },
        "model": cell.model.identity(),
        "instances": list(cell.instances),
        **({} if cell.judge is None else {"judge": cell.judge.identity()}),
    }


def _as_asked(result: CellResult, cell: Cell) -> CellResult:
    """The result under the names of the cell that asked: cells alike in content share a folder."""
    if result.name == cell.name:
        return result
    return replace(result, name=cell.name, header={**result.header, "config": cell.config})


def _sweep_name(opened: Mapping[str, _OpenCell]) -> str:
    """The same set of folders is the same sweep, so that a resumed one finds its parent run."""
    import hashlib

    folders = sorted(f"{open_cell.cell.name} {key}" for key, open_cell in opened.items())
    return hashlib.sha256("\n".join(folders).encode()).hexdigest()[:12]
