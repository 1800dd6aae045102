"""Execution of the built-in functions on concepts; :mod:`qeval.typeql.ir.concept_builtins`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qeval.typeql.faults import Fault

if TYPE_CHECKING:
    from qeval.typeql.execute.runtime import Row
    from qeval.typeql.schema import Schema

_SUBJECTS = {"owns_": "owned", "plays_": "played", "relates_": "related", "sub_": "supers"}


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
