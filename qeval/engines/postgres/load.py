"""Loading an instance once, keeping it, recognising it again, and its fingerprint.

Each instance is a database (or a schema) named by its key. A comment on it, written last, marks it
complete and holds the fingerprint of what was loaded: a half-loaded or damaged one is rebuilt.
"""

import hashlib
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Identifier, Literal

from qeval.data.model import TableModel
from qeval.engines.postgres.lockdown import REVOKE_SQL
from qeval.engines.postgres.server import Server, refusals
from qeval.errors import EngineUnavailableError, InputError
from qeval.suite import Instance

_Connection = psycopg.Connection[tuple[Any, ...]]


def ensure(
    server: Server, instance: Instance, keep: int, in_use: frozenset[str] = frozenset()
) -> str:
    """Make sure the server holds `instance`; returns its fingerprint.

    Safe to call from several processes at once. At most `keep` instances stay, apart from those
    `in_use`; the least recently used go. Raises `InputError` where PostgreSQL refuses the suite's
    schema or data.
    """
    key = instance.key
    with refusals(server, f"loading {key}"), server.connect_owner() as admin:
        # Serialises loaders of one key over all processes; freed with the connection.
        admin.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", (f"qeval {key}",))
        found = _read_mark(admin, server, key).get("fingerprint")
        if not (found and _intact(server, key, found)):
            _drop(admin, server, key)
            found = _build(admin, server, instance)
        _write_mark(admin, server, key, {"fingerprint": found, "used": time.time()})
        _prune(admin, server, in_use | {key}, keep)
    return str(found)


def _intact(server: Server, key: str, found: str) -> bool:
    try:
        return fingerprint(server, key) == found
    except EngineUnavailableError:  # damaged beyond reading
        return False


def fingerprint(server: Server, key: str) -> str:
    """SHA-256 over the tables of an instance, the same for the same rows in any order.

    Per table: name, columns, number of rows and two independent 64-bit hash sums of its rows.
    """
    schema = server.schema(key)
    with (
        refusals(server, f"taking the fingerprint of {key}"),
        server.connect_owner(key) as connection,
    ):
        return digest_of(connection, (schema,))


def digest_of(connection: _Connection, schemas: Sequence[str]) -> str:
    """`fingerprint` of the tables of some schemas, on a connection. Raises `psycopg.Error`."""
    facts = [_tables_and_sums(connection, schema) for schema in schemas]
    if not any(tables for tables, _ in facts):
        return hashlib.sha256(b"").hexdigest()
    return hashlib.sha256(json.dumps(facts[0] if len(facts) == 1 else facts).encode()).hexdigest()


def _tables_and_sums(connection: _Connection, schema: str) -> tuple[list[Any], list[Any]]:
    tables = connection.execute(
        "SELECT c.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod),"
        " ', ' ORDER BY a.attnum) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
        "WHERE c.relnamespace = to_regnamespace(%s) AND c.relkind IN ('r', 'p', 'm') "
        "AND a.attnum > 0 AND NOT a.attisdropped GROUP BY c.relname ORDER BY c.relname",
        (f'"{schema}"',),
    ).fetchall()
    if not tables:
        return [], []
    sums = SQL(" UNION ALL ").join(
        SQL(
            "SELECT {name}, count(*)::text, sum(hashtextextended(t::text, 0))::text, "
            "sum(hashtextextended(t::text, 1))::text FROM {table} t"
        ).format(name=Literal(name), table=Identifier(schema, name))
        for name, _ in tables
    )
    return tables, sorted(connection.execute(sums).fetchall())


def kept(server: Server) -> list[str]:
    """Keys of the complete instances the server holds, most recently used first."""
    with refusals(server, "listing the data sets"), server.connect_owner() as admin:
        return [key for key, mark in _marks(admin, server) if mark.get("fingerprint")]


def ensure_empty(server: Server, name: str, instance: Instance) -> None:
    """Make sure the server has a place `name` with the instance's schema, made for its rows.

    Raises `InputError` where PostgreSQL refuses the schema.
    """
    with refusals(server, f"preparing {name}"), server.connect_owner() as admin:
        admin.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", (f"qeval {name}",))
        if not _read_mark(admin, server, name).get("scratch"):
            _drop(admin, server, name)
            _create(admin, server, name)
            with server.connect_owner(name) as connection, connection.transaction():
                _define(connection, instance)
                _grant(connection, server, name)
            _write_mark(admin, server, name, {"scratch": True})


def drop(server: Server, key: str) -> None:
    """Drop the instance `key`, and end the queries that run on it."""
    with refusals(server, f"dropping {key}"), server.connect_owner() as admin:
        admin.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", (f"qeval {key}",))
        if _read_mark(admin, server, key):
            _drop(admin, server, key)


def _build(admin: _Connection, server: Server, instance: Instance) -> str:
    key = instance.key
    _create(admin, server, key)
    with server.connect_owner(key) as connection, connection.transaction():
        _define(connection, instance)
        if instance.script is not None:
            _run(connection, instance.script.file, instance.script.text)
            connection.execute("ANALYZE")
        else:
            dataset = instance.dataset()
            for table in dataset.tables:
                copy_rows(connection, instance, table, dataset.rows[table.name])
                connection.execute(SQL("ANALYZE {}").format(Identifier(table.name)))
        _grant(connection, server, key)
    return fingerprint(server, key)


def _create(admin: _Connection, server: Server, key: str) -> None:
    if server.layout == "database":
        _create_database(admin, server, key)
    else:
        admin.execute(SQL("CREATE SCHEMA {}").format(Identifier(key)))
    _write_mark(admin, server, key, {})


def _define(connection: _Connection, instance: Instance) -> None:
    _run(connection, instance.schema_file or f"schema of {instance.name}", instance.schema)


def _run(connection: _Connection, file: str, text: str) -> None:
    """Run the statements of a suite's file. Raises `InputError` with file and line."""
    try:
        connection.execute(text.encode())
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        position = error.diag.statement_position
        line = f":{text[: int(position)].count(chr(10)) + 1}" if position else ""
        raise InputError(f"{file}{line}: PostgreSQL refuses it: {error}") from error


def _create_database(admin: _Connection, server: Server, key: str) -> None:
    create = SQL("CREATE DATABASE {}").format(Identifier(key))
    if server.origin == "embedded":
        admin.execute(create)
        return
    # As in the embedded server: texts sort by code point, whatever the server's own locale is.
    builtin = "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"
    for locale in (builtin, "LOCALE 'C.UTF-8'", "LOCALE 'C'"):
        try:
            admin.execute(create + SQL(f" TEMPLATE template0 ENCODING 'UTF8' {locale}"))
        except (errors.SyntaxError, errors.WrongObjectType, errors.InvalidParameterValue) as error:
            refusal: psycopg.Error = error
        else:
            return
    raise refusal


def copy_rows(connection: _Connection, instance: Instance, table: TableModel, rows: Any) -> None:
    """Write rows into a table. Raises `InputError` where PostgreSQL refuses them."""
    target = SQL("COPY {} ({}) FROM STDIN").format(
        Identifier(table.name), SQL(", ").join(Identifier(field.name) for field in table.fields)
    )
    try:
        with connection.cursor() as cursor, cursor.copy(target) as copy:
            for row in rows:
                copy.write_row(row)
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        raise InputError(
            f"instance {instance.name!r}: PostgreSQL refuses the rows of table {table.name!r}: "
            f"{error}"
        ) from error


def _grant(connection: _Connection, server: Server, key: str) -> None:
    schema, database = Identifier(server.schema(key)), Identifier(server.database(key))
    if server.layout == "database":
        connection.execute(SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database))
        connection.execute(SQL("REVOKE ALL ON SCHEMA {} FROM PUBLIC").format(schema))
        if server.origin == "server":
            # A superuser's second wall; others are told that they may not.
            with suppress(errors.InsufficientPrivilege), connection.transaction():
                connection.execute(REVOKE_SQL)
    if server.separate_reader:
        reader = Identifier(server.reader["user"])
        connection.execute(SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, reader))
        connection.execute(SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, reader))
        connection.execute(
            SQL("GRANT SELECT ON ALL TABLES IN SCHEMA {} TO {}").format(schema, reader)
        )


def _marks(admin: _Connection, server: Server) -> list[tuple[str, dict[str, Any]]]:
    """Everything that carries our comment, most recently used first."""
    if server.layout == "database":
        query = "SELECT datname, shobj_description(oid, 'pg_database') FROM pg_database"
    else:
        query = "SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace"
    found = []
    for name, comment in admin.execute(query).fetchall():
        mark = _parse(comment)
        if mark is not None:
            found.append((str(name), mark))
    return sorted(found, key=lambda item: -float(item[1].get("used", 0)))


def _parse(comment: str | None) -> dict[str, Any] | None:
    with suppress(ValueError):
        mark = json.loads(comment or "")
        if isinstance(mark, dict) and mark.get("by") == "qeval":
            return mark
    return None


def _read_mark(admin: _Connection, server: Server, key: str) -> dict[str, Any]:
    """The mark of `key`; empty where it does not exist or was not completed."""
    for name, mark in _marks(admin, server):
        if name == key:
            return mark
    if server.origin == "server" and _exists(admin, server, key):
        raise InputError(
            f"the server has a {server.layout} {key!r} that qeval did not make (or was "
            f"interrupted making). Drop it if you don't need it: DROP {server.layout.upper()} "
            f'"{key}"'
        )
    return {}


def _exists(admin: _Connection, server: Server, key: str) -> bool:
    if server.layout == "database":
        found = admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", (key,))
    else:
        found = admin.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (key,))
    return found.fetchone() is not None


def _write_mark(admin: _Connection, server: Server, key: str, mark: dict[str, Any]) -> None:
    text = json.dumps({"by": "qeval", **mark})
    admin.execute(
        SQL("COMMENT ON {} {} IS {}").format(
            SQL("DATABASE" if server.layout == "database" else "SCHEMA"),
            Identifier(key),
            Literal(text),
        )
    )


def _drop(admin: _Connection, server: Server, key: str, *, force: bool = True) -> None:
    if server.layout == "schema":
        admin.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(Identifier(key)))
        return
    query = SQL("DROP DATABASE IF EXISTS {}").format(Identifier(key))
    admin.execute(query + SQL(" WITH (FORCE)") if force else query)


def _prune(admin: _Connection, server: Server, in_use: frozenset[str], keep: int) -> None:
    for name, mark in _marks(admin, server)[keep:]:
        # One without `used` may be another process's, just being loaded.
        if name not in in_use and "used" in mark:
            with suppress(errors.ObjectInUse):
                _drop(admin, server, name, force=False)
