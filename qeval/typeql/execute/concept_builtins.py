"""The built-in functions on concepts: ``iid``, ``label``, and those for ``@doc`` and ``@meta``.

The latter come in families: ``get_doc(type)``, ``get_meta(key, type)`` and the stream
``get_all_meta(type)``; with ``owns``, ``plays``, ``relates`` and ``sub`` in the name they take two
types, with ``fun`` the name of a function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qeval.typeql.faults import Fault
from qeval.typeql.ir.functions import AnyConcept, Signature
from qeval.typeql.ir.variables import Category
from qeval.typeql.values import ValueType

if TYPE_CHECKING:
    from qeval.typeql.execute.runtime import Row
    from qeval.typeql.ir.functions import Parameter
    from qeval.typeql.schema import Schema

_FAMILIES = {"": 1, "owns_": 2, "plays_": 2, "relates_": 2, "sub_": 2, "fun_": 1}
_SUBJECTS = {"owns_": "owned", "plays_": "played", "relates_": "related", "sub_": "supers"}


def _signature(name: str, arguments: list[Category], results: int = 1) -> Signature:
    parameters: list[Parameter] = [
        ValueType.STRING if category is Category.VALUE else AnyConcept() for category in arguments
    ]
    return Signature(
        name,
        tuple(arguments),
        (Category.VALUE,) * results,
        stream=results > 1,
        parameters=tuple(parameters),
        results=(ValueType.STRING,) * results,
    )


def _all_signatures() -> dict[str, Signature]:
    signatures = [_signature("iid", [Category.THING]), _signature("label", [Category.TYPE])]
    for family, count in _FAMILIES.items():
        subject = [Category.VALUE if family == "fun_" else Category.TYPE] * count
        signatures += [
            _signature(f"get_{family}doc", subject),
            _signature(f"get_{family}meta", [Category.VALUE, *subject]),
            _signature(f"get_{family}all_meta", subject, results=2),
        ]
    return {signature.name: signature for signature in signatures}


CONCEPT_BUILTINS = _all_signatures()


def call_builtin(schema: Schema, name: str, arguments: Row) -> list[Row]:
    """Return the results of a built-in; none if an argument is missing or the types do not fit.

    Raises FUN1 for the notes of a function that is not in the schema.
    """
    if any(argument is None for argument in arguments):
        return []
    if name in ("iid", "label"):
        return [(getattr(arguments[0], name),)]
    family, what = _split(name)
    found = _subject(schema, family, arguments[1:] if what == "meta" else arguments)
    if found is None:
        return []
    notes = schema.notes.of(found)
    if what == "doc":
        return [(notes.doc,)]
    if what == "meta":
        return [(notes.meta.get(arguments[0], ""),)]
    return list(notes.meta.items())


def _split(name: str) -> tuple[str, str]:
    """Take a name like ``get_owns_all_meta`` apart into family and question."""
    rest = name.removeprefix("get_")
    for what in ("all_meta", "meta", "doc"):
        if rest.endswith(what):
            return rest.removesuffix(what), what
    raise AssertionError(name)


def _subject(schema: Schema, family: str, named: tuple[Any, ...]) -> tuple[str, ...] | None:
    if family == "fun_":
        if named[0] not in schema.functions:
            raise Fault("FUN1", f"there is no function '{named[0]}'")
        return ("fun", named[0])
    if family == "":
        return ("type", named[0].label)
    one, other = named
    if not getattr(one, _SUBJECTS[family]) & other.bit:
        return None
    return (family.rstrip("_"), one.label, other.label)
