"""Databases of a TypeDB server that hold a suite's data: read, never written to."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from qeval.engines.base import EngineInfo
from qeval.engines.existing import address, content, declared, resolved
from qeval.engines.typedb.engine import TypedbEngine
from qeval.engines.typedb.load import database_name, fingerprint
from qeval.errors import InputError
from qeval.suite import Instance


class ExistingTypedbEngine(TypedbEngine):
    """Reads the databases that a suite names. Settings: `conf/engine/typedb_existing.yaml`.

    `databases`: by instance, as suite.yaml declares them, all of one server.
    """

    def __init__(self, *, databases: Mapping[str, Mapping[str, Any]], **settings: Any) -> None:
        super().__init__(uri=None, user="", password="", load_batch=1, **settings)
        self._databases = declared(databases)
        if len({(each.uri, each.user, each.password) for each in self._databases.values()}) > 1:
            raise InputError("instances: TypeDB databases of a suite must be of one server")

    def start(self) -> EngineInfo:
        """Reach the server and see that the databases are there."""
        base = self._databases["base"]
        self._uri = address(base)
        user = resolved(base.user, "the user of its database") or "admin"
        self._login = (user, resolved(base.password, "the password of its database") or "")
        info = super().start()
        found = {}
        for name, existing in self._databases.items():
            if existing.database is None or not self._reached().databases.contains(
                existing.database
            ):
                raise InputError(
                    f"instances.{name}.typeql: the server has no database {existing.database!r}"
                )
            found[name] = fingerprint(self._reached(), existing.database, {})
        return replace(info, data=content(found))

    def load(self, instance: Instance) -> None:
        """Load nothing; see that it is a database which the suite names."""
        database_name(instance)
        self._loaded[instance.key] = instance

    def drop(self, instance: Instance) -> None:
        """Drop nothing: the data is the user's."""
