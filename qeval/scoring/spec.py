"""The declared shape of an answer: what a case promises about its gold's result table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Literal, TypeAlias, get_args

from qeval.errors import did_you_mean

ColumnType = Literal[
    "any", "bool", "int", "decimal", "float", "string", "date", "datetime", "duration", "list",
    "node",
]  # fmt: skip
"""`any` infers the type from the gold's own values; `node` is an entity compared by its key."""

COLUMN_TYPES: tuple[str, ...] = get_args(ColumnType)
_MAX_SCALE = 100


@dataclass(frozen=True, slots=True)
class Column:
    """One answer column.

    `scale` is the number of decimals that count (`decimal`, or a list of them); `items` the
    element type of a `list`; `tolerance` overrides the policy's relative tolerance (`float`,
    `any`, or a list of them); `ordered` makes the order inside a `list` count (by default a list
    is a bag: databases collect in any order). Raises `ValueError` where these don't go together.
    """

    name: str
    type: ColumnType = "any"
    scale: int | None = None
    items: ColumnType | None = None
    tolerance: float | None = None
    ordered: bool = False

    def __post_init__(self) -> None:
        where = f"answer column {self.name!r}"
        if not isinstance(self.name, str):
            raise ValueError(f"an answer column's name must be text, found {self.name!r}")  # noqa: TRY004
        for given in (self.type, self.items):
            if given is not None and given not in COLUMN_TYPES:
                hint = did_you_mean(str(given), COLUMN_TYPES)
                known = ", ".join(COLUMN_TYPES)
                raise ValueError(f"{where}: type {given!r} is not one of {known}.{hint}")
        inner = self.items or "any" if self.type == "list" else self.type
        for setting, is_set, types, found in (
            ("items", self.items is not None, ("list",), self.type),
            ("ordered", self.ordered, ("list",), self.type),
            ("scale", self.scale is not None, ("decimal",), inner),
            ("tolerance", self.tolerance is not None, ("float", "any"), inner),
        ):
            if is_set and found not in types:
                raise ValueError(f"{where}: `{setting}` goes with type {types[0]}, found {found}")
        if self.scale is not None and not (_whole(self.scale) and 0 <= self.scale <= _MAX_SCALE):
            raise ValueError(f"{where}: `scale` must be 0 to {_MAX_SCALE}, found {self.scale!r}")
        if self.tolerance is not None:
            _check_tolerance(f"{where}: `tolerance`", self.tolerance)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """A sort key: the name of an answer column and its direction."""

    column: str
    descending: bool = False


ColumnLike: TypeAlias = Column | str | Sequence[Any] | Mapping[str, Any]
"""A `Column`, its name, `(name, type[, scale])`, or a mapping of a `Column`'s fields."""

OrderLike: TypeAlias = OrderKey | str | Sequence[Any] | Mapping[str, Any]
"""An `OrderKey`, `"name"`, `"-name"` (descending), `(name, "desc")`, or a mapping."""


@dataclass(frozen=True, slots=True, init=False)
class AnswerSpec:
    """How a gold's table is to be compared.

    `columns` empty: one `any` column per gold column. `order_by` empty: rows are a bag.
    `top_k`: the question asks for the first k rows by `order_by`; the gold then returns *all* rows
    tied with the k-th, and any valid choice of exactly k of them is accepted. `all_ties`: so is
    the whole tied set (a question that says "any or all of them may be listed").
    Raises `ValueError` naming what is wrong; what a column or key may be given as is said at
    `ColumnLike` and `OrderLike`.
    """

    columns: tuple[Column, ...]
    order_by: tuple[OrderKey, ...]
    top_k: int | None
    all_ties: bool

    def __init__(
        self,
        columns: Iterable[ColumnLike] = (),
        order_by: OrderLike | Iterable[OrderLike] = (),
        top_k: int | None = None,
        *,
        all_ties: bool = False,
    ) -> None:
        if isinstance(columns, str | Mapping):
            raise ValueError(f"`columns` must be a list of columns, found {columns!r}")  # noqa: TRY004
        declared = tuple(map(_column, columns))
        keys = tuple(map(_order_key, _order_items(order_by)))
        names = [column.name for column in declared]
        for key in keys:
            if names and names.count(key.column) != 1:
                problem = "is not" if key.column not in names else "is more than once"
                hint = did_you_mean(key.column, names)
                raise ValueError(
                    f"`order_by` names {key.column!r}, which {problem} among the answer columns "
                    f"{', '.join(names)}.{hint}"
                )
        if top_k is not None and (not _whole(top_k) or top_k < 1):
            raise ValueError(f"`top_k` must be a whole number of at least 1, found {top_k!r}")
        object.__setattr__(self, "columns", declared)
        object.__setattr__(self, "order_by", keys)
        object.__setattr__(self, "top_k", top_k)
        object.__setattr__(self, "all_ties", all_ties)


@dataclass(frozen=True, slots=True)
class Policy:
    """Settings of the comparison that are decided once for an evaluation (`conf/scoring`).

    Two floats are equal if they differ by at most `relative_tolerance` times the larger magnitude,
    or by at most `absolute_tolerance`. Raises `ValueError` for a negative or infinite tolerance.
    """

    relative_tolerance: float = 1e-9
    absolute_tolerance: float = 0.0
    normalize_unicode: bool = True  # NFC before strings are compared
    trim_strings: bool = False
    ignore_case: bool = False
    bool_equals_int: bool = False  # only where the gold's column is bool

    def __post_init__(self) -> None:
        _check_tolerance("`relative_tolerance`", self.relative_tolerance)
        _check_tolerance("`absolute_tolerance`", self.absolute_tolerance)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_tolerance(what: str, value: Any) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not isfinite(value) or value < 0:
        raise ValueError(f"{what} must be a finite number of at least 0, found {value!r}")


def _fields_of(kind: type, given: Mapping[str, Any], what: str) -> Any:
    known = [field.name for field in fields(kind)]
    for name in given:
        if name not in known:
            hint = did_you_mean(str(name), known)
            raise ValueError(f"{what} has no key {name!r}; it takes {', '.join(known)}.{hint}")
    if known[0] not in given:
        raise ValueError(f"{what} needs the key {known[0]!r}, found {dict(given)!r}")
    return kind(**given)


def _column(given: ColumnLike) -> Column:
    if isinstance(given, Column):
        return given
    if isinstance(given, str):
        return Column(given)
    if isinstance(given, Mapping):
        column: Column = _fields_of(Column, given, "an answer column")
        return column
    if isinstance(given, Sequence) and given and len(given) <= 3:  # noqa: PLR2004
        return Column(*given)
    raise ValueError(
        f"an answer column is a name, (name, type[, scale]) or a mapping, found {given!r}"
    )


def _order_items(given: Any) -> Iterable[OrderLike]:
    if isinstance(given, str | OrderKey | Mapping) or _is_name_and_direction(given):
        return (given,)
    return tuple(given)


def _is_name_and_direction(given: Any) -> bool:
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:  # noqa: PLR2004
        return False
    name, direction = given
    return isinstance(name, str) and (direction in ("asc", "desc") or isinstance(direction, bool))


def _order_key(given: Any) -> OrderKey:
    if isinstance(given, OrderKey):
        return given
    if isinstance(given, str):
        return OrderKey(given[1:], descending=True) if given.startswith("-") else OrderKey(given)
    if isinstance(given, Mapping):
        key: OrderKey = _fields_of(OrderKey, given, "an `order_by` key")
        return key
    if _is_name_and_direction(given):
        return OrderKey(given[0], descending=given[1] in ("desc", True))
    raise ValueError(
        f"an `order_by` key is 'name', '-name', (name, 'asc'|'desc') or a mapping, found {given!r}"
    )
