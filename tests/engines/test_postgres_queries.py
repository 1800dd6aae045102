"""What becomes of a query on the real server: values, verdicts, limits, and no traces left."""

import datetime as dt
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial

import pytest

from qeval.engines.base import EngineInfo, QueryError, QueryLimits
from qeval.engines.postgres import PostgresEngine
from qeval.scoring.table import Table
from qeval.scoring.values.temporal import Duration
from qeval.suite import Instance

LIMITS = QueryLimits(timeout_s=10)
SHORT = QueryLimits(timeout_s=0.4)

REFUSED: list[tuple[str, str, str]] = [  # query, verdict, SQLSTATE
    ("", "syntax_error", "42601"),
    ("-- only a comment", "syntax_error", "42601"),
    ("SELEC 1", "syntax_error", "42601"),
    ("SELECT FROM WHERE", "syntax_error", "42601"),
    ("SELECT 'open", "syntax_error", "42601"),
    ("SELECT name FROM users LIMIT 3, 5", "syntax_error", "42601"),
    ("SELECT 1 UNION SELECT 1, 2", "syntax_error", "42601"),
    ("SELECT \0 1", "syntax_error", ""),
    ("SELECT '\ud800'", "syntax_error", ""),
    ("SELECT * FROM customers", "schema_error", "42P01"),
    ("SELECT * FROM shop.users", "schema_error", "42P01"),
    ("SELECT users.id FROM orders", "schema_error", "42P01"),
    ("SELECT nme FROM users", "schema_error", "42703"),
    ("SELECT o.nope FROM orders o", "schema_error", "42703"),
    ("SELECT 1::money_amount", "schema_error", "42704"),
    ("SELECT date_format(at, '%Y') FROM orders", "schema_error", "42883"),
    ('SELECT "Round"(1.5)', "schema_error", "42883"),
    ("SELECT * FROM elsewhere.public.users", "schema_error", "0A000"),
    ("SELECT elsewhere.public.users.id FROM users", "schema_error", "0A000"),
    ("SELECT elsewhere.public.users.* FROM users", "schema_error", "0A000"),
    ("SELECT elsewhere.public.age_of(id) FROM users", "schema_error", "0A000"),
    ("SELECT rank() OVER w FROM users", "runtime_error", "42704"),
    ("SELECT rank() OVER (w ORDER BY id) FROM users", "runtime_error", "42704"),
    ("SELECT round(total, 2) FROM orders", "runtime_error", "42883"),
    ("SELECT pg_catalog.round(total, 2) FROM orders", "runtime_error", "42883"),
    ("SELECT born > 3 FROM users", "runtime_error", "42883"),
    ("SELECT name, count(*) FROM users", "runtime_error", "42803"),
    ("SELECT sum(count(*)) FROM users", "runtime_error", "42803"),
    ("SELECT id FROM users, orders", "runtime_error", "42702"),
    ("SELECT CASE WHEN true THEN 1 ELSE born END FROM users", "runtime_error", "42804"),
    ("SELECT 1 / (id - id) FROM users", "runtime_error", "22012"),
    ("SELECT 1 / 0", "runtime_error", "22012"),
    ("SELECT name::integer FROM users", "runtime_error", "22P02"),
    ("SELECT (SELECT id FROM users)", "runtime_error", "21000"),
    ("SELECT 2147483647 + id FROM users", "runtime_error", "22003"),
    ("SELECT $1::integer", "runtime_error", "08P01"),
    ("SELECT date '2024-02-30'", "runtime_error", "22008"),
    ("SELECT repeat('x', 1000000000)", "runtime_error", "53200"),
    ("DROP TABLE users", "unsafe", "25006"),
    ("DELETE FROM orders", "unsafe", "25006"),
    ("INSERT INTO users VALUES (999)", "unsafe", "25006"),
    ("CREATE TABLE x (a integer)", "unsafe", "25006"),
    ("CREATE TEMP TABLE x (a integer)", "unsafe", "25006"),
    ("SELECT * FROM users FOR UPDATE", "unsafe", "25006"),
    ("WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone", "unsafe", "25006"),
    ("SELECT 1; DROP TABLE users", "unsafe", "42601"),
    ("COPY users TO PROGRAM 'touch /tmp/owned'", "unsafe", "42501"),
    ("COPY users TO '/tmp/owned'", "unsafe", "42501"),
    ("COPY users TO STDOUT", "unsafe", ""),
    ("SELECT pg_read_file('/etc/passwd')", "unsafe", "42501"),
    ("SELECT * FROM pg_ls_dir('/')", "unsafe", "42501"),
    ("SELECT rolpassword FROM pg_authid", "unsafe", "42501"),
    ("SELECT lo_create(0)", "unsafe", "42501"),
    ("SELECT lo_import('/etc/passwd')", "unsafe", "42501"),
    ("SELECT set_config('statement_timeout', '0', false)", "unsafe", "42501"),
    ("SELECT pg_terminate_backend(pg_backend_pid())", "unsafe", "42501"),
    ("SELECT pg_advisory_lock(1)", "unsafe", "42501"),
    ("SELECT (1::bigint).pg_advisory_lock", "unsafe", "42501"),
    ("SELECT setseed(0.5)", "unsafe", "42501"),
    ("SELECT query_to_xml('SELECT 1', true, true, '')", "unsafe", "42501"),
    ("DO $$ BEGIN PERFORM 1; END $$", "unsafe", "42501"),
    ("SET statement_timeout = 0", "unsafe", ""),
    ("COMMIT", "unsafe", ""),
    ("LISTEN gossip", "unsafe", ""),
]


@pytest.mark.parametrize(("query", "kind", "code"), REFUSED)
def test_refused_with_the_right_verdict(
    pg: PostgresEngine, pg_instance: Instance, query: str, kind: str, code: str
) -> None:
    with pytest.raises(QueryError) as caught:
        pg.execute(query, pg_instance, LIMITS)
    assert (caught.value.kind, caught.value.code) == (kind, code)
    assert caught.value.message
    # The session goes on to serve the next query.
    assert pg.execute("SELECT 1", pg_instance, LIMITS).table.rows == ((1,),)


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("SELEC 1", "syntax_error"),
        ("SELECT nme FROM users", "schema_error"),
        ("SELECT round(total, 2) FROM orders", "runtime_error"),
        ("SELECT name, count(*) FROM users", "runtime_error"),
        ("SELECT 1; SELECT 2", "unsafe"),
        ("", "syntax_error"),
        ("SELECT \0", "syntax_error"),
    ],
)
def test_check_names_the_same_fault(
    pg: PostgresEngine, pg_instance: Instance, query: str, kind: str
) -> None:
    with pytest.raises(QueryError) as caught:
        pg.check(query, pg_instance)
    assert caught.value.kind == kind


def test_check_executes_nothing(pg: PostgresEngine, pg_instance: Instance) -> None:
    pg.check("SELECT pg_sleep(60), 1 / (id - id) FROM users", pg_instance)
    pg.check("-- a leading comment\nSELECT count(*) FROM orders;", pg_instance)


@pytest.mark.parametrize("call", ["check", "execute"])
def test_faults_have_a_place(pg: PostgresEngine, pg_instance: Instance, call: str) -> None:
    query = "SELECT name,\n  'ä李',  nme\nFROM users"
    run = pg.check if call == "check" else partial(pg.execute, limits=LIMITS)
    with pytest.raises(QueryError) as caught:
        run(query, pg_instance)
    assert (caught.value.line, caught.value.column) == (2, 10)
    assert "Perhaps you meant" in caught.value.message


@pytest.mark.parametrize(
    "query",
    [
        "SELECT pg_sleep(60)",
        "SELECT count(*) FROM generate_series(1, 1000000000) a, orders b",
        "SELECT count(*) FROM orders a, orders b, orders c",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
    ],
)
def test_endless_queries_are_stopped(pg: PostgresEngine, pg_instance: Instance, query: str) -> None:
    with pytest.raises(QueryError) as caught:
        pg.execute(query, pg_instance, SHORT)
    assert (caught.value.kind, caught.value.code) == ("timeout", "57014")


def test_rows_are_cut_at_the_limit(pg: PostgresEngine, pg_instance: Instance) -> None:
    query = "SELECT n FROM generate_series(1, {}) n"
    limits = QueryLimits(max_rows=10)
    whole = pg.execute(query.format(10), pg_instance, limits)
    cut = pg.execute(query.format(11), pg_instance, limits)
    assert (len(whole.table), whole.truncated) == (10, False)
    assert (len(cut.table), cut.truncated) == (10, True)
    assert cut.table.rows == whole.table.rows
    endless = pg.execute("SELECT generate_series(1, 2000000000)", pg_instance, limits)
    assert (len(endless.table), endless.truncated) == (10, True)


def test_fifty_megabytes_are_cut_with_bounded_memory(
    pg: PostgresEngine, pg_instance: Instance
) -> None:
    limits = QueryLimits(max_bytes=1_000_000)
    many = pg.execute(
        "SELECT repeat('x', 1000) FROM generate_series(1, 50000)", pg_instance, limits
    )
    assert many.truncated
    assert 900 < len(many.table) <= 1000
    one = pg.execute("SELECT repeat('x', 50000000)", pg_instance, limits)
    assert (one.truncated, len(one.table)) == (True, 0)
    assert one.table.columns == ("repeat",)


def test_hostile_queries_leave_no_trace(pg: PostgresEngine, pg_instance: Instance) -> None:
    before = pg.fingerprint(pg_instance)
    hostile = [query for query, kind, _ in REFUSED if kind == "unsafe"]
    for query in [*hostile, "SELECT pg_sleep(60)", "SELECT repeat('x', 1000000000)"]:
        with pytest.raises(QueryError):
            pg.execute(query, pg_instance, SHORT)
    assert pg.fingerprint(pg_instance) == before


def test_no_setting_survives_into_the_next_query(pg: PostgresEngine, pg_instance: Instance) -> None:
    for query in ("SET statement_timeout = 0", "SET search_path = pg_catalog", "LISTEN x"):
        with pytest.raises(QueryError):
            pg.execute(query, pg_instance, LIMITS)
    settings = pg.execute(
        "SELECT current_setting('statement_timeout'), current_setting('transaction_read_only'), "
        "current_setting('search_path'), current_setting('timezone'), current_user::text",
        pg_instance,
        SHORT,
    )
    assert settings.table.rows == (("400ms", "on", "public", "UTC", "qeval_reader"),)
    with pytest.raises(QueryError, match="timeout"):
        pg.execute("SELECT pg_sleep(60)", pg_instance, SHORT)


def test_the_text_is_executed_as_it_is(pg: PostgresEngine, pg_instance: Instance) -> None:
    query = "-- %s {x} :name\n/* $1 */ SELECT current_query(), '%s', 10 % 3 AS \"a % b\";  "
    result = pg.execute(query, pg_instance, LIMITS).table
    assert result.rows == ((query, "%s", 1),)
    assert result.columns == ("current_query", "?column?", "a % b")


def test_values_are_plain_python(pg: PostgresEngine, pg_instance: Instance) -> None:
    query = """
        SELECT 1, 2::bigint, 1.50::numeric(5, 2), 0.1::float8, 'NaN'::float8, true, NULL, 'Zoë',
          date '2024-02-29', timestamp '2024-02-29 12:00:01', timestamptz '2024-02-29 12:00+02',
          interval '1 day 2 hours', ARRAY[1, NULL, 3], '{"a": [1]}'::jsonb,
          'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, int4range(1, 5), (1, 'x')
    """
    (row,) = pg.execute(query, pg_instance, LIMITS).table.rows
    assert repr(row[4]) == "nan"
    assert row[:4] + row[5:] == (
        1, 2, Decimal("1.50"), 0.1, True, None, "Zoë",
        dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 0, 1),  # noqa: DTZ001
        dt.datetime(2024, 2, 29, 10, 0, tzinfo=dt.UTC),
        Duration.of(days=1, seconds=7200), [1, None, 3], {"a": [1]},
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "[1,5)", "(1,x)",
    )  # fmt: skip


INTERVALS = {
    "0": Duration(),
    "1 month": Duration(1),
    "30 days": Duration.of(days=30),
    "1 year": Duration(12),
    "12 months": Duration(12),
    "365 days": Duration.of(days=365),
    "2 years 3 mons 4 days 05:06:07.089": Duration.of(27, 4, 18367, 89_000_000),
    "-1 year -2 mons +3 days -04:05:06.7": Duration.of(-14, 3, -14706, -700_000_000),
    "1 mon -1 day": Duration.of(1, -1),
    "-0.000001 seconds": Duration.of(nanos=-1000),
    "100 hours": Duration.of(seconds=360_000),
    "170000000 years": Duration(2_040_000_000),
    "infinity": "infinity",
    "-infinity": "-infinity",
}


def test_intervals_keep_their_months(pg: PostgresEngine, pg_instance: Instance) -> None:
    """A month is no 30 days, a year no 365, and an endless interval is not nothing."""
    cells = ", ".join(f"interval '{text}'" for text in INTERVALS)
    (row,) = pg.execute(f"SELECT {cells}", pg_instance, LIMITS).table.rows
    assert dict(zip(INTERVALS, row, strict=True)) == INTERVALS
    (row,) = pg.execute(f"SELECT ARRAY[{cells}]", pg_instance, LIMITS).table.rows
    assert row[0] == list(INTERVALS.values())


def test_dates_that_python_has_not_are_texts(pg: PostgresEngine, pg_instance: Instance) -> None:
    query = "SELECT d, interval '1 day' FROM (VALUES (date '2024-01-01'), ('infinity'), ('0044-03-15 BC'), ('10000-01-01')) v(d)"  # noqa: E501
    rows = pg.execute(query, pg_instance, LIMITS).table.rows
    day = Duration.of(days=1)
    assert rows == (
        (dt.date(2024, 1, 1), day),
        ("infinity", day),
        ("0044-03-15 BC", day),
        ("10000-01-01", day),
    )


@pytest.mark.parametrize("kind", ["json", "jsonb"])
def test_documents_that_python_cannot_hold_are_texts(
    pg: PostgresEngine, pg_instance: Instance, kind: str
) -> None:
    digits = "repeat('9', 10000)"
    deep = "repeat('[', 3000) || repeat(']', 3000)"
    query = (
        f"SELECT ({digits})::{kind}, ({deep})::{kind}, '[1]'::{kind} UNION ALL SELECT '1', '2', '3'"
    )
    first, second = pg.execute(query, pg_instance, LIMITS).table.rows
    assert first == ("9" * 10000, "[" * 3000 + "]" * 3000, [1])
    assert second == (1, 2, 3)


def test_columns_of_one_name_and_no_columns(pg: PostgresEngine, pg_instance: Instance) -> None:
    twice = pg.execute("SELECT 1 AS a, 2 AS a WHERE false", pg_instance, LIMITS).table
    assert (twice.columns, twice.rows) == (("a", "a"), ())
    none = pg.execute("SELECT FROM users WHERE id < 3", pg_instance, LIMITS).table
    assert (none.columns, none.rows) == ((), ((), (), ()))


def test_texts_sort_by_code_point(pg: PostgresEngine, pg_instance: Instance) -> None:
    query = "SELECT x, upper(x) FROM (VALUES ('b'), ('B'), ('ä'), ('a')) v(x) ORDER BY x"
    rows = pg.execute(query, pg_instance, LIMITS).table.rows
    assert rows == (("B", "B"), ("a", "A"), ("b", "B"), ("ä", "Ä"))


def test_eight_threads_get_the_answers_of_one(pg: PostgresEngine, pg_instance: Instance) -> None:
    queries = [
        f"SELECT u.name, sum(o.total) FROM users u JOIN orders o ON o.user_id = u.id "
        f"WHERE o.id % {n} = 0 GROUP BY u.name ORDER BY 1"
        for n in range(1, 41)
    ]
    alone = [pg.execute(query, pg_instance, LIMITS).table for query in queries]
    start = threading.Barrier(8)

    def work(part: int) -> list[Table]:
        start.wait()
        mine = []
        for query in queries[part::8]:
            with pytest.raises(QueryError):
                pg.execute("SELECT nope", pg_instance, LIMITS)
            pg.check(query, pg_instance)
            mine.append(pg.execute(query, pg_instance, LIMITS).table)
        return mine

    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(work, range(8)))
    for part, tables in enumerate(parts):
        assert tables == alone[part::8]


def test_the_engine_names_itself(pg: PostgresEngine) -> None:
    info = pg.start()
    assert isinstance(info, EngineInfo)
    assert (info.name, info.origin) == ("postgres", "embedded")
    assert int(info.version.split(".")[0]) >= 15
