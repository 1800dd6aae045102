"""Try queries against golds: does each answer as its case's gold does on an instance."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from qeval.engines.base import Engine, EngineLostError, QueryError, QueryLimits
from qeval.errors import QevalError
from qeval.scoring.spec import Policy
from qeval.scoring.table import Table
from qeval.suite import Case, Instance, Suite
from qeval.suites.check import Bench


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """`limits`: of one query; `workers`: queries executed at once.

    `candidate_s`: seconds of one that is tried; None: as long as a gold.
    """

    limits: QueryLimits
    policy: Policy
    workers: int = 4
    candidate_s: float | None = None

    @property
    def candidate_limits(self) -> QueryLimits:
        """The limits of a query that is tried."""
        given = self.limits.timeout_s if self.candidate_s is None else self.candidate_s
        return replace(self.limits, timeout_s=given)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A query that may answer a case's question as its gold does."""

    case: str
    query: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What a candidate did on one instance, compared with its gold.

    `equal`: the comparison holds, `empty` says that both tables are empty. `different`: it does
    not, or a limit cut the result. `failed`: the query failed while running or took too long.
    `refused`: the engine does not accept the text. `message` is the account of what is not equal.
    """

    instance: str
    kind: Literal["equal", "different", "failed", "refused"]
    message: str = ""
    empty: bool = False


def try_all(
    suite: Suite,
    bench: Bench,
    instance: str,
    candidates: Sequence[Candidate],
    settings: TrialSettings,
) -> list[Trial]:
    """One trial per candidate on the named instance, in the order given.

    Each gold is executed once. Raises `EngineLostError`, and `QevalError` for a gold that fails.
    """
    if not candidates:
        return []
    language = bench.language.name
    cases = {case.id: case for case in suite.cases}
    loaded = suite.instance(language, instance)
    bench.engine.load(loaded)
    asked = sorted({candidate.case for candidate in candidates})
    with ThreadPoolExecutor(settings.workers) as pool:
        answer = partial(_gold, bench.engine, loaded, settings)
        tables = pool.map(answer, asked, [cases[case].gold[language] for case in asked])
        golds = dict(zip(asked, tables, strict=True))
        work = partial(_try, bench.engine, loaded, settings)
        pairs = [(cases[candidate.case], golds[candidate.case]) for candidate in candidates]
        return list(pool.map(work, pairs, [candidate.query for candidate in candidates]))


def _gold(
    engine: Engine, instance: Instance, settings: TrialSettings, case: str, query: str
) -> Table:
    try:
        return engine.execute(query, instance, settings.limits).table
    except QueryError as error:
        raise QevalError(
            f"the {engine.language} gold of {case} fails on {instance.name}: {error.message}."
            " `qeval check` says more of it; on a busy machine give it time:"
            " limits.timeout_s=60"
        ) from error


def _try(
    engine: Engine,
    instance: Instance,
    settings: TrialSettings,
    asked: tuple[Case, Table],
    query: str,
) -> Trial:
    from qeval.scoring import compare

    case, gold = asked
    name = instance.name
    try:
        execution = engine.execute(query, instance, settings.candidate_limits)
    except QueryError as error:
        if error.kind in ("syntax_error", "schema_error", "unsafe"):
            return Trial(name, "refused", error.message)
        return Trial(name, "failed", f"{error.kind}: {error.message}")
    except EngineLostError as error:
        raise EngineLostError(f"a query tried for {case.id}: {error}") from error
    if execution.truncated:
        return Trial(name, "different", f"too large: cut after {len(execution.table)} rows")
    comparison = compare(gold, execution.table, case.answer, settings.policy)
    if comparison.difference is not None:
        return Trial(name, "different", str(comparison.difference))
    return Trial(name, "equal", empty=comparison.inconclusive)
