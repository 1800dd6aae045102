"""On a real TypeDB server (`pytest -m typedb_server`, QEVAL_TYPEDB_URI): all goldens and golds."""

import datetime as dt
import os
from collections.abc import Iterator
from typing import Any

import pytest

from qeval.cells import build_cell, build_engine
from qeval.configuration import compose
from qeval.engines.base import EngineInfo, Execution, QueryError, QueryLimits
from qeval.engines.typedb import TypedbEngine
from qeval.engines.typedb.load import database_name
from qeval.engines.typeql import EmbeddedTypeqlEngine
from qeval.scoring import AnswerSpec, compare
from qeval.scoring.spec import Policy
from qeval.suite import Case, Example
from qeval.suites import load_suite
from tests.typeql.golden_cases import DATASETS, GOLDENS, load_cases

from .typeql_shop import make_instance

pytestmark = [
    pytest.mark.typedb_server,
    pytest.mark.skipif("QEVAL_TYPEDB_URI" not in os.environ, reason="no TypeDB server is named"),
]

SUITE = load_suite("ecommerce")
ALL: tuple[Case | Example, ...] = (*SUITE.cases, *SUITE.examples)
ENTRIES = [entry for entry in ALL if "typeql" in entry.gold]
LIMITS = QueryLimits()
EMBEDDED = EmbeddedTypeqlEngine(
    language="typeql", name="typeql", keep_instances=9, max_steps=10**8, max_cells=5 * 10**6
)


@pytest.fixture(scope="module")
def server() -> Iterator[TypedbEngine]:
    engine = build_engine(build_cell(compose(["model=gold", "language=typeql"])).engine_config)
    assert isinstance(engine, TypedbEngine)
    engine.start()
    yield engine
    engine.stop()


def test_it_says_what_it_is(server: TypedbEngine) -> None:
    info: EngineInfo = server.start()
    assert (info.name, info.origin) == ("typedb", "server")


@pytest.mark.parametrize("name", ["base", "variant-1", "variant-2", "variant-3"])
def test_golds_give_the_same_rows_as_inside_qeval(server: TypedbEngine, name: str) -> None:
    instance = SUITE.instance("typeql", name)
    server.load(instance)
    before = server.fingerprint(instance)
    differing = {}
    for entry in ENTRIES:
        query = entry.gold["typeql"]
        server.check(query, instance)
        ours = EMBEDDED.execute(query, instance, LIMITS)
        theirs = server.execute(query, instance, LIMITS)
        difference = _difference(entry, ours, theirs)
        if difference:
            differing[entry.id] = difference
    assert differing == {}
    assert server.fingerprint(instance) == before


def _difference(entry: Case | Example, ours: Execution, theirs: Execution) -> str:
    spec = AnswerSpec(entry.answer.columns, entry.answer.order_by)
    comparison = compare(ours.table, theirs.table, spec, Policy())
    return "" if comparison.equal else str(comparison.difference)


def test_limits_hold(server: TypedbEngine) -> None:
    instance = make_instance()
    server.load(instance)
    query = "match $a isa order; $b isa order; $c isa order; $d isa order;"
    cut = server.execute(query, instance, QueryLimits(max_rows=7))
    assert (len(cut.table), cut.truncated) == (7, True)
    with pytest.raises(QueryError) as caught:
        server.execute(f"{query} reduce $n = count;", instance, QueryLimits(timeout_s=1))
    assert caught.value.kind == "timeout"
    with pytest.raises(QueryError) as caught:
        server.execute("match $u isa user; delete $u;", instance, LIMITS)
    assert caught.value.kind == "unsafe"


@pytest.mark.parametrize("dataset", DATASETS)
def test_goldens_are_answered_as_recorded(server: TypedbEngine, dataset: str) -> None:
    """Number of rows or documents, or the error code, of every recorded, deterministic case."""
    from typedb.driver import TransactionType

    driver: Any = server._reached()
    name = f"qeval_goldens_{dataset}_{dt.datetime.now(dt.UTC):%H%M%S}"
    driver.databases.create(name)
    try:
        _fill(driver, name, dataset, TransactionType)
        differing = {}
        for case in load_cases():
            if case["dataset"] != dataset or case.get("quirk") or case.get("nondeterministic"):
                continue
            if case["outcome"] not in ("rows", "docs", "error"):
                continue
            found = _outcome(server, name, case["query"])
            wanted = case["error_code"] if case["outcome"] == "error" else len(
                case["rows" if case["outcome"] == "rows" else "docs"])  # fmt: skip
            if found != wanted:
                differing[case["id"]] = (wanted, found)
        assert differing == {}
    finally:
        driver.databases.get(name).delete()


def _fill(driver: Any, name: str, dataset: str, types: Any) -> None:
    from qeval.typeql.loading import queries_of

    with driver.transaction(name, types.SCHEMA) as transaction:
        transaction.query((GOLDENS / f"{dataset}.schema.tql").read_text()).resolve()
        transaction.commit()
    for _, part in queries_of((GOLDENS / f"{dataset}.data.tql").read_text()):
        with driver.transaction(name, types.WRITE) as transaction:
            transaction.query(part).resolve()
            transaction.commit()


def _outcome(server: TypedbEngine, name: str, query: str) -> str | int:
    from qeval.engines.typedb import session

    try:
        return len(session.execute(server._reached(), name, query, LIMITS).table)
    except QueryError as error:
        return error.code


def test_the_databases_are_named_after_their_content() -> None:
    assert database_name(make_instance()) == "qeval_shop_base_01"
