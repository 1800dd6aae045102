"""Types of functions, and the ban on recursion through what is not monotone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.check.annotate import Known, annotate_stages, reducer_type
from qeval.typeql.faults import Fault, within
from qeval.typeql.ir import functions as f
from qeval.typeql.ir.constraints import Call
from qeval.typeql.ir.patterns import Not
from qeval.typeql.ir.pipelines import Distinct, Limit, Match, Offset, Reduce, Sort
from qeval.typeql.values import VALUE_TYPES, ValueType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qeval.typeql.ir.functions import Body, Parameter, Signature
    from qeval.typeql.ir.patterns import Conjunction
    from qeval.typeql.ir.variables import Var
    from qeval.typeql.schema import Schema
    from qeval.typeql.syntax.ast import NamedType


def annotate_functions(
    schema: Schema, functions: Iterable[Signature], *, abstract: bool = False
) -> None:
    """Infer the types of functions that may call each other; ``abstract`` for schema functions.

    Two rounds, as on the server: the second knows what the bodies returned in the first. Raises
    FIN0 (a fault in the body), FIN1, FIN2 (unknown types in the head), FIN3 (a fault in a
    returned reducer), FIN4 (the body returns something else than declared).
    """
    functions = list(functions)
    for function in functions:
        assert function.body is not None
        function.parameters = _declared_arguments(schema, function.body)
        function.results = _declared_results(schema, function.body)
    for _ in range(2):
        found = [_annotate(schema, function, abstract=abstract) for function in functions]
        for function, (parameters, results) in zip(functions, found, strict=True):
            function.parameters, function.results = parameters, results


def annotate_anonymous(schema: Schema, body: Body, known: Known) -> tuple[Parameter, ...]:
    """Infer the types of a body inside ``fetch`` and return those of its results."""
    known = known.copy()
    with within("FIN0"):
        annotate_stages(schema, body.registry, body.stages, known)
    return _results(schema, body, known)


def _annotate(
    schema: Schema, function: Signature, *, abstract: bool
) -> tuple[tuple[Parameter, ...], tuple[Parameter, ...]]:
    body = function.body
    assert body is not None
    known = Known()
    for var, parameter in zip(body.arguments, _declared_arguments(schema, body), strict=True):
        if isinstance(parameter, f.Concepts):
            known.concepts[var] = parameter.types
        elif isinstance(parameter, ValueType):
            known.values[var] = parameter
    declared = known.copy()
    with within("FIN0"):
        annotate_stages(schema, body.registry, body.stages, known, abstract=abstract)
    results = _results(schema, body, known)
    _check_results(schema, function, results)
    return tuple(_argument(body, var, declared) for var in body.arguments), results


def _argument(body: Body, var: Var, declared: Known) -> Parameter:
    """Return the types of an argument as the first match that uses it narrows them.

    A caller's variable is held to these types, so `f($x) == false` has no row where a type alone
    makes the body fail. The server's type inference does that too.
    """
    for stage in body.stages:
        if isinstance(stage, Match) and var in stage.block.root.types:
            return f.Concepts(stage.block.root.types[var])
    return declared.parameter(var)


def _results(schema: Schema, body: Body, known: Known) -> tuple[Parameter, ...]:
    match body.result:
        case f.StreamOf(variables) | f.OneOf(variables):
            return tuple(known.parameter(var) for var in variables)
        case f.Reduced(reducers):
            with within("FIN3"):
                return tuple(reducer_type(schema, body.registry, r, known) for r in reducers)
        case f.Checked():
            return (ValueType.BOOLEAN,)


def _check_results(schema: Schema, function: Signature, results: tuple[Parameter, ...]) -> None:
    body = function.body
    assert body is not None
    assert body.output is not None
    declared = _declared_results(schema, body)
    for inferred, expected in zip(results, declared, strict=True):
        if isinstance(inferred, f.Concepts) and isinstance(expected, f.Concepts):
            fits = not inferred.types & ~expected.types
        else:
            fits = inferred is expected
        if not fits:
            message = f"{function.name} returns something else than it declares"
            raise Fault("FIN4", message, body.output.span)


def _declared_arguments(schema: Schema, body: Body) -> tuple[Parameter, ...]:
    with within("FIN1"):
        return _resolve_all(schema, body.argument_types or ())


def _declared_results(schema: Schema, body: Body) -> tuple[Parameter, ...]:
    with within("FIN2"):
        return _resolve_all(schema, body.output.types if body.output else ())


def _resolve_all(schema: Schema, types: Sequence[NamedType]) -> tuple[Parameter, ...]:
    return tuple(_resolve(schema, type_) for type_ in types)


def _resolve(schema: Schema, type_: NamedType) -> Parameter:
    if type_.is_list:
        raise Fault("INF256", "list types are not implemented", type_.span)
    if type_.name in VALUE_TYPES:
        return VALUE_TYPES[type_.name]
    found = schema.find(type_.name)
    if found is None:
        raise Fault("INF2", f"there is no type '{type_.name}'", type_.span)
    return f.Concepts(found.subs)


def calls_in(body: Body) -> Iterator[tuple[Signature, bool]]:
    """Yield the functions a body calls, each with whether it is inside a negation."""
    for stage in body.stages:
        if isinstance(stage, Match):
            yield from _calls_in(stage.block.root)


def _calls_in(root: Conjunction) -> Iterator[tuple[Signature, bool]]:
    waiting = [(root, False)]
    while waiting:
        conjunction, negated = waiting.pop()
        for constraint in conjunction.constraints:
            if isinstance(constraint, Call) and constraint.function.body is not None:
                yield constraint.function, negated
        for nested in conjunction.nested:
            inner = negated or isinstance(nested, Not)
            waiting += [(body, inner) for body in nested.bodies]


def find_recursion(functions: Iterable[Signature], *, first: int = 0) -> None:
    """Group functions that call each other and number the groups in ``body.component``.

    Numbers begin at ``first``. Functions of a query form no group with those of the schema, which
    cannot call them, and must not renumber them while other queries run.

    Raises FUN9 if such a cycle passes through a negation, a reduction, a sort or another stage
    that needs all answers first, or through a function that returns a single answer.
    """
    functions = [function for function in functions if function.body is not None]
    reached = {function: _reachable(function) for function in functions}
    numbers: dict[frozenset[Signature], int] = {}
    for function in functions:
        body = function.body
        assert body is not None
        group = frozenset(
            other for other in reached[function] if function in reached.get(other, ())
        )
        body.component = numbers.setdefault(group, first + len(numbers)) if group else None
        for called, negated in calls_in(body):
            if called in group and (negated or not _monotone(body)):
                message = f"{function.name} calls itself through a negation or a reduction"
                raise Fault("FUN9", message, body.span)


def recursive_calls(body: Body) -> int:
    """Return how many calls within its own group a body makes, at most, for one answer."""
    matches = [stage for stage in body.stages if isinstance(stage, Match)]
    return sum(_recursive_calls(stage.block.root, body.component) for stage in matches)


def _recursive_calls(conjunction: Conjunction, component: int | None) -> int:
    calls = [k.function.body for k in conjunction.constraints if isinstance(k, Call)]
    count = sum(body is not None and body.component == component for body in calls)
    for nested in conjunction.nested:
        count += max(_recursive_calls(body, component) for body in nested.bodies)
    return count


def _reachable(function: Signature) -> set[Signature]:
    found: set[Signature] = set()
    waiting = [function]
    while waiting:
        body = waiting.pop().body
        assert body is not None
        new = {called for called, _ in calls_in(body)} - found
        found |= new
        waiting.extend(new)
    return found


def _monotone(body: Body) -> bool:
    collecting = any(
        isinstance(stage, Sort | Distinct | Offset | Limit | Reduce) for stage in body.stages
    )
    return isinstance(body.result, f.StreamOf) and not collecting
