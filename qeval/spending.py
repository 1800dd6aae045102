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

_OF_JUDGE = "/judge"


def open_budget(limit_usd: float, runs_dir: Path, name: str, folders: Mapping[str, Path]) -> Budget:
    """The budget of the sweep `name` with the cells in `folders` (by key).

    What the cells spent before counts, by this sweep or another. Of each question it is what the
    ledger has, calls that never came back at the most they could cost, or what the journal says if
    that is more (it was asked without a cap). Raises `IncompleteError` for an unusable ledger.
    """
    ledger = Ledger(runs_dir / FILE)
    accounts = {*folders, name, *(key + _OF_JUDGE for key in folders)}
    spent: dict[Place, float] = defaultdict(float)
    for place, usd in ledger.before().items():
        if place.account in accounts:
            # A judge counts its votes, not the cell's repeats: its calls are told by case alone.
            judged = place.account.endswith(_OF_JUDGE)
            spent[Place(place.account, place.case_id, 0) if judged else place] += usd
    for key, folder in folders.items():
        judging: dict[Place, float] = defaultdict(float)
        for record in read_journal(folder)[1]:
            if not record.cached:
                place = Place(key, record.case_id, record.repeat)
                spent[place] = max(spent[place], record.cost_usd or 0.0)
            votes = () if record.judgement is None else record.judgement.votes
            judging[Place(key + _OF_JUDGE, record.case_id, 0)] += sum(
                vote.cost_usd or 0.0 for vote in votes if not vote.cached
            )
        for place, usd in judging.items():
            spent[place] = max(spent[place], usd)
    return Budget(limit_usd, sum(spent.values()), ledger, name)


def paid_cell(cell: Cell, budget: Budget, key: str) -> Cell:
    """The cell with its model and its judge paid from `budget`; `key` is the cell's."""
    judge = None if cell.judge is None else cell.judge.paid_from(budget, key + _OF_JUDGE)
    return replace(cell, model=budgeted(cell.model, budget, key), judge=judge)


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
        return paid_cell(cell, _opened(self), key)


@lru_cache(maxsize=4)
def _opened(purse: Purse) -> Budget:
    """One budget a process: its threads wait for each other."""
    ledger = Ledger(purse.path, purse.session)
    return Budget(purse.limit_usd, purse.before_usd, ledger, purse.name)
