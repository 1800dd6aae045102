"""Coercion of an answer column's cells to its declared type: the keys that rows are compared by.

A key is hashable, and two cells of a column are exactly equal if and only if their keys are.
Numbers are their own keys (Python compares int, float and Decimal by value); what could be
mistaken for a number or a text is tagged. A cell that can't be coerced keeps a key of its own
type, which equals no coerced one.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_UP, Context, Decimal
from itertools import repeat
from math import floor, isfinite, isinf, isnan
from typing import Any, ClassVar, Literal
from unicodedata import is_normalized, normalize

from qeval.scoring.spec import Column, ColumnType, Policy
from qeval.scoring.values import Day, Duration, Instant, Map, Node, Path
from qeval.scoring.values.temporal import (
    DAY_NANOS,
    parse_date,
    parse_duration,
    parse_instant,
)

Number = int | float | Decimal
Numbering = Callable[[Number], Hashable]
"""How a number inside a list, map or mixed column becomes (part of) a key."""

_NONE = type(None)
_NUMBERS = {int, float, Decimal}
_EXACT = Context(prec=200_000, rounding=ROUND_HALF_UP, Emax=MAX_EMAX, Emin=MIN_EMIN)
_SURE_BELOW = 1e9  # x·10^scale below this is known to 1e-7, so rounding is safe away from a half
_NOT_A_HALF = 0.4999
_LONGEST = 1_000  # digits before the point that are shifted: the cost grows with their square
_TOO_LONG = 10**_LONGEST
_FLOAT_DIGITS = 15
_QUOTIENT_DECIMALS = 5


@dataclass(frozen=True, slots=True)
class View:
    """How the cells of a column are read; `mixed` is a column of several types."""

    type: ColumnType | Literal["mixed"]
    scale: int | None = None
    relative: float = 0.0
    absolute: float = 0.0
    items: "View | None" = None
    ordered: bool = False


def view_of(column: Column, values: Sequence[Any], policy: Policy) -> View:
    """Return how to read `column`; type `any` is inferred from the gold's own `values`."""
    kind: Any = column.type if column.type != "any" else _inferred(values)
    relative = policy.relative_tolerance if column.tolerance is None else column.tolerance
    items = None
    if kind == "list":
        inside: list[Any] = [x for value in values if type(value) is tuple for x in value]
        inner = Column(
            column.name,
            column.items or "any",
            column.scale,
            tolerance=column.tolerance if column.items in ("any", "float", None) else None,
        )
        items = view_of(inner, inside, policy)
    return View(kind, column.scale, relative, policy.absolute_tolerance, items, column.ordered)


def _inferred(values: Collection[Any]) -> str:
    classes = set(map(type, values)) - {_NONE}
    for name, allowed in _INFERRED:
        if classes and classes <= allowed:
            return name
    return "mixed"


_INFERRED: tuple[tuple[str, set[type]], ...] = (
    ("bool", {bool}),
    ("int", {int}),
    ("decimal", {int, Decimal}),
    ("float", {int, Decimal, float}),
    ("string", {str}),
    ("date", {date, Day}),
    ("datetime", {datetime, Instant, date, Day}),
    ("duration", {Duration}),
    ("list", {tuple}),
    ("node", {Node}),
)


def as_is(number: Number) -> Hashable:
    """Number by value: the exact reading."""
    return number


class Coercion:
    """The keys of one view under one policy.

    `kinds` gives the labels of a gold's nodes by key. Nodes then count by labels and key; a bare
    value in their place (a prediction that returns the key itself) takes the labels of its key.
    """

    def __init__(
        self, view: View, policy: Policy, kinds: Mapping[Hashable, tuple[str, ...]] | None = None
    ) -> None:
        self.view = view
        self.policy = policy
        self.kinds = kinds

    def reads_as(self, other: "Coercion") -> bool:
        """Whether both give every value the same key."""
        return self.view == other.view and self.kinds == other.kinds

    @classmethod
    def of_gold(cls, view: View, policy: Policy, values: Sequence[Any]) -> "Coercion":
        """The coercion of a gold's column, which knows the labels of its nodes."""
        if view.type != "node" or set(map(type, values)) - {Node, _NONE}:
            return cls(view, policy)
        bare = cls(view, policy)
        kinds: dict[Hashable, tuple[str, ...]] = {}
        for node in values:
            if node is not None and kinds.setdefault(bare.key(node), node.kind) != node.kind:
                kinds[bare.key(node)] = ()
        return cls(view, policy, kinds)

    def keys(self, values: Sequence[Any]) -> Sequence[Hashable]:
        """One exact key per cell of a column of canonical values."""
        classes = set(map(type, values))
        holes = _NONE in classes
        classes.discard(_NONE)
        if len(classes) == 1 and self.kinds is None:
            whole = self._whole(classes.pop(), values, holes=holes)
            if whole is not None:
                return whole
        key = self.key
        return [None if value is None else key(value) for value in values]

    def _whole(self, cls: type, values: Sequence[Any], *, holes: bool) -> Sequence[Hashable] | None:
        """Keys of a column of one type without a call per cell; None where that isn't possible."""
        kind, scale = self.view.type, self.view.scale
        if cls is str:
            return None if kind in ("date", "datetime", "duration") else self._texts(values)
        if cls in (date, datetime):
            return values if kind == _OWN[cls] or kind not in ("date", "datetime") else None
        if cls is bool:
            return values if kind == "bool" else None
        if cls not in _NUMBERS or kind == "bool":
            return None
        if kind == "decimal" and scale is not None:
            return None if holes else _all_scaled(cls, values, scale)
        given = [value for value in values if value is not None] if holes else values
        return None if _has_nan(cls, given) else values

    def key(self, value: Any, number: Numbering = as_is) -> Hashable:
        """The key of one cell; `number` says how numbers count where the type has no scale."""
        cls = value.__class__
        if value is None:
            return None
        if self.kinds is not None and cls is not Node:
            return self._bare(self._inner(value, as_is))
        read = self._READ.get(cls)
        return value if read is None else read(self, value, number)

    def _bool(self, value: bool, _: Numbering) -> Hashable:  # noqa: FBT001
        return value if self.view.type == "bool" else ("bool", value)

    def _datetime(self, value: datetime, _: Numbering) -> Hashable:
        midnight = not (value.hour or value.minute or value.second or value.microsecond)
        return value.date() if self.view.type == "date" and midnight else value

    def _date(self, value: date, _: Numbering) -> Hashable:
        if self.view.type != "datetime":
            return value
        return datetime(value.year, value.month, value.day, tzinfo=UTC)

    def _day(self, value: Day, _: Numbering) -> Hashable:
        return Instant(value.days * DAY_NANOS) if self.view.type == "datetime" else value

    def _map(self, value: Map, number: Numbering) -> Hashable:
        return ("map", tuple((name, self._inner(item, number)) for name, item in value.items))

    def _path(self, value: Path, number: Numbering) -> Hashable:
        return ("path", tuple(self._inner(item, number) for item in value.elements))

    def _number(self, value: Number, number: Numbering) -> Hashable:
        kind = self.view.type
        if value != value:  # noqa: PLR0124 - NaN is the only number that differs from itself
            return None if kind in _NUMERIC else ("nan",)
        if kind == "decimal" and self.view.scale is not None:
            return scaled(value, self.view.scale)
        if kind == "bool":
            if self.policy.bool_equals_int and value in (0, 1):
                return bool(value)
            return ("number", value)
        if kind in _NUMERIC:
            return number(value)
        return value

    def _text(self, text: str, _: Numbering = as_is) -> Hashable:
        kind = self.view.type
        if kind == "date":
            found: Hashable = parse_date(text)
        elif kind == "datetime":
            day = parse_date(text)
            found = parse_instant(text) if day is None else self.key(day)
        elif kind == "duration":
            found = parse_duration(text)
        else:
            found = None
        return self._plain(text) if found is None else found

    def _plain(self, text: str) -> str:
        if self.policy.normalize_unicode and not text.isascii():
            text = normalize("NFC", text)
        if self.policy.trim_strings:
            text = text.strip()
        return text.casefold() if self.policy.ignore_case else text

    def _texts(self, values: Sequence[Any]) -> Sequence[Hashable]:
        policy = self.policy
        if not policy.trim_strings and not policy.ignore_case:
            if set(map(type, values)) == {str} and all(map(str.isascii, values)):
                return values
            foreign = {text for text in values if text is not None and not text.isascii()}
            if not policy.normalize_unicode or all(is_normalized("NFC", text) for text in foreign):
                return values
        known = {text: None if text is None else self._plain(text) for text in set(values)}
        return [known[text] for text in values]

    def _node(self, value: Node, _: Numbering) -> Hashable:
        if self.view.type == "node" and self.kinds is None:
            return self._inner(value.key, as_is)
        return ("node", value.kind, self._inner(value.key, as_is))

    def _bare(self, key: Hashable) -> Hashable:
        """A value where nodes are expected: the key of one."""
        kind = self.kinds.get(key) if self.kinds else None
        return ("node", kind, key) if kind else key

    def _list(self, value: tuple[Any, ...], number: Numbering) -> Hashable:
        view = self.view
        inner = self if view.items is None else Coercion(view.items, self.policy)
        keys = tuple(inner.key(item, number) for item in value)
        return ("list", keys) if view.ordered else ("bag", frozenset(Counter(keys).items()))

    def _inner(self, value: Any, number: Numbering) -> Hashable:
        return Coercion(_MIXED, self.policy).key(value, number)

    _READ: ClassVar[dict[type, Callable[["Coercion", Any, Numbering], Hashable]]] = {
        bool: _bool,
        int: _number,
        float: _number,
        Decimal: _number,
        str: _text,
        date: _date,
        Day: _day,
        datetime: _datetime,
        tuple: _list,
        Map: _map,
        Path: _path,
        Node: _node,
    }


_NUMERIC = ("int", "decimal", "float", "mixed")
_MIXED = View("mixed")
_OWN: dict[type, str] = {date: "date", datetime: "datetime"}


def _has_nan(cls: type, numbers: Sequence[Any]) -> bool:
    if cls is int:
        return False
    return any(map(isnan if cls is float else Decimal.is_nan, numbers))


def _all_scaled(cls: type, numbers: Sequence[Any], scale: int) -> Sequence[Hashable] | None:
    """`scaled` for a whole column; None where a number in it isn't finite or is huge."""
    power = 10**scale
    if cls is int:
        if not all(-_TOO_LONG < number < _TOO_LONG for number in (min(numbers), max(numbers))):
            return None
        return [number * power for number in numbers]
    if cls is float:
        if not all(map(isfinite, numbers)):
            return None
        return [
            nearest
            if -_SURE_BELOW < (shifted := number * power) < _SURE_BELOW
            and abs(shifted - (nearest := floor(shifted + 0.5))) < _NOT_A_HALF
            else scaled(number, scale)
            for number in numbers
        ]
    if not all(map(Decimal.is_finite, numbers)) or max(map(Decimal.adjusted, numbers)) >= _LONGEST:
        return None
    shifted_all = map(_EXACT.scaleb, numbers, repeat(scale))
    return list(map(int, map(_EXACT.to_integral_value, shifted_all)))


def scaled(value: Number, scale: int) -> Hashable:
    """Round half away from zero to `scale` decimals; returned as a count of the last place.

    A float counts by its first 15 significant digits, all that it holds reliably, so that 1.005
    rounds to 1.01 although its binary value lies below. Infinities stay what they are.
    """
    if isinstance(value, int):
        return value * 10**scale if -_TOO_LONG < value < _TOO_LONG else ("whole", value)
    if isinstance(value, float):
        shifted: float = value * 10**scale
        if -_SURE_BELOW < shifted < _SURE_BELOW:
            nearest = floor(shifted + 0.5)
            if abs(shifted - nearest) < _NOT_A_HALF:
                return nearest
        if isinf(value):
            return value
        value = Decimal(f"{value:.{_FLOAT_DIGITS}g}")
    if value.is_infinite() or (value and value.adjusted() >= _LONGEST):
        # Compared as it is: no machine wants its digits.
        return float(value) if value.is_infinite() else ("whole", value)
    return int(_EXACT.to_integral_value(_EXACT.scaleb(value, scale)))


def is_number(value: Any) -> bool:
    """Whether a canonical value is a number (bool is none)."""
    return value.__class__ in _NUMBERS


def is_inexact(value: Number) -> bool:
    """Whether a number may carry rounding noise: a float with a fraction, or a cut quotient.

    A Decimal of more than 15 significant digits, five or more of them decimals, is a quotient that
    its engine cut somewhere (and where depends on how the query was written).
    """
    if isinstance(value, float):
        return not value.is_integer() and isfinite(value)
    if isinstance(value, Decimal) and value.is_finite():
        _, digits, exponent = value.as_tuple()
        return int(exponent) <= -_QUOTIENT_DECIMALS and len(digits) > _FLOAT_DIGITS
    return False


def near_a_half(number: Number, scale: int, reach: float) -> bool:
    """Whether a number is within `reach` last places of the boundary between two roundings.

    Floats too large to show their last place are always taken to be.
    """
    if isinstance(number, int):
        return False
    if isinstance(number, Decimal):
        if number.adjusted() >= _LONGEST:
            return False
        fraction = _EXACT.remainder(_EXACT.scaleb(number.copy_abs(), scale), 1)
        return abs(float(fraction) - 0.5) <= reach
    shifted = abs(number * 10.0**scale)
    return shifted > _SURE_BELOW or abs(shifted % 1.0 - 0.5) <= reach


def numbers_in(values: Iterable[Any]) -> Iterable[Number]:
    """All numbers among `values` and inside their lists, maps and paths."""
    for value in values:
        cls = value.__class__
        if cls in _NUMBERS:
            yield value
        elif cls is tuple:
            yield from numbers_in(value)
        elif cls is Map:
            yield from numbers_in(item for _, item in value.items)
