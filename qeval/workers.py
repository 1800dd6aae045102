"""Running one case in another process: joblib's backends that do not share memory.

A worker builds the cell from its composed configuration and starts an engine of its own, once per
process, and keeps both until the process ends. Workers outlive a sweep: the next one of the same
program may have another purse for the same cell.
"""

import atexit
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from qeval.bench import Bench
from qeval.errors import InputError, did_you_mean
from qeval.pipeline import Answered, run_case

if TYPE_CHECKING:
    from qeval.cells import Cell
    from qeval.spending import Purse

BACKENDS = ("threading", "loky", "dask", "sequential")
"""Those of joblib's backends that hand over a result when it is there, not all at the end."""

_benches: dict[str, Bench] = {}
_cells: dict[tuple[str, "Purse | None"], tuple["Cell", Bench]] = {}
_building = Lock()  # one of Dask's workers may have several threads


def shares_memory(backend: str) -> bool:
    """Whether a joblib backend runs tasks in threads.

    Raises `InputError` for one that is unknown or not installed.
    """
    from importlib.util import find_spec

    if backend not in BACKENDS:
        near = did_you_mean(backend, BACKENDS)
        raise InputError(f"backend={backend}: there are {', '.join(BACKENDS)}.{near}")
    if backend == "dask" and find_spec("distributed") is None:
        raise InputError("backend=dask needs a package: pip install distributed")
    return backend in ("threading", "sequential")


@contextmanager
def pool_of(backend: str, workers: int) -> Iterator[Callable[[Iterable[Any]], Iterator[Any]]]:
    """A pool that takes joblib's delayed calls and hands over each result when it is there.

    Dask's is the process's own client if there is one, else the scheduler that
    `DASK_SCHEDULER_ADDRESS` names (with as many workers as it has), else `workers` new processes.
    """
    from joblib import Parallel, parallel_config

    with _dask(workers) if backend == "dask" else nullcontext(), parallel_config(backend=backend):
        yield Parallel(
            n_jobs=workers, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1
        )


def _dask(workers: int) -> Any:
    from dask import config
    from distributed import Client, get_client

    with suppress(ValueError):
        return nullcontext(get_client())
    if config.get("scheduler-address", None):
        return Client()
    return Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)


def run_elsewhere(
    composed: Mapping[str, Any], key: str, case_id: str, repeat: int, purse: "Purse | None" = None
) -> tuple[str, Answered | None]:
    """Run one case of the cell that `composed` describes; `key` is handed back with the answer.

    None in its place: `purse`, which pays for the calls, does not have enough left.
    """
    from omegaconf import OmegaConf

    from qeval.cells import build_cell
    from qeval.models.budget import BudgetReachedError

    with _building:
        if (key, purse) not in _cells:
            cell = build_cell(OmegaConf.create(dict(composed)))
            cell = cell if purse is None else purse.pays(cell, key)
            _cells[key, purse] = (cell, _bench(cell))
        cell, bench = _cells[key, purse]
    case = next(case for case in cell.cases if case.id == case_id)
    try:
        return key, run_case(cell, case, repeat, bench)
    except BudgetReachedError:
        return key, None


def _bench(cell: "Cell") -> Bench:
    """The bench of the cell's engine with the base data; variants follow when they are needed."""
    from qeval.cells import build_engine

    wanted = cell.engine_id
    if wanted not in _benches:
        engine = build_engine(cell.engine_config)
        atexit.register(engine.stop)
        _benches[wanted] = Bench(engine, engine.start())
    _benches[wanted].engine.load(cell.suite.instance(cell.language.name, "base"))
    return _benches[wanted]
