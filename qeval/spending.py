"""The cap on a sweep's money: what was spent before, and how all its processes share the rest."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from qeval.cells import Cell
from qeval.journal import read_journal
from qeval.models.budget import Budget, budgeted
from qeval.models.ledger import FILE, Ledger, Place


def open_budget(limit_usd: float, runs_dir: Path, name: str, folders: Mapping[str, Path]) -> Budget:
    """The budget of the sweep `name` with the cells in `folders` (by key).

    What the cells spent before counts, by this sweep or another. Of each question it is what the
    ledger has, calls that never came back at the most they could cost, or what the journal says if
    that is more (it was asked without a cap). Raises `IncompleteError` for an unusable ledger.
    """
    ledger = Ledger(runs_dir / FILE)
    accounts = {*folders, name}
    paid = {place: usd for place, usd in ledger.before().items() if place.account in accounts}
    spent: dict[Place, float] = defaultdict(float, paid)
    for key, folder in folders.items():
        for record in read_journal(folder)[1]:
            if not record.cached:
                place = Place(key, record.case_id, record.repeat)
                spent[place] = max(spent[place], record.cost_usd or 0.0)
    return Budget(limit_usd, sum(spent.values()), ledger, name)


def all_spent(budget: Budget) -> str:
    """What to say at the end of a sweep that a cap has ended."""
    return (
        f"the budget is spent: ${budget.spent_usd:.4f} of limits.budget_usd={budget.limit_usd:g}, "
        "and the next call might exceed it. What was answered is kept; raise limits.budget_usd to "
        "go on"
    )


@dataclass(frozen=True, slots=True)
class Purse:
    """A budget as it travels to another process: where its ledger is, and what it may spend."""

    path: Path
    session: str
    limit_usd: float
    before_usd: float
    name: str

    @classmethod
    def of(cls, budget: Budget) -> "Purse":
        """What to send of a budget whose ledger is a file."""
        assert budget.ledger.path is not None
        return cls(
            budget.ledger.path.absolute(),
            budget.ledger.session,
            budget.limit_usd,
            budget.before_usd,
            budget.name,
        )

    def pays(self, cell: Cell, key: str) -> Cell:
        """The cell, its model paid from this purse."""
        return replace(cell, model=budgeted(cell.model, _opened(self), key))


@lru_cache(maxsize=4)
def _opened(purse: Purse) -> Budget:
    """One budget a process: its threads wait for each other."""
    ledger = Ledger(purse.path, purse.session)
    return Budget(purse.limit_usd, purse.before_usd, ledger, purse.name)
