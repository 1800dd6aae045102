"""A server of the user's own, reached by URI with a password; played by an embedded one."""

import logging
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from qeval.engines.base import EngineLostError, QueryError, QueryLimits
from qeval.engines.postgres import PostgresEngine
from qeval.errors import EngineUnavailableError, InputError
from qeval.suite import Instance

LIMITS = QueryLimits()
COUNT = "SELECT count(*) FROM orders"
PASSWORD = "s3cret/pass:w@rd"
ROLES = {
    "maker": "CREATEDB CREATEROLE",  # a database per instance, a role for predictions
    "plain": "CREATEDB",  # a database per instance, predictions as itself
    "guest": "",  # a schema per instance in the database where it may create them
    "nobody_at_all": "",
}
Connect = Callable[..., str]


@pytest.fixture(scope="module")
def uri(
    tmp_path_factory: pytest.TempPathFactory,
    pg_cache: Path,
    pg: PostgresEngine,
    pg_make: Callable[..., PostgresEngine],
) -> Iterator[Connect]:
    """Gives the URI of a role on a server that asks for passwords."""
    folder = tmp_path_factory.mktemp("u")
    for template in pg_cache.glob("postgres/*/template"):
        pool = folder / template.parent.relative_to(pg_cache)
        pool.mkdir(parents=True)
        subprocess.run(["cp", "-al", template, pool], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QEVAL_CACHE", str(folder))
        engine = pg_make()
        engine.start()
    server = engine._running()
    with server.connect_owner() as admin:
        admin.execute("DROP ROLE qeval_reader")
        for role, rights in ROLES.items():
            admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}' {rights}")
            admin.execute(f"GRANT CONNECT ON DATABASE postgres TO {role}")
        admin.execute("CREATE DATABASE shared TEMPLATE template0")
        admin.execute("GRANT CREATE, CONNECT ON DATABASE shared TO guest")
        (hba,) = admin.execute("SHOW hba_file").fetchone() or ("",)
        Path(hba).write_text("local all qeval trust\nlocal all all scram-sha-256\n")
        admin.execute("SELECT pg_reload_conf()")

    def make(role: str, database: str = "postgres", password: str = PASSWORD) -> str:
        socket = quote(server.owner["host"], safe="")
        return f"postgresql://{role}:{quote(password, safe='')}@/{database}?host={socket}"

    assert pg is not engine
    try:
        yield make
    finally:
        engine.stop()
        shutil.rmtree(folder)


@pytest.fixture
def reach(pg_make: Callable[..., PostgresEngine]) -> Iterator[Callable[[str], PostgresEngine]]:
    """Starts engines on URIs, and stops them."""
    started = []

    def start(uri: str) -> PostgresEngine:
        engine = pg_make(uri=uri)
        started.append(engine)
        engine.start()
        return engine

    yield start
    for engine in started:
        engine.stop()


@pytest.mark.parametrize(
    ("role", "database", "reader", "schema"),
    [
        ("maker", "postgres", "qeval_reader", "public"),
        ("plain", "postgres", "plain", "public"),
        ("guest", "shared", "guest", "uri_guest"),
    ],
)
def test_what_the_role_may_do_decides(  # noqa: PLR0917
    uri: Connect,
    reach: Callable[[str], PostgresEngine],
    pg: PostgresEngine,
    pg_instance: Instance,
    pg_new_instance: Callable[..., Instance],
    caplog: pytest.LogCaptureFixture,
    role: str,
    database: str,
    reader: str,
    schema: str,
) -> None:
    with caplog.at_level(logging.WARNING, logger="qeval"):
        engine = reach(uri(role, database))
    assert ("CREATEROLE" in caplog.text) == (reader != "qeval_reader")
    info = engine.start()
    assert (info.name, info.origin) == ("postgres", "server")
    instance = pg_new_instance(f"uri_{role}")
    engine.load(instance)
    assert engine.execute(COUNT, instance, LIMITS).table.rows == ((2000,),)
    who = "SELECT current_user::text, current_setting('search_path')"
    assert engine.execute(who, instance, LIMITS).table.rows == ((reader, schema),)
    # The same rows have the same fingerprint on any server and in any layout.
    assert engine.fingerprint(instance) == pg.fingerprint(pg_instance)
    for query in ("DELETE FROM orders", "CREATE TABLE x (a integer)", "DROP TABLE users"):
        with pytest.raises(QueryError) as caught:
            engine.execute(query, instance, LIMITS)
        assert caught.value.kind == "unsafe"
    with pytest.raises(QueryError) as caught:
        engine.execute("SELECT pg_sleep(60)", instance, QueryLimits(timeout_s=0.2))
    assert caught.value.kind == "timeout"
    engine.stop()

    def never() -> Any:
        pytest.fail("the data was generated again")

    again = reach(uri(role, database))
    again.load(Instance(instance.key, "base", instance.schema, {}, never))


def test_two_processes_agree_on_the_readers_password(
    uri: Connect,
    reach: Callable[[str], PostgresEngine],
    pg_new_instance: Callable[..., Instance],
) -> None:
    instance = pg_new_instance("uri_shared")
    engines = [reach(uri("maker")) for _ in range(2)]
    for engine in [*engines, *engines]:
        engine.load(instance)
        assert engine.execute(COUNT, instance, LIMITS).table.rows == ((2000,),)


def test_what_the_uri_asks_for_is_kept(
    uri: Connect,
    reach: Callable[[str], PostgresEngine],
    pg_new_instance: Callable[..., Instance],
) -> None:
    asked = "&connect_timeout=3&application_name=me&options=-c%20work_mem%3D8MB"
    engine = reach(uri("plain") + asked)
    shown = "SELECT current_setting('work_mem'), current_setting('application_name')"
    instance = pg_new_instance("uri_asked")
    assert engine.execute(shown, instance, LIMITS).table.rows == (("8MB", "me"),)


def test_lacking_privileges_are_explained(
    uri: Connect, reach: Callable[[str], PostgresEngine]
) -> None:
    with pytest.raises(EngineUnavailableError) as caught:
        reach(uri("nobody_at_all"))
    assert 'ALTER ROLE "nobody_at_all" CREATEDB CREATEROLE' in str(caught.value)
    assert 'GRANT CREATE ON DATABASE "postgres" TO "nobody_at_all"' in str(caught.value)


def test_what_is_not_ours_is_not_touched(
    uri: Connect,
    reach: Callable[[str], PostgresEngine],
    pg_new_instance: Callable[..., Instance],
) -> None:
    with psycopg.connect(uri("maker"), autocommit=True) as admin:
        admin.execute("CREATE DATABASE uri_precious")
    engine = reach(uri("maker"))
    with pytest.raises(InputError, match="database 'uri_precious' that qeval did not make"):
        engine.load(pg_new_instance("uri_precious"))
    with psycopg.connect(uri("maker", "uri_precious")) as kept:
        assert kept.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ("postgresql://u:hunter2@127.0.0.1:1/x", EngineUnavailableError, r"u@127.0.0.1:1\)"),
        ("hunter2", InputError, "no PostgreSQL URI"),
        ("mysql://u:hunter2@localhost/x", InputError, "no PostgreSQL URI"),
        ("postgresql://u:hunter2@no.such.host.invalid/x", EngineUnavailableError, "can't reach"),
    ],
)
def test_bad_uris_are_explained_without_the_password(
    reach: Callable[[str], PostgresEngine], bad: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        reach(bad)
    shown: BaseException | None = caught.value
    while shown is not None:
        assert "hunter2" not in str(shown)
        shown = None if shown.__suppress_context__ else shown.__cause__ or shown.__context__


def test_a_wrong_password_is_never_shown(
    uri: Connect, reach: Callable[[str], PostgresEngine], pg_make: Callable[..., PostgresEngine]
) -> None:
    wrong = uri("maker", password="hunter2")
    with pytest.raises(EngineUnavailableError, match="password authentication failed") as caught:
        reach(wrong)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(pg_make(uri=wrong))
    engine = reach(uri("maker"))
    assert PASSWORD not in repr(engine)
    assert PASSWORD not in repr(engine._running())


def test_the_server_going_away_is_lost_not_wrong(
    uri: Connect,
    reach: Callable[[str], PostgresEngine],
    pg_new_instance: Callable[..., Instance],
) -> None:
    """An administrator ending our connection says nothing about the query; the next one works."""
    instance = pg_new_instance("uri_maker")
    engine = reach(uri("maker"))
    engine.load(instance)

    def end() -> None:
        with psycopg.connect(uri("qeval"), autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE usename = 'qeval_reader'"
            )

    timer = threading.Timer(0.3, end)
    timer.start()
    with pytest.raises(EngineLostError):
        engine.execute("SELECT pg_sleep(20)", instance, LIMITS)
    timer.join()
    assert engine.execute(COUNT, instance, LIMITS).table.rows == ((2000,),)
