"""A Neo4j server of the user's own: one database, which holds one instance at a time.

Which instance is in is told by the name of an index on a label that no node has; queries can't see
it. A database that holds anything else is never touched.
"""

from typing import Any

from qeval.engines.base import EngineLostError
from qeval.engines.neo4j.load import counts, fill
from qeval.engines.neo4j.scripts import run_script
from qeval.engines.neo4j.server import connect
from qeval.errors import EngineUnavailableError, InputError
from qeval.suite import Instance

_OLDEST = 5
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_UNFINISHED = "qeval_unfinished"
_MARK = "qeval_"
_MARKED = "QevalInstance"


class RemoteDatabase:
    """The database of a URI, which may hold `user:password@`. `secret` is never shown."""

    def __init__(
        self, uri: str, user: str, secret: str | None, database: str | None, connections: int
    ) -> None:
        from neo4j.exceptions import ConfigurationError

        self.name = database
        self._where, *login = _login_apart(uri)
        if login[0]:
            user, secret = login
        try:
            _refuse_other_schemes(self._where)
            self.driver = connect(self._where, connections, (user, secret) if secret else None)
        except (ConfigurationError, ValueError) as error:
            raise InputError(
                f"engine.uri (QEVAL_NEO4J_URI) is no Neo4j URI: {error}; expected bolt://host:port "
                "or neo4j://host:port, with QEVAL_NEO4J_USER and QEVAL_NEO4J_PASSWORD beside it"
            ) from None

    def reach(self) -> str:
        """The server's version. Raises `EngineUnavailableError`."""
        from neo4j.exceptions import DriverError, Neo4jError

        try:
            with self.driver.session(database=self.name) as session:
                row = session.run("CALL dbms.components() YIELD versions RETURN versions[0]")
                version = str(row.single()[0])
        except (DriverError, Neo4jError, OSError, ValueError) as error:
            raise EngineUnavailableError(
                f"can't reach the Neo4j server of engine.uri ({self._where}): {error}\n"
                "Check QEVAL_NEO4J_URI, QEVAL_NEO4J_USER and QEVAL_NEO4J_PASSWORD; unset the URI "
                "to use the embedded server."
            ) from None
        if not version.partition(".")[0].isdigit() or int(version.partition(".")[0]) < _OLDEST:
            raise EngineUnavailableError(
                f"the Neo4j server at {self._where} has version {version}; 5 or newer is needed"
            )
        return version

    def holds(self) -> str | None:
        """Key of the instance that is in, None if the database is empty or half loaded.

        Raises `EngineUnavailableError` for a database with data that is not ours.
        """
        mark = self._mark()
        if mark is None and counts(self.driver, self.name) != (0, 0):
            raise EngineUnavailableError(
                f"the database {self.name or '(default)'} at {self._where} holds data that qeval "
                "did not load. It is left alone; give an empty one (QEVAL_NEO4J_DATABASE)."
            )
        return None if mark in (None, _UNFINISHED) else mark

    def switch(self, instance: Instance) -> None:
        """Replace what is in by `instance`. Raises `EngineLostError` where that fails."""
        from neo4j.exceptions import DriverError, Neo4jError

        wanted = _MARK + instance.key
        try:
            if self.holds() == wanted:
                return
            self._set_mark(_UNFINISHED)
            self._clear()
            if instance.script is None:
                fill(self.driver, self.name, instance)
            else:
                run_script(self.driver, self.name, instance)
            self._set_mark(wanted)
        except (DriverError, Neo4jError) as error:
            raise EngineLostError(f"loading into {self._where} failed: {error}") from error

    def close(self) -> None:
        """Close all connections."""
        self.driver.close()

    def _mark(self) -> str | None:
        rows = self._run("SHOW INDEXES YIELD name WHERE name STARTS WITH 'qeval_' RETURN name")
        return str(rows[0][0]) if rows else None

    def _set_mark(self, name: str) -> None:
        old = self._mark()
        if old == name:
            return
        # The new mark first: there is never a moment without one.
        self._run(f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{_MARKED}) ON (n.{name})")
        if old is not None:
            self._run(f"DROP INDEX {old} IF EXISTS")

    def _clear(self) -> None:
        self._run("MATCH (n) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS")
        for (name,) in self._run("SHOW CONSTRAINTS YIELD name RETURN name"):
            self._run(f"DROP CONSTRAINT `{name}` IF EXISTS")
        for (name,) in self._run(
            "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' AND NOT name STARTS WITH "
            "'qeval_' RETURN name"
        ):
            self._run(f"DROP INDEX `{name}` IF EXISTS")

    def _run(self, query: str) -> list[Any]:
        with self.driver.session(database=self.name) as session:
            return [tuple(record) for record in session.run(query)]


def _refuse_other_schemes(uri: str) -> None:
    from urllib.parse import urlsplit

    _ = urlsplit(uri).port  # a ValueError where it is none
    if uri.partition("://")[0] not in _SCHEMES:
        raise ValueError(f"it begins with none of {', '.join(_SCHEMES)}")


def _login_apart(uri: str) -> tuple[str, str, str]:
    """The URI without `user:password@`, which the driver refuses (and then shows), and both."""
    from urllib.parse import unquote

    scheme, mark, rest = uri.partition("://")
    login, _, where = rest.rpartition("@")
    user, _, secret = login.partition(":")
    return f"{scheme}{mark}{where}", unquote(user), unquote(secret)
