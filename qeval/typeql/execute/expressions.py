"""Compilation of expressions and comparisons to functions of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from qeval.typeql.faults import Fault
from qeval.typeql.ir.expressions import Builtin, Constant, Operation
from qeval.typeql.ir.variables import Var
from qeval.typeql.store import Attribute
from qeval.typeql.values import value_type_of
from qeval.typeql.values.arithmetic import resolve
from qeval.typeql.values.builtins import resolve_builtin
from qeval.typeql.values.comparison import attribute_comparison, comparison, mirrored

if TYPE_CHECKING:
    from collections.abc import Callable

    from qeval.typeql.execute.runtime import Layout, Row
    from qeval.typeql.ir.constraints import Compare, ValueTerm
    from qeval.typeql.ir.expressions import Expression
    from qeval.typeql.plan.steps import ValueTest
    from qeval.typeql.values import ValueType

Evaluate: TypeAlias = "Callable[[Row], Any]"


def compile_expression(expression: Expression, layout: Layout) -> tuple[Evaluate, ValueType]:
    """Return a function from a row to the value of an expression, and the value's type.

    The function raises EEV3 for a variable without a value and what the operators raise.
    """
    match expression:
        case Constant(value):
            return (lambda _row: value), value_type_of(value)
        case Var():
            return _read(layout.slots[expression]), layout.value_types[expression]
        case Operation():
            left, left_type = compile_expression(expression.left, layout)
            right, right_type = compile_expression(expression.right, layout)
            resolved = resolve(expression.op, left_type, right_type)
            assert resolved is not None
            result_type, compute = resolved
            return (lambda row: compute(left(row), right(row))), result_type
        case Builtin():
            return _compile_builtin(expression, layout)
        case _:
            raise AssertionError(expression)


def _compile_builtin(call: Builtin, layout: Layout) -> tuple[Evaluate, ValueType]:
    compiled = [compile_expression(argument, layout) for argument in call.arguments]
    resolved = resolve_builtin(call.name, compiled[0][1])
    assert resolved is not None
    result_type, compute = resolved
    if len(compiled) == 1:
        only = compiled[0][0]
        return (lambda row: compute(only(row))), result_type
    first, second = compiled[0][0], compiled[1][0]
    return (lambda row: compute(first(row), second(row))), result_type


def _read(slot: int) -> Evaluate:
    def read(row: Row) -> Any:
        found = row[slot]
        if found.__class__ is Attribute:
            return found.value
        if found is None:
            raise Fault("EEV3", "an expression needs a value that is missing")
        return found

    return read


def compile_comparison(compare: Compare, layout: Layout) -> Evaluate:
    """Return a function that tells whether a comparison holds in a row; None never compares."""
    left, right = _operand(compare.left, layout), _operand(compare.right, layout)
    op = compare.op
    flipped = mirrored(op)

    def holds(row: Row) -> bool:
        one, other = left(row), right(row)
        if one is None or other is None:
            return False
        if one.__class__ is Attribute:
            if other.__class__ is Attribute:
                test = comparison(op, one.type.value_type, other.type.value_type)
                return test is not None and test(one.value, other.value)
            test = attribute_comparison(op, one.type.value_type, value_type_of(other))
            return test is not None and test(one.value, other)
        if other.__class__ is Attribute:
            if flipped is None:
                test = comparison(op, value_type_of(one), other.type.value_type)
                return test is not None and test(one, other.value)
            test = attribute_comparison(flipped, other.type.value_type, value_type_of(one))
            return test is not None and test(other.value, one)
        test = comparison(op, value_type_of(one), value_type_of(other))
        return test is not None and test(one, other)

    return holds


def _operand(term: ValueTerm, layout: Layout) -> Evaluate:
    if isinstance(term, Constant):
        value = term.value
        return lambda _row: value
    slot = layout.slots[term]
    return lambda row: row[slot]


def compile_tests(
    tests: tuple[ValueTest, ...], attribute_type: ValueType
) -> Callable[[Any], bool] | None:
    """Return one test of an attribute's value for several comparisons with constants.

    None stands for a test that always holds. A comparison between types that never compare gives
    one that never does.
    """
    compiled: list[Callable[[Any], bool]] = []
    for test in tests:
        value = test.constant.value
        compare = attribute_comparison(test.op, attribute_type, value_type_of(value))
        if compare is None:
            return lambda _value: False
        compiled.append(_against(compare, value))
    if not compiled:
        return None
    if len(compiled) == 1:
        return compiled[0]
    return lambda value: all(test(value) for test in compiled)


def _against(compare: Callable[[Any, Any], bool], constant: Any) -> Callable[[Any], bool]:
    return lambda value: compare(value, constant)
