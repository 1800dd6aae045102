"""The steps of a plan.

A step takes rows and gives rows. *Expanding* steps bind variables, *testing* steps drop rows,
nested steps run a plan inside. ``None`` for a variable to bind means that only its existence
matters: the row goes on once, however many there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from qeval.typeql.ir.variables import Var
from qeval.typeql.schema import Type

if TYPE_CHECKING:
    from qeval.typeql.ir.constraints import Call, Compare, DifferentEdges, Is, Let
    from qeval.typeql.ir.expressions import Constant

TypeEnd: TypeAlias = Var | Type


@dataclass(frozen=True, slots=True, eq=False)
class ValueTest:
    """``attribute op constant``, tested where the attribute is bound."""

    op: str
    constant: Constant


@dataclass(frozen=True, slots=True, eq=False)
class ScanThings:
    """All instances of some types."""

    var: Var
    types: int
    tests: tuple[ValueTest, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class FindByIid:
    """The instance with an internal identifier."""

    var: Var
    types: int
    iid: str


@dataclass(frozen=True, slots=True, eq=False)
class FindByValue:
    """The attributes of some types that equal a constant or a bound variable."""

    var: Var
    types: int
    value: Constant | Var
    tests: tuple[ValueTest, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ScanTypes:
    """All types of a set."""

    var: Var
    types: int


@dataclass(frozen=True, slots=True, eq=False)
class AttributesOf:
    """From an owner to its attributes."""

    owner: Var
    attribute: Var | None
    types: int
    tests: tuple[ValueTest, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class OwnersOf:
    """From an attribute to its owners."""

    attribute: Var
    owner: Var | None
    types: int


@dataclass(frozen=True, slots=True, eq=False)
class CheckOwns:
    """Test an ownership."""

    owner: Var
    attribute: Var


@dataclass(frozen=True, slots=True, eq=False)
class PlayersOf:
    """From a relation to its players; ``role`` is bound too unless None."""

    relation: Var
    player: Var | None
    role: Var | None
    roles: int
    types: int


@dataclass(frozen=True, slots=True, eq=False)
class RelationsOf:
    """From a player to its relations."""

    player: Var
    relation: Var | None
    role: Var | None
    roles: int
    types: int


@dataclass(frozen=True, slots=True, eq=False)
class EdgesBetween:
    """Between a bound relation and a bound player: the roles, or whether there is one."""

    relation: Var
    player: Var
    role: Var | None
    roles: int
    role_bound: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TypesOf:
    """From a thing to its type, and to all supertypes unless ``exact``."""

    thing: Var
    type: Var
    types: int
    exact: bool


@dataclass(frozen=True, slots=True, eq=False)
class InstancesOf:
    """From a type to its instances, those of subtypes included unless ``exact``."""

    type: Var
    thing: Var
    types: int
    exact: bool


@dataclass(frozen=True, slots=True, eq=False)
class CheckIsa:
    """Test the type of a thing against a bound type."""

    thing: Var
    type: Var
    exact: bool


@dataclass(frozen=True, slots=True, eq=False)
class TypesAlong:
    """From one type to others along a field of ``Type``; a test if both ends are bound."""

    start: TypeEnd
    end: TypeEnd
    field: str
    types: int
    end_bound: bool


@dataclass(frozen=True, slots=True, eq=False)
class CheckTypes:
    """Test that a variable holds something of one of some types."""

    var: Var
    types: int


@dataclass(frozen=True, slots=True, eq=False)
class CheckPresent:
    """Drop rows in which one of the variables is empty."""

    variables: tuple[Var, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Comparing:
    """Test a comparison."""

    compare: Compare


@dataclass(frozen=True, slots=True, eq=False)
class Identifying:
    """``is``: a test, or a copy if one side is not bound."""

    constraint: Is
    target: Var | None
    types: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Differing:
    """Test that two edges differ."""

    constraint: DifferentEdges


@dataclass(frozen=True, slots=True, eq=False)
class Assigning:
    """``let``."""

    let: Let


@dataclass(frozen=True, slots=True, eq=False)
class Calling:
    """A function call; targets that are bound already are compared."""

    call: Call
    bound: frozenset[Var]


@dataclass(frozen=True, slots=True, eq=False)
class Branching:
    """``or``: every branch for every row. ``targets`` are the variables it adds."""

    branches: tuple[Plan, ...]
    targets: tuple[Var, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rejecting:
    """``not``."""

    body: Plan
    inputs: tuple[Var, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Attempting:
    """``try``; where it fails its ``targets`` stay empty."""

    body: Plan
    targets: tuple[Var, ...]


Step: TypeAlias = (
    ScanThings
    | FindByIid
    | FindByValue
    | ScanTypes
    | AttributesOf
    | OwnersOf
    | CheckOwns
    | PlayersOf
    | RelationsOf
    | EdgesBetween
    | TypesOf
    | InstancesOf
    | CheckIsa
    | TypesAlong
    | CheckTypes
    | CheckPresent
    | Comparing
    | Identifying
    | Differing
    | Assigning
    | Calling
    | Branching
    | Rejecting
    | Attempting
)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Steps in order, and the variables they bind beyond those bound before, in order.

    ``unique`` tells that no two resulting rows can agree in all bound variables; ``rows`` is the
    number of rows expected for each one given.
    """

    steps: tuple[Step, ...]
    binds: tuple[Var, ...]
    unique: bool
    rows: float
