"""The gold gate: every gold runs, keeps its case's promises, agrees with other languages."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from qeval.data.model import Dataset
from qeval.engines.base import Engine, EngineLostError, QueryError, QueryLimits
from qeval.languages.base import Language
from qeval.scoring.spec import AnswerSpec, Policy
from qeval.scoring.table import Table
from qeval.suite import Case, Example, Instance, Suite
from qeval.suites.conformance import query_faults, table_faults
from qeval.suites.difficulty import mislabelled

_KEY_LENGTH = 60
_MIXED = "_mixed"
_TIMINGS = 3  # of a gold that seemed slow beside others


@dataclass(frozen=True, slots=True)
class Bench:
    """A language and the started engine that runs its golds."""

    language: Language
    engine: Engine


@dataclass(frozen=True, slots=True)
class GateSettings:
    """`max_seconds`: of one gold; `workers`: golds executed at once in each language; `shuffled`:
    on so many instances, the first ones, golds run a second time on rows in another order.
    """

    limits: QueryLimits
    policy: Policy
    max_seconds: float
    workers: int
    shuffled: int = 3


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
    `max_seconds`, has the declared columns, types and order and cuts no undeclared tie; golds of
    several languages give equal tables. On the first instances it gives an equal table when run a
    second time, on the same rows loaded in another physical order (on the same ones where the rows
    are known to the engine alone). On base its table is not empty unless declared. `on_instance`
    is told each instance before work on it begins. The languages are worked through side by side.
    """
    gate = _Gate(suite, benches, settings)
    gate.check_texts()
    gate.twice = frozenset(instances[: settings.shuffled])
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
        self.twice: frozenset[str] = frozenset()
        self.late: dict[tuple[str, str], dict[str, tuple[Entry, float]]] = {}

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
        if self.suite.check_difficulty:
            for case, language, message in mislabelled(self.suite):
                if language in self.benches:
                    self.problems.append(Problem(case, language, "", "difficulty", message))

    def check_instance(self, name: str) -> None:
        """Execute every gold on the instance and on its shuffled load, and compare the tables."""
        with ThreadPoolExecutor(len(self.benches)) as pool:
            found = pool.map(lambda language: self._check_language(language, name), self.benches)
            tables: dict[tuple[str, str], Table] = {
                (entry, language): table
                for language, given in zip(self.benches, found, strict=True)
                for entry, table in given.items()
            }
        for entry in self.entries:
            there = [(lang, tables[entry.id, lang]) for lang in self.benches
                     if (entry.id, lang) in tables]  # fmt: skip
            for language, table in there[1:]:
                first, reference = there[0]
                difference = self._difference(reference, table, entry.answer, "languages")
                if difference:
                    account = f"{first} and {language} differ: {difference}"
                    self._add(entry, language, name, "languages", account)

    def _check_language(self, language: str, name: str) -> dict[str, Table]:
        """The tables of a language's golds on the instance, after every check on them."""
        engine = self.benches[language].engine
        instance = self.suite.instance(language, name)
        again = None
        if name in self.twice:
            again = shuffled(instance) if instance.tabular else instance
            engine.load(again)
        engine.load(instance)
        asked = [entry for entry in self.entries if language in entry.gold]
        work = partial(self._examine, language, instance, again)
        with ThreadPoolExecutor(self.settings.workers) as pool:
            tables = list(pool.map(work, asked))
        self._time_alone(language, instance)
        return {entry.id: table for entry, table in zip(asked, tables, strict=True)
                if table is not None}  # fmt: skip

    def _time_alone(self, language: str, instance: Instance) -> None:
        """Golds that took too long beside others may show that they don't need to."""
        engine, most = self.benches[language].engine, self.settings.max_seconds
        late = self.late.pop((language, instance.name), {})
        for entry, seconds in late.values():
            least = seconds
            for _ in range(_TIMINGS):
                with suppress(QueryError, EngineLostError):
                    query = entry.gold[language]
                    execution = engine.execute(query, instance, self.settings.limits)
                    least = min(least, execution.seconds)
                if least <= most:
                    break
            else:
                message = f"{least:.2f} s, at most {most} s are allowed"
                self._add(entry, language, instance.name, "slow", message)

    def _examine(
        self, language: str, instance: Instance, other: Instance | None, entry: Entry
    ) -> Table | None:
        """The gold's table on the instance, after every check on it; None where it fails."""
        place = (language, instance.name)
        table = self._execute(entry, language, instance, first=True)
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
        if other is None:
            return table
        kind = "again" if other is instance else "shuffled"
        if self._differs(table, entry, place, kind, other) and kind == "shuffled":
            # Only a gold that can't repeat itself on the very same rows differs here as well.
            self._differs(table, entry, place, "again", instance)
        return table

    def _differs(
        self, table: Table, entry: Entry, place: tuple[str, str], kind: str, instance: Instance
    ) -> bool:
        second = self._execute(entry, place[0], instance)
        if second is None:
            return False
        difference = self._difference(table, second, entry.answer, kind)
        if difference:
            account = f"the table differs when the gold is run {kind}: {difference}"
            self._add(entry, *place, kind, account)
        return bool(difference)

    def _execute(
        self, entry: Entry, language: str, instance: Instance, *, first: bool = False
    ) -> Table | None:
        engine, settings, query = self.benches[language].engine, self.settings, entry.gold[language]
        try:
            if first and instance.name == "base":  # it checks the schema, which all share
                _checked(engine, query, instance)
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
            late = self.late.setdefault((language, instance.name), {})
            late[entry.id] = (entry, execution.seconds)
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


def _checked(engine: Engine, query: str, instance: Instance) -> None:
    try:
        engine.check(query, instance)
    except QueryError as error:
        if error.kind != "timeout":
            raise
        engine.check(query, instance)  # a server that has just been started takes its time


def slowest(report: GateReport, count: int) -> Iterator[GoldRun]:
    """The `count` slowest executions, slowest first."""
    yield from sorted(report.runs, key=lambda run: -run.seconds)[:count]
