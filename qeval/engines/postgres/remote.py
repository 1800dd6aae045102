"""A server of the user's own, given by URI: what we may do there decides how instances are kept.

* With CREATEDB (or as superuser): a database per instance, as in the embedded server.
* Else with CREATE on the URI's database: a schema per instance, named by its key.
* With CREATEROLE (or as superuser): predictions run as the role `qeval_reader`, which may read the
  loaded tables only. Its password is derived from the owner's, so processes agree on it and it is
  stored nowhere.
* Without: predictions run as the URI's own role, in read-only transactions, behind the static
  check. That is said once, in a warning.
"""

import hashlib
import hmac
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from qeval.engines.postgres.locate import OLDEST
from qeval.engines.postgres.lockdown import READER
from qeval.engines.postgres.server import Server, conninfo, redacted
from qeval.errors import EngineUnavailableError, InputError

_OWNERS_ALONE = ("user", "password", "passfile", "options", "sslcert", "sslkey", "sslpassword")
"""Connection parameters that the reader does not share with the owner."""


def reach(uri: str) -> Server:
    """Connect to the server of `uri` and find out what is allowed there.

    Raises `InputError` for a malformed URI and `EngineUnavailableError` for everything else; no
    message holds the password.
    """
    owner = parameters_of(uri, "engine.uri (QEVAL_POSTGRES_URI)")
    where = address_of(owner)
    advice = "\nCheck QEVAL_POSTGRES_URI; unset it to use the embedded server."
    with opened(owner, f"the PostgreSQL server of engine.uri ({where})", advice) as connection:
        return _explore(connection, owner, where)


def address_of(parameters: Mapping[str, str]) -> str:
    """`user@host:port`, as messages name a server."""
    host, port = parameters.get("host", "localhost"), parameters.get("port", "5432")
    return f"{parameters.get('user', '')}@{host}:{port}"


def opened(
    parameters: Mapping[str, str], what: str, advice: str = ""
) -> "psycopg.Connection[tuple[Any, ...]]":
    """A new autocommit connection to `what`.

    Raises `EngineUnavailableError`, which never holds the password.
    """
    try:
        return psycopg.connect(conninfo(parameters), autocommit=True)
    except psycopg.OperationalError as error:
        text = f"can't reach {what}: {str(error).strip()}{advice}"
        raise EngineUnavailableError(redacted(text, parameters)) from None


def parameters_of(uri: str, told_as: str) -> dict[str, str]:
    """Connection parameters of a URI. Raises `InputError`, which never holds the URI itself."""
    from psycopg.conninfo import conninfo_to_dict

    try:
        given = conninfo_to_dict(uri)
    except psycopg.ProgrammingError:
        raise InputError(
            f"{told_as} is no PostgreSQL URI; expected "
            "postgresql://user:password@host:port/database"
        ) from None
    return {name: str(value) for name, value in given.items() if value is not None}


def _explore(
    connection: "psycopg.Connection[tuple[Any, ...]]", owner: dict[str, str], where: str
) -> Server:
    info = connection.info
    major = info.server_version // 10000
    if major < OLDEST:
        raise EngineUnavailableError(
            f"the PostgreSQL server at {where} has version {major}; {OLDEST} or newer is needed"
        )
    owner |= {"dbname": info.dbname, "user": info.user}
    row = connection.execute(
        "SELECT rolsuper OR rolcreatedb, rolsuper OR rolcreaterole, "
        "has_database_privilege(current_database(), 'CREATE'), current_setting('server_version'), "
        "pg_is_in_recovery() FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    assert row is not None
    creates_databases, creates_roles, creates_schemas, version, standby = row
    if standby:
        raise EngineUnavailableError(
            f"the PostgreSQL server at {where} is a read-only standby; give the primary's URI"
        )
    if not (creates_databases or creates_schemas):
        raise EngineUnavailableError(
            f"the role {info.user!r} may create neither databases nor schemas at {where}, and "
            "qeval has to load the suite's data somewhere. Let a superuser run one of:\n"
            f'  ALTER ROLE "{info.user}" CREATEDB CREATEROLE;  -- or\n'
            f'  GRANT CREATE ON DATABASE "{info.dbname}" TO "{info.user}";'
        )
    reader = _reader(connection, owner) if creates_roles else None
    server = Server(
        owner=owner,
        reader=reader or owner,
        version=str(version).split()[0],
        origin="server",
        layout="database" if creates_databases else "schema",
        separate_reader=reader is not None,
    )
    if reader is None:
        logging.getLogger("qeval").warning(
            "PostgreSQL at %s: %r can't set up the role %r for predictions, so they run as %r "
            "itself (in read-only transactions). Better: ALTER ROLE %s CREATEROLE.",
            where, info.user, READER, info.user, info.user,
        )  # fmt: skip
    return server


def _reader(
    connection: "psycopg.Connection[tuple[Any, ...]]", owner: dict[str, str]
) -> dict[str, str] | None:
    """The reader's connection parameters; its role is made where it does not exist.

    None where the server does not let it log in (peer or certificate authentication).
    """
    info = connection.info
    secret = f"{info.password}\0{info.user}".encode()
    password = hmac.new(secret, READER.encode(), hashlib.sha256).hexdigest()
    settings = SQL("LOGIN PASSWORD {}").format(Literal(password))
    name = Identifier(READER)
    try:
        with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            connection.execute(SQL("CREATE ROLE {} ").format(name) + settings)
        reader = {word: value for word, value in owner.items() if word not in _OWNERS_ALONE}
        reader |= {"dbname": info.dbname, "user": READER, "password": password}
        if not _logs_in(reader):
            connection.execute(SQL("ALTER ROLE {} ").format(name) + settings)
            if not _logs_in(reader):
                return None
    except psycopg.errors.InsufficientPrivilege:
        return None
    return reader


def _logs_in(parameters: dict[str, str]) -> bool:
    """Whether the server accepts the role's password, even if not for this very database."""
    try:
        psycopg.connect(conninfo(parameters)).close()
    except psycopg.OperationalError as error:
        return "permission denied for database" in str(error)
    return True
