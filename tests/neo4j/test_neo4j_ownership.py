"""Properties of the wrong label: refused where it is certain, and nothing else is."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.engines.base import QueryError
from qeval.engines.neo4j.ownership import GraphModel, refuse_misplaced_properties
from qeval.suites import load_suite

SUITE = load_suite("ecommerce")
MODEL = GraphModel.of(SUITE.instance("cypher", "base").mapping)
QUERIES = [case.gold["cypher"] for case in SUITE.cases]
QUERIES += [example.gold["cypher"] for example in SUITE.examples]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("MATCH (u:User) RETURN u.sku", "sku"),
        ("MATCH (u:User)\nWHERE u.price > 3 RETURN u.name", "price"),
        ("MATCH (u:User {sku: 'x'}) RETURN u.name", "sku"),
        ("MATCH (:User {sku: 'x'})-->(o) RETURN o", "sku"),
        ("MATCH (u:User)-[:PLACED]->(o:Order) RETURN o.name", "name"),
        ("MATCH (u:User)-[f:FOLLOWS]->(v) RETURN f.quantity", "quantity"),
        ("MATCH (u)-[:FOLLOWS {quantity: 1}]->(v) RETURN v", "quantity"),
        ("MATCH (o:Order)-[c:CONTAINS|STOCKS]->(p) RETURN c.since", "since"),
        ("MATCH (u:User) WITH u, count(*) AS n RETURN u.sku, n", "sku"),
        ("MATCH (u:User) WITH DISTINCT u WHERE u.sku = 1 RETURN u", "sku"),
        ("MATCH (u:User) WITH * RETURN u.sku", "sku"),
        ("MATCH (o:Order) RETURN o.postedOn.year", "postedOn"),
        ("MATCH (u:`User`) RETURN u.`sku`", "sku"),
        ("MATCH (u:User) RETURN u {.name, .sku}", "sku"),
        (
            "MATCH (u:User) WHERE EXISTS { (u)-[:PLACED]->(o:Order WHERE o.sku = 1) } RETURN u",
            "sku",
        ),
        ("MATCH (u:User) RETURN [(u)-[:PLACED]->(o:Order) | o.sku] AS x", "sku"),
        ("MATCH (u:User) RETURN max(u.rating) AS x", "rating"),
        ("MATCH (u:User) RETURN u.name AS a UNION MATCH (p:Order) RETURN p.sku AS a", "sku"),
        ("MATCH (p:DigitalProduct) RETURN p.tier", "tier"),
        ("OPTIONAL MATCH (u:User) RETURN CASE WHEN u.sku IS NULL THEN 1 END AS x", "sku"),
    ],
)
def test_a_property_that_its_bearer_cannot_have_is_a_schema_error(query: str, name: str) -> None:
    with pytest.raises(QueryError) as caught:
        refuse_misplaced_properties(query, MODEL)
    assert caught.value.kind == "schema_error"
    assert f"no property `{name}`; it belongs to" in caught.value.message
    line = query.split("\n")[(caught.value.line or 0) - 1]
    assert line[(caught.value.column or 0) - 1 :].strip("`").startswith(name)


@pytest.mark.parametrize(
    "query",
    [
        # a subtype's, its supertype's, and a sibling's: the node may bear all these labels
        "MATCH (u:User) RETURN u.tier",
        "MATCH (u:PremiumUser) RETURN u.name, u.emails",
        "MATCH (p:Product:DigitalProduct) RETURN p.license, p.sku",
        # of one of several labels
        "MATCH (n:User|Product) RETURN n.sku, n.handle",
        "MATCH ()-[r:FOLLOWS|STOCKS]->() RETURN r.since, r.quantity",
        # unknown or computed labels and keys
        "MATCH (n) RETURN n.sku",
        "MATCH (n:!User) RETURN n.sku",
        "MATCH (n:%) RETURN n.sku",
        "MATCH (n:(User|Product)) RETURN n.sku",
        "MATCH (n:User&!PremiumUser) RETURN n.sku",
        "MATCH (n IS User) WHERE (n:Product) RETURN n.handle",
        "MATCH (n:$(label)) RETURN n.sku",
        "MATCH (u:User) RETURN u['sku'], u[$key]",
        "MATCH (n:Nobody) RETURN n.sku",
        # a predicate says nothing of what it is about
        "MATCH (n) WHERE (n:User) OR (n:Product) RETURN n.sku",
        "MATCH (n) WHERE NOT (n:User) RETURN n.sku",
        "MATCH (n) WHERE n:User OR n:Product RETURN n.sku",
        # another thing of the same name
        "MATCH (u:User) WITH count(*) AS c MATCH (u)-[:IN_CATEGORY]->() RETURN u.sku",
        "MATCH (u:User) WITH count(u) AS u2 MATCH (u) RETURN u.sku",
        "MATCH (u:User) WITH u.name AS u RETURN u.sku",
        "MATCH (x:User) RETURN x.name AS a UNION MATCH (x) RETURN x.sku AS a",
        "MATCH (u:User)-[:PLACED]->()-[:CONTAINS]->(p) RETURN [u IN collect(p) | u.sku]",
        "MATCH (u:User) WITH collect(u) AS us, [{sku: 1}] AS xs UNWIND xs AS u RETURN u.sku",
        "MATCH (p:Order), q = (p)-->() RETURN reduce(p = '', x IN nodes(q) | p + x.sku)",
        "MATCH (a) WHERE EXISTS { (p:User)-->(a) } MATCH (p)-->(a) RETURN p.sku",
        "MATCH (a) WITH a, [(a)<--(p:User) | p.name] AS n MATCH (p)-->(a) RETURN p.sku",
        "MATCH (u:User) CALL { MATCH (u:Product) RETURN u.sku AS s } RETURN s",
        # lists, not elements
        "MATCH (a)-[r:FOLLOWS*1..2]->(b) RETURN r.quantity",
        "MATCH ((u:User)-[:FOLLOWS]->(v)){1,2} RETURN u.sku",
        "MATCH (a:User)-[r:FOLLOWS]->+(b) RETURN r.quantity",
        # functions, maps and texts that look alike
        "MATCH (date:Order) RETURN date.name('x')",
        "MATCH (u:User) RETURN {sku: u.name}.sku, 'u.sku', `u.sku` // u.sku",
        "MATCH (order:Order) WITH order, 1 AS x MATCH (order)-[:CONTAINS]->(p) RETURN p.sku",
        "MATCH (u:User) WITH {u: {sku: 1}} AS m RETURN m.u.sku",
        # other reasons to fail
        "MATCH (u:User RETURN u.sku",
        "MATCH (u:User)-[ RETURN u.",
        "MATCH (u:User",
        "",
    ],
)
def test_what_is_not_certain_is_left_to_the_server(query: str) -> None:
    refuse_misplaced_properties(query, MODEL)


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_no_gold_and_no_example_is_refused(query: str) -> None:
    refuse_misplaced_properties(query, MODEL)


def test_without_a_mapping_nothing_is_refused() -> None:
    refuse_misplaced_properties("MATCH (u:User) RETURN u.sku", GraphModel.of({}))


@given(st.data())
def test_any_text_is_read_to_its_end(data: st.DataObject) -> None:
    """Cut, joined and shuffled golds end in an answer, whatever it is."""
    query = data.draw(st.sampled_from(QUERIES))
    words = query.split()
    start = data.draw(st.integers(0, len(words)))
    kept = data.draw(st.permutations(words[:start])) + words[start:]
    with contextlib.suppress(QueryError):
        refuse_misplaced_properties(" ".join(kept), MODEL)
