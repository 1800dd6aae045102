"""Finding the counterexample of a prediction: the smallest data set that differs, cut down."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qeval.data.model import Dataset
from qeval.engines.base import QueryError, QueryLimits
from qeval.equivalence.counterexample import Counterexample, plain_tables
from qeval.equivalence.shrinking import shrink
from qeval.errors import InputError
from qeval.record import InstanceOutcome
from qeval.scoring.outcome import judge_instance
from qeval.scoring.verdict import Verdict
from qeval.suites.ad_hoc import ad_hoc_instance, lent

if TYPE_CHECKING:
    from qeval.cells import Cell
    from qeval.engines.base import Engine
    from qeval.suite import Case, Instance

_TRIAL_TIMEOUT_S = 2.0
"""Of one query on a part of the data: a slow trial is no progress."""

_MOST_KEPT = 1000
"""Rows of a counterexample: more, left when the time is up, nobody reads, and files hold many."""


class AbandonedError(Exception):
    """The sweep ends: nothing more is tried."""


@dataclass(frozen=True, slots=True)
class Duel:
    """A gold and a prediction on one engine, to be tried on small data sets until `ending`."""

    cell: "Cell"
    case: "Case"
    query: str
    engine: "Engine"
    ending: Callable[[], bool] = bool

    def on(self, instance: "Instance", *, trial: bool = True) -> InstanceOutcome | None:
        """How the prediction fares against its gold there; None where the gold fails.

        Raises `EngineLostError`.
        """
        limits: QueryLimits = self.cell.limits
        if trial:
            limits = replace(limits, timeout_s=min(limits.timeout_s, _TRIAL_TIMEOUT_S))
        try:
            gold = self.engine.execute(self.case.gold[self.cell.language.name], instance, limits)
        except QueryError:
            return None
        if gold.truncated:
            return None
        try:
            execution = self.engine.execute(self.query, instance, limits)
        except QueryError as error:
            return InstanceOutcome(
                instance.name,
                Verdict(error.kind),
                kind=error.kind,
                message=error.message,
                code=error.code,
            )
        return judge_instance(
            instance.name, gold.table, execution, self.case.answer, self.cell.policy
        )

    def on_rows(self, dataset: Dataset) -> InstanceOutcome | None:
        """The same on an ad hoc data set; None where the engine refuses its rows.

        Raises `EngineLostError` and `AbandonedError`.
        """
        if self.ending():
            raise AbandonedError
        instance = ad_hoc_instance(self.cell.suite, self.cell.language.name, dataset)
        try:
            with lent(self.engine, instance):
                return self.on(instance)
        except InputError:
            return None


def find_counterexample(
    duel: Duel, telling: InstanceOutcome, key: str, seconds: float
) -> Counterexample:
    """Cut the data of the instance that told the two apart down to few rows.

    Starts from a smaller instance of the suite if one differs in the same way. What is left differs
    as the whole did: with the same verdict, kind and error code. Raises `EngineLostError` and
    `AbandonedError`.
    """
    started = time.monotonic()
    name, dataset = _smallest(duel, telling)

    def differs(part: Dataset) -> bool:
        return _alike(duel.on_rows(part), telling)

    whole = Counterexample(
        key=key,
        case_id=duel.case.id,
        instance=name,
        rows=_size(dataset),
        minimal=False,
        tables={},
        cut=False,
        kind=telling.kind,
        message=telling.message,
        difference=telling.difference,
    )
    if not differs(dataset):
        return whole
    left = seconds - (time.monotonic() - started)
    found = shrink(dataset, differs, left)
    outcome = duel.on_rows(found.dataset)
    if outcome is None or not _alike(outcome, telling):  # it depends on more than the data
        return whole
    if found.rows > _MOST_KEPT:
        return replace(whole, trials=found.trials)
    return replace(
        whole,
        cut=True,
        rows=found.rows,
        minimal=found.minimal,
        tables=plain_tables(found.dataset),
        kind=outcome.kind,
        message=outcome.message,
        difference=outcome.difference,
        trials=found.trials,
        seconds=round(time.monotonic() - started, 3),
    )


def _alike(outcome: InstanceOutcome | None, telling: InstanceOutcome) -> bool:
    """Whether they differ for the same cause: not merely because hardly any row is left."""
    return outcome is not None and (
        (outcome.verdict, outcome.kind, outcome.code)
        == (telling.verdict, telling.kind, telling.code)
    )


def _smallest(duel: Duel, telling: InstanceOutcome) -> tuple[str, Dataset]:
    """The smallest instance of the suite on which the two differ as they did, and its rows."""
    suite, language = duel.cell.suite, duel.cell.language.name

    found = telling.instance, suite.instance(language, telling.instance).dataset()
    later = suite.instances[suite.instances.index(telling.instance) + 1 :]
    others = [(name, suite.instance(language, name).dataset()) for name in later]
    for name, dataset in sorted(others, key=lambda other: _size(other[1])):
        if _size(dataset) >= _size(found[1]):
            break
        instance = suite.instance(language, name)
        duel.engine.load(instance)
        if _alike(duel.on(instance, trial=False), telling):
            return name, dataset
    return found


def _size(dataset: Dataset) -> int:
    return sum(len(rows) for rows in dataset.rows.values())
