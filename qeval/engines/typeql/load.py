"""Loading an instance into the embedded engine."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from qeval.engines.typeql.mapping import TypeqlMapping
from qeval.errors import InputError
from qeval.suite import Instance

if TYPE_CHECKING:
    from qeval.typeql import Database


def filled(instance: Instance) -> "Database":
    """A database that holds `instance`.

    Raises `InputError` where the engine refuses the suite's schema or data, or the mapping does
    not fit them.
    """
    from qeval.typeql import Database, TypeQLError
    from qeval.typeql.loading import queries_of

    database = Database()
    try:
        database.define(instance.schema)
    except TypeQLError as error:
        at = f":{error.line}" if error.line else ""
        file = instance.schema_file or f"schema of {instance.name}"
        raise InputError(f"{file}{at}: TypeQL refuses the schema: {error}") from error
    if instance.script is not None:
        for first, query in queries_of(instance.script.text):
            try:
                database.load([query])
            except TypeQLError as error:
                line = first + (error.line or 1) - 1
                raise InputError(
                    f"{instance.script.file}:{line}: TypeQL refuses the query: {error}"
                ) from error
        return database
    mapping = TypeqlMapping(instance.mapping, instance.dataset())
    try:
        with _collector_paused():
            _fill(database, mapping)
    except TypeQLError as error:
        raise InputError(f"instance {instance.name!r}: TypeQL refuses the data: {error}") from error
    return database


def _fill(database: "Database", mapping: TypeqlMapping) -> None:
    made = {}
    with database.bulk() as bulk:
        for entity in mapping.entities():
            made[entity.reference] = bulk.entity(entity.type, entity.attributes)
        for relation in mapping.relations():
            players = {}
            for role, reference in relation.players.items():
                if reference not in made:
                    table, key = reference
                    raise InputError(
                        f"mapping: a {relation.type} has the {role} {key!r}, but {table!r} has "
                        "no such key"
                    )
                players[role] = made[reference]
            bulk.relation(relation.type, players, relation.attributes)


_pausing = threading.Lock()
_paused = 0


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without Python's cycle collector: the many new objects make it search in vain half the time.

    Counted, for several threads may load at once.
    """
    global _paused  # noqa: PLW0603 - the collector is the process's
    with _pausing:
        ours = _paused > 0 or gc.isenabled()
        if ours:
            _paused += 1
            gc.disable()
    try:
        yield
    finally:
        with _pausing:
            if ours:
                _paused -= 1
                if not _paused:
                    gc.enable()
