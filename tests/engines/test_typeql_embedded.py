"""The embedded TypeQL engine behind the interface of all engines."""

import gc
import pickle
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from qeval.cells import build_engine
from qeval.configuration import compose, plain
from qeval.engines.base import Engine, QueryError, QueryLimits
from qeval.engines.typeql import EmbeddedTypeqlEngine
from qeval.engines.typeql.columns import answer_columns
from qeval.errors import InputError
from qeval.scoring.table import Table
from qeval.scoring.values import Map, Node
from qeval.suite import Instance
from qeval.typeql import TypeQLError
from tests.typeql.golden_cases import DATASETS, load_cases, load_database

from .typeql_shop import MAPPING, NASTY, SCHEMA, make_instance

SHOP = make_instance()
LIMITS = QueryLimits()


def make_engine(**changes: Any) -> EmbeddedTypeqlEngine:
    settings: dict[str, Any] = {
        "language": "typeql", "name": "typeql", "keep_instances": 4, "max_steps": 10**8,
        "max_cells": 5 * 10**6,
    }  # fmt: skip
    return EmbeddedTypeqlEngine(**{**settings, **changes})


ENGINE = make_engine()


def rows(query: str, instance: Instance = SHOP) -> list[tuple[Any, ...]]:
    ENGINE.check(query, instance)
    return sorted(ENGINE.execute(query, instance, LIMITS).table.rows, key=repr)


def test_the_configuration_builds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QEVAL_TYPEDB_URI", raising=False)
    engine = build_engine(plain(compose(["language=typeql"]))["language"]["engine"])
    assert isinstance(engine, Engine)
    assert str(engine.start()) == "typeql-embedded 3.12 semantics (embedded)"


def test_values_of_every_type_come_back() -> None:
    query = (
        "match $u isa user, has id 1, has name $name, has born $born; $u has credit $credit; "
        "purchase (buyer: $u, order: $o); $o has id 30, has at $at, has paid $paid; "
        "let $seven = 7.5; select $name, $born, $credit, $at, $paid, $seven;"
    )
    table = ENGINE.execute(query, SHOP, LIMITS).table
    assert table.columns == ("at", "born", "credit", "name", "paid", "seven")
    assert table.rows == (
        (
            datetime(2024, 3, 1, 5, 59, 59, tzinfo=UTC),
            date(1999, 12, 31),
            Decimal("0.25"),
            NASTY,
            False,
            7.5,
        ),
    )


def test_entities_are_known_by_key_and_types_by_label() -> None:
    found = rows("match $u isa! $t, has id 2; $u isa user;")
    assert found == [("user", Node(("user",), 2))]
    assert rows("match $m isa user, has id 6;") == [(Node(("member",), 6),)]


def test_nulls_are_missing_and_missing_is_null() -> None:
    query = "match $u isa user, has id < 4, has id $i; try { $u has born $b; }; select $i, $b;"
    day = date(1999, 12, 31)
    assert rows(query) == [(None, 3), (day, 1), (day, 2)]


def test_relations_need_their_players() -> None:
    assert rows("match $f isa friendship; try { $f has name $n; }; select $n;") == [
        ("close",),
        (None,),
    ]


def test_documents_are_rows() -> None:
    query = (
        "match $u isa user, has id 2, has id $i; fetch { 'id': $i, 'mail': [ $u.email ], "
        "'born': $u.born, 'none': [ match $u has id 99; return { $i }; ], "
        "'in': { 'name': $u.name } };"
    ).replace("return { $i }", "fetch { 'x': $i }")
    table = ENGINE.execute(query, SHOP, LIMITS).table
    assert table.columns == ("id", "mail", "born", "none", "in")
    ((number, mail, born, none, inside),) = table.rows
    assert (number, sorted(mail), born, none) == (
        2,
        ["2.0@example.com", "2.1@example.com"],
        "1999-12-31",
        (),
    )
    assert inside == Map((("name", "user 2"),))


def test_documents_say_decimals_datetimes_and_types() -> None:
    query = (
        "match $u isa! $t, has id 6, has credit $c; purchase (buyer: $u, order: $o); $o has id 5, "
        "has at $a; fetch { 'c': $c, 'a': $a, 't': $t };"
    )
    at = datetime(2024, 2, 29, 4, 59, 59, tzinfo=UTC)
    assert rows(query) == [(Decimal("1.5"), at, "member")]


def test_keys_that_a_document_lacks_are_null() -> None:
    query = "match $u isa user, has id $i; $i < 4; $i > 1; sort $i; fetch { $u.* };"
    table = ENGINE.execute(query, SHOP, LIMITS).table
    place = table.columns.index("born")
    assert sorted(table.columns) == ["born", "email", "id", "name"]
    assert [row[place] for row in table.rows] == ["1999-12-31", None]


def test_columns_are_known_without_documents() -> None:
    """Else a right query would be refuted for lacking columns wherever nothing is right."""
    nobody = "match $u isa user, has id 99, has name $n;"
    table = ENGINE.execute(f"{nobody} fetch {{ 'n': $n, 'id': $u.id }};", SHOP, LIMITS).table
    assert (table.columns, table.rows) == (("n", "id"), ())


WITH_LABELS = """
    attribute code, value string;
    attribute text, value string;
    entity label, owns code @key, owns text @card(1..);
    entity brand, owns code @card(1), owns text @key;
    entity sign, owns code @key;
"""


@pytest.mark.parametrize(
    ("owner", "keys"),
    [
        ("$x isa order, has id 9999;", ()),  # its weight may be missing
        ("$x isa label, has code 'a';", ("code", "text")),
        ("{ $x isa label; } or { $x isa brand; }; $x has code 'a';", ("code", "text")),
        ("{ $x isa label; } or { $x isa sign; }; $x has code 'a';", ()),
    ],
)
def test_all_attributes_are_columns_where_there_can_be_no_others(
    owner: str, keys: tuple[str, ...]
) -> None:
    """Else a right `fetch { $x.* }` would be refuted wherever nothing is right."""
    shop = replace(SHOP, key="labels", schema=SCHEMA + WITH_LABELS)
    assert ENGINE.execute(f"match {owner} fetch {{ $x.* }};", shop, LIMITS).table == Table(keys, [])


def test_what_there_is_none_of_has_no_attributes() -> None:
    query = "match $u isa user; try { $o isa order, has id 9999; }; fetch { $o.* };"
    assert set(rows(query)) == {()}


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_text_of_a_query_tells_its_columns(dataset: str) -> None:
    """A server's answer without rows has no columns; the engine's own checker knows them."""
    database = load_database(dataset)
    checked = 0
    for case in load_cases():
        if case["dataset"] != dataset or case["outcome"] not in ("rows", "docs"):
            continue
        try:
            answer = database.query(case["query"], timeout_s=1.0)
        except TypeQLError:
            continue
        if answer.kind == "rows":
            assert answer_columns(case["query"]) == answer.columns, case["query"]
            checked += 1
        elif answer.documents and "* }" not in case["query"].replace("*}", "* }"):
            assert answer_columns(case["query"]) == tuple(answer.documents[0]), case["query"]
            checked += 1
    assert checked > 50


def test_a_query_without_variables_has_rows_without_columns() -> None:
    table = ENGINE.execute("match not { $u isa user, has id 77; };", SHOP, LIMITS).table
    assert (table.columns, table.rows) == ((), ((),))


FAILURES = {
    "match $u isa usr;": ("schema_error", "INF2", 1, 14),
    "match purchase (seller: $u);": ("schema_error", "INF3", 1, 17),
    "match attribute $a, value long;": ("schema_error", "INF9", 1, 21),
    "match $u isa order, has email $e;": ("schema_error", "INF11", 1, 21),
    "match $u isa user; fetch { 'x': $u.nick };": ("schema_error", "QUA7", None, None),
    "match $u isa user; fetch { 'x': $u.weight };": ("schema_error", "QUA8", None, None),
    "match $u isa user; let $n = nope($u);": ("schema_error", "REP4", None, None),
    "match $u isa user; get $u;": ("syntax_error", "TQL03", 1, 24),
    "match $u isa user; fetch { 'x': $u.email };": ("runtime_error", "QUA12", None, None),
    "match $u isa user; $a > 3;": ("runtime_error", "REP44", None, None),
    "match $u isa user, has id $i; let $x = $i / 0;": ("runtime_error", "EEV4", None, None),
    "match $u isa user; delete $u;": ("unsafe", "TSV9", None, None),
    "define entity thing;": ("unsafe", "TSV8", None, None),
}


@pytest.mark.parametrize("query", FAILURES)
def test_failures_have_a_verdict_a_code_and_a_place(query: str) -> None:
    kind, code, line, column = FAILURES[query]
    with pytest.raises(QueryError) as caught:
        ENGINE.execute(query, SHOP, LIMITS)
    error = caught.value
    assert (error.kind, error.code) == (kind, code)
    if line is not None:
        assert (error.line, error.column) == (line, column)


@pytest.mark.parametrize(
    ("query", "kind"),
    [("match $u isa usr;", "schema_error"), ("match $u isa user; delete $u;", "unsafe")],
)
def test_the_check_executes_nothing_and_finds_it_too(query: str, kind: str) -> None:
    with pytest.raises(QueryError) as caught:
        ENGINE.check(query, SHOP)
    assert caught.value.kind == kind
    ENGINE.check("match let $x = 1 / 0;", SHOP)


CARTESIAN = "match $a isa order; $b isa order; $c isa order; $d isa order;"


def test_time_is_up() -> None:
    with pytest.raises(QueryError) as caught:
        ENGINE.execute(f"{CARTESIAN} reduce $n = count;", SHOP, QueryLimits(timeout_s=0.2))
    assert (caught.value.kind, caught.value.code) == ("timeout", "LIM1")


def test_steps_are_used_up() -> None:
    engine = make_engine(max_steps=20_000)
    with pytest.raises(QueryError) as caught:
        engine.execute(f"{CARTESIAN} reduce $n = count;", SHOP, LIMITS)
    assert (caught.value.kind, caught.value.code) == ("timeout", "LIM3")


def test_memory_is_used_up() -> None:
    engine = make_engine(max_cells=5000)
    with pytest.raises(QueryError) as caught:
        engine.execute(
            "match $a isa order, has id $i; $b isa order, has id $j; sort $i, $j;", SHOP, LIMITS
        )
    assert (caught.value.kind, caught.value.code) == ("runtime_error", "LIM4")


@pytest.mark.parametrize(
    ("limits", "length"),
    [
        (QueryLimits(max_rows=100), 100),
        (QueryLimits(max_rows=99), 99),
        (QueryLimits(max_bytes=8 * 10), 10),
    ],
)
@pytest.mark.parametrize("fetch", ["", "fetch { 'i': $i };"])
def test_results_are_cut(limits: QueryLimits, length: int, fetch: str) -> None:
    query = f"match $o isa order, has id $i; select $i; {fetch}"
    whole = ENGINE.execute(query, SHOP, LIMITS).table.rows
    execution = ENGINE.execute(query, SHOP, limits)
    assert len(whole) == 100
    assert execution.table.rows == whole[:length]
    assert execution.truncated == (length < 100)


def test_instances_live_side_by_side() -> None:
    other = make_instance("shop_variant_01", users=12)
    count = "match $u isa user; reduce $n = count;"
    assert [rows(count, instance) for instance in (SHOP, other, SHOP)] == [
        [(30,)],
        [(12,)],
        [(30,)],
    ]


def test_the_least_used_instance_goes_and_comes_back() -> None:
    engine = make_engine(keep_instances=1)
    other = make_instance("shop_variant_01", users=12)
    engine.load(SHOP)
    engine.load(other)
    assert repr(engine) == "EmbeddedTypeqlEngine(['shop_variant_01'])"
    count = "match $u isa user; reduce $n = count;"
    assert engine.execute(count, SHOP, LIMITS).table.rows == ((30,),)


def test_many_threads_ask_at_once() -> None:
    engine = make_engine()
    queries = [f"match $u isa user, has id {n}, has name $x; select $x;" for n in range(2, 31)] * 4
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda q: engine.execute(q, SHOP, LIMITS).table.rows, queries))
    assert found == [((f"user {n}",),) for n in range(2, 31)] * 4
    assert gc.isenabled()


def test_a_slow_query_lets_others_through() -> None:
    engine = make_engine()
    engine.load(SHOP)
    slow = f"{CARTESIAN} reduce $n = count;"
    with ThreadPoolExecutor(2) as pool:
        hanging = pool.submit(engine.execute, slow, SHOP, QueryLimits(timeout_s=1))
        for _ in range(20):
            engine.execute("match $u isa user, has id 3;", SHOP, LIMITS)
        assert not hanging.done()
        assert isinstance(hanging.exception(), QueryError)


def test_the_fingerprint_knows_content_not_order() -> None:
    mixed = make_instance("shop_mixed_01")
    original = mixed.dataset()
    for table_rows in original.rows.values():
        table_rows.reverse()  # type: ignore[attr-defined]
    reversed_ = Instance("shop_reversed", "base", SCHEMA, MAPPING, lambda: original)
    assert ENGINE.fingerprint(reversed_) == ENGINE.fingerprint(SHOP)
    assert ENGINE.fingerprint(make_instance("shop_less_01", users=29)) != ENGINE.fingerprint(SHOP)


def test_restart_keeps_and_stop_forgets() -> None:
    engine = make_engine()
    engine.load(SHOP)
    engine.restart()
    assert "shop_base_01" in repr(engine)
    engine.stop()
    engine.stop()
    assert repr(engine) == "EmbeddedTypeqlEngine([])"


def test_a_copy_for_another_process_loads_anew() -> None:
    engine = make_engine()
    engine.load(SHOP)
    copy: EmbeddedTypeqlEngine = pickle.loads(pickle.dumps(engine))
    assert repr(copy) == "EmbeddedTypeqlEngine([])"
    assert copy.execute("match $u isa user; reduce $n = count;", SHOP, LIMITS).table.rows == (
        (30,),
    )


def _changed(**changes: Any) -> dict[str, Any]:
    mapping = deepcopy(dict(MAPPING))
    mapping.update(changes)
    return mapping


USERS = MAPPING["entities"]["users"]
FAULTY: dict[str, tuple[Mapping[str, Any], str]] = {
    "table": (
        _changed(entities={"user": USERS}, relations=[], subtypes={}, lists={}),
        "there is no table 'user'. Did you mean 'users'?",
    ),
    "column": (
        _changed(lists={"emails": {**MAPPING["lists"]["emails"], "value": "mail"}}),
        "table 'emails' has no column 'mail'. Did you mean 'email'?",
    ),
    "player": (
        _changed(relations=[{"table": "orders", "type": "purchase",
                             "players": {"buyer": {"buyers": "user_id"}}}]),
        "'buyers' is not among the entities.",
    ),
    "key": (
        _changed(relations=[{"table": "orders", "type": "purchase",
                             "players": {"buyer": {"users": "id"}, "order": {"orders": "id"}}}]),
        "a purchase has the buyer 0, but 'users' has no such key",
    ),
    "subtype": (
        _changed(subtypes={"emails": {"of": "users", "by": "email", "type": "member"}}),
        "which the table does not have",
    ),
    "type": (
        _changed(entities={**MAPPING["entities"], "users": {**USERS, "type": "person"}}),
        "TypeQL refuses the data: [INF2] there is no entity type 'person'",
    ),
    "cardinality": (_changed(relations=[]), "TypeQL refuses the data: [CNT11]"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTY)
def test_a_mapping_that_does_not_fit_is_named(fault: str) -> None:
    mapping, said = FAULTY[fault]
    with pytest.raises(InputError) as caught:
        make_engine().load(make_instance(mapping=mapping))
    assert said in str(caught.value)
    assert gc.isenabled()


def test_a_schema_that_is_refused_is_told_with_its_place() -> None:
    with pytest.raises(InputError, match=r"schema of base:1: TypeQL refuses the schema"):
        make_engine().load(make_instance(schema="define entity user, owns;"))
