"""Execution of ``fetch``: one document a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from qeval.typeql.execute.stages import StageCompiler
from qeval.typeql.faults import Fault, within
from qeval.typeql.ir import fetches as g
from qeval.typeql.schema import Kind, Type
from qeval.typeql.store import Attribute, Object
from qeval.typeql.values import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from qeval.typeql.check.annotate import Known
    from qeval.typeql.execute.functions import FunctionTables
    from qeval.typeql.execute.runtime import Row
    from qeval.typeql.ir.variables import Var

Document: TypeAlias = Any
Build: TypeAlias = "Callable[[Row], Document]"


class FetchCompiler:
    """Compiles what is fetched to functions from rows to documents.

    Documents are kept until the end, so every value in them counts as held.
    """

    def __init__(self, columns: tuple[Var, ...], known: Known, tables: FunctionTables) -> None:
        self._columns = columns
        self._slots = {var: slot for slot, var in enumerate(columns)}
        self._known = known
        self._tables = tables
        self._runtime = tables.runtime
        self._hold = tables.runtime.budget.hold

    def compile(self, fetch: g.FetchObject) -> Build:
        """Return the function for a whole ``fetch``."""
        return self._value(fetch)

    def _value(self, value: g.FetchValue) -> Build:  # noqa: PLR0911 - one a form
        match value:
            case g.FetchEntries():
                return self._entries(value)
            case g.FetchAll():
                return self._all(value)
            case g.FetchVariable():
                slot = self._slots[value.variable]
                return lambda row: document_of(row[slot])
            case g.FetchAttribute():
                return self._attribute(value)
            case g.FetchType():
                type_ = self._runtime.schema.find(value.label)
                return lambda _row: document_of(type_)
            case g.FetchFunction():
                return self._function(value)
            case g.FetchPipeline():
                return self._pipeline(value)

    def _entries(self, value: g.FetchEntries) -> Build:
        builders = [(key, self._value(inner)) for key, inner, _ in value.entries]
        hold, cells = self._hold, len(builders) + 1

        def document(row: Row) -> Document:
            hold(cells)
            return {key: build(row) for key, build in builders}

        return document

    def _all(self, value: g.FetchAll) -> Build:
        slot, schema, hold = self._slots[value.variable], self._runtime.schema, self._hold

        def document(row: Row) -> Document:
            if row[slot] is None:
                return None
            owner = _owner(row[slot])
            hold(sum(map(len, owner.has.values())) + 1)
            return _all_attributes(owner, schema.bounded_to_one)

        return document

    def _attribute(self, value: g.FetchAttribute) -> Build:
        slot, schema, hold = self._slots[value.variable], self._runtime.schema, self._hold
        attribute = schema.find(value.attribute)
        assert attribute is not None
        types = schema.members(attribute.subs)

        def values(row: Row) -> list[Document] | None:
            if row[slot] is None:
                return None
            owner = _owner(row[slot])
            found = [show(a.value) for type_ in types for a in owner.has.get(type_, ())]
            hold(len(found))
            return found

        if value.many:
            return values
        return lambda row: next(iter(values(row) or ()), None)

    def _function(self, value: g.FetchFunction) -> Build:
        body = value.body
        evaluate = self._tables.compile(body, self._known.copy())
        arguments, hold = [self._slots[var] for var in body.arguments], self._hold

        def results(row: Row) -> list[Document]:
            given = tuple(row[slot] for slot in arguments)
            found: list[Document] = []
            for result in evaluate(given):
                hold(len(result))
                found += map(document_of, result)
            return found

        if value.many:
            return results
        return lambda row: next(iter(results(row)), None)

    def _pipeline(self, value: g.FetchPipeline) -> Build:
        pipeline = value.pipeline
        compiler = StageCompiler(
            self._columns,
            self._known.copy(),
            pipeline.registry,
            self._runtime,
            as_set=True,
        )
        transform = compiler.compile(pipeline.stages)
        assert pipeline.fetch is not None
        inner = FetchCompiler(compiler.columns, compiler.known, self._tables)
        build = inner.compile(pipeline.fetch)
        return lambda row: [build(result) for result in transform((row,))]


def document_of(held: Any) -> Document:
    """Return what a document shows of a concept; raises FEX5 and FEX6 for objects."""
    if held is None:
        return None
    if isinstance(held, Attribute):
        return show(held.value)
    if isinstance(held, Type):
        kind = "relation:role" if held.kind is Kind.ROLE else str(held.kind)
        document = {"kind": kind, "label": held.label}
        if held.kind is Kind.ATTRIBUTE and held.value_type is not None:
            document["valueType"] = str(held.value_type)
        return document
    if isinstance(held, Object):
        with within("PEX8"):
            code = "FEX5" if held.type.kind is Kind.ENTITY else "FEX6"
            raise Fault(code, "an object cannot be fetched: fetch its attributes, $x.*")
    return show(held)


def _owner(held: Any) -> Object:
    if isinstance(held, Object):
        return held
    code = "FEX1" if isinstance(held, Type) else "FEX2" if isinstance(held, Attribute) else "FEX3"
    with within("PEX8"):
        raise Fault(code, "only entities and relations have attributes")


def _all_attributes(owner: Object, is_single: Callable[[Type, Type], bool]) -> Document:
    document: dict[str, Document] = {}
    for type_, attributes in owner.has.items():
        shown = [show(attribute.value) for attribute in attributes]
        if shown:
            document[type_.label] = shown[0] if is_single(owner.type, type_) else shown
    return document
