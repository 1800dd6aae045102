"""Running one case in another process: joblib's backends that do not share memory.

A worker builds the cell from its composed configuration and starts an engine of its own, once per
process, and keeps both until the process ends.
"""

import atexit
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from qeval.errors import InputError
from qeval.pipeline import Answered, Bench, run_case

if TYPE_CHECKING:
    from qeval.spending import Purse
    from qeval.suite import Case

_benches: dict[str, Bench] = {}
_cells: dict[str, tuple[Any, Bench]] = {}


def shares_memory(backend: str) -> bool:
    """Whether a joblib backend runs tasks in threads; raises `InputError` for an unknown one."""
    from joblib.parallel import BACKENDS, EXTERNAL_BACKENDS

    known = sorted({*BACKENDS, *EXTERNAL_BACKENDS})
    if backend not in known:
        from qeval.errors import did_you_mean

        near = did_you_mean(backend, known)
        raise InputError(f"backend={backend}: joblib has {', '.join(known)}.{near}")
    return backend in ("threading", "sequential")


def run_elsewhere(
    composed: Mapping[str, Any], key: str, case_id: str, repeat: int, purse: "Purse | None" = None
) -> tuple[str, Answered | None]:
    """Run one case of the cell that `composed` describes; `key` is handed back with the answer.

    None in its place: `purse`, which pays for the calls, does not have enough left.
    """
    from omegaconf import OmegaConf

    from qeval.cells import build_cell
    from qeval.models.budget import BudgetReachedError

    if key not in _cells:
        cell = build_cell(OmegaConf.create(dict(composed)))
        cell = cell if purse is None else purse.pays(cell, key)
        _cells[key] = (cell, _bench(cell))
    cell, bench = _cells[key]
    case: Case = next(case for case in cell.cases if case.id == case_id)
    try:
        return key, run_case(cell, case, repeat, bench)
    except BudgetReachedError:
        return key, None


def _bench(cell: Any) -> Bench:
    """The bench of the cell's engine with the base data; variants follow when they are needed."""
    from qeval.cells import build_engine

    wanted = cell.engine_id
    if wanted not in _benches:
        engine = build_engine(cell.engine_config)
        atexit.register(engine.stop)
        _benches[wanted] = Bench(engine, engine.start())
    _benches[wanted].engine.load(cell.suite.instance(cell.language.name, "base"))
    return _benches[wanted]
