"""Stages, fetch, functions and the pipelines made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from typing import Literal as OneOf

from qeval.typeql.syntax.ast.names import Label, NamedType, Node, Variable

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast.annotations import Annotation
    from qeval.typeql.syntax.ast.patterns import Conjunction, Players
    from qeval.typeql.syntax.ast.values import Call, Expression, Literal


@dataclass(frozen=True, slots=True)
class Match(Node):
    """`match pattern; …`."""

    body: Conjunction


@dataclass(frozen=True, slots=True)
class Insert(Node):
    """`insert statement; …`."""

    body: Conjunction


@dataclass(frozen=True, slots=True)
class Put(Node):
    """`put statement; …`."""

    body: Conjunction


@dataclass(frozen=True, slots=True)
class Update(Node):
    """`update statement; …`."""

    body: Conjunction


@dataclass(frozen=True, slots=True)
class DeleteThing(Node):
    """`$x`."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class DeleteHas(Node):
    """`[has] $attribute of $owner`."""

    attribute: Variable
    owner: Variable


@dataclass(frozen=True, slots=True)
class DeleteLinks(Node):
    """`[links] (role: $player, …) of $relation`."""

    players: Players
    relation: Variable


@dataclass(frozen=True, slots=True)
class DeleteTry(Node):
    """`try { deletable; … }`."""

    items: tuple[Deletable, ...]


Deletable: TypeAlias = DeleteThing | DeleteHas | DeleteLinks


@dataclass(frozen=True, slots=True)
class Delete(Node):
    """`delete deletable; …`."""

    items: tuple[Deletable | DeleteTry, ...]


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`select $a, …`."""

    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class SortKey(Node):
    """`$a [asc|desc]`."""

    variable: Variable
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Sort(Node):
    """`sort $a desc, …`."""

    keys: tuple[SortKey, ...]


@dataclass(frozen=True, slots=True)
class Offset(Node):
    """`offset n`."""

    count: Literal


@dataclass(frozen=True, slots=True)
class Limit(Node):
    """`limit n`."""

    count: Literal


@dataclass(frozen=True, slots=True)
class Require(Node):
    """`require $a, …`."""

    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Distinct(Node):
    """`distinct`."""


ReducerName: TypeAlias = OneOf["count", "max", "min", "mean", "median", "std", "sum", "list"]


@dataclass(frozen=True, slots=True)
class Reducer(Node):
    """`sum($x)`; only `count` may stand without a variable."""

    name: ReducerName
    variable: Variable | None = None


@dataclass(frozen=True, slots=True)
class Reduction(Node):
    """`$c = reducer`."""

    target: Variable
    reducer: Reducer


@dataclass(frozen=True, slots=True)
class Reduce(Node):
    """`reduce $c = count, … groupby $g, …`; `groupby` is empty when it is not written."""

    reductions: tuple[Reduction, ...]
    groupby: tuple[Variable, ...] = ()


Stage: TypeAlias = (
    Match
    | Insert
    | Put
    | Update
    | Delete
    | Select
    | Sort
    | Offset
    | Limit
    | Require
    | Distinct
    | Reduce
)


@dataclass(frozen=True, slots=True)
class FetchAttribute(Node):
    """`$x.attribute`, `$x.attribute[]` (`is_list`)."""

    variable: Variable
    attribute: Label
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class FetchAll(Node):
    """`{ $x.* }`."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class FetchList(Node):
    """`[ … ]` around a call, an attribute, a function body or a whole read pipeline."""

    source: Call | FetchAttribute | FunctionBody | Pipeline


@dataclass(frozen=True, slots=True)
class FetchEntry(Node):
    """`"key": value`; the key is a string literal."""

    key: Literal
    value: FetchValue


@dataclass(frozen=True, slots=True)
class FetchObject(Node):
    """`{ "key": value, … }`, never empty."""

    entries: tuple[FetchEntry, ...]


FetchValue: TypeAlias = (
    "FetchObject | FetchAll | FetchList | FetchAttribute | FunctionBody | Expression"
)


@dataclass(frozen=True, slots=True)
class Fetch(Node):
    """`fetch { … }`."""

    object: FetchObject | FetchAll


@dataclass(frozen=True, slots=True)
class ReturnStream(Node):
    """`return { $a, … }`."""

    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class ReturnSingle(Node):
    """`return first $a, …`, `return last $a, …`."""

    selector: OneOf["first", "last"]
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class ReturnReduce(Node):
    """`return count, sum($x), …`."""

    reducers: tuple[Reducer, ...]


@dataclass(frozen=True, slots=True)
class ReturnCheck(Node):
    """`return check`."""


Return: TypeAlias = ReturnStream | ReturnSingle | ReturnReduce | ReturnCheck


@dataclass(frozen=True, slots=True)
class FunctionBody(Node):
    """Stages ended by a return; also stands inside fetch."""

    stages: tuple[Stage, ...]
    result: Return


@dataclass(frozen=True, slots=True)
class Argument(Node):
    """`$a: type`, of a function or of `given`."""

    variable: Variable
    type: NamedType


@dataclass(frozen=True, slots=True)
class Output(Node):
    """`{ T, … }` (`stream`) or `T, …`."""

    types: tuple[NamedType, ...]
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Function(Node):
    """`fun name(arguments) -> output: body`."""

    name: str
    arguments: tuple[Argument, ...]
    output: Output
    body: FunctionBody
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class Given(Node):
    """`given $a: type, …`."""

    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Pipeline(Node):
    """`[given …] stage … [fetch …]`; `functions` is the `with fun …` before a whole query."""

    stages: tuple[Stage, ...]
    fetch: Fetch | None = None
    given: Given | None = None
    functions: tuple[Function, ...] = ()
