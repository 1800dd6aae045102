"""Translation of ``fetch``: everything that is computed becomes an anonymous function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.check.binding import finish_block
from qeval.typeql.faults import Fault, within
from qeval.typeql.ir import fetches as g
from qeval.typeql.ir.functions import Body, Checked, OneOf, Reduced, StreamOf
from qeval.typeql.ir.pipelines import Match, Pipeline
from qeval.typeql.syntax import ast
from qeval.typeql.translate.blocks import BlockBuilder
from qeval.typeql.translate.expressions import call, expression, is_builtin
from qeval.typeql.translate.functions import translate_body
from qeval.typeql.translate.scope import label_text
from qeval.typeql.translate.stages import translate_stages
from qeval.typeql.values.reading import read_literal

if TYPE_CHECKING:
    from qeval.typeql.ir.functions import Signature
    from qeval.typeql.ir.variables import Var
    from qeval.typeql.translate.scope import Scope


def translate_pipeline(scope: Scope, pipeline: ast.Pipeline) -> Pipeline:
    """Translate stages and the ``fetch`` at their end."""
    stages = translate_stages(scope, pipeline.stages)
    fetch = None
    if pipeline.fetch is not None:
        with within("REP23"):
            fetch = _object(scope, pipeline.fetch.object)
    outputs = tuple(scope.names[name] for name in sorted(scope.names))
    return Pipeline(stages, outputs, scope.registry, fetch)


def _object(scope: Scope, node: ast.FetchObject | ast.FetchAll) -> g.FetchObject:
    if isinstance(node, ast.FetchAll):
        return g.FetchAll(_find(scope, node.variable))
    entries: dict[str, tuple[str, g.FetchValue, ast.Span]] = {}
    for entry in node.entries:
        key = str(read_literal("string", entry.key.text))
        if key in entries:
            raise Fault("FER21", f'the key "{key}" occurs twice', entry.span)
        entries[key] = (key, _value(scope, entry.value), entry.span)
    return g.FetchEntries(tuple(entries.values()))


def _value(  # noqa: PLR0911 - one a form
    scope: Scope, node: ast.FetchValue
) -> g.FetchValue:
    match node:
        case ast.FetchObject() | ast.FetchAll():
            return _object(scope, node)
        case ast.FetchList():
            return _list(scope, node)
        case ast.FetchAttribute():
            return _attribute(scope, node, many=False)
        case ast.FunctionBody():
            return _single_body(scope, node)
        case ast.Variable():
            return g.FetchVariable(_find(scope, node))
        case ast.Label() | ast.ScopedLabel():
            with within("FER19"):
                return g.FetchType(label_text(node), node.span)
        case ast.Call() if not is_builtin(node.name):
            function, body = _inline_call(scope, node)
            if function.stream:
                message = f"{node.name} returns a stream: write [ {node.name}(…) ]"
                raise Fault("FER14", message, node.span)
            return g.FetchFunction(body, many=False)
        case ast.ListNew() | ast.ListRange():
            raise Fault("FER0", "lists are not implemented", node.span)
        case _:
            return _inline_expression(scope, node)


def _find(scope: Scope, variable: ast.Variable) -> Var:
    if variable.name is None:
        raise Fault("FER1", "a variable needs a name here", variable.span)
    return scope.find(variable, "FER5")


def _attribute(scope: Scope, node: ast.FetchAttribute, *, many: bool) -> g.FetchAttribute:
    owner = _find(scope, node.variable)
    if node.is_list:
        raise Fault("QUA0", "lists are not implemented", node.span)
    with within("FER19"):
        return g.FetchAttribute(owner, label_text(node.attribute), many, node.span)


def _list(scope: Scope, node: ast.FetchList) -> g.FetchValue:
    source = node.source
    match source:
        case ast.FetchAttribute():
            if source.is_list:
                raise Fault("FER18", "a list attribute takes no brackets around it", source.span)
            return _attribute(scope, source, many=True)
        case ast.Call():
            if is_builtin(source.name):
                raise Fault("FER17", f"{source.name} returns one value, no list", source.span)
            _, body = _inline_call(scope, source)
            return g.FetchFunction(body, many=True)
        case ast.FunctionBody():
            body = _nested_body(scope, source)
            if _width(body) != 1 and not isinstance(body.result, Reduced):
                raise Fault("FER13", "a list holds one value a row", source.span)
            return g.FetchFunction(body, many=True)
        case ast.Pipeline():
            with within("FER19"):
                pipeline = translate_pipeline(scope.nested(), source)
            if pipeline.fetch is None:
                raise Fault("FER20", "a pipeline inside [ ] must end with fetch", source.span)
            return g.FetchPipeline(pipeline)


def _single_body(scope: Scope, node: ast.FunctionBody) -> g.FetchFunction:
    body = _nested_body(scope, node)
    if isinstance(body.result, StreamOf):
        raise Fault("FER11", "a stream must be collected by [ ]", node.span)
    if _width(body) != 1:
        raise Fault("FER12", "several results cannot be one value", node.span)
    return g.FetchFunction(body, many=False)


def _nested_body(scope: Scope, node: ast.FunctionBody) -> Body:
    inner = scope.nested()
    with within("FER10"):
        body = translate_body(inner, node)
    body.arguments = tuple(scope.names.values())
    return body


def _width(body: Body) -> int:
    match body.result:
        case Reduced(reducers):
            return len(reducers)
        case Checked():
            return 1
        case StreamOf(variables) | OneOf(variables):
            return len(variables)


def _inline_call(scope: Scope, node: ast.Call) -> tuple[Signature, Body]:
    function = scope.functions.get(node.name)
    if function is None:
        raise Fault("FER9", f"there is no function '{node.name}'", node.span)
    if len(function.result_categories) > 1:
        raise Fault("FER15", f"{node.name} returns several values a row", node.span)
    inner = scope.nested()
    builder = BlockBuilder(inner, node.span)
    target = builder.anonymous(node.span)
    with within("FER6"):
        call(builder, node, [target])
    result = StreamOf((target,)) if function.stream else OneOf((target,), last=False)
    return function, _anonymous(scope, builder, result)


def _inline_expression(scope: Scope, node: ast.Expression) -> g.FetchFunction:
    builder = BlockBuilder(scope.nested(), node.span)
    target = builder.anonymous(node.span)
    with within("FER6"):
        translated = expression(builder, node)
    with within("FER7"):
        builder.add_let(target, translated, node.span)
    return g.FetchFunction(_anonymous(scope, builder, OneOf((target,), last=False)), many=False)


def _anonymous(scope: Scope, builder: BlockBuilder, result: StreamOf | OneOf) -> Body:
    with within("FER7"):
        block = finish_block(builder)
    span = builder.root.span
    outputs = (*builder.scope.names.values(), *result.variables)
    stage = Match(block, outputs, span)
    arguments = tuple(scope.names.values())
    return Body(arguments, (stage,), result, builder.scope.registry, span)
