"""Opening the cells of a sweep: engines started, journals locked and read, money shared out."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qeval.bench import Bench
from qeval.cells import Cell, build_engine, cell_key
from qeval.journal import Journal
from qeval.models.budget import Budget
from qeval.settings import check
from qeval.spending import open_budget, paid_cell
from qeval.suite import Case

if TYPE_CHECKING:
    from qeval.engines.base import Engine
    from qeval.suite import Instance


@dataclass(slots=True)
class OpenCell:
    """A cell while it runs; `missing` counts the records that are still to come."""

    cell: Cell
    key: str
    bench: Bench
    journal: Journal
    missing: int = 0

    @property
    def folder(self) -> Path:
        """Where its journal is."""
        return self.journal.folder

    def unfinished(self) -> Iterator[tuple[Case, int]]:
        """Every case and repeat without a verdict, all cases before the next repeat."""
        for repeat in range(self.cell.repeats):
            for case in self.cell.cases:
                if not self.journal.finished(case.id, repeat):
                    yield case, repeat


def start_engines(cells: Sequence[Cell], stack: ExitStack) -> dict[str, Bench]:
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


def open_cells(
    cells: Sequence[Cell], benches: Mapping[str, Bench], runs_dir: Path, stack: ExitStack
) -> tuple[dict[str, OpenCell], list[str]]:
    """Open a journal per distinct cell, by key; also the key of each cell in the order asked for.

    Of cells alike in all that can change a record the one with most repeats is run for all.
    """
    keys = [cell_key(cell, benches[cell.engine_id].info) for cell in cells]
    run: dict[str, Cell] = {}
    for key, cell in zip(keys, cells, strict=True):
        if key not in run or run[key].repeats < cell.repeats:
            run[key] = cell
    opened = {}
    for key, cell in run.items():
        bench = benches[cell.engine_id]
        journal = Journal(runs_dir / f"{cell.name}-{key[:8]}", _header(cell, key, bench))
        stack.callback(journal.close)
        opened[key] = OpenCell(cell, key, bench, journal)
        opened[key].missing = sum(1 for _ in opened[key].unfinished())
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


def sweep_id(opened: Mapping[str, OpenCell]) -> str:
    """The same set of folders is the same sweep, so that a resumed one finds its parent run."""
    folders = sorted(f"{open_cell.cell.name} {key}" for key, open_cell in opened.items())
    return hashlib.sha256("\n".join(folders).encode()).hexdigest()[:12]


def share_budget(
    limit_usd: Any, opened: Mapping[str, OpenCell], runs_dir: Path, stack: ExitStack
) -> Budget | None:
    """Pay all calls of the sweep's models and judges from one budget; None without a limit.

    Raises `InputError` for a limit that is no amount.
    """
    if limit_usd is None:
        return None
    limit = check(float, limit_usd, "limits.budget_usd")
    folders = {key: open_cell.folder for key, open_cell in opened.items()}
    budget = open_budget(limit, runs_dir, sweep_id(opened), folders)
    stack.callback(budget.ledger.close)
    for key, open_cell in opened.items():
        open_cell.cell = paid_cell(open_cell.cell, budget, key)
    return budget
