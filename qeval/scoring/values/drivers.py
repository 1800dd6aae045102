"""From the values of psycopg, neo4j and TypeQL drivers to canonical ones, without importing them.

A value is recognised by its class's top package and name (`neo4j`, `Node`), looked up along the
class's bases and remembered per class. TypeQL concepts are recognised by their methods, so the
embedded engine's and the official driver's are treated alike. This is the only place that
knows drivers' types.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from qeval.scoring.table import Table
from qeval.scoring.values.kinds import Map, Node, Path
from qeval.scoring.values.temporal import (
    NANOS,
    Clock,
    Day,
    Duration,
    Instant,
    day,
    epoch_days,
    epoch_nanos,
    instant,
)

_Converter = Callable[[Any, "Canonical"], Any]
_PLAIN: frozenset[type] = frozenset(
    {type(None), bool, int, Decimal, float, str, bytes, date, Day, Instant, Clock, Duration}
    | {Node, Path, Map}
)
_REMEMBERED = 512  # classes; drivers make relationship classes as they go


class Canonical:
    """Turns drivers' values into canonical ones; `canonical` is the instance without settings.

    `keys` names the key property of a label or type (`{"User": "user_id"}`), which then is a
    node's key. `key_of` is asked first and may return the key of a node or concept, or None; it
    is how an adapter supplies keys that the driver's value doesn't carry.
    """

    def __init__(
        self,
        keys: Mapping[str, str] | None = None,
        key_of: Callable[[Any], Any] | None = None,
    ) -> None:
        self.keys = dict(keys or {})
        self.key_of = key_of
        self._known: dict[type, _Converter | None] = dict.fromkeys(_PLAIN)

    def __call__(self, value: Any) -> Any:
        """Return the canonical value; an object of an unknown class becomes its text."""
        convert = self._converter(value.__class__)
        return value if convert is None else convert(value, self)

    def column(self, values: Sequence[Any]) -> Sequence[Any]:
        """Convert a whole column; one that is canonical already is returned as it is."""
        classes = set(map(type, values))
        converters = {cls: self._converter(cls) for cls in classes}
        if not any(converters.values()):
            return values
        if classes == {datetime} and {value.tzinfo for value in values} == {UTC}:
            return values
        out: list[Any] = []
        for value in values:
            convert = converters[value.__class__]
            out.append(value if convert is None else convert(value, self))
        return out

    def table(self, columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> Table:
        """Build a table of canonical values from what a driver returned."""
        table = Table(columns, rows)
        given = list(zip(*table.rows, strict=True))
        changed = [self.column(values) for values in given]
        if all(new is old for new, old in zip(changed, given, strict=True)):
            return table
        return Table(table.columns, zip(*changed, strict=True))

    def _converter(self, cls: type) -> _Converter | None:
        try:
            return self._known[cls]
        except KeyError:
            if len(self._known) > _REMEMBERED:
                self._known = dict.fromkeys(_PLAIN)
            return self._known.setdefault(cls, _find_converter(cls))


def _find_converter(cls: type) -> _Converter:
    if hasattr(cls, "is_entity") and hasattr(cls, "get_label"):
        return _concept
    for base in cls.__mro__:
        named = _BY_NAME.get((base.__module__.partition(".")[0], base.__name__))
        if named is not None:
            return named
    return _unknown


def _unknown(value: Any, _: Canonical) -> Any:
    return str(value)


def _datetime(value: datetime, _: Canonical) -> datetime | Instant:
    if value.tzinfo is UTC:
        moment = value
    elif value.tzinfo is None:
        moment = value.replace(tzinfo=UTC)
    else:
        try:
            moment = value.astimezone(UTC)
        except OverflowError:
            return instant(epoch_nanos(value))
    beyond = getattr(value, "nanosecond", 0)  # pandas' Timestamp
    if beyond:
        return instant(epoch_nanos(moment) + beyond)
    return moment if type(moment) is datetime else instant(epoch_nanos(moment))


def _timedelta(value: timedelta, _: Canonical) -> Duration:
    return Duration.of(days=value.days, seconds=value.seconds, nanos=1000 * value.microseconds)


def _time(value: time, _: Canonical) -> Clock:
    offset = value.utcoffset()
    nanos = (value.hour * 3600 + value.minute * 60 + value.second) * NANOS
    return Clock(
        nanos + value.microsecond * 1000, None if offset is None else int(offset.total_seconds())
    )


def _list(value: Iterable[Any], to: Canonical) -> tuple[Any, ...]:
    return tuple(map(to, value))


def _set(value: Iterable[Any], to: Canonical) -> tuple[Any, ...]:
    return tuple(sorted(map(to, value), key=repr))


def _map_items(value: Mapping[Any, Any], to: Canonical) -> tuple[tuple[str, Any], ...]:
    pairs = [(str(key), to(item)) for key, item in value.items()]
    return tuple(sorted(pairs, key=lambda pair: pair[0]))


def _numpy(value: Any, to: Canonical) -> Any:
    plain = value.tolist()
    return str(value) if type(plain) is type(value) else to(plain)


def _range(value: Any, to: Canonical) -> str:
    if value.isempty:
        return "empty"
    ends = ["" if end is None else str(to(end)) for end in (value.lower, value.upper)]
    return f"{value.bounds[0]}{ends[0]},{ends[1]}{value.bounds[1]}"


def _graph_node(value: Any, to: Canonical) -> Node:
    kind = tuple(sorted(value.labels))
    return _keyed(value, kind, value.element_id, _map_items(value, to), to)


def _graph_relationship(value: Any, to: Canonical) -> Node:
    return _keyed(value, (value.type,), value.element_id, _map_items(value, to), to)


def _keyed(
    value: Any,
    kind: tuple[str, ...],
    own_id: Any,
    pairs: tuple[tuple[str, Any], ...],
    to: Canonical,
) -> Node:
    key = to.key_of(value) if to.key_of else None
    if key is None and to.keys:
        properties = dict(pairs)
        named = (properties.get(to.keys[label]) for label in kind if label in to.keys)
        key = next((found for found in named if found is not None), None)
    return Node(kind, own_id if key is None else to(key), pairs)


def _graph_path(value: Any, to: Canonical) -> Path:
    nodes, steps = list(value.nodes), list(value.relationships)
    elements = [to(nodes[0])]
    for step, node in zip(steps, nodes[1:], strict=True):
        elements += (to(step), to(node))
    return Path(tuple(elements))


def _graph_date(value: Any, _: Canonical) -> date | Day:
    return day(epoch_days(value.year, value.month, value.day))


def _graph_datetime(value: Any, _: Canonical) -> datetime | Instant:
    seconds = datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second,
        tzinfo=value.tzinfo,
    )  # fmt: skip
    # Never the driver's own utcoffset(): it hands its value to the zone, and CPython's zones crash
    # the process on anything but a `datetime`.
    return instant(epoch_nanos(seconds) + value.nanosecond)


def _graph_time(value: Any, _: Canonical) -> Clock:
    nanos = (value.hour * 3600 + value.minute * 60 + value.second) * NANOS + value.nanosecond
    offset = time(value.hour, tzinfo=value.tzinfo).utcoffset()
    return Clock(nanos, None if offset is None else int(offset.total_seconds()))


def _graph_duration(value: Any, _: Canonical) -> Duration:
    return Duration.of(value.months, value.days, value.seconds, value.nanoseconds)


def _graph_point(value: Any, _: Canonical) -> Map:
    return Map((("coordinates", tuple(map(float, value))), ("srid", value.srid)))


def _typeql_duration(value: Any, _: Canonical) -> Duration:
    return Duration.of(value.months, value.days, nanos=value.nanos)


def _typeql_datetime(value: Any, to: Canonical) -> datetime | Instant:
    whole = _datetime(value.datetime_without_nanos.replace(microsecond=0), to)
    base = whole.nanos if isinstance(whole, Instant) else epoch_nanos(whole)
    return instant(base + value.nanos)


def _embedded_date(value: Any, _: Canonical) -> date | Day:
    return day(value.days)


def _embedded_instant(value: Any, _: Canonical) -> datetime | Instant:
    return instant(value.nanos)


def _concept(value: Any, to: Canonical) -> Any:
    """A TypeQL concept: values and attributes give their value, types their label."""
    if value.is_value():
        return to(value.get())
    if value.is_attribute():
        return to(value.get_value())
    if value.is_entity() or value.is_relation():
        return _keyed(value, (str(value.get_label()),), value.get_iid(), (), to)
    return str(value.get_label())


_BY_NAME: dict[tuple[str, str], _Converter] = {
    ("datetime", "datetime"): _datetime,
    ("datetime", "timedelta"): _timedelta,
    ("datetime", "time"): _time,
    ("datetime", "date"): lambda v, _: date(v.year, v.month, v.day),
    ("enum", "Enum"): lambda v, to: to(v.value if isinstance(v, Enum) else v),
    ("builtins", "bool"): lambda v, _: bool(v),
    ("builtins", "int"): lambda v, _: int(v),
    ("builtins", "float"): lambda v, _: float(v),
    ("builtins", "str"): lambda v, _: str.__str__(v),
    ("decimal", "Decimal"): lambda v, _: Decimal(v),
    ("builtins", "bytes"): lambda v, _: bytes(v),
    ("builtins", "bytearray"): lambda v, _: bytes(v),
    ("builtins", "memoryview"): lambda v, _: bytes(v),
    ("builtins", "list"): _list,
    ("builtins", "tuple"): _list,
    ("builtins", "set"): _set,
    ("builtins", "frozenset"): _set,
    ("builtins", "dict"): lambda v, to: Map(_map_items(v, to)),
    ("collections", "Mapping"): lambda v, to: Map(_map_items(v, to)),
    ("psycopg", "Range"): _range,
    ("neo4j", "Node"): _graph_node,
    ("neo4j", "Relationship"): _graph_relationship,
    ("neo4j", "Path"): _graph_path,
    ("neo4j", "Date"): _graph_date,
    ("neo4j", "DateTime"): _graph_datetime,
    ("neo4j", "Time"): _graph_time,
    ("neo4j", "Duration"): _graph_duration,
    ("neo4j", "Point"): _graph_point,
    ("typedb", "Duration"): _typeql_duration,
    ("typedb", "Datetime"): _typeql_datetime,
    ("qeval", "Duration"): _typeql_duration,
    ("qeval", "Date"): _embedded_date,
    ("qeval", "DateTime"): _embedded_instant,
    ("qeval", "DateTimeTz"): _embedded_instant,
    ("pandas", "NaTType"): lambda _v, _to: None,
    ("pandas", "NAType"): lambda _v, _to: None,
    ("numpy", "generic"): _numpy,
    ("numpy", "ndarray"): _numpy,
}

canonical = Canonical()
