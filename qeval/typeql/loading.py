"""Loading data: write queries as text, and a fast path for data that is in Python already."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

from qeval.typeql.check.annotate import Known, annotate_stages
from qeval.typeql.execute.functions import FunctionTables
from qeval.typeql.execute.stages import StageCompiler
from qeval.typeql.faults import Fault, within
from qeval.typeql.schema import Kind
from qeval.typeql.store.things import Relation
from qeval.typeql.store.writing import Writer, read_insertion
from qeval.typeql.syntax import ast
from qeval.typeql.translate.blocks import BlockBuilder
from qeval.typeql.translate.scope import Scope
from qeval.typeql.translate.stages import translate_match, translate_stages
from qeval.typeql.translate.statements import add_patterns
from qeval.typeql.values import Date, DateTime, DateTimeTz, Duration
from qeval.typeql.values.reading import converted
from qeval.typeql.values.temporal import NANOS_PER_SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from qeval.typeql.budget import Budget
    from qeval.typeql.ir import pipelines as p
    from qeval.typeql.ir.functions import Signature
    from qeval.typeql.ir.variables import Var
    from qeval.typeql.schema import Schema, Type
    from qeval.typeql.store import Store
    from qeval.typeql.store.things import Object
    from qeval.typeql.values import Value


class QueryLoader:
    """Runs write pipelines: ``match``, ``insert`` and ``put`` in any sequence."""

    def __init__(
        self, schema: Schema, store: Store, functions: Mapping[str, Signature], budget: Budget
    ) -> None:
        self._schema = schema
        self._store = store
        self._functions = functions
        self._budget = budget
        self._writer = Writer(schema, store)

    def run(self, query: ast.Query) -> None:
        """Run one query; what it leaves must keep the schema's cardinalities."""
        pipeline = query.body
        if not isinstance(pipeline, ast.Pipeline):
            raise Fault("TSV8", "only data can be loaded, no schema", query.span)
        scope = Scope(self._functions)
        rows: list[dict[Var, Any]] = [{}]
        known = Known()
        for stage in pipeline.stages:
            match stage:
                case ast.Insert():
                    rows = self._insert(scope, stage.body, rows, known)
                case ast.Put():
                    rows = self._put(scope, stage, rows, known)
                case ast.Update() | ast.Delete():
                    raise Fault("TSV9", "data can be inserted, not changed", stage.span)
                case _:
                    with within("QEX7"):
                        translated = translate_stages(scope, (stage,))
                    rows = self._read(scope, translated, rows, known)
        self._store.check()

    def _insert(
        self, scope: Scope, body: ast.Conjunction, rows: list[dict[Var, Any]], known: Known
    ) -> list[dict[Var, Any]]:
        with within("QEX7"):
            builder = BlockBuilder(scope, body.span)
            add_patterns(builder, body)
            insertion = read_insertion(builder.root)
        with within("QEX8"):
            written = self._writer.write(insertion, rows)
        for row in written[:1]:
            for var, thing in row.items():
                known.concepts.setdefault(var, thing.type.bit if hasattr(thing, "type") else 0)
        return written

    def _put(
        self, scope: Scope, stage: ast.Put, rows: list[dict[Var, Any]], known: Known
    ) -> list[dict[Var, Any]]:
        found: list[dict[Var, Any]] = []
        for row in rows:
            inner, inner_known = scope.nested(), known.copy()
            with within("QEX7"):
                match = translate_match(inner, stage.body, stage.span)
            existing = self._read(inner, (match,), [row], inner_known)
            if existing:
                found += existing
                scope.names, scope.registry = inner.names, inner.registry
            else:
                found += self._insert(scope, stage.body, [row], known)
        return found

    def _read(
        self,
        scope: Scope,
        stages: tuple[p.Stage, ...],
        rows: list[dict[Var, Any]],
        known: Known,
    ) -> list[dict[Var, Any]]:
        with within("QEX8"):
            annotate_stages(self._schema, scope.registry, stages, known.copy())
        runtime = FunctionTables(self._schema, self._store, self._budget).runtime
        columns = tuple(rows[0]) if rows else ()
        compiler = StageCompiler(columns, known, scope.registry, runtime, as_set=True)
        transform = compiler.compile(stages)
        with within("REX5", "PEX7", only="EEV"):
            results = list(transform([tuple(row.values()) for row in rows]))
        return [dict(zip(compiler.columns, result, strict=True)) for result in results]


class BulkLoader:
    """Loads entities and relations given as Python values; a context manager.

    ::

        with db.bulk() as bulk:
            ann = bulk.entity("person", {"name": "Ann", "email": ["a@x.org", "ann@y.org"]})
            bulk.relation("friendship", {"friend": [ann, bob]}, {"since": date(2020, 1, 2)})

    Values may be a list for several attributes of one type, or None for none. Python's ``date``,
    ``datetime`` (aware ones become datetime-tz), ``timedelta`` and ``Decimal`` are understood.
    Each step is checked against the schema, cardinalities at the end; errors are ``TypeQLError``.
    """

    def __init__(self, schema: Schema, store: Store) -> None:
        self._schema = schema
        self._store = store
        self._roles: dict[tuple[Type, str], Type] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._store.check()

    def entity(self, label: str, attributes: Mapping[str, Any] | None = None) -> Object:
        """Create an entity with attributes by type label; the result serves as a role player."""
        created = self._store.create(self._type(label, Kind.ENTITY))
        self._own(created, attributes)
        return created

    def relation(
        self,
        label: str,
        players: Mapping[str, Object | Iterable[Object]],
        attributes: Mapping[str, Any] | None = None,
    ) -> Object:
        """Create a relation with players by role name and attributes by type label."""
        type_ = self._type(label, Kind.RELATION)
        created = self._store.create(type_)
        assert isinstance(created, Relation)
        for name, given in players.items():
            role = self._role(type_, name)
            for player in given if isinstance(given, list | tuple) else (given,):
                self._store.link(created, role, player)
        self._own(created, attributes)
        return created

    def _own(self, owner: Object, attributes: Mapping[str, Any] | None) -> None:
        for label, given in (attributes or {}).items():
            if given is None:
                continue
            type_ = self._type(label, Kind.ATTRIBUTE)
            if type_.value_type is None:
                raise Fault("DWR1", f"{label} is abstract and cannot have instances")
            for value in given if isinstance(given, list | tuple) else (given,):
                stored = converted(from_python(value), type_.value_type)
                self._store.own(owner, self._store.attribute(type_, stored))

    def _type(self, label: str, kind: Kind) -> Type:
        found = self._schema.find(label)
        if found is None or found.kind is not kind:
            raise Fault("INF2", f"there is no {kind} type '{label}'")
        return found

    def _role(self, relation: Type, name: str) -> Type:
        found = self._roles.get((relation, name))
        if found is None:
            for role, relating in relation.relates.items():
                if role.name == name and not relating.hidden:
                    found = self._roles[relation, name] = role
        if found is None:
            raise Fault("INF3", f"{relation.label} has no role '{name}'")
        return found


def from_python(value: Any) -> Value:
    """Bring Python's own dates and times to the engine's; everything else stays as it is.

    Raises LIT1 for what is no value of TypeQL, such as a negative duration.
    """
    if isinstance(value, datetime):
        clock = (value.hour * 3600 + value.minute * 60 + value.second) * NANOS_PER_SECOND
        day = Date.of(value.year, value.month, value.day)
        local = DateTime.of(day, clock + value.microsecond * 1000)
        if value.tzinfo is None:
            return local
        return DateTimeTz.from_local(local, _zone_of(value))
    if isinstance(value, date):
        return Date.of(value.year, value.month, value.day)
    if isinstance(value, timedelta):
        if value < timedelta(0):
            raise Fault("LIT1", f"a duration cannot be negative: {value}")
        nanos = value.seconds * NANOS_PER_SECOND + value.microseconds * 1000
        return Duration(0, value.days, nanos)
    if isinstance(value, bool | int | float | str | Decimal) or type(value) in _OWN:
        return value  # type: ignore[no-any-return]
    raise Fault("LIT1", f"a {type(value).__name__} is no value: {value!r}")


_OWN = (Date, DateTime, DateTimeTz, Duration)


def _zone_of(moment: datetime) -> str:
    name = getattr(moment.tzinfo, "key", None)
    if name is not None and "/" in name:
        return str(name)
    offset = moment.utcoffset() or timedelta(0)
    minutes = int(offset.total_seconds()) // 60
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def queries_of(text: str) -> Iterator[tuple[int, str]]:
    """The queries of a file, parted by lines ``# ---``, each with the number of its first line.

    Parts that hold only comments are left out.
    """
    first, lines = 1, text.splitlines()
    for number, line in enumerate([*lines, "# ---"], start=1):
        if line.strip() == "# ---":
            part = lines[first - 1 : number - 1]
            if any(inside.strip() and not inside.lstrip().startswith("#") for inside in part):
                yield first, "\n".join(part)
            first = number + 1
