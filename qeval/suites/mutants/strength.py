"""Run mutants on the instances of a suite and count how many the comparison refutes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from qeval.suite import Suite
from qeval.suites.check import Bench
from qeval.suites.mutants.base import OPERATORS, Mutant, mutants
from qeval.suites.mutants.declared import Equivalent
from qeval.suites.trials import Candidate, TrialSettings, try_all

Fate = Literal["killed", "survived", "invalid", "equivalent"]


@dataclass(slots=True)
class Outcome:
    """What became of a mutant.

    `invalid`: the engine refuses the text, so it is no near miss. `equivalent`: it survived and
    is declared equivalent. `by`: the instance that killed it, and how its result differs or what
    failed; the engine's words of one that is invalid, the reason of one that is equivalent.
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


def measure(
    suite: Suite,
    bench: Bench,
    instances: Sequence[str],
    settings: TrialSettings,
    *,
    declared: Sequence[Equivalent] = (),
    on_instance: Callable[[str, int], None] | None = None,
) -> Strength:
    """Mutate the gold of every case and run the mutants on `instances` until one refutes them.

    Small instances are best named first: most mutants die there. A mutant that takes longer than
    `settings` give it counts as killed. `on_instance` is told each instance and how many mutants
    are still alive. Raises `EngineLostError`, and `QevalError` for a gold that fails.
    """
    language = bench.language.name
    shape = suite.instance(language, instances[0])
    outcomes = [
        Outcome(case.id, mutant)
        for case in suite.cases
        if language in case.gold
        for mutant in mutants(language, case.gold[language], shape.schema, shape.mapping)
    ]
    for name in instances:
        alive = [outcome for outcome in outcomes if outcome.fate == "survived"]
        if on_instance is not None:
            on_instance(name, len(alive))
        candidates = [Candidate(outcome.case, outcome.mutant.query) for outcome in alive]
        trials = try_all(suite, bench, name, candidates, settings)
        for outcome, trial in zip(alive, trials, strict=True):
            if trial.kind == "refused":
                outcome.fate, outcome.by = "invalid", trial.message
            elif trial.kind != "equal":
                outcome.fate, outcome.by = "killed", f"{name}: {trial.message}"
    unneeded = tuple(_excuse(outcomes, declared))
    return Strength(language, tuple(outcomes), unneeded)


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
