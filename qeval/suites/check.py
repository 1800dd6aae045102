"""The gold gate: every gold runs, keeps its case's promises, agrees with other languages."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from qeval.data.model import Dataset
from qeval.engines.base import Engine, EngineLostError, QueryError, QueryLimits
from qeval.languages.base import Language
from qeval.scoring.spec import AnswerSpec, Policy
from qeval.scoring.table import Table
from qeval.suite import Case, Example, Instance, Suite
from qeval.suites.conformance import query_faults, table_faults

_KEY_LENGTH = 60
_MIXED = "_mixed"


@dataclass(frozen=True, slots=True)
class Bench:
    """A language and the started engine that runs its golds."""

    language: Language
    engine: Engine


@dataclass(frozen=True, slots=True)
class GateSettings:
    """`max_seconds`: of one gold; `workers`: golds executed at once."""

    limits: QueryLimits
    policy: Policy
    max_seconds: float
    workers: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken promise: of which case or example, in which language, on which instance."""

    entry: str
    language: str
    instance: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class GoldRun:
    """One execution of a gold that succeeded: rows of its table, wall seconds."""

    entry: str
    language: str
    instance: str
    rows: int
    seconds: float


@dataclass(frozen=True, slots=True)
class GateReport:
    """All that a gate found; it is passed when `problems` is empty.

    `missing` lists, per language that was checked, the cases and examples without a gold in it: a
    suite may still be growing, so that is told, not held against it.
    """

    runs: tuple[GoldRun, ...]
    problems: tuple[Problem, ...]
    comparisons: Mapping[str, int]  # how many tables were compared, by kind of comparison
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # ids without gold


Entry = Case | Example


def check_suite(
    suite: Suite,
    benches: Mapping[str, Bench],
    instances: Sequence[str],
    settings: GateSettings,
    on_instance: Callable[[str], None] | None = None,
) -> GateReport:
    """Run the golds of all cases and examples on every instance, in every language of `benches`.

    Checked on each instance: the gold passes its language's safety check, executes within
    `max_seconds`, has the declared columns, types and order, cuts no undeclared tie, gives an
    equal table when run again and on the same rows loaded in another physical order; golds of
    several languages give equal tables. On base its table is not empty unless declared.
    `on_instance` is told each instance before work on it begins.
    """
    gate = _Gate(suite, benches, settings)
    gate.check_texts()
    for name in instances:
        if on_instance is not None:
            on_instance(name)
        gate.check_instance(name)
    missing = {language: tuple(ids) for language, ids in gate.missing.items()}
    return GateReport(tuple(gate.runs), tuple(gate.problems), dict(gate.comparisons), missing)


def shuffled(instance: Instance) -> Instance:
    """The same rows, loaded in another physical order, under a key of their own."""
    key = instance.key[: _KEY_LENGTH - len(_MIXED)] + _MIXED
    return replace(instance, key=key, dataset=partial(_mix, instance.dataset))


def _mix(dataset: Callable[[], Dataset]) -> Dataset:
    original = dataset()
    rows = {}
    for table, ordered in original.rows.items():
        mixed = list(ordered)
        random.Random(len(mixed)).shuffle(mixed)  # noqa: S311
        rows[table] = mixed
    return replace(original, rows=rows)


class _Gate:
    """Collects problems while the instances are worked through."""

    def __init__(self, suite: Suite, benches: Mapping[str, Bench], settings: GateSettings) -> None:
        self.suite = suite
        self.benches = benches
        self.settings = settings
        self.entries: tuple[Entry, ...] = (*suite.cases, *suite.examples)
        self.runs: list[GoldRun] = []
        self.problems: list[Problem] = []
        self.comparisons: Counter[str] = Counter()
        self.missing: dict[str, list[str]] = {language: [] for language in benches}

    def check_texts(self) -> None:
        """Safety and visible faults of every gold's text."""
        for language, bench in self.benches.items():
            for entry in self.entries:
                query = entry.gold.get(language)
                if query is None:
                    self.missing[language].append(entry.id)
                    continue
                try:
                    bench.language.check_safety(query)
                except QueryError as error:
                    self._add(entry, language, "", error.kind, error.message)
                for kind, message in query_faults(query, entry.answer):
                    self._add(entry, language, "", kind, message)

    def check_instance(self, name: str) -> None:
        """Execute every gold on the instance and on its shuffled load, and compare the tables."""
        tables: dict[tuple[str, str], Table] = {}
        for language, bench in self.benches.items():
            instance = self.suite.instance(language, name)
            mixed = shuffled(instance)
            bench.engine.load(instance)
            bench.engine.load(mixed)
            asked = [entry for entry in self.entries if language in entry.gold]
            work = partial(self._examine, language, instance, mixed)
            with ThreadPoolExecutor(self.settings.workers) as pool:
                for entry, table in zip(asked, pool.map(work, asked), strict=True):
                    if table is not None:
                        tables[entry.id, language] = table
        for entry in self.entries:
            found = [(lang, tables[entry.id, lang]) for lang in self.benches
                     if (entry.id, lang) in tables]  # fmt: skip
            for language, table in found[1:]:
                first, reference = found[0]
                difference = self._difference(reference, table, entry.answer, "languages")
                if difference:
                    account = f"{first} and {language} differ: {difference}"
                    self._add(entry, language, name, "languages", account)

    def _examine(
        self, language: str, instance: Instance, mixed: Instance, entry: Entry
    ) -> Table | None:
        """The gold's table on the instance, after every check on it; None where it fails."""
        place = (language, instance.name)
        query = entry.gold[language]
        table = self._execute(entry, query, language, instance)
        if table is None:
            return None
        faults = list(table_faults(table, entry.answer))
        for kind, message in faults:
            self._add(entry, *place, kind, message)
        if any(kind == "columns" for kind, _ in faults):
            return None  # such a table can't be compared
        may_be_empty = isinstance(entry, Case) and entry.empty_ok
        if instance.name == "base" and not len(table) and not may_be_empty:
            self._add(entry, *place, "empty", "no rows on base, and empty_ok isn't declared")
        for kind, again in (("again", instance), ("shuffled", mixed)):
            other = self._execute(entry, query, language, again)
            if other is None:
                continue
            difference = self._difference(table, other, entry.answer, kind)
            if difference:
                account = f"the table differs when the gold is run {kind}: {difference}"
                self._add(entry, *place, kind, account)
        return table

    def _execute(self, entry: Entry, query: str, language: str, instance: Instance) -> Table | None:
        engine, settings = self.benches[language].engine, self.settings
        try:
            engine.check(query, instance)
            execution = engine.execute(query, instance, settings.limits)
        except QueryError as error:
            where = f" (line {error.line})" if error.line else ""
            self._add(entry, language, instance.name, error.kind, error.message + where)
            return None
        except EngineLostError as error:
            self._add(entry, language, instance.name, "engine", str(error))
            return None
        if execution.truncated:
            message = f"more than {settings.limits.max_rows} rows or too many bytes"
            self._add(entry, language, instance.name, "truncated", message)
            return None
        if execution.seconds > settings.max_seconds:
            message = f"{execution.seconds:.2f} s, at most {settings.max_seconds} s are allowed"
            self._add(entry, language, instance.name, "slow", message)
        self.runs.append(
            GoldRun(entry.id, language, instance.name, len(execution.table), execution.seconds)
        )
        return execution.table

    def _difference(self, gold: Table, other: Table, spec: AnswerSpec, kind: str) -> str:
        """An account of how the tables differ, empty if they are equal.

        A gold returns all rows tied with the k-th, so whole golds are compared without top_k.
        """
        from qeval.scoring import compare

        self.comparisons[kind] += 1
        whole = AnswerSpec(spec.columns, spec.order_by)
        comparison = compare(gold, other, whole, self.settings.policy)
        return "" if comparison.equal else str(comparison.difference)

    def _add(self, entry: Entry, language: str, instance: str, kind: str, message: str) -> None:
        self.problems.append(Problem(entry.id, language, instance, kind, message))


def slowest(report: GateReport, count: int) -> Iterator[GoldRun]:
    """The `count` slowest executions, slowest first."""
    yield from sorted(report.runs, key=lambda run: -run.seconds)[:count]
