"""Places for ad hoc instances: databases that have the schema already and are filled in turn.

Making a database and its tables takes a hundred times as long as a few rows do, so a place is made
once, emptied when its instance is dropped, and kept on the server for later processes. A place is
one process's while it holds an advisory lock in it, which ends with the process.
"""

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from qeval.engines.base import EngineLostError
from qeval.engines.postgres.server import Server, refusals
from qeval.suite import Instance

if TYPE_CHECKING:
    import psycopg

    from qeval.data.model import Dataset

_MOST_PLACES = 64  # of one schema on one server
_FEW_ROWS = 300  # so many are sooner deleted than their tables truncated


@dataclass(slots=True)
class _Place:
    name: str
    connection: "psycopg.Connection[tuple[Any, ...]]"
    filled: list[str] = field(default_factory=list)  # tables with rows, references backwards
    rows: int = 0  # written since the tables were last truncated


class Scratch:
    """The places of one engine object. Thread-safe."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lock = Lock()
        self._free: dict[str, list[_Place]] = {}  # by the schema's digest
        self._taken: dict[str, tuple[str, _Place]] = {}  # by the instance's key

    def place(self, key: str) -> str | None:
        """Where the instance `key` is, in the server's words; None if it is not here."""
        found = self._taken.get(key)
        return None if found is None else found[1].name

    def load(self, instance: Instance) -> None:
        """Fill a free place with the instance. Raises `InputError` if its rows are refused."""
        digest = hashlib.sha256(instance.schema.encode()).hexdigest()[:16]
        dataset = instance.dataset()
        with self._lock:
            free = self._free.setdefault(digest, [])
            place = free.pop() if free else self._claim(digest, instance, dataset)
        with refusals(self._server, f"loading {instance.key}"):
            self._fill(place, instance, dataset)
        with self._lock:
            self._taken[instance.key] = (digest, place)

    def drop(self, key: str) -> None:
        """Empty the place of the instance `key` and free it. Raises `EngineLostError`."""
        with self._lock:
            digest, place = self._taken.pop(key, ("", None))
        if place is None:
            return
        with refusals(self._server, f"dropping {key}"):
            self._empty(place)
        with self._lock:
            self._free[digest].append(place)

    def close(self) -> None:
        """Let go of all places; other processes may take them."""
        with self._lock:
            places = [place for free in self._free.values() for place in free]
            places += [place for _, place in self._taken.values()]
            self._free.clear()
            self._taken.clear()
        for place in places:
            with suppress(Exception):
                place.connection.close()

    def _claim(self, digest: str, instance: Instance, dataset: "Dataset") -> _Place:
        from qeval.engines.postgres.load import ensure_empty

        ours = {place.name for _, place in self._taken.values()}
        for number in range(_MOST_PLACES):
            name = f"qeval_scratch_{digest}_{number}"
            if name in ours:
                continue
            ensure_empty(self._server, name, instance)
            connection = self._server.connect_owner(name)
            with refusals(self._server, f"claiming {name}"):
                got = connection.execute(
                    "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", (f"qeval in {name}",)
                ).fetchone()
                if got == (True,):
                    tables = [table.name for table in dataset.tables]
                    place = _Place(name, connection, tables, _FEW_ROWS + 1)
                    self._empty(place)
                    return place
            connection.close()
        raise EngineLostError(f"all {_MOST_PLACES} places for small data sets are taken")

    def _fill(self, place: _Place, instance: Instance, dataset: "Dataset") -> None:
        from qeval.engines.postgres.load import copy_rows

        try:
            with place.connection.transaction():
                for table in dataset.tables:
                    if dataset.rows[table.name]:
                        copy_rows(place.connection, instance, table, dataset.rows[table.name])
                        place.filled.append(table.name)
                        place.rows += len(dataset.rows[table.name])
        except BaseException:
            # Refused rows were rolled back; whoever comes next finds or makes another place.
            place.connection.close()
            raise

    def _empty(self, place: _Place) -> None:
        from psycopg.sql import SQL, Identifier

        names = [Identifier(name) for name in place.filled[::-1]]
        if place.rows > _FEW_ROWS:
            # Deleting looks for references row by row, in tables full of rows deleted before.
            place.connection.execute(SQL("TRUNCATE {} CASCADE").format(SQL(", ").join(names)))
            place.rows = 0
        elif names:
            deletes = [SQL("DELETE FROM {}").format(name) for name in names]
            place.connection.execute(SQL("; ").join(deletes))
        place.filled.clear()
