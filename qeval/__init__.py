"""qeval: how well do language models write SQL, Cypher and TypeQL? Every query is executed.

import qeval
result = qeval.run(["model=gold", "language=sql"])
result.cells[0].metrics.overall["execution_accuracy"].value
result.frame  # one row per record
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pathlib import Path

    from qeval.results import CellResult, SweepResult


def run(
    overrides: Sequence[str] = (), *, config_dir: "str | Path | None" = None, quiet: bool = True
) -> "SweepResult":
    """Evaluate what the command line `qeval -m <overrides>` would: every combination of values.

    Returns typed results; raises `qeval.errors.InputError` where the command would exit with 2.
    `config_dir` is a folder with your own configuration options. `quiet` leaves out the progress
    display and the printed table.
    """
    from qeval.configuration import compose_grid
    from qeval.errors import InputError

    if isinstance(overrides, str):
        raise InputError(f"expected a list of overrides, e.g. [{overrides!r}], not a text")
    from qeval.sweep import evaluate_cells

    return evaluate_cells(compose_grid(overrides, config_dir), quiet=quiet)


def __getattr__(name: str) -> object:
    if name in ("SweepResult", "CellResult"):
        from qeval import results

        return getattr(results, name)
    raise AttributeError(f"module 'qeval' has no attribute {name!r}")


__all__ = ["CellResult", "SweepResult", "__version__", "run"]
