"""No query may hang or eat the memory: each ends with an answer or a clear error, in time."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from qeval.typeql import Database, TypeQLError
from tests.typeql.golden_cases import load_database

LIMIT_S = 1.0
MANY = 60
FOUR = " ".join(f"$o{i} isa order-line;" for i in range(8))
PAIR = "{ let $a%d = 1; } or { let $a%d = 2; };"
DOUBLING = " ".join(f"let $s{i + 1} = $s{i} + $s{i};" for i in range(MANY))
ENDLESS = """with fun up($n: integer) -> { integer }:
match { let $r = $n + 0; $n > 0; } or { let $m = $n + 1; let $k in up($m); let $r = $k + 0; };
return { $r };
match let $v in up(1);"""
OTHERS = """with fun of_others($a: node) -> %s: match $b has n $n; not { $a is $b; }; %s
match $a isa node; let $v = of_others($a);"""

HOSTILE = {
    "cartesian product": f"match {FOUR}",
    "counted product": f"match {FOUR} reduce $c = count;",
    "sorted product": f"match {FOUR} $o0 has quantity $q; sort $q;",
    "hidden product": "match $_ isa order-line; $_ isa order-line; $_ isa order-line; $x isa user;",
    "product in a negation": f"match $u isa user; not {{ {FOUR} $o0 has quantity 77; }};",
    "many disjunctions": "match " + " ".join(PAIR % (i, i) for i in range(MANY)),
    "many type variables": "match $x isa user; " + " ".join(f"$x isa $t{i};" for i in range(MANY)),
    "doubling text": f'match let $s0 = "{"x" * 1000}"; {DOUBLING}',
    "endless recursion": ENDLESS,
    "many players": "match $r links (" + ", ".join(f"$p{i}" for i in range(200)) + ");",
    "a thousand statements": "match $u isa user; "
    + " ".join(f"$u has handle $h{i};" for i in range(1000)),
    "nested fetch": "match $a isa order-line; fetch { 'b': [ match $b isa order-line; fetch { 'c':"
    " [ match $c isa order-line; fetch { 'q': $c.quantity }; ] }; ] };",
    "a thousand blocks": "match " + "{ " * 1000 + "$u isa user;" + " };" * 1000,
    "a thousand negations": "match $u isa user; "
    + "not { " * 1000
    + "$u has handle $h;"
    + " };" * 1000,
    "deep parentheses": f"match let $a = {'(' * 10_000}1{')' * 10_000};",
    "a megabyte of text": f'match $u isa user, has handle "{"y" * 1_000_000}";',
    "a megabyte of statements": "match " + "$u isa user; " * 75_000,
    "an expensive expression": 'match $x has full-name $n; $n like "(a*)*(a|aa)*(.*)*(.*){50}$";',
    "a hopeless match": f'match let $s = "{"a" * 100_000}"; $s like "^(a|a|aa)*(a|b)*c$";',
    "a chain of functions": "".join(
        f"with fun f{i}($n: integer) -> integer: "
        f"match let $m = {f'f{i - 1}($n)' if i else '$n'} + 1; return first $m;\n"
        for i in range(500)
    )
    + "match let $v = f499(1);",
}


@pytest.fixture(scope="module")
def shop() -> Database:
    return load_database("shop")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_query(shop: Database, name: str) -> None:
    started = time.perf_counter()
    try:
        shop.query(HOSTILE[name], timeout_s=LIMIT_S, max_cells=500_000)
    except TypeQLError as error:
        refused = error.code[:3]
    else:
        refused = "LIM"
    assert refused in ("LIM", "TQL", "REP")
    # Parsing is linear but not counted; a loaded machine needs room, too.
    assert time.perf_counter() - started < LIMIT_S + 14
    assert len(shop.query("match $u isa user;").rows) == 40


def test_limits_are_named(shop: Database) -> None:
    product = "match $a isa order-line; $b isa order-line;"
    for arguments, code in (
        ({"max_rows": 100}, "LIM2"),
        ({"max_steps": 100}, "LIM3"),
        ({"max_cells": 100}, "LIM4"),
        ({"timeout_s": 0.0}, "LIM1"),
    ):
        with pytest.raises(TypeQLError) as caught:
            shop.query(product, **arguments)
        assert caught.value.code == code


@pytest.mark.parametrize(
    ("query", "cells"),
    [
        ("match $a has n $m; not { { $a has n $n; } or { $b has n $n; }; };", 2500),
        ("match $a has n $m; not { $b has n $n; not { $a has n $n; }; $n > 90; };", 2500),
        (OTHERS % ("integer", "let $v = $n; sort $v desc; return first $v;"), 12_000),
        (OTHERS % ("integer", "return sum($n);"), 6000),
        (OTHERS % ("integer", "reduce $c = count groupby $n; return count;"), 12_000),
        (OTHERS % ("boolean", "select $n; distinct; return check;"), 3700),
    ],
)
def test_what_is_let_go_counts_no_longer(query: str, cells: int) -> None:
    """Each step on a row holds some values at a time; all steps together hold far more."""
    database = Database()
    database.define("define attribute n, value integer; entity node, owns n @key;")
    with database.bulk() as bulk:
        for number in range(520):  # more than are counted at once
            bulk.entity("node", {"n": number})
    database.query(query, max_cells=cells)


def test_texts_that_are_made_count_by_their_length(shop: Database) -> None:
    doubling = " ".join(f"let $s{i + 1} = $s{i} + $s{i};" for i in range(12))
    query = f"match $o isa order-line; let $s0 = iid($o); {doubling} select $s12; limit {{}};"
    assert len(shop.query(query.format(10), max_cells=50_000).rows) == 10
    with pytest.raises(TypeQLError) as caught:
        shop.query(query.format(100), max_cells=50_000)
    assert caught.value.code == "LIM4"


@pytest.mark.parametrize(
    "fetched",
    [
        ", ".join(f"'k{i}': $q" for i in range(100)),
        ", ".join(f"'k{i}': {{ $o.* }}" for i in range(40)),
        ", ".join(f"'k{i}': [ $o.quantity ]" for i in range(70)),
        "'all': [ match $p isa order-line, has quantity $r; limit 60; fetch { 'r': $r }; ]",
    ],
)
def test_documents_count_by_what_is_in_them(shop: Database, fetched: str) -> None:
    query = f"""match $o isa order-line, has quantity $q; $_ isa user; $u isa user;
    limit {{}}; fetch {{{{ {fetched.replace("{", "{{").replace("}", "}}")} }}}};"""
    assert len(shop.query(query.format(100), max_cells=20_000).documents) == 100
    with pytest.raises(TypeQLError) as caught:
        shop.query(query.format(250), max_cells=20_000)
    assert caught.value.code == "LIM4"


def test_what_a_scan_passes_over_counts() -> None:
    database = Database()
    database.define("define attribute n, value integer; entity node, owns n @key;")
    with database.bulk() as bulk:
        for number in range(2000):
            bulk.entity("node", {"n": number})
    with pytest.raises(TypeQLError) as caught:
        database.query("match $a isa n; $a < 0;", max_steps=1000)
    assert caught.value.code == "LIM3"


def test_deep_recursion_costs_no_stack() -> None:
    database = Database()
    database.define(
        """define attribute n, value integer;
        entity node, owns n @key, plays edge:tail, plays edge:head;
        relation edge, relates tail, relates head;
        fun last_of($a: node) -> { node }: match
          { edge (tail: $a, head: $b); not { edge (tail: $b); }; } or
          { edge (tail: $a, head: $m); let $b in last_of($m); };
        return { $b };"""
    )
    with database.bulk() as bulk:
        nodes = [bulk.entity("node", {"n": number}) for number in range(5000)]
        for one, other in pairwise(nodes):
            bulk.relation("edge", {"tail": one, "head": other})
    answer = database.query("match $a has n 0; let $b in last_of($a); $b has n $n; select $n;")
    assert [row[0].try_get_value() for row in answer.rows if row[0]] == [4999]
