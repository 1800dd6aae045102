"""The signatures of the built-in functions on concepts: ``iid``, ``label``, notes of the schema.

Those for ``@doc`` and ``@meta`` come in families: ``get_doc(type)``, ``get_meta(key, type)`` and
the stream ``get_all_meta(type)``; with ``owns``, ``plays``, ``relates`` and ``sub`` in the name
they take two types, with ``fun`` the name of a function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.ir.functions import AnyConcept, Signature
from qeval.typeql.ir.variables import Category
from qeval.typeql.values import ValueType

if TYPE_CHECKING:
    from qeval.typeql.ir.functions import Parameter

_FAMILIES = {"": 1, "owns_": 2, "plays_": 2, "relates_": 2, "sub_": 2, "fun_": 1}
"""What stands before ``doc`` and ``meta`` in a name, with how many subjects it takes."""


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
