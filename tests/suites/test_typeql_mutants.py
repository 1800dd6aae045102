"""Near misses of TypeQL golds: what each operator makes of a query, and what it leaves alone."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.suites import load_suite
from qeval.suites.mutants import OPERATORS, mutants
from qeval.typeql import Database
from qeval.typeql.syntax import parse_query

SUITE = load_suite("ecommerce")
SCHEMA = SUITE.instance("typeql", "base").schema
GOLDS = {case.id: case.gold["typeql"] for case in SUITE.cases}
TOKEN = re.compile(r"""\s+|#[^\n]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"'#]+""")


def made(query: str, operator: str) -> set[str]:
    """The mutants an operator makes of a query, in one line each."""
    found = [m for m in mutants("typeql", query, SCHEMA) if m.operator == operator]
    return {" ".join(mutant.query.split()) for mutant in found}


CONDITIONS = [
    (
        "comparison",
        "match $u isa user, has id < 3; select $u;",
        ["match $u isa user, has id > 3; select $u;"],
    ),
    (
        "comparison",
        "match $u isa user, has id 3; select $u;",
        ["match $u isa user, has id != 3; select $u;"],
    ),
    (
        "comparison",
        "match $u isa user, has id $i; not { $i == 3; }; select $u;",
        ["match $u isa user, has id $i; not { $i != 3; }; select $u;"],
    ),
    (
        "boundary",
        "match $u isa user, has id $i; $i >= 3; $i != 9; select $i;",
        ["match $u isa user, has id $i; $i > 3; $i != 9; select $i;"],
    ),
    (
        "filter",
        "match $u isa user, has id $i, has newsletter true; $i >= 3; select $i;",
        [
            "match $u isa user, has id $i; $i >= 3; select $i;",
            "match $u isa user, has id $i, has newsletter true; select $i;",
        ],
    ),
    # a whole stage that was nothing but the condition
    (
        "filter",
        "match $u isa user; reduce $n = count; match $n > 3;",
        ["match $u isa user; reduce $n = count;"],
    ),
    # user plays no other role here, so `isa user` says nothing: it is no condition
    (
        "filter",
        "match $u isa user; purchase (buyer: $u, order: $o); select $o;",
        ["match $u isa user; purchase (order: $o); select $o;"][:0],
    ),  # it would bind $u alone
    # a relation between what hangs together without it
    (
        "filter",
        (
            "match referral (referrer: $r, referred: $u); following (follower: $u, followed: $r);"
            " select $u, $r;"
        ),
        [
            "match referral (referrer: $r, referred: $u); select $u, $r;",
            "match following (follower: $u, followed: $r); select $u, $r;",
            "match referral (referred: $u); following (follower: $u, followed: $r); select $u, $r;",
            "match referral (referrer: $r); following (follower: $u, followed: $r); select $u, $r;",
            "match referral (referrer: $r, referred: $u); following (followed: $r); select $u, $r;",
            "match referral (referrer: $r, referred: $u); following (follower: $u); select $u, $r;",
        ],
    ),
    # not between what would fall apart
    (
        "filter",
        "match $k isa country; location (located: $c, place: $k); residence (home: $c); select $k;",
        [
            "match $k isa country; location (located: $c, place: $k); select $k;",
            "match location (located: $c, place: $k); residence (home: $c); select $k;",
        ],
    ),
    (
        "filter",
        (
            'match $p isa product, has tag $t; { $t == "a"; } or { $t == "b"; } or { $t == "c"; };'
            " select $p;"
        ),
        [
            'match $p isa product, has tag $t; { $t == "b"; } or { $t == "c"; }; select $p;',
            'match $p isa product, has tag $t; { $t == "a"; } or { $t == "c"; }; select $p;',
            'match $p isa product, has tag $t; { $t == "a"; } or { $t == "b"; }; select $p;',
            "match $p isa product, has tag $t; select $p;",
        ],
    ),
    (
        "null-check",
        (
            "match $u isa user, has birth-date $d, has name $n; not { $u has postal-code $c; };"
            " select $u;"
        ),
        [
            "match $u isa user, has name $n; not { $u has postal-code $c; }; select $u;",
            "match $u isa user, has birth-date $d, has name $n; select $u;",
        ],  # everybody has one name: without it nothing changes
    ),
    (
        "negation",
        "match $u isa user; not { purchase (buyer: $u, order: $o); $o has coupon $c; }; select $u;",
        ["match $u isa user; purchase (buyer: $u, order: $o); $o has coupon $c; select $u;"],
    ),
]
RELATIONS = [
    (
        "join",
        "match $p isa product, has id $i; try { $p has weight-g $w; }; select $i, $w;",
        ["match $p isa product, has id $i; $p has weight-g $w; select $i, $w;"],
    ),
    (
        "join",
        "match $p isa product, has id $i, has weight-g $w; select $i, $w;",
        ["match $p isa product, has id $i; try { $p has weight-g $w; }; select $i, $w;"],
    ),
    (
        "join",
        (
            "match $u isa user, has id $i; residence (resident: $u, home: $c); $c has name $n;"
            " select $i, $n;"
        ),
        [
            (
                "match $u isa user, has id $i; try { residence (resident: $u, home: $c);"
                " $c has name $n; }; select $i, $n;"
            ),
            (
                "match try { $u isa user, has id $i; residence (resident: $u, home: $c); };"
                " $c has name $n; select $i, $n;"
            ),
        ],
    ),
    # every order has a buyer; a missing value that a later match needs would drop the row anyhow
    (
        "join",
        "match $o isa order; purchase (buyer: $u, order: $o); select $o, $u;",
        [],
    ),
    (
        "join",
        "match $p isa product, has weight-g $w; select $p, $w; match $w > 3;",
        [],
    ),
    (
        "direction",
        "match following (follower: $a, followed: $b); select $a, $b;",
        ["match following (follower: $b, followed: $a); select $a, $b;"],
    ),
    (
        "direction",
        "match purchase (buyer: $u, order: $o); select $u, $o;",
        ["match purchase (buyer: $o, order: $u); select $u, $o;"],
    ),  # nothing else says what they are
    (
        "role",
        "match $u isa user; following (follower: $u); select $u;",
        [
            "match $u isa user; following (followed: $u); select $u;",
            "match $u isa user; following ($u); select $u;",
        ],
    ),
    (
        "role",
        "match $p isa product; stock (item: $p), has quantity 0; select $p;",
        ["match $p isa product; order-line (item: $p), has quantity 0; select $p;"],
    ),
    (
        "subtype",
        "match $m isa premium-user, has name $n; select $n;",
        [
            "match $m isa user, has name $n; select $n;",
        ],
    ),
    ("subtype", "match $m isa premium-user, has tier $t; select $t;", []),  # only they have one
    (
        "subtype",
        "match $p isa! product, has sku $s; select $s;",
        ["match $p isa product, has sku $s; select $s;"],
    ),
    (
        "distinct",
        "match $f isa following, links (followed: $u), has since $s; select $u, $s;",
        ["match following (followed: $u), has since $s; select $u, $s;"],
    ),
    # a review has an id of its own; below `not` and in functions rows are not merged
    (
        "distinct",
        "match $r isa review, links (item: $p), has id $i; select $p, $i; distinct;",
        ["match $r isa review, links (item: $p), has id $i; select $p, $i;"],
    ),
    (
        "distinct",
        (
            "with fun n($u: user) -> integer: match $f isa following, links (followed: $u);"
            " return count; match $u isa user; not { $f isa following, links (followed: $u); };"
            " let $n = n($u); select $n;"
        ),
        [],
    ),
]
VALUES = [
    (
        "attribute",
        "match $u isa user, has registered-on $day; select $day;",
        [
            "match $u isa user, has birth-date $day; select $day;",
            "match $u isa user, has since $day; select $day;",  # premium users
        ],
    ),
    (
        "aggregate",
        "match $p isa product, has price $x; reduce $a = min($x), $b = sum($x), $n = count;",
        [
            "match $p isa product, has price $x; reduce $a = max($x), $b = sum($x), $n = count;",
            "match $p isa product, has price $x; reduce $a = min($x), $b = mean($x), $n = count;",
            "match $p isa product, has price $x; reduce $a = min($x), $b = count($x), $n = count;",
        ],
    ),
    (
        "aggregate",
        "match $p isa product; try { $p has weight-g $x; }; reduce $n = count($x);",
        ["match $p isa product; try { $p has weight-g $x; }; reduce $n = count;"],
    ),
    (
        "grouping",
        (
            "match $p isa product, has name $a, has sku $b; reduce $n = count groupby $a, $b;"
            " select $a, $n;"
        ),
        [
            (
                "match $p isa product, has name $a, has sku $b; reduce $n = count groupby $a;"
                " select $a, $n;"
            )
        ],
    ),
    (
        "grouping",
        "match $p isa product, has name $a; reduce $n = count groupby $a; select $n;",
        ["match $p isa product, has name $a; reduce $n = count; select $n;"],
    ),
    (
        "sort",
        "match $p isa product, has price $a, has id $b; sort $a desc, $b; limit 3;",
        [
            "match $p isa product, has price $a, has id $b; sort $a, $b; limit 3;",
            "match $p isa product, has price $a, has id $b; sort $a desc, $b desc; limit 3;",
        ],
    ),
    (
        "limit",
        "match $u isa user; offset 1; limit 3;",
        [
            "match $u isa user; offset 2; limit 3;",
            "match $u isa user; offset 0; limit 3;",
            "match $u isa user; offset 1; limit 4;",
            "match $u isa user; offset 1; limit 2;",
        ],
    ),
    (
        "literal",
        "match $o isa order, has placed-at $at; $at >= 2024-03-01T00:00:00; select $o;",
        [
            "match $o isa order, has placed-at $at; $at >= 2024-02-29T00:00:00; select $o;",
            "match $o isa order, has placed-at $at; $at >= 2024-03-02T00:00:00; select $o;",
        ],
    ),
    (
        "literal",
        "match $p isa product, has price 9.99dec, has discontinued true; select $p;",
        [
            "match $p isa product, has price 10.00dec, has discontinued true; select $p;",
            "match $p isa product, has price 9.98dec, has discontinued true; select $p;",
            "match $p isa product, has price 9.99dec, has discontinued false; select $p;",
        ],
    ),
    # an attribute that admits but some values is given its next one
    (
        "literal",
        'match $m isa premium-user, has tier $t, has name "gold"; $t == "gold"; select $m;',
        [
            'match $m isa premium-user, has tier $t, has name "gold"; $t == "platinum"; select $m;',
            'match $m isa premium-user, has tier $t, has name "goldx"; $t == "gold"; select $m;',
        ],
    ),
    (
        "literal",
        'match $p isa product, has name $n; $n like "^Pro"; select $p;',
        [
            'match $p isa product, has name $n; $n like "Pro"; select $p;',
            'match $p isa product, has name $n; $n like "^Prox"; select $p;',
        ],
    ),
    (
        "path-length",
        "match $u isa user, has id 1; let $m in referral-tree($u); select $m;",
        [
            (
                "with fun referral-tree-once($root: user) -> { user }: match"
                " { referral (referrer: $root, referred: $member); }; return { $member };"
                " match $u isa user, has id 1; let $m in referral-tree-once($u); select $m;"
            )
        ],
    ),
    (
        "path-length",
        (
            "with fun up($u: user) -> { user }: match { referral (referrer: $r, referred: $u); } or"
            " { referral (referrer: $b, referred: $u); let $r in up($b); }; return { $r };"
            " match $u isa user; let $r in up($u); select $r;"
        ),
        [
            (
                "with fun up($u: user) -> { user }:"
                " match { referral (referrer: $r, referred: $u); };"
                " return { $r }; match $u isa user; let $r in up($u); select $r;"
            ),
            (
                "with fun up($u: user) -> { user }: match"
                " { referral (referrer: $b, referred: $u); let $r in up($b); }; return { $r };"
                " match $u isa user; let $r in up($u); select $r;"
            ),
        ],
    ),
]


@pytest.mark.parametrize(("operator", "query", "expected"), [*CONDITIONS, *RELATIONS, *VALUES])
def test_what_an_operator_makes_of_a_query(operator: str, query: str, expected: list[str]) -> None:
    assert made(query, operator) == set(expected)


def test_every_mutant_has_a_name_of_its_own_and_is_accepted_by_the_engine() -> None:
    """Names, roles and types fit, and no variable lost its binding: else it is no near miss."""
    database = Database()
    database.define(SCHEMA)
    for name, gold in list(GOLDS.items())[::3]:
        found = mutants("typeql", gold, SCHEMA)
        assert found, name
        named = {(mutant.operator, mutant.change) for mutant in found}
        assert len(named) == len({mutant.query for mutant in found} - {gold}) == len(found), name
        for mutant in found:
            assert mutant.operator in OPERATORS
            database.check(mutant.query)


@settings(max_examples=25)
@given(st.sampled_from(sorted(GOLDS)), st.data())
def test_comments_and_strings_survive_wherever_they_stand(name: str, data: st.DataObject) -> None:
    comment, inside = '# not { "quoted"; $x; }', "a # b; not { $c > 1; } or"
    tokens = TOKEN.findall(GOLDS[name])
    blanks = [index for index, token in enumerate(tokens) if token.isspace()]
    place = data.draw(st.sampled_from(blanks))
    strings = [index for index, token in enumerate(tokens) if token[0] == '"']
    tokens[place] = f" {comment}\n "
    if strings:
        tokens[data.draw(st.sampled_from(strings))] = f'"{inside}"'
    gold = "".join(tokens)
    parse_query(gold)
    for mutant in mutants("typeql", gold, SCHEMA):
        parse_query(mutant.query)
        found = Counter(TOKEN.findall(mutant.query))
        assert found[comment] == 1
        assert comment not in mutant.change
        if strings and mutant.operator in ("comparison", "boundary", "sort", "limit", "attribute"):
            assert found[f'"{inside}"'] == Counter(tokens)[f'"{inside}"']
