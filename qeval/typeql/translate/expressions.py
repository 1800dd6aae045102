"""Translation of expressions; calls inside them become constraints of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.errors import TypeQLError
from qeval.typeql.faults import Fault, within
from qeval.typeql.ir.constraints import LabelRef
from qeval.typeql.ir.expressions import Builtin, Constant, ListForm, Operation
from qeval.typeql.syntax import ast
from qeval.typeql.translate.scope import label_text
from qeval.typeql.values.builtins import ARITY
from qeval.typeql.values.reading import read_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qeval.typeql.ir.constraints import ValueTerm
    from qeval.typeql.ir.expressions import Expression
    from qeval.typeql.ir.variables import Var
    from qeval.typeql.translate.blocks import BlockBuilder

_OF_CONCEPTS = ("iid", "label")


def constant(literal: ast.Literal) -> Constant:
    """Translate a literal; raises LIT… / REP12 if it stands for no value."""
    try:
        with within("REP12"):
            return Constant(read_literal(literal.value_type, literal.text))
    except TypeQLError as error:
        raise Fault.located(error, literal.span) from error


def value_term(builder: BlockBuilder, node: ast.Expression) -> ValueTerm:
    """Translate the side of a comparison: a literal, a variable, or a computed variable."""
    if isinstance(node, ast.Literal):
        return constant(node)
    if isinstance(node, ast.Variable):
        return builder.variable(node)
    return _computed(builder, node)


def expression(  # noqa: PLR0911 - one a form
    builder: BlockBuilder, node: ast.Expression
) -> Expression:
    """Translate an expression."""
    match node:
        case ast.Parenthesis():
            return expression(builder, node.inner)
        case ast.Variable():
            return builder.variable(node)
        case ast.Literal():
            return constant(node)
        case ast.Operation():
            left = expression(builder, node.left)
            right = expression(builder, node.right)
            return Operation(node.operator, left, right, node.span)
        case ast.Call():
            return _call(builder, node)
        case ast.Label() | ast.ScopedLabel():
            return _type_variable(builder, node)
        case ast.ListNew():
            items = tuple(expression(builder, item) for item in node.items)
            return ListForm(items, node.span)
        case ast.ListIndex():
            variable = builder.variable(node.variable)
            return ListForm((variable, expression(builder, node.index)), node.span)
        case ast.ListRange():
            variable = builder.variable(node.variable)
            bounds = (expression(builder, node.low), expression(builder, node.high))
            return ListForm((variable, *bounds), node.span)


def call(
    builder: BlockBuilder,
    node: ast.Call,
    targets: Sequence[Var],
    optional: frozenset[Var] = frozenset(),
) -> None:
    """Add a function call whose results go to the targets."""
    if node.name in _OF_CONCEPTS:
        _check_arity(node, 1)
    arguments = [_argument(builder, argument) for argument in node.arguments]
    builder.add_call(node.name, targets, arguments, optional, node.span)


def is_builtin(name: str) -> bool:
    """Tell the functions of the language from those of the user."""
    return name in ARITY or name in _OF_CONCEPTS


def _call(builder: BlockBuilder, node: ast.Call) -> Expression:
    if node.name in ARITY:
        arguments = tuple(expression(builder, argument) for argument in node.arguments)
        _check_arity(node, ARITY[node.name])
        return Builtin(node.name, arguments, node.span)
    result = builder.anonymous(node.span)
    call(builder, node, [result])
    return result


def _argument(builder: BlockBuilder, node: ast.Expression) -> Var:
    if isinstance(node, ast.Variable):
        return builder.variable(node)
    if isinstance(node, ast.Label | ast.ScopedLabel):
        return _type_variable(builder, node)
    return _computed(builder, node)


def _computed(builder: BlockBuilder, node: ast.Expression) -> Var:
    translated = expression(builder, node)
    target = builder.anonymous(node.span)
    builder.add_let(target, translated, node.span)
    return target


def _type_variable(builder: BlockBuilder, node: ast.Label | ast.ScopedLabel) -> Var:
    var = builder.anonymous(node.span)
    builder.add_label(var, LabelRef(label_text(node), node.span), node.span)
    return var


def _check_arity(node: ast.Call, expected: int) -> None:
    if len(node.arguments) != expected:
        given = len(node.arguments)
        raise Fault("REP15", f"{node.name} takes {expected} arguments, not {given}", node.span)
