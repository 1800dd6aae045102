"""Databases of the user's own that a suite names: read, never written to."""

import os
from collections.abc import Mapping
from typing import Any, TypeVar

from qeval.engines.base import EngineLostError
from qeval.errors import EngineUnavailableError, InputError
from qeval.suite import Existing, Instance

T = TypeVar("T")


def declared(databases: Mapping[str, Mapping[str, Any]]) -> dict[str, Existing]:
    """The databases of a configuration, by instance."""
    return {
        name: Existing(**{**given, "schemas": tuple(given.get("schemas") or ("public",))})
        for name, given in databases.items()
    }


def resolved(text: str | None, what: str) -> str | None:
    """`text`, or the value of the environment variable that `$NAME` stands for.

    Raises `InputError` naming the variable that is not set.
    """
    if text is None or not text.startswith("$"):
        return text
    value = os.environ.get(text[1:])
    if not value:
        raise InputError(f"the suite reads {what} from {text[1:]}, which is not set")
    return value


def address(existing: Existing) -> str:
    """The URI of a database. Raises `InputError`."""
    uri = resolved(existing.uri, "the URI of its database")
    assert uri is not None
    return uri


def content(fingerprints: Mapping[str, str]) -> str:
    """A short name of what all databases hold, part of `EngineInfo`: other data, other cells."""
    import hashlib

    text = "".join(f"{name} {digest};" for name, digest in sorted(fingerprints.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def reached(instance: Instance, places: Mapping[Existing, T]) -> T:
    """What `places` has for the database of an instance.

    Raises `EngineUnavailableError` for an instance that no declared database holds, and
    `EngineLostError` for one whose database is not reached (any more).
    """
    if instance.existing is None:
        raise EngineUnavailableError(
            f"instance {instance.name!r} is no database that the suite names: an existing database "
            "is only read, so other data can't be loaded into it"
        )
    if instance.existing not in places:
        raise EngineLostError(f"the database of instance {instance.name!r} is not reached")
    return places[instance.existing]
