"""Function calls: results are kept per arguments; recursion runs to a fixed point.

A recursive call is never evaluated inside its caller: it returns what is known so far and is put
on a list. Whenever the answers of a call grow, those who used them are evaluated again, until
nothing grows. So recursion ends on cyclic data, and its depth costs no stack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.check.annotate import Known, reducer_type
from qeval.typeql.check.functions import recursive_calls
from qeval.typeql.execute.concept_builtins import call_builtin
from qeval.typeql.execute.nesting import picker
from qeval.typeql.execute.reducing import Reduction, reduce_rows
from qeval.typeql.execute.runtime import Runtime
from qeval.typeql.execute.stages import StageCompiler
from qeval.typeql.ir import functions as f
from qeval.typeql.plan.estimate import Estimator
from qeval.typeql.values import ValueType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from qeval.typeql.budget import Budget
    from qeval.typeql.execute.runtime import Row, Transform
    from qeval.typeql.ir.functions import Body, Signature
    from qeval.typeql.schema import Schema
    from qeval.typeql.store import Store

    Key: TypeAlias = tuple[Signature, Row]
    Evaluate: TypeAlias = Callable[[Row], Iterable[Row]]


class FunctionTables:
    """Answers the function calls of one query."""

    def __init__(self, schema: Schema, store: Store, budget: Budget) -> None:
        self.runtime = Runtime(schema, store, budget, Estimator(schema, store), self)
        self._compiled: dict[Signature, Evaluate] = {}
        self._results: dict[Key, list[Row]] = {}
        self._components: dict[int, _Component] = {}

    def call(self, function: Signature, arguments: Row) -> Iterable[Row]:
        """Return the results of a function for arguments."""
        body = function.body
        if body is None:
            return call_builtin(self.runtime.schema, function.name, arguments)
        if body.component is None:
            return self._call_plain(function, arguments)
        component = self._components.get(body.component)
        if component is None:
            component = self._components[body.component] = _Component(self)
        return component.call(function, arguments)

    def evaluate(self, function: Signature, arguments: Row) -> Iterable[Row]:
        """Run the body of a function."""
        evaluate = self._compiled.get(function)
        if evaluate is None:
            assert function.body is not None
            evaluate = self.compile(function.body, _arguments_known(function))
            self._compiled[function] = evaluate
        return evaluate(arguments)

    def compile(self, body: Body, known: Known) -> Evaluate:
        """Compile a body to a function from arguments to rows of results."""
        compiler = StageCompiler(body.arguments, known, body.registry, self.runtime, as_set=False)
        transform = compiler.compile(body.stages)
        return _returning(body, transform, compiler, self.runtime)

    def _call_plain(self, function: Signature, arguments: Row) -> list[Row]:
        key = (function, arguments)
        known = self._results.get(key)
        if known is None:
            known = []
            for row in self.evaluate(function, arguments):
                self.runtime.budget.hold(len(row) + 2)
                known.append(row)
            self._results[key] = known
        return known


class _Answers:
    """What is known of one recursive call, in the order in which it was found.

    ``users`` are the calls that have used it. ``seen`` counts for each call it uses itself how
    many answers of that one it has taken in.
    """

    __slots__ = ("known", "ordered", "seen", "users")

    def __init__(self) -> None:
        self.known: set[Row] = set()
        self.ordered: list[Row] = []
        self.users: dict[Key, None] = {}
        self.seen: dict[Key, int] = {}


class _Component:
    """The calls of functions that call each other recursively.

    A function that makes at most one recursive call for each answer is re-evaluated with the new
    answers of what it calls only; others with all of them.
    """

    def __init__(self, tables: FunctionTables) -> None:
        self._tables = tables
        self._answers: dict[Key, _Answers] = {}
        self._waiting: dict[Key, None] = {}
        self._current: Key | None = None
        self._taken: dict[Key, int] = {}  # answers taken in by the current evaluation
        self._linear: dict[Signature, bool] = {}

    def call(self, function: Signature, arguments: Row) -> list[Row]:
        """Return all answers; to calls from within the component, those known and not yet taken."""
        key = (function, arguments)
        if self._current is None:
            if key not in self._answers:
                self._register(key)
                self._solve()
            return self._answers[key].ordered
        self._register(key)
        answers = self._answers[key]
        answers.users[self._current] = None
        until = self._taken.setdefault(key, len(answers.ordered))
        return answers.ordered[self._answers[self._current].seen.get(key, 0) : until]

    def _register(self, key: Key) -> None:
        if key not in self._answers:
            self._tables.runtime.budget.hold(10 + len(key[1]))
            self._answers[key] = _Answers()
            self._waiting[key] = None

    def _solve(self) -> None:
        while self._waiting:
            key = next(iter(self._waiting))
            del self._waiting[key]
            self._current, self._taken = key, {}
            answers = self._answers[key]
            if self._evaluate(key, answers):
                self._waiting.update(answers.users)
            if self._is_linear(key[0]):
                answers.seen.update(self._taken)
        self._current = None

    def _evaluate(self, key: Key, answers: _Answers) -> bool:
        """Add what the body yields now; tell whether anything was new."""
        budget = self._tables.runtime.budget
        budget.spend(1)
        before = len(answers.ordered)
        for row in self._tables.evaluate(*key):
            if row not in answers.known:
                answers.known.add(row)
                answers.ordered.append(row)
                budget.hold(len(row) + 2)
        return len(answers.ordered) > before

    def _is_linear(self, function: Signature) -> bool:
        linear = self._linear.get(function)
        if linear is None:
            body = function.body
            assert body is not None
            linear = self._linear[function] = recursive_calls(body) <= 1
        return linear


def _arguments_known(function: Signature) -> Known:
    known = Known()
    assert function.body is not None
    for var, parameter in zip(function.body.arguments, function.parameters, strict=True):
        if isinstance(parameter, f.Concepts):
            known.concepts[var] = parameter.types
        elif isinstance(parameter, ValueType):
            known.values[var] = parameter
    return known


def _returning(
    body: Body, transform: Transform, compiler: StageCompiler, runtime: Runtime
) -> Evaluate:
    slots, result = compiler.slots(), body.result
    match result:
        case f.StreamOf(variables):
            pick = picker([slots[var] for var in variables])
            return lambda arguments: map(pick, transform((arguments,)))
        case f.OneOf(variables):
            pick = picker([slots[var] for var in variables])
            choose = _last if result.last else _first
            return lambda arguments: [pick(row) for row in choose(transform((arguments,)))]
        case f.Checked():
            return lambda arguments: [(next(transform((arguments,)), None) is not None,)]
        case f.Reduced(reducers):
            types = [
                reducer_type(runtime.schema, body.registry, r, compiler.known) for r in reducers
            ]
            reductions = Reduction.of(reducers, slots, types)
            return lambda arguments: reduce_rows(
                transform((arguments,)), reductions, (), runtime.budget
            )


def _first(rows: Iterator[Row]) -> list[Row]:
    for row in rows:
        return [row]
    return []


def _last(rows: Iterator[Row]) -> list[Row]:
    last: list[Row] = []
    for row in rows:
        last = [row]
    return last
