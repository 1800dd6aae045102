"""Checks of ``fetch``: whether the attributes it asks for exist, are owned, and are single."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.check.annotate import annotate_stages
from qeval.typeql.check.functions import annotate_anonymous
from qeval.typeql.faults import Fault, within
from qeval.typeql.ir import fetches as g
from qeval.typeql.schema import Kind

if TYPE_CHECKING:
    from qeval.typeql.check.annotate import Known
    from qeval.typeql.schema import Schema


def sure_keys(schema: Schema, fetch: g.FetchObject, known: Known) -> tuple[str, ...]:
    """Return the keys that every document has; none where they depend on the data.

    Those of ``{ $x.* }`` are sure if whatever ``$x`` can be must own the same attributes.
    """
    if isinstance(fetch, g.FetchEntries):
        return tuple(key for key, _, _ in fetch.entries)
    shapes = set()
    for owner in schema.members(known.concepts.get(fetch.variable, 0)):
        owned = [edge for edge in owner.owns.values() if not edge.attribute.abstract]
        if any(edge.card.low < 1 for edge in owned):
            return ()
        shapes.add(tuple(sorted(edge.attribute.label for edge in owned)))
    return shapes.pop() if len(shapes) == 1 else ()


def annotate_fetch(schema: Schema, fetch: g.FetchObject, known: Known) -> None:
    """Check what is fetched.

    Raises QUA7 (unknown attribute), QUA8 and QUA9 (never owned), QUA10 and QUA11 (not the
    attribute of an entity or relation), QUA12 (several values without brackets), QUA5 (a fault in
    a nested function), INF2 (unknown label).
    """
    if isinstance(fetch, g.FetchEntries):
        for _, value, span in fetch.entries:
            with within("QUA4"):
                try:
                    _annotate_value(schema, value, known)
                except Fault as fault:
                    fault.span = fault.span or span
                    raise


def _annotate_value(schema: Schema, value: g.FetchValue, known: Known) -> None:
    match value:
        case g.FetchEntries():
            annotate_fetch(schema, value, known)
        case g.FetchAttribute():
            _check_attribute(schema, value, known)
        case g.FetchType():
            if schema.find(value.label) is None:
                with within("QUA1"):
                    raise Fault("INF2", f"there is no type '{value.label}'", value.span)
        case g.FetchFunction():
            with within("QUA5"):
                annotate_anonymous(schema, value.body, known)
        case g.FetchPipeline():
            pipeline, inner = value.pipeline, known.copy()
            annotate_stages(schema, pipeline.registry, pipeline.stages, inner)
            if pipeline.fetch is not None:
                annotate_fetch(schema, pipeline.fetch, inner)


def _check_attribute(schema: Schema, fetch: g.FetchAttribute, known: Known) -> None:
    attribute = schema.find(fetch.attribute)
    if attribute is None or attribute.kind is not Kind.ATTRIBUTE:
        raise Fault("QUA7", f"there is no attribute '{fetch.attribute}'")
    var, label, many = fetch.variable, attribute.label, fetch.many
    if var not in known.concepts:
        raise Fault("QUA11" if many else "QUA10", f"{var} is a value")
    for owner in schema.members(known.concepts[var]):
        if owner.kind in (Kind.ATTRIBUTE, Kind.ROLE):
            code = "QUA11" if many else "QUA10"
            raise Fault(code, f"{var} can be of the {owner.kind} type {owner.label}")
        if attribute not in owner.owns:
            code = "QUA9" if many else "QUA8"
            raise Fault(code, f"{var} can be a {owner.label}, which owns no {label}")
        if not many and not schema.bounded_to_one(owner, attribute):
            message = f"a {owner.label} can have several {label}: write [ {var}.{label} ]"
            raise Fault("QUA12", message)
