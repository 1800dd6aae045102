"""`qeval up`, `status`, `down` and `query`, as a user types them."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qeval.app import main
from qeval.commands.query import described
from qeval.engines import warm
from qeval.engines.base import QueryError, QueryLimits
from qeval.engines.postgres import PostgresEngine
from qeval.suite import Instance

MakeEngine = Callable[..., PostgresEngine]


def qeval(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "qeval.app", *words],
        input=given, capture_output=True, text=True, check=False, cwd="/",
        env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip


def slots(cache: Path) -> set[str]:
    return {path.name for path in cache.glob("postgres/*/slot-*")}


def test_up_serves_other_commands_until_down(
    cache: Path, pg: PostgresEngine, pg_make: MakeEngine, pg_instance: Instance
) -> None:
    assert pg is not None
    assert "nothing is up" in qeval("status").stdout
    done = qeval("up", "sql")
    assert (done.returncode, done.stderr) == (0, "")
    (server,) = warm.running()
    assert f"pid {server.pid}" in done.stdout
    assert qeval("up").returncode == 0
    assert warm.running() == [server]

    first, second = pg_make(), pg_make()
    try:
        for engine in (first, second):
            engine.start()
            engine.load(pg_instance)
        assert first._running() == second._running()
        first.stop()
        count = second.execute("SELECT count(*) FROM orders", pg_instance, QueryLimits())
        assert count.table.rows == ((2000,),)
    finally:
        first.stop()
        second.stop()
    assert slots(cache) == {"slot-1"}

    asked = qeval("query", "sql", "SELECT 'ä|', NULL, 1.50 AS n", "--format", "json")
    assert asked.returncode == 0, asked.stderr
    answer = json.loads(asked.stdout)
    assert answer["rows"] == [["ä|", None, "1.50"]]
    assert answer["columns"] == ["?column?", "?column?", "n"]

    (status,) = map(json.loads, qeval("status", "--format", "json").stdout.splitlines())
    assert (status["engine"], status["pid"]) == ("postgres", server.pid)
    assert status["memory_mb"] > 0
    assert pg_instance.key in status["holds"]
    assert any(key.startswith("ecommerce_base") for key in status["holds"])
    assert Path(status["log"]).is_file()

    assert f"pid {server.pid}" in qeval("down", "sql").stdout
    assert not server.alive()
    assert "nothing is up" in qeval("down").stdout


def test_a_warm_server_that_died_is_replaced(
    cache: Path, pg: PostgresEngine, pg_make: MakeEngine, pg_instance: Instance
) -> None:
    assert pg is not None
    server = pg_make().up()
    engine = pg_make()
    try:
        engine.start()
        engine.load(pg_instance)
        os.kill(server.pid, signal.SIGKILL)
        engine.restart()
        count = engine.execute("SELECT count(*) FROM orders", pg_instance, QueryLimits())
        assert count.table.rows == ((2000,),)
        assert warm.running() == []
        assert slots(cache) == {"slot-1"}  # the dead server's, with its data
    finally:
        engine.stop()


def test_a_reused_process_id_is_not_a_warm_server(cache: Path) -> None:
    facts: dict[str, Any] = {
        "engine": "postgres", "version": "1", "pid": os.getpid(), "started": 1.0, "since": 1.0,
        "address": "nowhere", "log": "", "stop_signal": "KILL",
    }  # fmt: skip
    for name, text in (("postgres-1.json", json.dumps(facts)), ("postgres-2.json", '{"engi')):
        (cache / "warm").mkdir(exist_ok=True, parents=True)
        (cache / "warm" / name).write_text(text)
    assert warm.running() == []
    assert list((cache / "warm").glob("*.json")) == []


def test_query_shows_a_table_or_csv(cache: Path, pg: PostgresEngine) -> None:
    assert cache.is_dir()
    assert pg is not None
    sql = 'SELECT n, \'a,b\' AS "x""y", NULL AS z FROM generate_series(1, 60) n'
    table = qeval("query", "sql", "-", given=sql)
    assert table.returncode == 0, table.stderr
    assert "60 rows, 50 shown" in table.stdout
    assert 'x"y' in table.stdout
    assert "NULL" in table.stdout
    done = qeval("query", "sql", sql, "--format", "csv", "--instance", "variant-2")
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == ["n", 'x"y', "z"]
    assert rows[60] == ["60", "a,b", ""]


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("SELECT nme\nFROM users", 1, 'schema_error [42703]: column "nme" does not exist'),
        ("SELECT 1; DROP TABLE users", 1, "unsafe: 2 statements"),
        ("SELEC 1", 1, 'syntax_error [42601]: syntax error at or near "SELEC"\nline 1: SELEC 1\n'),
        ("SELECT 1 / 0", 1, "runtime_error [22012]: division by zero"),
        ("SELECT pg_sleep(9)", 1, "timeout [57014]"),
    ],
)
def test_failed_queries_end_with_their_verdict(
    pg: PostgresEngine, capfd: pytest.CaptureFixture[str], query: str, code: int, message: str
) -> None:
    assert pg is not None
    assert main(["query", "sql", query, "limits.timeout_s=0.3"]) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["query", "sqk", "SELECT 1"], "Did you mean 'sql'?"),
        (["up", "sqk"], "Did you mean 'sql'?"),
        (["up", "sql", "engine=postgre"], "Did you mean 'postgres'?"),
        (["query", "sql", "SELECT 1", "--instance", "nonsense"], "nonsense"),
        (["query", "sql", "SELECT 1", "limits.timeout=3"], "Did you mean 'timeout_s'?"),
    ],
)
def test_wrong_words_are_input_errors(
    capfd: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err


def test_the_caret_stands_under_the_fault() -> None:
    error = QueryError("schema_error", "no such column", code="42703", line=2, column=9)
    text = described(error, "SELECT 1,\n\t'李李',  nme\nFROM t")
    *_, shown, caret = text.splitlines()
    assert shown == "line 2: \t'李李',  nme"
    assert caret == " " * 8 + "\t" + " " * 9 + "^"
    long = "SELECT " + "a, " * 100 + "b"
    fault = QueryError("schema_error", "x", line=1, column=len(long))
    *_, shown, caret = described(fault, long).splitlines()
    assert len(shown) <= 120
    assert shown[caret.index("^")] == "b"
    assert described(QueryError("timeout", "too long"), "SELECT 1") == "timeout: too long"
