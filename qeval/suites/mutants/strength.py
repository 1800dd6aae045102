"""Run mutants on the instances of a suite and count how many the comparison refutes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from qeval.engines.base import Engine, EngineLostError, Execution, QueryError, QueryLimits
from qeval.scoring.spec import Policy
from qeval.scoring.table import Table
from qeval.suite import Case, Instance, Suite
from qeval.suites.check import Bench
from qeval.suites.mutants.base import OPERATORS, Mutant, mutants
from qeval.suites.mutants.declared import Equivalent

Fate = Literal["killed", "survived", "invalid", "equivalent"]


@dataclass(slots=True)
class Outcome:
    """What became of a mutant.

    `invalid`: the engine refuses the text, so it is no near miss. `equivalent`: it survived and
    is declared equivalent. `by`: the instance that killed it, and how (other rows, an error).
    """

    case: str
    mutant: Mutant
    fate: Fate = "survived"
    by: str = ""


@dataclass(frozen=True, slots=True)
class Strength:
    """All outcomes of one language, and declarations that no surviving mutant needs."""

    language: str
    outcomes: tuple[Outcome, ...]
    unneeded: tuple[Equivalent, ...]

    def counts(self, operator: str | None = None) -> Mapping[Fate, int]:
        """Mutants by fate, of one operator or of all."""
        found: dict[Fate, int] = dict.fromkeys(("killed", "survived", "invalid", "equivalent"), 0)
        for outcome in self.outcomes:
            if operator is None or outcome.mutant.operator == operator:
                found[outcome.fate] += 1
        return found

    def share(self, operator: str | None = None) -> float | None:
        """Killed mutants among all valid ones not equivalent; None where there are none."""
        counts = self.counts(operator)
        base = counts["killed"] + counts["survived"]
        return counts["killed"] / base if base else None

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators that made any mutant, in the order of `OPERATORS`."""
        made = {outcome.mutant.operator for outcome in self.outcomes}
        return tuple(operator for operator in OPERATORS if operator in made)


@dataclass(frozen=True, slots=True)
class MutationSettings:
    """`limits`: of one gold; `workers`: run at once.

    `mutant_s`: seconds of one mutant, one that takes longer counts as killed; None: as a gold.
    """

    limits: QueryLimits
    policy: Policy
    workers: int = 4
    mutant_s: float | None = None

    @property
    def mutant_limits(self) -> QueryLimits:
        """The limits of one mutant."""
        return (
            self.limits if self.mutant_s is None else replace(self.limits, timeout_s=self.mutant_s)
        )


@dataclass(slots=True)
class _Run:
    """The golds' tables on one instance, and the engine to ask."""

    engine: Engine
    instance: Instance
    settings: MutationSettings
    golds: dict[str, Table] = field(default_factory=dict)

    def gold(self, query: str) -> Table:
        return self.engine.execute(query, self.instance, self.settings.limits).table

    def mutant(self, query: str) -> Execution:
        return self.engine.execute(query, self.instance, self.settings.mutant_limits)


def measure(
    suite: Suite,
    bench: Bench,
    instances: Sequence[str],
    settings: MutationSettings,
    *,
    declared: Sequence[Equivalent] = (),
    on_instance: Callable[[str, int], None] | None = None,
) -> Strength:
    """Mutate the gold of every case and run the mutants on `instances` until one refutes them.

    Small instances are best named first: most mutants die there. `on_instance` is told each
    instance and how many mutants are still alive. Raises `EngineLostError`.
    """
    language, engine = bench.language.name, bench.engine
    cases = {case.id: case for case in suite.cases if language in case.gold}
    shape = suite.instance(language, instances[0])
    outcomes = [
        Outcome(case.id, mutant)
        for case in cases.values()
        for mutant in mutants(language, case.gold[language], shape.schema, shape.mapping)
    ]
    for name in instances:
        alive = [outcome for outcome in outcomes if outcome.fate == "survived"]
        if on_instance is not None:
            on_instance(name, len(alive))
        run = _Run(engine, suite.instance(language, name), settings)
        engine.load(run.instance)
        with ThreadPoolExecutor(settings.workers) as pool:
            asked = sorted({outcome.case for outcome in alive})
            tables = pool.map(run.gold, [cases[case].gold[language] for case in asked])
            run.golds.update(zip(asked, tables, strict=True))
            judge = partial(_judge, run)
            list(pool.map(judge, [cases[outcome.case] for outcome in alive], alive))
    unneeded = tuple(_excuse(outcomes, declared))
    return Strength(language, tuple(outcomes), unneeded)


def _judge(run: _Run, case: Case, outcome: Outcome) -> None:
    from qeval.scoring import compare

    name = run.instance.name
    try:
        execution = run.mutant(outcome.mutant.query)
    except QueryError as error:
        if error.kind in ("syntax_error", "schema_error", "unsafe"):
            outcome.fate, outcome.by = "invalid", error.message
        else:
            outcome.fate, outcome.by = "killed", f"{name}: {error.kind}"
        return
    except EngineLostError as error:
        raise EngineLostError(f"mutant of {case.id}: {error}") from error
    if execution.truncated:
        outcome.fate, outcome.by = "killed", f"{name}: too large"
        return
    comparison = compare(run.golds[case.id], execution.table, case.answer, run.settings.policy)
    if not comparison.equal:
        outcome.fate, outcome.by = "killed", f"{name}: other result"


def _excuse(outcomes: Sequence[Outcome], declared: Sequence[Equivalent]) -> Iterator[Equivalent]:
    """Mark declared survivors as equivalent; yield the declarations that fit no survivor."""
    survivors: dict[tuple[str, str, str], Outcome] = {
        (outcome.case, outcome.mutant.operator, outcome.mutant.change): outcome
        for outcome in outcomes
        if outcome.fate == "survived"
    }
    for entry in declared:
        outcome = survivors.get((entry.case, entry.operator, entry.change))
        if outcome is None:
            yield entry
        else:
            outcome.fate, outcome.by = "equivalent", entry.reason
