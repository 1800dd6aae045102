"""Function calls: results are kept per arguments; recursion runs to a fixed point.

A recursive call is never evaluated inside its caller: it returns what is known so far and is put
on a list. Whenever the answers of a call grow, those who used them are evaluated again, until
nothing grows. So recursion ends on cyclic data, and its depth costs no stack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qeval.typeql.check.annotate import Known, reducer_type
from qeval.typeql.execute.nesting import picker
from qeval.typeql.execute.reducing import reduce_rows
from qeval.typeql.execute.stages import StageCompiler
from qeval.typeql.ir import functions as f
from qeval.typeql.values import ValueType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from qeval.typeql.execute.runtime import Row, Runtime, Transform
    from qeval.typeql.ir.functions import Body, Signature
    from qeval.typeql.plan.estimate import Estimator

    Key: TypeAlias = tuple[Signature, Row]
    Evaluate: TypeAlias = Callable[[Row], Iterable[Row]]


class FunctionTables:
    """Answers the function calls of one query."""

    def __init__(self, estimator: Estimator) -> None:
        self.runtime: Runtime  # set by whoever builds both, as each needs the other
        self._estimator = estimator
        self._compiled: dict[Signature, Evaluate] = {}
        self._results: dict[Key, list[Row]] = {}
        self._components: dict[int, _Component] = {}

    def call(self, function: Signature, arguments: Row) -> Iterable[Row]:
        """Return the results of a function for arguments."""
        body = function.body
        if body is None:
            return _concept_builtin(function.name, arguments[0])
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
        compiler = StageCompiler(
            body.arguments, known, body.registry, self._estimator, self.runtime, as_set=False
        )
        transform = compiler.compile(body.stages)
        return _returning(body, transform, compiler, self.runtime)

    def _call_plain(self, function: Signature, arguments: Row) -> list[Row]:
        key = (function, arguments)
        known = self._results.get(key)
        if known is None:
            known = []
            for row in self.evaluate(function, arguments):
                self.runtime.budget.hold(len(row))
                known.append(row)
            self._results[key] = known
        return known


class _Component:
    """The calls of functions that call each other recursively."""

    def __init__(self, tables: FunctionTables) -> None:
        self._tables = tables
        self._answers: dict[Key, dict[Row, None]] = {}
        self._users: dict[Key, dict[Key, None]] = {}
        self._waiting: dict[Key, None] = {}
        self._current: Key | None = None

    def call(self, function: Signature, arguments: Row) -> list[Row]:
        key = (function, arguments)
        if self._current is not None:
            self._register(key)
            self._users[key][self._current] = None
        elif key not in self._answers:
            self._register(key)
            self._solve()
        return list(self._answers[key])

    def _register(self, key: Key) -> None:
        if key not in self._answers:
            self._tables.runtime.budget.hold(4 + len(key[1]))
            self._answers[key] = {}
            self._users[key] = {}
            self._waiting[key] = None

    def _solve(self) -> None:
        budget = self._tables.runtime.budget
        while self._waiting:
            key, _ = self._waiting.popitem()
            self._current = key
            budget.spend(1)
            answers = self._answers[key]
            before = len(answers)
            for row in self._tables.evaluate(*key):
                if row not in answers:
                    answers[row] = None
                    budget.hold(len(row))
            if len(answers) > before:
                self._waiting.update(self._users[key])
        self._current = None


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
            types = [reducer_type(runtime.schema, r, compiler.known) for r in reducers]
            return lambda arguments: reduce_rows(
                transform((arguments,)), slots, reducers, (), types, runtime.budget
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


def _concept_builtin(name: str, concept: Any) -> list[Row]:
    if concept is None:
        return []
    return [(concept.iid if name == "iid" else concept.label,)]
