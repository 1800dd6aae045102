"""The value types of variables that are computed, and the soundness of the expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.faults import Fault
from qeval.typeql.ir.constraints import Call, Let
from qeval.typeql.ir.expressions import Builtin, Constant, ListForm, Operation, inputs
from qeval.typeql.ir.variables import Category, Var
from qeval.typeql.schema import Kind
from qeval.typeql.values import ValueType, value_type_of
from qeval.typeql.values.arithmetic import resolve
from qeval.typeql.values.builtins import resolve_builtin

if TYPE_CHECKING:
    from qeval.typeql.ir.expressions import Expression
    from qeval.typeql.ir.patterns import Conjunction
    from qeval.typeql.ir.variables import Registry
    from qeval.typeql.schema import Schema

_Assignments = dict[Var, list[tuple["Conjunction", Let]]]


def type_of(expression: Expression, known: dict[Var, ValueType]) -> ValueType:
    """Return the value type of an expression whose variables' types are known.

    Raises CEX6 (operator and operands do not fit), CEX12 and CEX13 (built-ins).
    """
    match expression:
        case Constant():
            return value_type_of(expression.value)
        case Var():
            return known[expression]
        case Operation():
            left, right = type_of(expression.left, known), type_of(expression.right, known)
            resolved = resolve(expression.op, left, right)
            if resolved is None:
                message = f"'{expression.op}' does not apply to {left} and {right}"
                raise Fault("CEX6", message, expression.span)
            return resolved[0]
        case Builtin():
            return _type_of_builtin(expression, known)
        case ListForm():
            for element in expression.elements:
                type_of(element, known)
            raise Fault("REP1", "lists are not implemented", expression.span)


def _type_of_builtin(call: Builtin, known: dict[Var, ValueType]) -> ValueType:
    arguments = [type_of(argument, known) for argument in call.arguments]
    if any(argument is not arguments[0] for argument in arguments):
        message = f"{call.name} needs two arguments of one type, not {' and '.join(arguments)}"
        raise Fault("CEX13", message, call.span)
    resolved = resolve_builtin(call.name, arguments[0])
    if resolved is None:
        raise Fault("CEX12", f"{call.name} does not apply to {arguments[0]}", call.span)
    return resolved[0]


class ExpressionTyping:
    """Types the assignments of one block.

    ``known`` starts with the value variables of earlier stages and ends with every variable that
    an expression of the block reads or assigns.
    """

    def __init__(self, schema: Schema, registry: Registry, known: dict[Var, ValueType]) -> None:
        self._schema = schema
        self._registry = registry
        self._earlier = known
        self.known = dict(known)
        self._assignments: _Assignments = {}
        self._visited: set[Var] = set()

    def run(self, root: Conjunction) -> dict[Var, ValueType]:
        """Return the types of the variables that the block assigns.

        Raises CEX7 (assigned twice), CEX18 (assigned before), CEX19 (branches disagree), CEX8
        (circular), CEX9, CEX10, CEX11 (a variable without one value type), and what
        :func:`type_of` raises.
        """
        self._assignments = _assignments_of(root)
        again = next((var for var in self._assignments if var in self._earlier), None)
        if again is not None:
            raise Fault("CEX18", f"{again} has been assigned before", again.span)
        for var in self._assignments:
            if var not in self._visited:
                self._type_assigned(var)
        return {var: self.known[var] for var in self._assignments}

    def _type_assigned(self, var: Var) -> None:
        if var in self._visited:
            raise Fault("CEX8", f"the assignment of {var} depends on itself", var.span)
        self._visited.add(var)
        found: set[ValueType] = set()
        for conjunction, let in self._assignments[var]:
            for read in inputs(let.expression):
                self._type_read(read, conjunction, let)
            found.add(type_of(let.expression, self.known))
        if len(found) > 1:
            types = ", ".join(sorted(found))
            raise Fault("CEX19", f"{var} is assigned values of several types: {types}", var.span)
        self.known[var] = found.pop()

    def _type_read(self, var: Var, conjunction: Conjunction, let: Let) -> None:
        if var in self.known:
            return
        if var in self._assignments:
            self._type_assigned(var)
            return
        types = conjunction.types.get(var)
        if types is None:
            raise Fault("CEX9", f"the value type of {var} is not known", let.span)
        category = self._registry.categories[var]
        if category not in (Category.VALUE, Category.ATTRIBUTE, Category.THING):
            raise Fault("CEX11", f"{var} has no value: it is {category.value}", let.span)
        found = value_types_in(self._schema, types)
        if found is None:
            raise Fault("CEX9", f"the value type of {var} is not known", let.span)
        if len(found) != 1:
            raise Fault("CEX10", f"{var} can have values of several types", let.span)
        self.known[var] = found.pop()


def value_types_in(schema: Schema, types: int) -> set[ValueType] | None:
    """Return the value types of attribute types; None if one of the types has none."""
    found: set[ValueType] = set()
    for type_ in schema.members(types):
        if type_.kind is not Kind.ATTRIBUTE or type_.value_type is None:
            return None
        found.add(type_.value_type)
    return found


def results_of_calls(root: Conjunction, known: dict[Var, ValueType]) -> dict[Var, ValueType]:
    """Return the types of variables that calls assign values to; raises CEX7 on the second."""
    found: dict[Var, ValueType] = {}
    for conjunction in root.walk():
        for constraint in conjunction.constraints:
            if not isinstance(constraint, Call):
                continue
            for var, result in zip(constraint.targets, constraint.function.results, strict=True):
                if not isinstance(result, ValueType):
                    continue
                if var in found or var in known:
                    raise Fault("CEX7", f"{var} is assigned twice", constraint.span)
                found[var] = result
    return found


def check_arguments(root: Conjunction, known: dict[Var, ValueType]) -> None:
    """Raise QUA19 for a call whose argument has another value type than declared."""
    for conjunction in root.walk():
        for call in conjunction.constraints:
            if not isinstance(call, Call):
                continue
            for var, parameter in zip(call.arguments, call.function.parameters, strict=True):
                if isinstance(parameter, ValueType) and known.get(var) is not parameter:
                    message = f"{call.function.name} expects {parameter}, not {known.get(var)}"
                    raise Fault("QUA19", message, call.span)


def _assignments_of(conjunction: Conjunction) -> _Assignments:
    found: _Assignments = {}
    for constraint in conjunction.constraints:
        if isinstance(constraint, Let):
            if constraint.target in found:
                raise Fault("CEX7", f"{constraint.target} is assigned twice", constraint.span)
            found[constraint.target] = [(conjunction, constraint)]
    for nested in conjunction.nested:
        inner: _Assignments = {}
        for body in nested.bodies:
            for var, assignments in _assignments_of(body).items():
                inner.setdefault(var, []).extend(assignments)
        for var, assignments in inner.items():
            if var in found:
                raise Fault("CEX7", f"{var} is assigned twice", assignments[0][1].span)
            found[var] = assignments
    return found
