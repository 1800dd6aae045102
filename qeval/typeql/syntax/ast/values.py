"""Literals, expressions and comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from qeval.typeql.syntax.ast.names import Label, Node, ScopedLabel, Variable

ValueTypeName: TypeAlias = OneOf[
    "boolean",
    "integer",
    "double",
    "decimal",
    "string",
    "date",
    "datetime",
    "datetime-tz",
    "duration",
]
Comparator: TypeAlias = OneOf["==", "!=", "<", "<=", ">", ">=", "contains", "like"]
Operator: TypeAlias = OneOf["+", "-", "*", "/", "%", "^"]


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A literal with its text as written, quotes, sign and suffix included.

    White space between a sign and its digits is left out of `text`, never of the span.
    """

    value_type: ValueTypeName
    text: str


@dataclass(frozen=True, slots=True)
class Operation(Node):
    """`left operator right`; `^` binds strongest and to the right, the others to the left."""

    operator: Operator
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Parenthesis(Node):
    """`(inner)`: already part of the tree's shape, kept for spans and printing."""

    inner: Expression


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`name(arguments)`: a built-in or a user's function."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ListIndex(Node):
    """`$list[index]`: parsed, not implemented."""

    variable: Variable
    index: Expression


@dataclass(frozen=True, slots=True)
class ListRange(Node):
    """`$list[low..high]`: parsed, not implemented."""

    variable: Variable
    low: Expression
    high: Expression


@dataclass(frozen=True, slots=True)
class ListNew(Node):
    """`[item, …]`: parsed, not implemented."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Struct(Node):
    """`{ key: value }` after `isa`: parsed, not implemented."""

    key: str
    value: Expression | Struct


@dataclass(frozen=True, slots=True)
class StructPattern(Node):
    """`{ key: $variable }` on the left of `let`: parsed, not implemented."""

    key: str
    target: Variable | StructPattern


Expression: TypeAlias = (
    Literal
    | Variable
    | Operation
    | Parenthesis
    | Call
    | Label
    | ScopedLabel
    | ListIndex
    | ListRange
    | ListNew
)


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """`comparator right`, as it follows an expression, `has T` or `isa T`."""

    comparator: Comparator
    right: Expression
