"""A Neo4j database of the user's own that holds a suite's data: read, never written to."""

from typing import TYPE_CHECKING, Any

from qeval.engines.base import EngineInfo, Execution, QueryError, QueryLimits
from qeval.engines.existing import address, content, declared, reached, resolved
from qeval.engines.neo4j.load import counts, fingerprint
from qeval.errors import EngineUnavailableError, InputError
from qeval.suite import Existing, Instance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class ExistingNeo4jEngine:
    """Reads the databases that a suite names. Settings: `conf/engine/neo4j_existing.yaml`.

    `databases`: by instance, as suite.yaml declares them. `EngineInfo.data` names what they hold.
    """

    def __init__(
        self,
        *,
        language: str,
        name: str,
        connections: int,
        check_timeout_s: float,
        databases: "Mapping[str, Mapping[str, Any]]",
    ) -> None:
        self.language = language
        self.name = name
        self._connections = connections
        self._check_timeout_s = check_timeout_s
        self._databases = declared(databases)
        self._drivers: dict[Existing, Any] = {}
        self._version = ""

    def start(self) -> EngineInfo:
        """Reach all databases. Raises `InputError` or `EngineUnavailableError`."""
        for name, existing in self._databases.items():
            if existing not in self._drivers:
                self._drivers[existing] = self._reach(name, existing)
        found = {
            name: fingerprint(self._drivers[existing], existing.database)
            for name, existing in self._databases.items()
        }
        return EngineInfo("neo4j", self._version, "server", content(found))

    def load(self, instance: Instance) -> None:
        """Load nothing; the database was looked at by `start`."""
        self._driver(instance)

    def check(self, query: str, instance: Instance) -> None:
        """EXPLAIN: syntax, names and what kind of query it is; nothing is executed."""
        from qeval.engines.neo4j import session

        driver, database = self._driver(instance)
        limit = self._check_timeout_s
        self._patiently(limit, lambda: session.check(driver, database, query, limit))

    def execute(self, query: str, instance: Instance, limits: QueryLimits) -> Execution:
        """Run one read query, unchanged, in a read transaction."""
        from qeval.engines.neo4j import session
        from qeval.engines.neo4j.mapping import keys_of
        from qeval.scoring.values import Canonical

        canonical = Canonical(keys_of(instance.mapping))
        driver, database = self._driver(instance)
        found: Execution = self._patiently(
            limits.timeout_s, lambda: session.execute(driver, database, query, limits, canonical)
        )
        return found

    def drop(self, instance: Instance) -> None:
        """Drop nothing: the data is the user's."""

    def fingerprint(self, instance: Instance) -> str:
        """Digest of all nodes and relationships."""
        return fingerprint(*self._driver(instance))

    def restart(self) -> None:
        """Connect anew."""
        self.stop()
        self.start()

    def stop(self) -> None:
        """Close all connections."""
        for driver in self._drivers.values():
            driver.close()
        self._drivers.clear()

    def _reach(self, name: str, existing: Existing) -> Any:
        from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError

        from qeval.engines.neo4j.server import connect

        user = resolved(existing.user, "the user of its database")
        password = resolved(existing.password, "the password of its database")
        auth = (user or "neo4j", password) if password else None
        try:
            driver = connect(address(existing), self._connections, auth)
        except (ConfigurationError, ValueError) as error:
            raise InputError(f"instances.{name}: {existing.uri} is no Neo4j URI: {error}") from None
        try:
            row = driver.execute_query(
                "CALL dbms.components() YIELD versions RETURN versions[0] AS version",
                database_=existing.database,
                routing_="r",
            )
            self._version = str(row.records[0]["version"])
            nodes, _ = counts(driver, existing.database)
        except (DriverError, Neo4jError) as error:
            driver.close()
            raise EngineUnavailableError(
                f"can't read the suite's Neo4j database {existing.uri}: {error}"
            ) from None
        if not nodes:
            driver.close()
            raise EngineUnavailableError(
                f"the suite's Neo4j database {existing.uri} of instance {name!r} is empty"
            )
        return driver

    def _driver(self, instance: Instance) -> tuple[Any, str | None]:
        driver = reached(instance, self._drivers)
        assert instance.existing is not None
        return driver, instance.existing.database

    def _patiently(self, limit_s: float, work: "Callable[[], Any]") -> Any:
        from qeval.engines.neo4j.session import AbandonedError

        try:
            return work()
        except AbandonedError:
            raise QueryError(
                "timeout", f"given up after {limit_s:g} s; Neo4j could not stop it", code="client"
            ) from None
