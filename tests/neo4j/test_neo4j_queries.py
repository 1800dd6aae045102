"""What the real server says of queries, and what it can never be made to do."""

import datetime as dt
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from qeval.engines.base import FailureKind, QueryError, QueryLimits
from qeval.engines.neo4j import Neo4jEngine
from qeval.engines.neo4j.load import counts
from qeval.scoring.values import Clock, Duration, Instant, Map, Node
from qeval.scoring.values import Path as GraphPath
from qeval.suite import Instance

LIMITS = QueryLimits()

INVALID: list[tuple[str, FailureKind, str]] = [
    # the parser refuses it
    ("MATCH (n:User RETURN n", "syntax_error", "Invalid input"),
    ("MATCH (n:User) WHERE n.id = RETURN n", "syntax_error", "Invalid input"),
    ("SELECT * FROM users", "syntax_error", "SELECT"),
    ("MATCH (n:User) RETURN n.id LIMIT", "syntax_error", ""),
    ("MATCH (n)-[:PLACED->(m) RETURN m", "syntax_error", ""),
    ("MATCH (n:User)", "syntax_error", ""),
    ("MATCH (n:User) GROUP BY n.id RETURN n", "syntax_error", "GROUP"),
    ("MATCH (n:User) WITH n.id RETURN 1", "syntax_error", "aliased"),
    ("", "syntax_error", ""),
    ("RETURN 'open", "syntax_error", ""),
    ("MATCH (n:User) RETURN n AS aggregate 'Type mismatch' LIMIT", "syntax_error", ""),
    # it names what is not there
    ("MATCH (n:Usr) RETURN n", "schema_error", "`Usr`"),
    ("MATCH (n:User)-[:BOUGHT]->(o) RETURN o", "schema_error", "`BOUGHT`"),
    ("MATCH (n:User) RETURN n.nmae", "schema_error", "`nmae`"),
    ("MATCH (n:User {nmae: 'x'}) RETURN n", "schema_error", "`nmae`"),
    ("MATCH (n) WHERE EXISTS { (n)-[:BOUGHT]->() } RETURN n", "schema_error", "`BOUGHT`"),
    ("MATCH (n:User) RETURN m", "schema_error", "`m`"),
    ("MATCH (n:User) RETURN n.total", "schema_error", "it belongs to Order"),
    ("MATCH (n:User)-[p:PLACED {total: 1}]->(o) RETURN o", "schema_error", "[:PLACED]"),
    ("MATCH (n:User) RETURN length_of(n.name)", "schema_error", "length_of"),
    ("CALL algo.pageRank() YIELD score RETURN score", "schema_error", "algo"),
    # wrong types, aggregates, literals, parameters, arithmetic
    ("RETURN 1 + true", "runtime_error", "Type mismatch"),
    ("RETURN 'a' * 2", "runtime_error", "Type mismatch"),
    ("RETURN toUpper(1)", "runtime_error", "Type mismatch"),
    ("MATCH (n:User) RETURN sum(n.name)", "runtime_error", "numerical"),
    ("MATCH (n:User) WHERE n.id RETURN n", "runtime_error", "predicate"),
    ("MATCH (n:User) WHERE count(n) > 1 RETURN n", "runtime_error", "aggregating"),
    ("MATCH (n:User) RETURN sum(count(n))", "runtime_error", "aggregate"),
    ("MATCH (n:User) RETURN n.id + count(*)", "runtime_error", "implicit grouping"),
    ("MATCH (n:User) RETURN n ORDER BY count(*)", "runtime_error", "aggregation"),
    ("MATCH (n:User {id: $id}) RETURN n", "runtime_error", "parameter"),
    ("RETURN 1/0", "runtime_error", "by zero"),
    ("RETURN 9223372036854775807 + 1", "runtime_error", "overflow"),
    ("RETURN date('2024-13-01')", "runtime_error", "Month"),
    ("RETURN datetime('nope')", "runtime_error", "cannot be parsed"),
    ("MATCH (n:User) RETURN n LIMIT -1", "runtime_error", "-1"),
    ("RETURN substring('abc', -1)", "runtime_error", "negative"),
    # it would do more than read
    ("MATCH (n:User) SET n.name = 'x'", "unsafe", "write"),
    ("CREATE (n:User {id: -1}) RETURN n", "unsafe", "write"),
    ("CALL { CREATE (n:User) RETURN n } RETURN n", "unsafe", "write"),
    ("CALL dbms.listConfig() YIELD name RETURN name", "unsafe", ""),
    ("RETURN 1; RETURN 2", "unsafe", "one statement"),
]


def run(engine: Neo4jEngine, instance: Instance, query: str, limits: QueryLimits = LIMITS) -> Any:
    return engine.execute(query, instance, limits).table.rows


@pytest.mark.parametrize(("query", "kind", "said"), INVALID, ids=[q[:40] for q, *_ in INVALID])
def test_an_invalid_query_gets_the_right_verdict(
    neo: Neo4jEngine, shop: Instance, query: str, kind: FailureKind, said: str
) -> None:
    with pytest.raises(QueryError) as caught:  # noqa: PT012 - the pipeline's two steps
        neo.check(query, shop)
        neo.execute(query, shop, LIMITS)
    assert (caught.value.kind, said in caught.value.message) == (kind, True), caught.value.message


def test_the_place_of_an_error_is_the_querys_own(neo: Neo4jEngine, shop: Instance) -> None:
    for act in (neo.check, lambda query, on: neo.execute(query, on, LIMITS)):
        with pytest.raises(QueryError) as caught:
            act("MATCH (n:User)\nRETURN foo(1)", shop)
        assert (caught.value.line, caught.value.column) == (2, 8)
    with pytest.raises(QueryError) as caught:
        neo.check("MATCH (n:Usr)\nRETURN n", shop)
    assert caught.value.line == 1


def test_the_message_of_a_syntax_error_depends_on_the_query_alone(
    neo: Neo4jEngine, shop: Instance
) -> None:
    """The parser's list of expected tokens grows and shrinks with what it has parsed before."""
    broken = [
        "MATCH (n:User RETURN n",
        "MATCH (u:User)-[:PLACED]->(o:Order) WHERE o.total > RETURN u",
        "MATCH (u:User) RETURN u.name ORDER u.name",
        "MATCH (u:User) RETURN u.name GROUP BY u.name",
    ]

    def messages() -> list[str]:
        said = []
        for query in broken:
            for act in (neo.check, lambda query, on: neo.execute(query, on, LIMITS)):
                with pytest.raises(QueryError) as caught:
                    act(query, shop)
                said.append(f"{caught.value.message} {caught.value.line}:{caught.value.column}")
        return said

    first = messages()
    for query in ("MATCH (n:User) RETURN n", "MATCH (u:User) WITH u ORDER BY u.name RETURN u"):
        neo.check(query, shop)
    assert messages() == first
    assert first[0] == first[1] == "Invalid input 'RETURN' 1:15"


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (u:User) WITH collect({label: u.name}) AS xs UNWIND xs AS x RETURN x.label",
        "MATCH (o:Order) RETURN o.at.year, date(o.at).quarter LIMIT 1",
        "WITH duration('P1D') AS d RETURN d.days, d.foo",
        "MATCH (o:Order) WHERE o.note IS NOT NULL RETURN o",  # in the schema, borne by nothing
        "MATCH (u:User) RETURN u {.name, total: 2} AS m LIMIT 1",
    ],
)
def test_names_that_are_no_schema_names_are_not_schema_errors(
    neo: Neo4jEngine, shop: Instance, query: str
) -> None:
    neo.check(query, shop)


def test_a_check_executes_nothing(neo: Neo4jEngine, shop: Instance) -> None:
    neo.check("UNWIND range(1, 100000000000) AS x RETURN count(x)", shop)
    neo.check("RETURN 1/0", shop)


def test_every_type_becomes_a_canonical_value(neo: Neo4jEngine, shop: Instance) -> None:
    (row,) = run(
        neo,
        shop,
        "MATCH p = (u:User {id: 10})-[r:PLACED]->(o:Order {id: 10}) RETURN "
        "u, r.rank, p, {b: 1, a: [1.5, null]}, point({x: 1, y: 2}), date('2024-02-29'), "
        "datetime('2024-02-29T12:00:00+02:00'), localdatetime('2024-02-29T12:00:00.000000001'), "
        "time('10:00+01:00'), localtime('10:00:00.5'), duration('P1M2DT3S'), 7, 7.0, true, null, "
        "'007', u.spent, o.tags",
    )
    node, rank, path, mapping, point, *rest = row
    assert node == Node(("Member", "User"), 10)
    assert dict(node.properties)["tier"] == "silver"
    assert rank == 2
    assert isinstance(path, GraphPath)
    assert path.elements[0] == node
    assert path.elements[2] == Node(("Order",), 10)
    assert mapping == Map((("a", (1.5, None)), ("b", 1)))
    assert point == Map((("coordinates", (1.0, 2.0)), ("srid", 7203)))
    day, moment, nanos, clock, local, duration, *plain = rest
    assert day == dt.date(2024, 2, 29)
    assert moment == dt.datetime(2024, 2, 29, 10, tzinfo=dt.UTC)
    assert isinstance(nanos, Instant)
    assert clock == Clock(36_000 * 10**9, 3600)
    assert local == Clock(36_000_500_000_000)
    assert duration == Duration.of(1, 2, 3)
    assert plain == [7, 7.0, True, None, "007", 2.5, None]
    assert [type(value) for value in plain[:3]] == [int, float, bool]


def test_the_executed_text_is_the_prediction(neo: Neo4jEngine, shop: Instance) -> None:
    table = neo.execute("MATCH (u:User) RETURN  u.id  AS `a b` // x\nLIMIT 1;", shop, LIMITS).table
    assert table.columns == ("a b",)


def test_rows_and_bytes_are_bounded(neo: Neo4jEngine, shop: Instance) -> None:
    few = QueryLimits(max_rows=10)
    execution = neo.execute("UNWIND range(1, 1000000000) AS x RETURN x", shop, few)
    assert (len(execution.table), execution.truncated) == (10, True)
    small = QueryLimits(max_bytes=1000)
    execution = neo.execute(
        "UNWIND range(1, 100) AS x RETURN reduce(s = 'a', i IN range(1, 8) | s + s)", shop, small
    )
    assert (len(execution.table), execution.truncated) == (3, True)
    whole = neo.execute("UNWIND range(1, 10) AS x RETURN x", shop, few)
    assert (len(whole.table), whole.truncated) == (10, False)


def test_a_query_is_stopped_at_its_limit_and_the_next_works(
    neo: Neo4jEngine, shop: Instance
) -> None:
    started = time.monotonic()
    with pytest.raises(QueryError) as caught:
        run(
            neo,
            shop,
            "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b)",
            QueryLimits(timeout_s=1),
        )
    assert caught.value.kind == "timeout"
    assert time.monotonic() - started < 60  # it would run for an hour
    assert run(neo, shop, "MATCH (u:User) RETURN count(u)") == ((100,),)


@pytest.mark.parametrize(
    "query",
    [
        "RETURN range(1, 100000000)",
        "UNWIND range(1, 30000) AS a UNWIND range(1, 30000) AS b RETURN collect(a + b)",
        "RETURN reduce(s = 'a', x IN range(1, 40) | s + s)",
        "MATCH (a:Order), (b:Order), (c:Order) RETURN collect([a, b, c])",
    ],
)
def test_hunger_for_memory_ends_in_a_verdict_with_the_server_alive(
    neo: Neo4jEngine, shop: Instance, query: str
) -> None:
    with pytest.raises(QueryError) as caught:
        run(neo, shop, query, QueryLimits(timeout_s=8))
    assert caught.value.kind in ("runtime_error", "timeout")
    assert run(neo, shop, "MATCH (u:User) RETURN count(u)") == ((100,),)


def test_eight_sessions_give_what_one_gives(neo: Neo4jEngine, shop: Instance) -> None:
    queries = [
        f"MATCH (u:User)-[r:PLACED]->(o:Order) WHERE o.id % {n} = 0 "
        "RETURN u.id, sum(o.total), collect(o.id)[0..3] ORDER BY u.id"
        for n in range(1, 41)
    ]
    one = [run(neo, shop, query) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda query: run(neo, shop, query), queries)) == one


def test_instances_stand_side_by_side_and_never_mix(
    neo: Neo4jEngine, new_instance: Callable[..., Instance]
) -> None:
    instances = [new_instance(f"shop_variant_{n}", shift=n) for n in range(1, 4)]
    expected = [((sum((i + n) / 4 for i in range(100)),),) for n in range(1, 4)]
    query = "MATCH (u:User) RETURN sum(u.spent)"
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda n: run(neo, instances[n % 3], query), range(30)))
    assert found == [expected[n % 3] for n in range(30)]
    prints = {neo.fingerprint(instance) for instance in instances}
    assert len(prints) == 3


def test_the_fingerprint_does_not_depend_on_the_order_of_rows(
    neo: Neo4jEngine, shop: Instance, new_instance: Callable[..., Instance]
) -> None:
    from dataclasses import replace

    def reversed_rows() -> Any:
        data = shop.dataset()
        return replace(data, rows={name: list(rows)[::-1] for name, rows in data.rows.items()})

    other = replace(new_instance("shop_reversed"), dataset=reversed_rows)
    lists = replace(shop, key="shop_again")
    neo.load(other)
    assert neo.fingerprint(lists) == neo.fingerprint(shop)
    assert neo.execute("MATCH (n) RETURN count(n)", other, LIMITS).table.rows == ((1100,),)


@pytest.fixture(scope="module")
def listener() -> Iterator[tuple[str, list[str]]]:
    hits: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.server_port}", hits
    server.shutdown()
    server.server_close()


class TestTheServersOwnWalls:
    """Nothing here passes the static check first: the server alone must hold."""

    @pytest.mark.parametrize("mode", ["READ", "WRITE"])
    def test_files_and_network_are_out_of_reach(
        self, neo: Neo4jEngine, shop: Instance, listener: Any, mode: str, tmp_path: Path
    ) -> None:
        from neo4j.exceptions import Neo4jError

        address, hits = listener
        secret = tmp_path / "secret.csv"
        secret.write_text("a,b\n1,2\n")
        stores = neo._stores
        assert stores is not None
        with stores.leased(shop) as driver:
            for url in (
                "file:///etc/passwd", f"file://{secret}", "file:/secret.csv", "secret.csv",
                f"http://{address}/x.csv", f"https://{address}/x.csv", f"ftp://{address}/x.csv",
                f"jar:http://{address}/x.jar!/x.csv", "s3://bucket/x.csv", "gs://bucket/x.csv",
                f"http://localhost:{address.split(':')[1]}/x", "http://[::1]:80/x",
            ):  # fmt: skip
                with (
                    driver.session(default_access_mode=mode) as session,
                    pytest.raises(Neo4jError),
                ):
                    session.run("LOAD CSV FROM $url AS line RETURN line", url=url).consume()
        assert hits == []

    @pytest.mark.parametrize(
        "query",
        [
            "CREATE (n:User {id: -1})",
            "MATCH (n:User {id: 1}) SET n.name = 'x'",
            "MATCH (n) DETACH DELETE n",
            "CREATE INDEX x FOR (n:User) ON (n.name)",
            "DROP CONSTRAINT user_id",
            "MATCH (n:User) CALL { WITH n SET n.name = 'x' } IN TRANSACTIONS",
            "CALL db.createLabel('Evil')",
            "CALL apoc.load.json('http://localhost/')",
        ],
    )
    def test_nothing_can_be_written_even_in_a_write_session(
        self, neo: Neo4jEngine, shop: Instance, query: str
    ) -> None:
        from neo4j.exceptions import Neo4jError

        stores = neo._stores
        assert stores is not None
        with stores.leased(shop) as driver:
            held = counts(driver, None)
            with driver.session(default_access_mode="WRITE") as session, pytest.raises(Neo4jError):
                session.run(query).consume()
            assert counts(driver, None) == held
        assert run(neo, shop, "MATCH (u:User {id: 1}) RETURN u.name") == (("Zoë 1",),)
