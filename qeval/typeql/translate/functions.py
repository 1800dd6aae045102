"""Translation of functions and of the bodies that end in ``return``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.faults import Fault, within
from qeval.typeql.ir import functions as f
from qeval.typeql.ir.concept_builtins import CONCEPT_BUILTINS
from qeval.typeql.ir.pipelines import Match
from qeval.typeql.ir.variables import Category
from qeval.typeql.syntax import RESERVED, ast
from qeval.typeql.translate.scope import Scope
from qeval.typeql.translate.stages import translate_reducer, translate_stages
from qeval.typeql.values import VALUE_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def signature_of(function: ast.Function) -> f.Signature:
    """Read off a function's head what its callers need to know."""
    return f.Signature(
        function.name,
        tuple(category_of(argument.type) for argument in function.arguments),
        tuple(category_of(type_) for type_ in function.output.types),
        function.output.stream,
    )


def category_of(type_: ast.NamedType) -> Category:
    """Return the category of an argument or result: a value type's name, or a label."""
    if type_.is_list:
        return Category.LIST
    return Category.VALUE if type_.name in VALUE_TYPES else Category.THING


def translate_functions(
    functions: Iterable[ast.Function], known: Mapping[str, f.Signature]
) -> dict[str, f.Signature]:
    """Translate functions that may call each other and the ``known`` ones.

    Returns the known functions with the new ones added; a new one replaces one of the same name.
    Raises FRP… / REP5 for a fault inside a function.
    """
    heads = [(function, signature_of(function)) for function in functions]
    index = {**CONCEPT_BUILTINS, **known, **{head.name: head for _, head in heads}}
    for function, head in heads:
        with within("REP5"):
            head.body = _translate_function(function, index)
    return index


def translate_body(scope: Scope, body: ast.FunctionBody) -> f.Body:
    """Translate stages with a ``return``, as they stand in functions and inside ``fetch``."""
    with within("FRP4"):
        stages = translate_stages(scope, body.stages)
    result = _translate_result(scope, body.result)
    return f.Body((), stages, result, scope.registry, body.span)


def _translate_function(function: ast.Function, index: Mapping[str, f.Signature]) -> f.Body:
    if function.name in RESERVED:
        raise Fault("FRP9", f"the reserved word '{function.name}' cannot name a function")
    scope = Scope(index)
    arguments = []
    for argument in function.arguments:
        variable = argument.variable
        if variable.name is None:
            raise Fault("FRP10", "an argument needs a name", variable.span)
        category = category_of(argument.type)
        arguments.append(scope.introduce(variable.name, variable.span, category))
    body = translate_body(scope, function.body)
    body.arguments = tuple(arguments)
    body.argument_types = tuple(argument.type for argument in function.arguments)
    body.output = function.output
    _check_arguments_used(function, body)
    _check_result(function, body.result)
    return body


def _check_arguments_used(function: ast.Function, body: f.Body) -> None:
    used = {
        var for stage in body.stages if isinstance(stage, Match) for var in stage.block.root.visible
    }
    for var, argument in zip(body.arguments, function.arguments, strict=True):
        if var not in used:
            raise Fault("FRP1", f"the argument {var} is not used", argument.span)


def _check_result(function: ast.Function, result: f.Result) -> None:
    streams = isinstance(result, f.StreamOf)
    if streams != function.output.stream:
        code = "FRP12" if streams else "FRP11"
        raise Fault(code, f"{function.name} returns one answer where it declares a stream, or not")
    match result:
        case f.StreamOf() | f.OneOf():
            count = len(result.variables)
        case f.Reduced():
            count = len(result.reducers)
        case f.Checked():
            count = 1
    declared = len(function.output.types)
    if count != declared:
        raise Fault("FRP8", f"{function.name} declares {declared} results and returns {count}")


def _translate_result(scope: Scope, result: ast.Return) -> f.Result:
    match result:
        case ast.ReturnStream():
            return f.StreamOf(tuple(scope.find(var, "FRP2") for var in result.variables))
        case ast.ReturnSingle():
            variables = tuple(scope.find(var, "FRP3") for var in result.variables)
            return f.OneOf(variables, last=result.selector == "last")
        case ast.ReturnCheck():
            return f.Checked()
        case ast.ReturnReduce():
            with within("FRP5"):
                reducers = tuple(
                    translate_reducer(scope, reducer, result.span) for reducer in result.reducers
                )
            return f.Reduced(reducers)
