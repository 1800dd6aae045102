"""Schema, loading, answers: the doors of the engine, each with what it refuses."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from qeval.typeql import Database, TypeQLError
from tests.typeql.golden_cases import GOLDENS, load_database

SCHEMA = """define
  attribute name, value string;
  attribute age, value integer @range(0..150);
  attribute email, value string @regex("^.+@.+$");
  attribute score, value double;
  attribute price, value decimal;
  attribute born, value date;
  attribute seen, value datetime;
  attribute met, value datetime-tz;
  attribute span, value duration;
  attribute note @independent, value string;
  entity person, owns name @key, owns age, owns email @unique @card(0..2), owns score, owns price,
    owns born, owns seen, owns met, owns span, plays friendship:friend;
  relation friendship, relates friend @card(2..2), owns seen;
"""
SELF_NEGATING = """define fun f() -> { person }:
  match $p isa person; not { let $p in f(); };
  return { $p };"""
BEFRIEND = """match $a isa person, has name "Ann"; $b isa person, has name "Bob";
insert friendship (friend: $a, friend: $b);"""


@pytest.fixture
def database() -> Database:
    database = Database()
    database.define(SCHEMA)
    return database


def refused(action: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(TypeQLError) as caught:
        action(*arguments, **named)
    return caught.value.code


@pytest.mark.parametrize(
    ("definition", "code"),
    [
        ("define entity person owns nothing;", "SYR1"),
        ("define ghost owns name;", "SYR1"),
        ("define attribute person, value string;", "DEX5"),
        ("define entity a sub b; entity b sub a;", "DEX10"),
        ("define attribute tall, value long;", "SYR4"),
        ("define entity x, owns person;", "DEX11"),
        ("define entity x, plays friendship:foe;", "SYR9"),
        ("define relation r, relates friend as foe;", "SYR10"),
        ("define attribute bare;", "SCT1"),
        ("define entity match;", "DEX31"),
        ("define entity x @key;", "DEX24"),
        ("define fun f($a: person) -> integer: match $b isa person; return count;", "FRP1"),
        ("define fun f() -> nobody: match $b isa person; return first $b;", "INF2"),
        (SELF_NEGATING, "FUN9"),
    ],
)  # fmt: skip
def test_bad_definition_is_refused_and_leaves_no_trace(
    database: Database, definition: str, code: str
) -> None:
    assert refused(database.define, definition) == code
    database.define("define entity person, owns note;")
    assert len(database.query("match entity $t;").rows) == 1


@pytest.mark.parametrize(
    ("insert", "code"),
    [
        ('insert $p isa person, has name "a"; $q isa person, has name "a";', "CNT9"),
        ("insert $p isa person;", "CNT8"),
        ('insert $p isa person, has name "a", has age 1, has age 2;', "CNT7"),
        ('insert $p isa person, has name "a", has age 200;', "CNT5"),
        ('insert $p isa person, has name "a", has email "nowhere";', "CNT5"),
        ('insert $p isa person, has name "a"; friendship (friend: $p);', "CNT10"),
        ('insert $p isa person, has name "a", has note "b";', "INF4"),
        ("insert $p isa person, has name 5;", "INF4"),
        ("insert $p isa nobody;", "INF2"),
        ("match $p isa person; delete $p;", "TSV9"),
    ],
)  # fmt: skip
def test_bad_data_is_refused(database: Database, insert: str, code: str) -> None:
    assert refused(database.load, insert) == code


def test_insert_match_insert_and_put(database: Database) -> None:
    database.load(
        [
            'insert $a isa person, has name "Ann", has age 30; $b isa person, has name "Bob";',
            BEFRIEND,
            'put $c isa person, has name "Ann";',
            'put $c isa person, has name "Cleo";',
            'insert $n isa note "kept";',
        ]
    )
    names = database.query("match $p isa person, has name $n; sort $n; select $n;")
    assert [row[0].try_get_value() for row in names.rows if row[0]] == ["Ann", "Bob", "Cleo"]
    assert len(database.query("match friendship (friend: $a, friend: $b);").rows) == 2
    assert len(database.query("match $n isa note;").rows) == 1


def test_bulk_takes_pythons_values(database: Database) -> None:
    moment = datetime(2024, 5, 1, 10, 30, tzinfo=UTC)
    with database.bulk() as bulk:
        ann = bulk.entity(
            "person",
            {
                "name": "Ann",
                "age": None,
                "email": ["a@x", "b@x"],
                "score": 3,
                "price": Decimal("9.50"),
                "born": date(2000, 2, 29),
                "seen": datetime(2024, 5, 1, 10, 30, 0, 250),  # noqa: DTZ001 - a datetime without zone
                "met": moment,
                "span": timedelta(days=1, seconds=5),
            },
        )
        bob = bulk.entity("person", {"name": "Bob"})
        bulk.relation("friendship", {"friend": [ann, bob]})
    answer = database.query(
        'match $p has name "Ann", has score $s, has price $c, has born $b, has seen $d, has met $t,'
        ' has span $u; fetch { "s": $s, "c": $c, "b": $b, "d": $d, "t": $t, "u": $u,'
        ' "e": [ $p.email ], "a": $p.age };'
    )
    (document,) = answer.documents
    assert document == {
        "s": 3.0,
        "c": "9.5dec",
        "b": "2000-02-29",
        "d": "2024-05-01T10:30:00.000250000",
        "t": "2024-05-01T10:30:00.000000000+00:00",
        "u": "P1DT5S",
        "e": document["e"],
        "a": None,
    }
    assert sorted(document["e"]) == ["a@x", "b@x"]


@pytest.mark.parametrize(
    ("label", "attributes", "code"),
    [
        ("person", {"name": "x", "age": 1.5}, "INF4"),
        ("person", {"name": "x", "shoe": 1}, "INF2"),
        ("person", {"name": "x", "age": object()}, "LIT1"),
        ("robot", {}, "INF2"),
    ],
)
def test_bulk_refuses(
    database: Database, label: str, attributes: dict[str, Any], code: str
) -> None:
    assert refused(database.bulk().entity, label, attributes) == code


def test_check_does_not_run(database: Database) -> None:
    database.check("match $p isa person; let $x = 1 / 0;")
    assert refused(database.check, "match $p isa robot;") == "INF2"
    assert refused(database.check, "match $p isa person") == "TQL03"


def test_error_has_chain_and_place(database: Database) -> None:
    with pytest.raises(TypeQLError) as caught:
        database.query("match $p isa person,\n  has shoe $s;")
    error = caught.value
    assert error.codes == ("INF2", "QUA1", "QEX8")
    assert (error.line, error.column) == (2, 7)
    assert "shoe" in error.message


def test_concepts_speak_as_the_drivers_do() -> None:
    shop = load_database("shop")
    answer = shop.query(
        'match $u isa user, has handle "u01"; $u isa! $t; $u has full-name $n; let $l = len($n);'
    )
    assert answer.kind == "rows"
    assert answer.columns == ("l", "n", "t", "u")
    (row,) = answer.rows
    length, name, type_, user = (concept for concept in row if concept is not None)
    assert length.is_value()
    assert (length.get_label(), length.try_get_value()) == ("integer", 5)
    assert name.is_attribute()
    assert (name.get_label(), name.try_get_value()) == ("full-name", "Bo Li")
    assert name.try_get_value_type() == "string"
    assert type_.is_entity_type()
    assert type_.get_label() == "premium-user"
    assert user.is_entity()
    assert user.get_label() == "premium-user"
    again = shop.query(f"match $u iid {user.try_get_iid()};").rows[0][0]
    assert again == user
    assert len({again, user}) == 1


def test_files_are_split_at_their_marks() -> None:
    database = Database()
    database.define((GOLDENS / "tiny.schema.tql").read_text(encoding="utf-8"))
    parts = (GOLDENS / "tiny.data.tql").read_text(encoding="utf-8")
    database.load(parts)
    assert len(database.query("match $x isa item;").rows) == 8


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("1.0e308", "1.1e308"), {"sum": math.inf, "std": math.inf}),
        (("1.0e200", "-1.0e200"), {"sum": 0.0, "std": math.inf}),
        (("2.0 ^ 5000.0", "1.0"), {"sum": math.inf, "mean": math.inf, "median": math.inf}),
    ],
)
def test_reducers_end_beyond_doubles_as_machines_do(
    values: tuple[str, ...], expected: dict[str, float]
) -> None:
    branches = " or ".join(f"{{ let $x = {value}; }}" for value in values)
    reducers = ", ".join(f"${name} = {name}($x)" for name in expected)
    answer = Database().query(f"match {branches}; reduce {reducers};")
    (row,) = answer.rows
    found = {
        name: cell.try_get_value() for name, cell in zip(answer.columns, row, strict=True) if cell
    }
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("match $a value integer; reduce $s = sum($a);", "INF7"),
        ("match $a value integer; reduce $m = max($a);", "INF7"),
        ("match $a value integer; sort $a;", "INF7"),
        ("match person owns $a; $a value decimal; reduce $m = mean($a) groupby $a;", "INF7"),
        (
            "with fun f() -> integer: match $a value integer; return sum($a); match let $s = f();",
            "INF7",
        ),
        ("match $p isa person; reduce $c = count, $d = count($c);", "REP19"),
        ("match $p isa person; reduce $c = count, $c = count($p);", "REP48"),
    ],
)
def test_reducers_and_sort_need_values_that_are_there(
    database: Database, query: str, code: str
) -> None:
    assert refused(database.query, query) == code


def test_types_and_things_can_be_counted(database: Database) -> None:
    (row,) = database.query("match person owns $a; reduce $c = count($a);").rows
    assert row[0] is not None
    assert row[0].try_get_value() == 9


def test_mutual_recursion_on_cycles() -> None:
    database = load_database("tiny")
    answer = database.query(
        """with fun odd($a: node) -> { node }: match
             { edge (src: $a, dst: $b); } or { edge (src: $a, dst: $m); let $b in even($m); };
           return { $b };
           with fun even($a: node) -> { node }: match
             edge (src: $a, dst: $m); let $b in odd($m);
           return { $b };
           match $a has nid "a"; let $b in even($a); $b has nid $n; select $n; sort $n;"""
    )
    assert [row[0].try_get_value() for row in answer.rows if row[0]] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("body", "narrowed"),
    [
        ("match $x isa special-item;", True),
        ("match $y isa special-item; match $x isa special-item;", True),
        ("match not { $x isa! item; };", False),  # only what stands in the match itself counts
        ("match $x isa $t; $t label special-item;", True),
    ],
)
def test_an_argument_is_held_to_the_types_that_the_body_asks_for(
    body: str, *, narrowed: bool
) -> None:
    """As on the server: `annotate_arguments` takes them from the first match with the argument."""
    database = Database()
    database.define("define attribute nid, value string; entity item, owns nid @key;"
                    " entity special-item sub item;")  # fmt: skip
    database.load("insert $a isa item, has nid 'a'; $b isa special-item, has nid 'b';")
    answer = database.query(
        f"with fun special($x: item) -> boolean: {body} return check;"
        " match $i isa item, has nid $n; special($i) == false; select $n;"
    )
    assert [row[0].try_get_value() for row in answer.rows if row[0]] == ([] if narrowed else ["a"])


def test_notes_can_be_asked_for() -> None:
    database = Database()
    database.define(
        """define
        attribute name @doc("what one is called"), value string;
        entity person, owns name @doc("as in the passport") @meta("source", "passport");"""
    )
    (document,) = database.query(
        """match let $d = get_doc(name); let $o = get_owns_doc(person, name);
        let $m = get_owns_meta("source", person, name);
        let $k, $v in get_owns_all_meta(person, name);
        fetch { "d": $d, "o": $o, "m": $m, "k": $k, "none": get_doc(person) };"""
    ).documents
    assert document == {
        "d": "what one is called",
        "o": "as in the passport",
        "m": "passport",
        "k": "source",
        "none": "",
    }
    assert refused(database.query, 'match let $d = get_fun_doc("nowhere");') == "FUN1"


def test_reading_is_safe_from_several_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    shop = load_database("shop")
    local = (
        "with fun f($c: category) -> { category }: match let $a in ancestors($c); return { $a };"
    )
    queries = [
        f"{local} match $c isa category; let $a in f($c);",
        "match $c isa category; let $d in descendants($c);",
        "match $u isa user; let $v in reaches($u); reduce $c = count groupby $u;",
    ] * 10
    alone = [len(shop.query(query).rows) for query in queries]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda query: len(shop.query(query).rows), queries))
    assert together == alone
