"""A PostgreSQL database of the user's own that holds a suite's data: read, never written to."""

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from qeval.engines.base import EngineInfo, Execution, QueryLimits
from qeval.engines.existing import address, content, declared, reached
from qeval.engines.postgres.load import digest_of
from qeval.engines.postgres.pool import Sessions
from qeval.engines.postgres.remote import address_of, opened, parameters_of
from qeval.engines.postgres.server import Server, StaleSessionError, refusals
from qeval.errors import EngineUnavailableError, InputError, did_you_mean
from qeval.suite import Existing, Instance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qeval.engines.postgres.session import Session

_T = TypeVar("_T")
_READ_ONLY = "-c default_transaction_read_only=on"


@dataclass(frozen=True, slots=True)
class ExistingServer(Server):
    """The one database of a URI; `schemas` are searched for tables in this order."""

    schemas: tuple[str, ...] = ("public",)

    def __repr__(self) -> str:
        return f"ExistingServer({self.version})"

    def schema(self, key: str) -> str:
        """The search path, quoted; the same for every key."""
        del key
        return ",".join('"' + name.replace('"', '""') + '"' for name in self.schemas)

    def database(self, key: str) -> str:
        """The database of the URI."""
        del key
        return self.owner["dbname"]


@dataclass(slots=True)
class _Place:
    server: ExistingServer
    sessions: Sessions
    verified: set[str] = field(default_factory=set)  # schema texts whose tables are there


class ExistingPostgresEngine:
    """Reads the databases that a suite names. Settings: `conf/engine/postgres_existing.yaml`.

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
        self._places: dict[Existing, _Place] = {}

    def start(self) -> EngineInfo:
        """Reach all databases. Raises `InputError` or `EngineUnavailableError`."""
        for existing in self._databases.values():
            if existing not in self._places:
                server = reach(existing)
                sessions = Sessions(server, self._connections, idle=self._connections)
                self._places[existing] = _Place(server, sessions)
        servers = {name: self._places[found].server for name, found in self._databases.items()}
        digests = {name: _digest(server) for name, server in servers.items()}
        version = servers["base"].version
        return EngineInfo("postgres", version, "server", content(digests))

    def load(self, instance: Instance) -> None:
        """Load nothing; see that the tables which the suite's schema has are there."""
        place = reached(instance, self._places)
        if instance.schema not in place.verified:
            verify(place.server, instance)
            place.verified.add(instance.schema)

    def check(self, query: str, instance: Instance) -> None:
        """Parse, resolve names and plan; nothing is executed."""
        self._on_session(instance, lambda session: session.check(query, self._check_timeout_s))

    def execute(self, query: str, instance: Instance, limits: QueryLimits) -> Execution:
        """Run one read query in a read-only transaction."""
        return self._on_session(instance, lambda session: session.execute(query, limits))

    def drop(self, instance: Instance) -> None:
        """Drop nothing: the data is the user's."""

    def fingerprint(self, instance: Instance) -> str:
        """Digest of all rows of the schemas, computed by the server."""
        return _digest(reached(instance, self._places).server)

    def restart(self) -> None:
        """Connect anew."""
        self.stop()
        self.start()

    def stop(self) -> None:
        """Close all sessions."""
        for place in self._places.values():
            place.sessions.close()
        self._places.clear()

    def _on_session(self, instance: Instance, use: "Callable[[Session], _T]") -> _T:
        sessions = reached(instance, self._places).sessions
        try:
            with sessions.lease(instance.key) as session:
                return use(session)
        except StaleSessionError:
            with sessions.lease(instance.key, fresh=True) as session:
                return use(session)


def _digest(server: ExistingServer) -> str:
    with refusals(server, "taking a fingerprint"), server.connect_owner("") as connection:
        return digest_of(connection, server.schemas)


def reach(existing: Existing) -> ExistingServer:
    """Connect and look at what the role may do. Raises `InputError`, `EngineUnavailableError`."""
    owner = parameters_of(address(existing), existing.uri)
    owner["options"] = f"{owner.get('options', '')} {_READ_ONLY}".strip()
    where = address_of(owner)
    with opened(owner, f"the suite's PostgreSQL database {existing.uri} ({where})") as connection:
        row = connection.execute(
            "SELECT current_setting('server_version'), rolsuper, EXISTS (SELECT FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ANY(%s) "
            "AND c.relkind IN ('r', 'p') "
            "AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) "
            "FROM pg_roles WHERE rolname = current_user",
            (list(existing.schemas),),
        ).fetchone()
        assert row is not None
        version, is_superuser, may_write = row
        user = connection.info.user
        owner = {**owner, "dbname": connection.info.dbname, "user": user}
    if is_superuser:
        raise EngineUnavailableError(
            f"{existing.uri} ({where}): {user!r} is a superuser, which queries of a model must not "
            "be. Give the URI of a role that may only read:\n"
            "  CREATE ROLE reader LOGIN PASSWORD '…'; GRANT SELECT ON ALL TABLES IN SCHEMA "
            f"{existing.schemas[0]} TO reader;"
        )
    if may_write:
        logging.getLogger("qeval").warning(
            "PostgreSQL %s: %r may write to the tables. Queries run in read-only transactions, and "
            "what would write is refused before; a role that may only SELECT is a further wall.",
            where, user,
        )  # fmt: skip
    return ExistingServer(
        owner=owner,
        reader=owner,
        version=str(version).split()[0],
        origin="server",
        separate_reader=False,
        schemas=existing.schemas,
    )


def verify(server: ExistingServer, instance: Instance) -> None:
    """See that every table and column of the suite's schema is there. Raises `InputError`."""
    with refusals(server, "looking for tables"), server.connect_owner("") as connection:
        rows = connection.execute(
            "SELECT c.relname, array_agg(a.attname::text) FROM pg_class c "
            "JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_namespace n ON n.oid = "
            "c.relnamespace WHERE n.nspname = ANY(%s) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') "
            "AND a.attnum > 0 AND NOT a.attisdropped GROUP BY c.relname",
            (list(server.schemas),),
        ).fetchall()
    there = {str(name): list(columns) for name, columns in rows}
    faults = []
    for table, columns in tables_of(instance.schema, instance.schema_file).items():
        if table not in there:
            faults.append(f"there is no table {table!r}.{did_you_mean(table, there)}")
            continue
        faults += [
            f"table {table!r} has no column {column!r}.{did_you_mean(column, there[table])}"
            for column in columns
            if column not in there[table]
        ]
    if faults:
        where = f"in the database of instance {instance.name!r} (schemas: {server.schema('')})"
        raise InputError(f"{instance.schema_file}: {where} " + "; ".join(faults))


def tables_of(schema: str, file: str) -> dict[str, list[str]]:
    """Columns by table of all CREATE TABLE statements. Raises `InputError` for other text."""
    import pglast
    from pglast import ast

    try:
        statements = pglast.parse_sql(schema)
    except pglast.parser.ParseError as error:
        raise InputError(f"{file}: not PostgreSQL: {error}") from error
    created = [raw.stmt for raw in statements if isinstance(raw.stmt, ast.CreateStmt)]
    return {
        str(made.relation.relname): [
            str(element.colname)
            for element in made.tableElts or ()
            if isinstance(element, ast.ColumnDef)
        ]
        for made in created
        if made.relation is not None
    }
