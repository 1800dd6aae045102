"""From stage to stage: types of variables, value types, and the checks that need them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qeval.typeql.check.inference import Inference
from qeval.typeql.check.value_types import (
    ExpressionTyping,
    check_arguments,
    results_of_calls,
    value_types_in,
)
from qeval.typeql.faults import Fault, within
from qeval.typeql.ir import pipelines as p
from qeval.typeql.ir.functions import Concepts
from qeval.typeql.values import ValueType
from qeval.typeql.values.kinds import NUMERIC, comparable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qeval.typeql.ir.functions import Parameter
    from qeval.typeql.ir.variables import Registry, Var
    from qeval.typeql.schema import Schema

_T = ValueType
_ORDERED = NUMERIC | {_T.STRING, _T.DATE, _T.DATETIME, _T.DATETIME_TZ}


@dataclass(slots=True)
class Known:
    """What is known of the variables at one point of a pipeline."""

    concepts: dict[Var, int] = field(default_factory=dict)
    values: dict[Var, ValueType] = field(default_factory=dict)

    def copy(self) -> Known:
        """Return an independent copy."""
        return Known(self.concepts.copy(), self.values.copy())

    def parameter(self, var: Var) -> Parameter:
        """Return a variable's type as that of a function's argument or result."""
        if var in self.concepts:
            return Concepts(self.concepts[var])
        return self.values[var]


def annotate_stages(
    schema: Schema,
    registry: Registry,
    stages: Iterable[p.Stage],
    known: Known,
    *,
    abstract: bool = False,
) -> None:
    """Infer all types of the stages, check them, and leave in ``known`` what holds at the end."""
    for stage in stages:
        match stage:
            case p.Match():
                _annotate_match(schema, registry, stage, known, abstract=abstract)
            case p.Sort():
                _check_sort(schema, registry, stage, known)
            case p.Select():
                kept = set(stage.variables)
                known.concepts = {v: t for v, t in known.concepts.items() if v in kept}
                known.values = {v: t for v, t in known.values.items() if v in kept}
            case p.Reduce():
                for target, reducer in stage.reductions:
                    known.values[target] = reducer_type(schema, registry, reducer, known)


def _annotate_match(
    schema: Schema, registry: Registry, stage: p.Match, known: Known, *, abstract: bool
) -> None:
    root = stage.block.root
    with within("QUA1"):
        Inference(schema, registry, abstract=abstract).run(root, known.concepts)
    known.concepts.update(root.types)
    with within("QUA3"):
        known.values.update(results_of_calls(root, known.values))
        typing = ExpressionTyping(schema, registry, known.values)
        known.values.update(typing.run(root))
    check_arguments(root, known.values)
    stage.block.value_types = {**known.values, **typing.known}


def _check_sort(schema: Schema, registry: Registry, sort: p.Sort, known: Known) -> None:
    for var, _ in sort.keys:
        if var in known.values:
            continue
        found = _value_types(schema, registry, known, var)
        first = min(found)
        if not all(comparable(first, other) for other in found):
            types = ", ".join(sorted(found))
            raise Fault("QUA16", f"{var} cannot be sorted: it can be {types}", var.span)


def _value_types(schema: Schema, registry: Registry, known: Known, var: Var) -> set[ValueType]:
    """The value types of the attributes that a variable can hold; never empty."""
    found = value_types_in(schema, known.concepts.get(var, 0))
    if found is None or registry.categories[var].is_type:
        with within("QUA1"):
            raise Fault("INF7", f"{var} has no value", var.span)
    if not found:
        raise Fault("QUA13", f"the value type of {var} is not known", var.span)
    return found


def reducer_type(schema: Schema, registry: Registry, reducer: p.Reducer, known: Known) -> ValueType:
    """Return the type a reducer yields; raises QUA13, QUA14, QUA15 or INF7 for its input."""
    var = reducer.variable
    if reducer.name == "count" or var is None:
        return _T.INTEGER
    value_type = known.values.get(var)
    if value_type is None:
        found = _value_types(schema, registry, known, var)
        if len(found) != 1:
            raise Fault("QUA14", f"{var} can have values of several types", reducer.span)
        value_type = found.pop()
    admitted = _ORDERED if reducer.name in ("min", "max") else NUMERIC
    if value_type not in admitted:
        raise Fault("QUA15", f"{reducer.name} does not apply to {value_type}", reducer.span)
    if reducer.name in ("min", "max", "sum"):
        return value_type
    if value_type is _T.DECIMAL and reducer.name != "std":
        return _T.DECIMAL
    return _T.DOUBLE
