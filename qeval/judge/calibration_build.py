"""Build a suite's calibration set: choose rewrites and mutants, prove their labels on instances."""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from qeval.judge.calibration_set import CalibrationSet, Origin, Pair
from qeval.suite import Suite
from qeval.suites.check import Bench
from qeval.suites.mutants import Equivalent, golds_digest, mutants, mutated_languages
from qeval.suites.rewrites import Rewrite
from qeval.suites.trials import Candidate, Trial, TrialSettings, try_all

_SHARE_OF_MUTANTS = 10  # one equivalent pair in so many is a mutant, the others are rewrites
_TRIED = 12  # mutants of one gold that are run on the variants
_TRIED_ON_BASE = 4  # of them that are run on base too
_SHARE_OF_LUCKY = 2  # one different pair in so many is right on base, if there are as many


@dataclass(frozen=True, slots=True)
class LayerReport:
    """What the instances alone say of a set of pairs.

    They say "different" of a pair where a comparison fails on any of them, and "equivalent" where
    all hold and at least one has rows. `wrong`: pairs of whom they say other than the label;
    `undecided`: pairs whose tables are all empty. `deciding`: the first instance that refutes, by
    pair. `lucky`: different pairs that answer as their gold on base, if base is among the
    instances.
    """

    language: str
    pairs: tuple[Pair, ...]
    wrong: tuple[Pair, ...]
    undecided: tuple[Pair, ...]
    deciding: Mapping[str, str]
    lucky: tuple[Pair, ...] = ()

    @property
    def refuted(self) -> tuple[Pair, ...]:
        """Pairs labelled equivalent that an instance refutes; there may be none."""
        return tuple(pair for pair in self.wrong if pair.label == "equivalent")

    @property
    def share(self) -> float | None:
        """Share of the pairs that the instances decide as labelled; None without pairs."""
        if not self.pairs:
            return None
        return 1 - (len(self.wrong) + len(self.undecided)) / len(self.pairs)


def by_size(suite: Suite, language: str) -> list[str]:
    """The names of the suite's instances, the one with the fewest rows first."""

    def rows(name: str) -> int:
        return sum(map(len, suite.instance(language, name).dataset().rows.values()))

    return sorted(suite.instances, key=rows)


def run_layer(
    suite: Suite,
    bench: Bench,
    pairs: Sequence[Pair],
    instances: Sequence[str],
    settings: TrialSettings,
    *,
    on_instance: Callable[[str], None] | None = None,
) -> LayerReport:
    """Run all pairs on `instances` and hold what these say against the labels."""
    trials = _Trials(suite, bench, settings, on_instance)
    wrong: list[Pair] = []
    undecided: list[Pair] = []
    lucky: list[Pair] = []
    deciding: dict[str, str] = {}
    for pair, own in trials.of(pairs, instances):
        refuting = next((trial.instance for trial in own if trial.kind != "equal"), None)
        if refuting is not None:
            deciding[pair.id] = refuting
        if pair.label == "different" and ("base", "equal") in {(t.instance, t.kind) for t in own}:
            lucky.append(pair)
        if refuting is None and all(trial.empty for trial in own):
            undecided.append(pair)
        elif (refuting is None) != (pair.label == "equivalent"):
            wrong.append(pair)
    return LayerReport(
        bench.language.name,
        tuple(pairs),
        tuple(wrong),
        tuple(undecided),
        deciding,
        tuple(lucky),
    )


def build_set(
    suite: Suite,
    bench: Bench,
    rewrites: Sequence[Rewrite],
    declared: Sequence[Equivalent],
    settings: TrialSettings,
    *,
    seed: int = 1,
    on_instance: Callable[[str], None] | None = None,
) -> CalibrationSet:
    """One equivalent and one different pair per case, as far as there are any.

    Equivalent are rewrites and some of the mutants `declared` so, different are mutants whose
    table differs from the gold's on an instance. The choice is seeded: kinds of rewrites and
    operators of mutants come as evenly as the cases allow, and half of the different pairs are
    `lucky` ones if there are so many. Of the mutants of one gold at most `_TRIED` are tried, and at
    most `_TRIED_ON_BASE` on base, which costs most. Those that survive all instances without being
    declared are taken, all of them, as different and decided by none. Mutants that fail are left
    out: no judge is asked about them. Labels that an instance contradicts are not hidden:
    `run_layer` tells them.
    """
    language = bench.language.name
    order = by_size(suite, language)
    trials = _Trials(suite, bench, settings, on_instance)
    argued, others = _mutants(suite, language, declared)
    chance = random.Random(seed)  # noqa: S311
    lucky, plain, open_ones = _sorted_out(trials, _spread(others, chance, _TRIED), order, chance)
    positives = [
        _pair(rewrite.case, language, rewrite.query, "rewrite", rewrite.kind)
        for rewrite in rewrites
    ]
    cases = [case.id for case in suite.cases if language in case.gold]
    chance.shuffle(cases)
    kept = _evenly(argued, cases, chance, most=len(cases) // _SHARE_OF_MUTANTS)
    served = {pair.case for pair in kept}
    kept += _evenly(positives, [case for case in cases if case not in served], chance)
    odd = _evenly(lucky, cases, chance, most=len(cases) // _SHARE_OF_LUCKY)
    served = {pair.case for pair in odd}
    odd += _evenly(plain, [case for case in cases if case not in served], chance)
    place = {case.id: number for number, case in enumerate(suite.cases)}
    pairs = sorted(
        [*kept, *odd, *open_ones], key=lambda pair: (place[pair.case], pair.label, pair.id)
    )
    return CalibrationSet(language, golds_digest(suite, language), tuple(order), seed, tuple(pairs))


@dataclass(frozen=True, slots=True)
class _Trials:
    """What it takes to try pairs on instances."""

    suite: Suite
    bench: Bench
    settings: TrialSettings
    on_instance: Callable[[str], None] | None

    def of(self, pairs: Sequence[Pair], instances: Sequence[str]) -> list[tuple[Pair, list[Trial]]]:
        """Each pair with its trials, in the order of `instances`."""
        candidates = [Candidate(pair.case, pair.query) for pair in pairs]
        found: list[tuple[Pair, list[Trial]]] = [(pair, []) for pair in pairs]
        for name in instances:
            if self.on_instance is not None:
                self.on_instance(name)
            trials = try_all(self.suite, self.bench, name, candidates, self.settings)
            for (_, own), trial in zip(found, trials, strict=True):
                own.append(trial)
        return found


def _mutants(
    suite: Suite, language: str, declared: Sequence[Equivalent]
) -> tuple[list[Pair], list[Pair]]:
    """The mutants of all golds that are declared equivalent, and the others."""
    argued: list[Pair] = []
    others: list[Pair] = []
    if language not in mutated_languages():
        return argued, others
    shape = suite.instance(language, suite.instances[0])
    names = {(entry.case, entry.operator, entry.change) for entry in declared}
    for case in suite.cases:
        if language not in case.gold:
            continue
        for mutant in mutants(language, case.gold[language], shape.schema, shape.mapping):
            pair = _pair(case.id, language, mutant.query, "mutant", mutant.operator)
            if (case.id, mutant.operator, mutant.change) in names:
                argued.append(pair)
            else:
                others.append(replace(pair, label="different"))
    return argued, others


def _sorted_out(
    trials: _Trials, pairs: Sequence[Pair], order: Sequence[str], chance: random.Random
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """The pairs that only a variant tells from the gold, that base tells, that none tells.

    `order` begins with the smallest instance; the first that tells a pair decides it.
    """
    alive = list(pairs)
    told: list[Pair] = []
    for name in order:
        if name == "base":
            continue
        tried = [(pair, trial) for pair, (trial,) in trials.of(alive, [name])]
        told += [replace(pair, decided_by=name) for pair, t in tried if t.kind == "different"]
        alive = [pair for pair, trial in tried if trial.kind == "equal"]
    lucky: list[Pair] = []
    plain: list[Pair] = []
    open_ones: list[Pair] = []
    for pair, (trial,) in trials.of([*_spread(told, chance, _TRIED_ON_BASE), *alive], ["base"]):
        if trial.kind == "different":
            plain.append(replace(pair, decided_by=pair.decided_by or "base"))
        elif trial.kind == "equal" and pair.decided_by is not None:
            lucky.append(replace(pair, lucky=True))
        elif trial.kind == "equal":
            open_ones.append(pair)
    return lucky, plain, open_ones


def _spread(pairs: Sequence[Pair], chance: random.Random, most: int) -> list[Pair]:
    """At most `most` pairs of each case, of as many kinds as there are."""
    found: dict[str, list[tuple[int, float, Pair]]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for pair in chance.sample(pairs, len(pairs)):
        seen[pair.case, pair.kind] += 1
        found.setdefault(pair.case, []).append((seen[pair.case, pair.kind], chance.random(), pair))
    chosen = [sorted(own, key=lambda entry: entry[:2])[:most] for own in found.values()]
    return [pair for own in chosen for *_, pair in own]


def _pair(case: str, language: str, query: str, origin: Origin, kind: str) -> Pair:
    digest = hashlib.sha256(query.encode()).hexdigest()[:6]
    name = f"{case}-{origin[0]}-{digest}"
    return Pair(name, case, language, query, "equivalent", origin, kind)


def _evenly(
    pairs: Iterable[Pair], cases: Sequence[str], chance: random.Random, most: int | None = None
) -> list[Pair]:
    """At most one pair per case and `most` in all, always of the kind taken least so far."""
    own: dict[str, list[Pair]] = {}
    for pair in pairs:
        own.setdefault(pair.case, []).append(pair)
    taken: Counter[str] = Counter()
    chosen: list[Pair] = []
    for case in cases:
        if case not in own or (most is not None and len(chosen) >= most):
            continue
        rarest = min(taken[pair.kind] for pair in own[case])
        pair = chance.choice([pair for pair in own[case] if taken[pair.kind] == rarest])
        taken[pair.kind] += 1
        chosen.append(pair)
    return chosen
