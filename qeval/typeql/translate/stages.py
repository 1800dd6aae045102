"""Translation of pipelines: stage by stage, each seeing the variables the one before leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.check.binding import finish_block
from qeval.typeql.faults import Fault, within
from qeval.typeql.ir import pipelines as p
from qeval.typeql.ir.variables import Category
from qeval.typeql.syntax import ast
from qeval.typeql.translate.blocks import BlockBuilder
from qeval.typeql.translate.statements import add_patterns
from qeval.typeql.values.reading import read_count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qeval.typeql.ir.variables import Var
    from qeval.typeql.translate.scope import Scope

MAX_STAGES = 1_000
_NEVER_EMPTY = ("count", "sum")


def translate_stages(scope: Scope, stages: Iterable[ast.Stage]) -> tuple[p.Stage, ...]:
    """Translate the read stages of a pipeline; afterwards ``scope`` is what they leave visible."""
    return tuple(_translate_stage(scope, stage) for stage in stages)


def translate_match(scope: Scope, body: ast.Conjunction, span: ast.Span) -> p.Match:
    """Translate the pattern of a ``match``."""
    builder = BlockBuilder(scope, span)
    add_patterns(builder, body)
    block = finish_block(builder)
    return p.Match(block, tuple(scope.names.values()), span)


def _translate_stage(  # noqa: PLR0911 - one a stage
    scope: Scope, stage: ast.Stage
) -> p.Stage:
    span = stage.span
    match stage:
        case ast.Match():
            return translate_match(scope, stage.body, span)
        case ast.Select():
            kept = [scope.find(variable, "REP18") for variable in stage.variables]
            scope.names = {name: var for name, var in scope.names.items() if var in kept}
            return p.Select(tuple(scope.names.values()), span)
        case ast.Sort():
            keys = [(scope.find(key.variable, "REP18"), key.descending) for key in stage.keys]
            return p.Sort(tuple(keys), span)
        case ast.Offset():
            return p.Offset(_count(stage.count), span)
        case ast.Limit():
            return p.Limit(_count(stage.count), span)
        case ast.Require():
            required = [scope.find(variable, "REP18") for variable in stage.variables]
            return p.Require(tuple(required), span)
        case ast.Distinct():
            return p.Distinct(span)
        case ast.Reduce():
            return _translate_reduce(scope, stage)
        case _:
            raise Fault("FRP7", "only reading stages are allowed here", span)


def _count(literal: ast.Literal) -> int:
    with within("REP12"):
        return read_count(literal.text)


def _translate_reduce(scope: Scope, stage: ast.Reduce) -> p.Reduce:
    groupby = tuple(scope.find(variable, "REP29") for variable in stage.groupby)
    # All of them first: none sees what another of the same stage yields.
    reducers = [translate_reducer(scope, each.reducer, stage.span) for each in stage.reductions]
    reductions: list[tuple[Var, p.Reducer]] = []
    for reduction, reducer in zip(stage.reductions, reducers, strict=True):
        target = reduction.target
        if target.name is None:
            raise Fault("REP41", "the target of a reduction needs a name", target.span)
        if target.name in scope.names:
            raise Fault("REP48", f"${target.name} already has a value", target.span)
        var = scope.introduce(target.name, target.span, Category.VALUE)
        if reducer.name not in _NEVER_EMPTY:
            scope.registry.optional.add(var)
        reductions.append((var, reducer))
    kept = {*groupby, *(var for var, _ in reductions)}
    scope.names = {name: var for name, var in scope.names.items() if var in kept}
    return p.Reduce(tuple(reductions), groupby, stage.span)


def translate_reducer(scope: Scope, reducer: ast.Reducer, span: ast.Span) -> p.Reducer:
    """Translate ``sum($x)`` and its like; raises REP254 for ``list`` and REP19.

    ``span`` is that of the whole stage, where the server reports what is wrong with a reducer.
    """
    if reducer.name == "list":
        raise Fault("REP254", "lists are not implemented", reducer.span)
    variable = None
    if reducer.variable is not None:
        variable = scope.find(reducer.variable, "REP19")
    return p.Reducer(reducer.name, variable, span)
