"""Configuration values become typed settings, or an error that names the key."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from qeval.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


def typed(cls: type[T], values: Mapping[str, Any], where: str) -> T:
    """Build the dataclass `cls` from the keys of `values` that it has.

    Fields are bool, int, float or str. Raises `InputError` for a missing key, another type, and a
    number that is negative, infinite or no number.
    """
    kinds = get_type_hints(cls)
    known = {}
    for field in fields(cls):
        if field.name in values:
            known[field.name] = check(kinds[field.name], values[field.name], f"{where}{field.name}")
        elif field.default is MISSING:
            raise InputError(f"{where}{field.name} is missing")
    return cls(**known)


def check(kind: type, value: Any, key: str) -> Any:
    """`value` as `kind` (bool, int, float, str); raises `InputError` naming `key`."""
    wanted = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[kind]
    right = isinstance(value, int | float) if kind is float else isinstance(value, kind)
    if not right or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"{key} must be {wanted}, not {value!r}")
    if kind in (int, float) and not (value >= 0 and math.isfinite(value)):
        raise InputError(f"{key} must be {wanted} of at least 0, not {value!r}")
    return float(value) if kind is float else value


def whole(values: Mapping[str, Any], key: str, least: int) -> int:
    """`values[key]` as a whole number of at least `least`; raises `InputError`."""
    value: int = check(int, values[key], key)
    if value < least:
        raise InputError(f"{key} must be a whole number of at least {least}, not {value!r}")
    return value
