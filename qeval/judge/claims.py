"""Trying a judge's row set: on the rows that are said to show it, the queries differ or not."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from qeval.data.model import Dataset
from qeval.engines.base import EngineLostError, QueryError, QueryLimits
from qeval.errors import InputError
from qeval.judge.base import Claim, RowSet
from qeval.judge.row_sets import ImpossibleError, dataset_of
from qeval.scoring.spec import Policy
from qeval.scoring.verdict import Verdict
from qeval.suite import Case, Instance, Suite

if TYPE_CHECKING:
    from qeval.bench import Bench
    from qeval.languages.base import Language


@dataclass(frozen=True, slots=True)
class ClaimTrial:
    """Tries row sets on one engine; `most` bounds the rows of one. Safe for threads."""

    suite: Suite
    language: "Language"
    bench: "Bench"
    limits: QueryLimits
    policy: Policy
    most: int

    def __call__(self, case: Case, query: str, row_set: RowSet) -> Claim:
        """Load the rows and run gold and query on them, compared as predictions are.

        `confirmed`: they differ there, or only the query fails. `refuted`: they agree, so the
        claim is not shown (the queries may still differ elsewhere). `untried`: the rows can't be a
        data set, or the gold or the engine failed. Nothing is raised.
        """
        base = self.suite.instance(self.language.name, "base")
        try:
            dataset = dataset_of(row_set, base_rows(self.suite, self.language.name), self.most)
        except ImpossibleError as error:
            return Claim("untried", f"no possible data: {error}")
        count = sum(map(len, dataset.rows.values()))
        # A name of its own: two threads may try the same rows at once, and each drops its own.
        key = f"claim_{uuid4().hex}"
        instance = Instance(key, "claim", base.schema, base.mapping, lambda: dataset, ad_hoc=True)
        try:
            found = self.bench.lasting(lambda: self._tried(case, query, instance))
        except InputError as error:
            return Claim("untried", f"no possible data: {error}", count)
        except EngineLostError as error:
            return Claim("untried", f"the engine failed: {error}", count)
        return replace(found, rows=count)

    def _tried(self, case: Case, query: str, instance: Instance) -> Claim:
        from qeval.scoring.outcome import judge_instance

        engine = self.bench.engine
        try:
            engine.load(instance)
            try:
                gold = engine.execute(case.gold[self.language.name], instance, self.limits)
            except QueryError as error:
                return Claim("untried", f"the gold fails on it: {error.message}")
            try:
                self.language.check_safety(query)
                execution = engine.execute(query, instance, self.limits)
            except QueryError as error:
                return Claim("confirmed", f"{error.kind}: {error.message}")
            outcome = judge_instance("claim", gold.table, execution, case.answer, self.policy)
        finally:
            engine.drop(instance)
        if outcome.verdict is Verdict.GOLD_ERROR:
            return Claim("untried", outcome.message)
        if outcome.verdict is Verdict.CORRECT:
            return Claim("refuted", "both return the same rows on it")
        return Claim("confirmed", f"{outcome.kind}: {outcome.message}")


_held: dict[str, Dataset] = {}


def base_rows(suite: Suite, language: str) -> Dataset:
    """The rows of a suite's base instance, generated once a process."""
    if suite.content_hash not in _held:
        _held.clear()
        _held[suite.content_hash] = suite.instance(language, "base").dataset()
    return _held[suite.content_hash]
