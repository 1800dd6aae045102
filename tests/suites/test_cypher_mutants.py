"""Near misses of Cypher golds: what each operator makes, and that nothing else changes."""

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.cells import Cell, build_cell, build_engine
from qeval.configuration import compose
from qeval.engines.base import Engine, QueryError
from qeval.languages.cypher import tokenize
from qeval.suites import load_suite
from qeval.suites.loader import suite_folder
from qeval.suites.mutants import Mutant, mutants
from qeval.suites.mutants.cypher_clauses import read
from qeval.suites.mutants.cypher_tree import Node
from qeval.suites.rewrites import read_rewrites

SUITE = load_suite("ecommerce")
SHAPE = SUITE.instance("cypher", "base")
GOLDS = [case.gold["cypher"] for case in SUITE.cases if "cypher" in case.gold]
REWRITES = read_rewrites(suite_folder("ecommerce"), SUITE, "cypher")
QUERIES = [
    *GOLDS,
    *(one.gold["cypher"] for one in SUITE.examples if "cypher" in one.gold),
    *(rewrite.query for rewrite in REWRITES),
]


def all_mutants(query: str) -> tuple[Mutant, ...]:
    return mutants("cypher", query, SHAPE.schema, SHAPE.mapping)


def made(query: str, operator: str) -> set[str]:
    """The mutants an operator makes of a query, in one line each."""
    found = [mutant for mutant in all_mutants(query) if mutant.operator == operator]
    return {" ".join(mutant.query.split()) for mutant in found}


@pytest.mark.parametrize(
    ("operator", "query", "expected"),
    [
        (
            "comparison",
            "MATCH (u:User) WHERE u.id < 3 RETURN u.id",
            ["MATCH (u:User) WHERE u.id > 3 RETURN u.id"],
        ),
        (
            "comparison",
            "MATCH (u:User) WHERE u.name STARTS WITH 'A' RETURN u.id",
            ["MATCH (u:User) WHERE u.name CONTAINS 'A' RETURN u.id"],
        ),
        ("comparison", "MATCH p = (:User {id: 3})-->() RETURN length(p)", []),
        (
            "boundary",
            "MATCH (u:User) WHERE 1 < u.id <= 3 RETURN u.id",
            [
                "MATCH (u:User) WHERE 1 <= u.id <= 3 RETURN u.id",
                "MATCH (u:User) WHERE 1 < u.id < 3 RETURN u.id",
            ],
        ),
        ("boundary", "MATCH (u:User)<-[:FOLLOWS]-(f) WHERE u.id = 3 RETURN f.id", []),
        (
            "filter",
            "MATCH (u:User) WHERE u.id < 3 RETURN u.id",
            ["MATCH (u:User) RETURN u.id"],
        ),
        (
            "filter",
            "MATCH (u:User) WHERE u.id < 3 AND (u.newsletter OR u.id = 1) RETURN u.id",
            [
                "MATCH (u:User) WHERE u.id < 3 RETURN u.id",
                "MATCH (u:User) WHERE (u.newsletter OR u.id = 1) RETURN u.id",
                "MATCH (u:User) WHERE u.id < 3 AND (u.newsletter) RETURN u.id",
                "MATCH (u:User) WHERE u.id < 3 AND (u.id = 1) RETURN u.id",
            ],
        ),
        (
            "filter",
            "MATCH (o {status: 'paid', coupon: 'X'})-[l:CONTAINS {quantity: 1}]->(p) RETURN o.id",
            [
                "MATCH (o {coupon: 'X'})-[l:CONTAINS {quantity: 1}]->(p) RETURN o.id",
                "MATCH (o {status: 'paid'})-[l:CONTAINS {quantity: 1}]->(p) RETURN o.id",
                "MATCH (o {status: 'paid', coupon: 'X'})-[l:CONTAINS ]->(p) RETURN o.id",
            ],
        ),
        (
            "filter",
            "MATCH (u:User WHERE u.id > 1) RETURN [x IN u.emails WHERE x = 'a' | x] AS e",
            [
                "MATCH (u:User ) RETURN [x IN u.emails WHERE x = 'a' | x] AS e",
                "MATCH (u:User WHERE u.id > 1) RETURN [x IN u.emails | x] AS e",
            ],
        ),
        ("filter", "MATCH (u:User) RETURN all(x IN u.emails WHERE x = 'a') AS e", []),
        (
            "filter",
            "MATCH (u:User) WHERE EXISTS { (u)-->(o) WHERE o.id = 1 } RETURN u.id",
            [
                "MATCH (u:User) RETURN u.id",
                "MATCH (u:User) WHERE EXISTS { (u)-->(o) } RETURN u.id",
            ],
        ),
        (
            "null-check",
            "MATCH (u:User) WHERE u.id < 3 AND u.birthDate IS NOT NULL RETURN u.id",
            ["MATCH (u:User) WHERE u.id < 3 RETURN u.id"],
        ),
        (
            "null-check",
            "MATCH (o)-[l:CONTAINS]->(p) RETURN sum(coalesce(l.discount, 0)) AS d",
            ["MATCH (o)-[l:CONTAINS]->(p) RETURN sum(l.discount) AS d"],
        ),
        ("null-check", "MATCH ()-[l:CONTAINS]->() RETURN coalesce(sum(l.quantity), 0) AS d", []),
        (
            "negation",
            "MATCH (u:User) WHERE NOT u.newsletter RETURN u.id",
            ["MATCH (u:User) WHERE u.newsletter RETURN u.id"],
        ),
        (
            "negation",
            "MATCH (u:User) WHERE u.birthDate IS NOT NULL RETURN u.id",
            ["MATCH (u:User) WHERE u.birthDate IS NULL RETURN u.id"],
        ),
        (
            "negation",
            "MATCH (u:User&!PremiumUser) WHERE none(e IN u.emails WHERE e = 'x') RETURN u.id",
            [
                "MATCH (u:User&PremiumUser) WHERE none(e IN u.emails WHERE e = 'x') RETURN u.id",
                "MATCH (u:User&!PremiumUser) WHERE any(e IN u.emails WHERE e = 'x') RETURN u.id",
            ],
        ),
        ("distinct", "MATCH (t:Tag) RETURN DISTINCT t.name", ["MATCH (t:Tag) RETURN t.name"]),
        (
            "distinct",
            "MATCH (t:Tag) RETURN count(DISTINCT t.name) AS n",
            ["MATCH (t:Tag) RETURN count(t.name) AS n"],
        ),
        ("distinct", "RETURN 1 UNION RETURN 2", ["RETURN 1 UNION ALL RETURN 2"]),
        (
            "join",
            "MATCH (u:User) OPTIONAL MATCH (u)-->(o:Order) WHERE o.id > 1 RETURN u.id",
            [
                "MATCH (u:User) MATCH (u)-->(o:Order) WHERE o.id > 1 RETURN u.id",
                "MATCH (u:User) OPTIONAL MATCH (u)-->(o:Order) WITH * WHERE o.id > 1 RETURN u.id",
            ],
        ),
        (
            "join",
            "MATCH (u:User) MATCH (u)-->(o:Order) RETURN u.id",
            ["MATCH (u:User) OPTIONAL MATCH (u)-->(o:Order) RETURN u.id"],
        ),
        (
            "join",
            "MATCH (u:User)-[:PLACED]->(:Order) RETURN count(*) AS n",
            ["MATCH (u:User) OPTIONAL MATCH (u)-[:PLACED]->(:Order) RETURN count(*) AS n"],
        ),
        (
            "join",
            "MATCH (u:User) WHERE u.id > 1 AND EXISTS { (u)-->(o) WHERE o.id > 1 } RETURN u.id",
            ["MATCH (u:User) WHERE u.id > 1 MATCH (u)-->(o) WHERE o.id > 1 RETURN u.id"],
        ),
        (
            "join",
            "MATCH (u:User) WHERE (u)-->(:Order) RETURN u.id",
            ["MATCH (u:User) MATCH (u)-->(:Order) RETURN u.id"],
        ),
        ("join", "MATCH (u:User) WHERE NOT EXISTS { (u)-->(:Order) } RETURN u.id", []),
        (
            "join",
            "MATCH (u:User) WITH max(u.id) AS last MATCH (u:User) WHERE u.id = last RETURN u.name",
            [],
        ),
        (
            "direction",
            "MATCH (u:User)-[f:FOLLOWS]->(:User {id: 3}) RETURN u.id",
            [
                "MATCH (u:User)<-[f:FOLLOWS]-(:User {id: 3}) RETURN u.id",
                "MATCH (u:User)-[f:FOLLOWS]-(:User {id: 3}) RETURN u.id",
            ],
        ),
        (
            "direction",
            "MATCH (o:Order)<-[:PLACED]-(u) RETURN u.id",
            ["MATCH (o:Order)-[:PLACED]->(u) RETURN u.id"],
        ),
        (
            "direction",
            "MATCH (a)-->(b) RETURN a.id",
            ["MATCH (a)<--(b) RETURN a.id", "MATCH (a)--(b) RETURN a.id"],
        ),
        ("direction", "MATCH (a)-[:FOLLOWS]-(b) RETURN a.id", []),
        (
            "role",
            "MATCH (:User {id: 2})-[:REFERRED]->(u) RETURN u.id",
            ["MATCH (:User {id: 2})-[:FOLLOWS]->(u) RETURN u.id"],
        ),
        (
            "role",
            "MATCH (a)-[f:FOLLOWS]->(b) WHERE f.since > b.birthDate WITH a RETURN a.id",
            [
                "MATCH (a)-[f:REFERRED]->(b) WHERE f.since > b.birthDate WITH a RETURN a.id",
                "MATCH (a)-[f:FOLLOWS]->(b) WHERE f.since > a.birthDate WITH a RETURN a.id",
                "MATCH (a)-[f:FOLLOWS]->(b) WHERE f.since > b.birthDate WITH b AS a RETURN a.id",
            ],
        ),
        ("role", "MATCH (u:User)-[:PLACED]->(o:Order) RETURN u.id, o.id", []),
        (
            "role",
            "MATCH (a)-[:FOLLOWS]->(b) RETURN a.id, count(b) AS n",
            [
                "MATCH (a)-[:REFERRED]->(b) RETURN a.id, count(b) AS n",
                "MATCH (a)-[:FOLLOWS]->(b) RETURN b.id, count(b) AS n",
            ],
        ),
        (
            "path-length",
            "MATCH (u:User)-[:REFERRED*1..3]->(v) RETURN v.id",
            [
                f"MATCH (u:User)-[:REFERRED{hops}]->(v) RETURN v.id"
                for hops in ("*2..3", "*0..3", "*1..4", "*1..2", "")
            ],
        ),
        (
            "path-length",
            "MATCH (u:User)-[:REFERRED]->+(v) RETURN v.id",
            [
                "MATCH (u:User)-[:REFERRED]->{2,}(v) RETURN v.id",
                "MATCH (u:User)-[:REFERRED]->{0,}(v) RETURN v.id",
            ],
        ),
        (
            "path-length",
            "MATCH (u:User)-[:REFERRED]->(v)-[f:FOLLOWS]->(w)-[:PLACED]->(o) RETURN v.id",
            [
                "MATCH (u:User)-[:REFERRED*1..2]->(v)-[f:FOLLOWS]->(w)-[:PLACED]->(o) RETURN v.id",
            ],
        ),
        ("path-length", "MATCH (u:User) WHERE NOT (u)-[:FOLLOWS]->(:User) RETURN u.id", []),
        ("path-length", "MATCH (u) WHERE EXISTS { (u)<-[:REFERRED]-() } RETURN u.id", []),
        (
            "path-length",
            "MATCH (u) WHERE EXISTS { (u)-[:FOLLOWS]->(:PremiumUser) } RETURN u.id",
            ["MATCH (u) WHERE EXISTS { (u)-[:FOLLOWS*1..2]->(:PremiumUser) } RETURN u.id"],
        ),
        (
            "aggregate",
            "MATCH (p:Product) RETURN sum(p.price) AS s, max(p.price) AS m, count(p) AS n",
            [
                "MATCH (p:Product) RETURN avg(p.price) AS s, max(p.price) AS m, count(p) AS n",
                "MATCH (p:Product) RETURN sum(p.price) AS s, min(p.price) AS m, count(p) AS n",
            ],
        ),
        (
            "aggregate",
            "MATCH (u:User) OPTIONAL MATCH (u)-->(o:Order) RETURN count(o) AS a, count(u) AS b",
            ["MATCH (u:User) OPTIONAL MATCH (u)-->(o:Order) RETURN count(*) AS a, count(u) AS b"],
        ),
        (
            "aggregate",
            "MATCH (u) WHERE all(e IN u.e WHERE e = '') RETURN percentileCont(u.id, 0.5) AS m",
            [
                "MATCH (u) WHERE any(e IN u.e WHERE e = '') RETURN percentileCont(u.id, 0.5) AS m",
                "MATCH (u) WHERE all(e IN u.e WHERE e = '') RETURN avg(u.id) AS m",
            ],
        ),
        (
            "sort",
            "MATCH (p:Product) RETURN p.id ORDER BY p.price DESC, p.id",
            [
                "MATCH (p:Product) RETURN p.id ORDER BY p.price, p.id",
                "MATCH (p:Product) RETURN p.id ORDER BY p.price DESC, p.id DESC",
            ],
        ),
        (
            "limit",
            "MATCH (p:Product) RETURN p.id ORDER BY p.id SKIP 0 LIMIT 3",
            [
                "MATCH (p:Product) RETURN p.id ORDER BY p.id SKIP 1 LIMIT 3",
                "MATCH (p:Product) RETURN p.id ORDER BY p.id SKIP 0 LIMIT 4",
                "MATCH (p:Product) RETURN p.id ORDER BY p.id SKIP 0 LIMIT 2",
            ],
        ),
        (
            "literal",
            "MATCH (o:Order) WHERE o.deliveredOn >= date('2025-03-01') RETURN o.id",
            [
                "MATCH (o:Order) WHERE o.deliveredOn >= date('2025-03-02') RETURN o.id",
                "MATCH (o:Order) WHERE o.deliveredOn >= date('2025-02-28') RETURN o.id",
            ],
        ),
        (
            "literal",
            "MATCH (u:User {newsletter: true, name: \"O'Hara\"}) RETURN u.emails[0] AS e",
            [
                "MATCH (u:User {newsletter: false, name: \"O'Hara\"}) RETURN u.emails[0] AS e",
                "MATCH (u:User {newsletter: true, name: \"O'Harax\"}) RETURN u.emails[0] AS e",
                "MATCH (u:User {newsletter: true, name: \"O'Hara\"}) RETURN u.emails[1] AS e",
                "MATCH (u:User {newsletter: true, name: \"O'Hara\"}) RETURN u.emails[(-1)] AS e",
            ],
        ),
        (
            "subtype",
            "MATCH (m:PremiumUser) WHERE NOT m:DigitalProduct RETURN m.id",
            [
                "MATCH (m:User) WHERE NOT m:DigitalProduct RETURN m.id",
                "MATCH (m:PremiumUser) WHERE NOT m:Product RETURN m.id",
            ],
        ),
        ("subtype", "MATCH (m:PremiumUser {tier: 'gold'}) RETURN m.id", []),
        ("subtype", "MATCH (m:PremiumUser) WHERE m.id > 1 AND m.credit > 1 RETURN m.id", []),
        (
            "subtype",
            "MATCH (m:PremiumUser) WHERE m.id > 1 OR m.credit > 1 RETURN m.id",
            ["MATCH (m:User) WHERE m.id > 1 OR m.credit > 1 RETURN m.id"],
        ),
        (
            "subtype",
            "MATCH (m:User:PremiumUser) RETURN m.id",
            ["MATCH (m:User) RETURN m.id", "MATCH (m:User:User) RETURN m.id"],
        ),
    ],
)  # fmt: skip
def test_an_operator_makes_these_mutants(operator: str, query: str, expected: list[str]) -> None:
    assert made(query, operator) == set(expected)


def test_strings_and_comments_are_no_code() -> None:
    query = (
        "MATCH (u:User) // WHERE u.id < 3 AND NOT u.newsletter\n"
        "WHERE u.name = 'a < b AND NOT c' /* DISTINCT LIMIT 3 */ RETURN u.id"
    )
    found = all_mutants(query)
    assert {mutant.operator for mutant in found} == {"comparison", "filter", "literal"}
    comments = ("// WHERE u.id < 3 AND NOT u.newsletter\n", "/* DISTINCT LIMIT 3 */")
    assert all(comment in mutant.query for comment in comments for mutant in found)
    strings = [token.text for mutant in found for token in tokenize(mutant.query)
               if token.kind == "string"]  # fmt: skip
    assert set(strings) == {"'a < b AND NOT c'", "'a < b AND NOT cx'"}


def test_a_mutant_says_what_was_changed() -> None:
    (gold,) = [case.gold["cypher"] for case in SUITE.cases if case.id == "ec-e05"]
    one, other = "(follower:User)", "(:User {id: 3})"
    whole = f"{one}-[:FOLLOWS]->{other}"
    assert {(mutant.operator, mutant.change) for mutant in all_mutants(gold)} == {
        ("filter", f"without id: 3 of {other}"),
        ("literal", f"3 → 4 in {other}"),
        ("literal", f"3 → 2 in {other}"),
        ("join", f"MATCH {whole} → optional but for {one}"),
        ("direction", f"{whole} → {one}<-[:FOLLOWS]-{other}"),
        ("direction", f"{whole} → {one}-[:FOLLOWS]-{other}"),
        ("role", f"{whole} → {one}-[:REFERRED]->{other}"),
        ("path-length", f"{whole} → {one}-[:FOLLOWS*1..2]->{other}"),
    }


def test_without_a_mapping_types_and_subtypes_are_unknown() -> None:
    query = "MATCH (m:PremiumUser)-[:REFERRED]->(u) RETURN m.id"
    operators = {mutant.operator for mutant in mutants("cypher", query, "")}
    assert operators == {"join", "direction", "path-length"}


def is_balanced(query: str) -> bool:
    pairs = {")": "(", "]": "[", "}": "{"}
    opened: list[str] = []
    for token in tokenize(query):
        if token.kind != "sign":
            continue
        if token.text in pairs.values():
            opened.append(token.text)
        elif token.text in pairs and (not opened or opened.pop() != pairs[token.text]):
            return False
    return not opened


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(QUERIES))
def test_mutants_differ_in_few_words_and_stay_whole(query: str) -> None:
    words = Counter(token.text for token in tokenize(query))
    found = all_mutants(query)
    assert len({mutant.query for mutant in found} | {query}) == len(found) + 1
    assert len({(mutant.operator, mutant.change) for mutant in found}) == len(found)
    for mutant in found:
        assert is_balanced(mutant.query)
        assert not list(read(mutant.query)[1].all("opaque"))
        own = Counter(token.text for token in tokenize(mutant.query))
        assert sum((own - words).values()) <= 12, mutant  # a pattern that is split or joined


def nodes_outside(node: Node) -> Iterator[Node]:
    for part in node.parts:
        if part.start < node.start or part.end > node.end:
            yield part
        yield from nodes_outside(part)


def test_every_gold_example_and_rewrite_is_read_whole() -> None:
    for query in QUERIES:
        text, tree = read(query)
        assert [text[node.start : node.end] for node in tree.all("opaque")] == []
        assert (tree.start, tree.end) == (0, len(text.rstrip()))
        assert not list(nodes_outside(tree)), query


MODERN = [
    "MATCH (a:User) ((x)-[:FOLLOWS]->(y) WHERE x.id < y.id){1,3} (b) RETURN count(*) AS n",
    "MATCH (a:User)-[:REFERRED]->+(b) RETURN b.id",
    "MATCH p = SHORTEST 1 (a:User {id: 1})-[:FOLLOWS]->+(b) RETURN length(p) AS n",
    "MATCH p = shortestPath((a:User {id: 1})-[:FOLLOWS*..4]->(b)) RETURN [n IN nodes(p) | n.id]",
    "MATCH (a:User) CALL (a) { MATCH (a)-[:PLACED]->(o) RETURN count(o) AS n } RETURN a.id, n",
    "MATCH (a:User) CALL { WITH a MATCH (a)-->(o) RETURN count(o) AS n } RETURN n",
    "MATCH (a:User) RETURN COLLECT { MATCH (a)-->(b) RETURN b.id ORDER BY b.id LIMIT 2 } AS x",
    "MATCH (a:User&!PremiumUser|Order) WHERE a:User|(Order&!Tag) RETURN count(*) AS n",
    "MATCH (a:User WHERE a.id > 3)-[f:FOLLOWS WHERE f.since > date('2024-01-01')]->(b) RETURN b.id",
    "MATCH (n:User) WHERE n.id IS :: INTEGER NOT NULL AND n.name IS NOT NULL RETURN n.id",
    "MATCH (n:User) RETURN n {.id, first: n.emails[0], late: n.emails[1..]} AS m",
    "MATCH (n:User) RETURN reduce(s = 0, e IN n.emails | s + size(e)) AS s, -n.id ^ 2 % 3 AS t",
    "MATCH (n:User) RETURN [(n)-[:PLACED]->(o) WHERE o.id > 1 | o.id] AS x, [1, 2 IN [2]] AS y",
    "MATCH (n:User) RETURN CASE n.id WHEN 1, 2 THEN 'a' WHEN 3 THEN 'b' ELSE null END AS c",
    "MATCH (`odd name`:User) WHERE `odd name`.id IN [1, 2] RETURN `odd name`.`handle` AS h",
    "UNWIND ['1', '2'] AS x WITH * WHERE x =~ '1.*' OR x STARTS WITH '2' XOR x > '1' RETURN x",
    "CALL db.labels() YIELD label AS l WHERE l <> 'X' RETURN l SKIP 1 UNION ALL RETURN 'y' AS l;",
]  # fmt: skip


@pytest.mark.parametrize("query", MODERN)
def test_cypher_of_neo4j_5_is_read_whole(query: str) -> None:
    text, tree = read(query)
    assert [text[node.start : node.end] for node in tree.all("opaque")] == []
    assert all(is_balanced(mutant.query) for mutant in all_mutants(query))


@pytest.mark.parametrize("rest", ["RETURN 1 AS n", "MATCH (n) RETURN n.id", "WITH 1 AS x RETURN x"])
def test_a_clause_that_is_not_understood_is_left_alone(rest: str) -> None:
    query = f"FILTER {{(what < [is)]}} this LIMIT 3 {rest}".replace("[is)]", "[is]) 4 > 3")
    _, tree = read(query)
    assert tree.parts[0].kind == "opaque"
    assert tree.parts[-1].kind != "opaque"
    assert "what > [is]" not in "".join(mutant.query for mutant in all_mutants(query))


def test_text_that_does_not_end_is_told() -> None:
    with pytest.raises(QueryError, match="string that begins here does not end"):
        all_mutants("MATCH (n) WHERE n.name = 'open RETURN n")


@pytest.fixture(scope="module")
def cell() -> Cell:
    return build_cell(compose(["model=gold", "language=cypher"]))


@pytest.fixture(scope="module")
def engine(cell: Cell) -> Iterator[Engine]:
    found = build_engine(cell.engine_config)
    found.start()
    found.load(SUITE.instance("cypher", "variant-2"))
    yield found
    found.stop()


@pytest.mark.parametrize("query", [*GOLDS[::10], *MODERN])
def test_the_server_accepts_the_mutants(engine: Engine, query: str) -> None:
    """All but those whose change meets a rule of types or scopes, which are counted as invalid."""
    instance = SUITE.instance("cypher", "variant-2")
    found = all_mutants(query)
    refused = []
    for mutant in found:
        try:
            engine.check(mutant.query, instance)
        except QueryError as error:
            refused.append((mutant.operator, mutant.change, error.message))
    assert len(refused) <= 0.1 * len(found), refused
