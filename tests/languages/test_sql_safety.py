"""The static check of SQL: what is refused, as what, and what must never be."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.engines.base import QueryError
from qeval.languages.base import Language
from qeval.languages.sql import Sql
from qeval.languages.sql_functions import REFUSED_FUNCTIONS

SQL = Sql(name="sql", title="PostgreSQL SQL", fences=["sql"], keywords=["SELECT", "WITH"])

HARMLESS = [
    "SELECT 1",
    "select 1;",
    "SELECT 1;;  -- done",
    "-- what is asked\nSELECT 1",
    "/* a /* nested */ comment; DROP TABLE users */ SELECT 1",
    "(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1",
    "SELECT 1 INTERSECT SELECT 2 EXCEPT SELECT 3",
    "VALUES (1, 'a'), (2, 'b')",
    "TABLE users",
    "WITH a AS (SELECT 1), b AS (TABLE users) SELECT * FROM a, b",
    "WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT * FROM t",
    "WITH a AS MATERIALIZED (SELECT 1) SELECT * FROM a",
    "SELECT * FROM (VALUES (1)) v(x) JOIN LATERAL (SELECT x + 1) w ON true",
    "SELECT 'DROP TABLE users; DELETE FROM users'",
    "SELECT $$INSERT INTO users VALUES (1)$$, $tag$ UPDATE $tag$",
    "SELECT E'it\\'s; DROP TABLE users', U&'\\0441'",
    'SELECT "delete", "update" FROM "insert" AS "drop table"',
    'SELECT "pg_read_file" FROM t',
    "SELECT 'pg_read_file(''/etc/passwd'')'",
    "SELECT pg_read_file FROM t",
    "SELECT pg_sleep(60)",
    "SELECT current_setting('timezone'), version(), current_user, now()",
    "SELECT set, copy, share FROM t",
    "SELECT * FROM t WHERE note LIKE '%into outfile%' -- FOR UPDATE",
    "SELECT DISTINCT ON (a) a, rank() OVER (PARTITION BY b ORDER BY c) FROM t",
    "SELECT count(*) FILTER (WHERE a > 1), percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t",
    "SELECT a, sum(b) FROM t GROUP BY GROUPING SETS ((a), ()) HAVING sum(b) > 1",
    "SELECT * FROM t ORDER BY a FETCH FIRST 3 ROWS WITH TIES",
    "SELECT * FROM t TABLESAMPLE SYSTEM (10)",
    "SELECT generate_series(1, 10), unnest(ARRAY[1, 2])",
    "SELECT a FROM t WHERE b = ANY (ARRAY(SELECT c FROM u)) AND EXISTS (SELECT 1 FROM u)",
    "SELECT json_agg(x), to_tsvector('a'), row_to_json(t) FROM t",
    "SELECT 'é李😀' AS \"名\"",
    "SELECT no_such_function(1)",
    "SELECT $1",
]

UNSAFE = [
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE users",
    "BEGIN; SELECT 1; COMMIT",
    "DROP TABLE users",
    "dRoP/**/tAbLe users",
    "-- a question\nDROP TABLE users",
    "DELETE FROM users",
    "TRUNCATE users",
    "INSERT INTO users VALUES (1)",
    "UPDATE users SET name = 'x'",
    "MERGE INTO users u USING t ON true WHEN MATCHED THEN DELETE",
    "CREATE TABLE x (a integer)",
    "CREATE TEMP TABLE x AS SELECT 1",
    "CREATE VIEW v AS SELECT 1",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE EXTENSION dblink",
    "ALTER TABLE users DROP COLUMN name",
    "GRANT ALL ON users TO PUBLIC",
    "SELECT * INTO copy_of_users FROM users",
    "WITH a AS (SELECT 1) SELECT * INTO x FROM a",
    "WITH gone AS (DELETE FROM users RETURNING *) SELECT * FROM gone",
    "WITH a AS (WITH b AS (INSERT INTO users VALUES (1) RETURNING *) TABLE b) TABLE a",
    "WITH a AS (SELECT 1) DELETE FROM users",
    "SELECT * FROM users FOR UPDATE",
    "SELECT * FROM (SELECT * FROM users FOR SHARE) t",
    "COPY users TO PROGRAM 'sh -c id'",
    "COPY (SELECT 1) TO STDOUT",
    "COPY users FROM '/etc/passwd'",
    "DO $$ BEGIN DELETE FROM users; END $$",
    "CALL purge()",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE DELETE FROM users",
    "SHOW ALL",
    "SET statement_timeout = 0",
    "RESET ALL",
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION DEFAULT",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "DECLARE c CURSOR FOR SELECT 1",
    "FETCH ALL FROM c",
    "COMMIT",
    "SAVEPOINT s",
    "LOCK TABLE users",
    "LISTEN x",
    "NOTIFY x",
    "VACUUM",
    "ANALYZE users",
    "CHECKPOINT",
    "LOAD 'library'",
    "DISCARD ALL",
    "REFRESH MATERIALIZED VIEW v",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT PG_READ_FILE('/etc/passwd')",
    "SELECT pg_catalog.pg_read_file('/etc/passwd')",
    'SELECT "pg_catalog"."pg_read_file"(\'/etc/passwd\')',
    "SELECT * FROM pg_ls_dir('/')",
    "SELECT (SELECT max(length(pg_read_binary_file('/etc/passwd'))) FROM users)",
    "SELECT lo_import('/etc/passwd')",
    "SELECT set_config('statement_timeout', '0', false)",
    "SELECT pg_terminate_backend(1)",
    "SELECT * FROM dblink('host=evil', 'SELECT 1') AS t(x int)",
    "SELECT query_to_xml('DELETE FROM users', true, true, '')",
    "SELECT nextval('users_id_seq')",
    "SELECT pg_advisory_lock(1)",
    "VALUES (pg_notify('a', 'b'))",
    "SELECT 1 ORDER BY pg_reload_conf()",
    "SELECT 1 LIMIT (SELECT setval('s', 1))",
]

SYNTAX = [  # query, line, column
    ("", None, None),
    ("   \n;", None, None),
    ("-- nothing else", None, None),
    ("I can't answer that.", 1, 1),
    ("SELEC 1", 1, 1),
    ("SELECT FROM WHERE", 1, 13),
    ("SELECT 1,\n  FROM t", 2, 3),
    ("SELECT 'äö李' FROM FROM t", 1, 19),
    ("SELECT 'open", 1, 8),
    ("SELECT (1", 1, 10),
    ("SELECT TOP 3 * FROM t", 1, 12),
    ("SELECT * FROM t LIMIT 3, 5", 1, 17),
    ("SELECT `a` FROM t", 1, 12),
    ("MATCH (n) RETURN n", 1, 1),
    ("\\d users", 1, 1),
    ("SELECT 1\0; DROP TABLE users", 1, 9),
    ("SELECT '\ud800'", 1, 9),
    ("SELECT 1; SELEC 2", 1, 11),
]


def verdict(query: str) -> str:
    try:
        SQL.check_safety(query)
    except QueryError as error:
        return error.kind
    return "accepted"


def test_it_is_a_language() -> None:
    assert isinstance(SQL, Language)


@pytest.mark.parametrize("query", HARMLESS)
def test_reading_is_accepted(query: str) -> None:
    assert verdict(query) == "accepted"


@pytest.mark.parametrize("query", UNSAFE)
def test_everything_else_is_unsafe(query: str) -> None:
    assert verdict(query) == "unsafe"


@pytest.mark.parametrize(("query", "line", "column"), SYNTAX)
def test_syntax_errors_have_a_place(query: str, line: int | None, column: int | None) -> None:
    with pytest.raises(QueryError) as caught:
        SQL.check_safety(query)
    error = caught.value
    assert (error.kind, error.code) == ("syntax_error", "42601")
    assert (error.line, error.column) == (line, column)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1" + "+1" * 100_000,
        "SELECT 1" + " UNION SELECT 1" * 20_000,
        "SELECT 'a'" + " || 'a'" * 3_000,
    ],
    ids=["sums", "unions", "concatenations"],
)
def test_absurd_nesting_neither_crashes_nor_passes(query: str) -> None:
    with pytest.raises(QueryError) as caught:
        SQL.check_safety(query)
    assert (caught.value.kind, caught.value.code) == ("runtime_error", "54001")


def test_long_but_flat_queries_are_accepted() -> None:
    assert verdict("SELECT " + ", ".join(["1"] * 20_000)) == "accepted"
    assert verdict("SELECT 1 WHERE " + " AND ".join(["a = 'x'"] * 2_000)) == "accepted"
    assert verdict("SELECT a" + " + a" * 200) == "accepted"


WRITES = [query for query in UNSAFE if ";" not in query]


@given(st.sampled_from(WRITES), st.sampled_from(["'", "$q$", '"', "--", "/*"]))
def test_words_in_strings_names_and_comments_are_words(text: str, quote: str) -> None:
    if quote == "--":
        query = "SELECT 1 -- " + text.replace("\n", " ")
    elif quote == "/*":
        query = f"SELECT /* {text.replace('/*', '').replace('*/', '')} */ 1"
    elif quote == "$q$":
        query = f"SELECT $q${text}$q$"
    else:
        query = f"SELECT {quote}{text.replace(quote, quote * 2)}{quote} FROM t"
    assert verdict(query) == "accepted"


_SPACES = st.sampled_from([" ", "\n", "\t", " /* x */ ", " -- x\n"])


@given(st.sampled_from(UNSAFE), _SPACES, _SPACES)
def test_no_space_or_comment_hides_a_write(query: str, before: str, after: str) -> None:
    assert verdict(before + query + after) == "unsafe"


@given(st.sampled_from(UNSAFE), st.sampled_from(HARMLESS[:3] + HARMLESS[4:7]))
def test_no_company_makes_a_write_safe(query: str, harmless: str) -> None:
    bare = harmless.removesuffix(";")
    assert verdict(f"{bare}\n;\n{query}") == "unsafe"
    assert verdict(f"{query}\n;\n{bare}") == "unsafe"


@given(
    st.sampled_from(sorted(REFUSED_FUNCTIONS)),
    st.sampled_from([str, str.upper, str.title, "pg_catalog . {}".format, '"{}"'.format]),
)
def test_refused_functions_are_refused_however_written(
    name: str, write: Callable[[str], str]
) -> None:
    written = write(name)
    for query in (
        f"SELECT {written}(1)",
        f"SELECT * FROM {written}() t",
        f"VALUES (({written}(x)))",
        f"SELECT (1).{written}",
        f"SELECT (('/etc/passwd'::text).{written}).x",
    ):
        assert verdict(query) == "unsafe"


@settings(max_examples=300)
@given(st.text(max_size=80))
def test_any_text_has_a_verdict(text: str) -> None:
    assert verdict(text) in {"accepted", "unsafe", "syntax_error", "runtime_error"}
    assert verdict("SELECT '" + text.replace("'", "''").replace("\\", "") + "'") in {
        "accepted",
        "syntax_error",  # NUL characters and lone surrogates
    }
