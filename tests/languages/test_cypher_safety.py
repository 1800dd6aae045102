"""What the static check refuses and what it lets pass, and that words alone mean nothing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from qeval.engines.base import QueryError
from qeval.languages.base import Language
from qeval.languages.cypher import Cypher, procedures, tokenize
from qeval.paths import shipped


@pytest.fixture(scope="module")
def cypher() -> Cypher:
    config: Any = OmegaConf.load(shipped("conf") / "language/cypher.yaml")
    language = Cypher(
        name=config.name, title=config.title, fences=config.fences, keywords=config.keywords
    )
    assert isinstance(language, Language)
    return language


UNSAFE = [
    "CREATE (n:User)",
    "create (n)",
    "CREATE INDEX x FOR (n:User) ON (n.id)",
    "CREATE CONSTRAINT x FOR (n:User) REQUIRE n.id IS UNIQUE",
    "CREATE USER eve SET PASSWORD 'x'",
    "CREATE DATABASE x",
    "INSERT (n:User)",
    "MATCH (n) CREATE (n)-[:X]->(:Y)",
    "MATCH (n) MERGE (m:X {id: n.id}) RETURN m",
    "MERGE (n:X) ON CREATE SET n.a = 1",
    "MATCH (n) SET n.name = 'x'",
    "MATCH (n) SET n:Label",
    "MATCH (n) SET n += {a: 1} RETURN n",
    "MATCH (n) DELETE n",
    "MATCH (n) DETACH DELETE n",
    "MATCH (n) NODETACH DELETE n",
    "MATCH (n) REMOVE n.name",
    "MATCH p = (a)-->(b) FOREACH (x IN nodes(p) | SET x.a = 1)",
    "FOREACH(x IN [1] | CREATE (:A))",
    "LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l",
    "LOAD CSV WITH HEADERS FROM 'http://x/y' AS l RETURN l",
    "load /* x */ csv FROM 'http://x' AS l RETURN l",
    "USING PERIODIC COMMIT LOAD CSV FROM 'x' AS l RETURN l",
    "CALL { CREATE (n) RETURN n } RETURN n",
    "CALL () { MERGE (n:X) RETURN n } RETURN n",
    "MATCH (n) CALL (n) { RETURN 1 AS x } IN TRANSACTIONS RETURN x",
    "MATCH (n) CALL { WITH n RETURN 1 AS x } IN 3 CONCURRENT TRANSACTIONS OF 10 ROWS RETURN x",
    "CALL dbms.listConfig()",
    "CALL dbms . listConfig()",
    "CALL `dbms`.`listConfig`() YIELD name RETURN name",
    "CALL db.createLabel('X')",
    "CALL db.index.fulltext.drop('x')",
    "CALL db.clearQueryCaches()",
    "CALL tx.setMetaData({})",
    "CALL apoc.load.json('http://x') YIELD value RETURN value",
    "CALL apoc.cypher.runWrite('CREATE (n)', {})",
    "CALL gds.graph.project('g', 'A', 'B')",
    "MATCH (n) CALL apoc.create.node(['A'], {}) YIELD node RETURN node",
    "SHOW SETTINGS",
    "SHOW DATABASES",
    "SHOW TRANSACTIONS YIELD *",
    "CYPHER 5 SHOW USERS",
    "TERMINATE TRANSACTIONS 'x'",
    "USE system RETURN 1",
    "USE other MATCH (n) RETURN n",
    "MATCH (n) RETURN n UNION USE other MATCH (n) RETURN n",
    "CALL { USE other MATCH (n) RETURN n } RETURN n",
    "EXPLAIN MATCH (n) RETURN n",
    "PROFILE MATCH (n) RETURN n",
    "CYPHER runtime=slotted PROFILE MATCH (n) RETURN n",
    "DROP INDEX x",
    "ALTER USER neo4j SET PASSWORD 'x'",
    "GRANT ROLE admin TO eve",
    "DENY READ {*} ON GRAPH * TO x",
    "REVOKE ROLE admin FROM eve",
    "STOP DATABASE neo4j",
    "START DATABASE neo4j",
    "RETURN 1; RETURN 2",
    "MATCH (n) RETURN n; MATCH (n) DELETE n",
    "// a comment\nCREATE (n)",
    "MATCH (n) /* hidden */ DETACH /* */ DELETE n",
    "MATCH (n)\nWHERE n.id = 1\nSET\nn.name = 'x'",
    "\\u0043REATE (n)",
    "MATCH (n) WITH n CREATE (m) RETURN m",
]

HARMLESS = [
    "MATCH (n) RETURN n",
    "MATCH (n) RETURN n;",
    "MATCH (n) RETURN n ;\n// done",
    "RETURN 'CREATE (n)'",
    'RETURN "MATCH (n) DETACH DELETE n; DROP INDEX x"',
    "RETURN 'it''s', 'a\\'; DELETE n'",
    "// CREATE (n)\nMATCH (n) RETURN n",
    "/* LOAD CSV FROM 'x' AS l; DELETE n */ MATCH (n) RETURN n",
    "MATCH (n) RETURN n // SET n.x = 1",
    "MATCH (n:`CREATE (x)`) RETURN n.`SET`",
    "MATCH (n:Create) RETURN n.set, n.delete, n.merge",
    "MATCH (n)-[:SET|DELETE|CREATE]->(m) RETURN m",
    "MATCH (n:Load) RETURN n.load AS load",
    "MATCH (n) WHERE n.create IS NOT NULL AND n.remove > 3 RETURN n",
    "MATCH (n {set: 1, merge: 'x'}) RETURN n",
    "RETURN {create: 1, delete: 2} AS m",
    "MATCH (set:User) RETURN set.name, set",
    "MATCH (n)-[create:PLACED]->(m) WHERE create.rank = 1 RETURN create",
    "UNWIND [1, 2] AS delete RETURN delete",
    "WITH 1 AS set, 2 AS merge WHERE set < merge RETURN set + merge AS create",
    "MATCH (n) RETURN n ORDER BY n.set, n.show DESC SKIP 1 LIMIT 2",
    "MATCH (n) RETURN count(n) AS show",
    "MATCH (use:User) WHERE use.id = $use RETURN use",
    "MATCH (n) WHERE n.start < n.stop RETURN n.start, n.drop",
    "MATCH (n:Explain)-[:USE]->(:Show) RETURN n",
    "OPTIONAL MATCH (n)-[r]->() RETURN type(r), n.call",
    "CALL { MATCH (n) RETURN n } RETURN n",
    "CALL () { MATCH (n) RETURN n } RETURN n",
    "MATCH (n) CALL (n) { RETURN n.x AS call } RETURN call",
    "CALL db.labels() YIELD label RETURN label",
    "CALL db.schema.visualization()",
    "CALL db.index.fulltext.queryNodes('x', 'y') YIELD node RETURN node",
    "MATCH (n) WHERE EXISTS { MATCH (n)-->(m) WHERE m.set = 1 } RETURN n",
    "MATCH (n) RETURN COUNT { (n)-->() } AS c, COLLECT { MATCH (n)-->(m) RETURN m.set }",
    "MATCH (n) USING INDEX n:User(id) WHERE n.id = 1 RETURN n",
    "CYPHER 5 MATCH (n) RETURN n",
    "CYPHER runtime=slotted MATCH (n) RETURN n",
    "MATCH (n) WHERE n.x IN transactions RETURN n",
    "MATCH (a)-->(b) RETURN [x IN nodes($p) | x.set] AS xs, [(a)-->(c) | c.create] AS ys",
    "MATCH (n) RETURN CASE WHEN n.set THEN n.create ELSE n.delete END AS merge",
    "MATCH p = (a)-[*1..3]->(b) RETURN p, 1.5e3, 0x1F, 1..2",
    "RETURN 1 UNION ALL RETURN 2",
    "MATCH (n) RETURN n.name AS load UNION MATCH (m) RETURN m.name AS load",
]


@pytest.mark.parametrize("query", UNSAFE)
def test_unsafe_queries_are_refused(cypher: Cypher, query: str) -> None:
    with pytest.raises(QueryError) as caught:
        cypher.check_safety(query)
    assert caught.value.kind == "unsafe"
    assert caught.value.line is not None


@pytest.mark.parametrize("query", HARMLESS)
def test_harmless_queries_pass(cypher: Cypher, query: str) -> None:
    cypher.check_safety(query)


@pytest.mark.parametrize(
    ("query", "line", "column"),
    [
        ("MATCH (u)\nRETURN '\ud800'", 2, 9),
        ("", None, None),
        (" // nothing", None, None),
        (";;", None, None),
        ("RETURN 'open", 1, 8),
        ("MATCH (n)\nRETURN `open", 2, 8),
        ("RETURN 1 /* open", 1, 10),
    ],
)
def test_what_does_not_end_and_half_characters_are_syntax_errors(
    cypher: Cypher, query: str, line: int | None, column: int | None
) -> None:
    with pytest.raises(QueryError) as caught:
        cypher.check_safety(query)
    found = (caught.value.kind, caught.value.line, caught.value.column)
    assert found == ("syntax_error", line, column)


def test_procedures_are_named_without_the_reading_built_ins() -> None:
    query = (
        "CALL db.labels() YIELD label CALL my . Own(1) CALL { RETURN 1 AS x } RETURN 'CALL a.b()'"
    )
    assert procedures(query) == ["my.own"]


words = st.sampled_from(["CREATE", "SET n.x = 1", "DETACH DELETE n", "LOAD CSV FROM", "; DROP"])


@given(words, st.text(alphabet="abc \n;(){}", max_size=20))
def test_no_word_counts_inside_a_string_name_or_comment(word: str, around: str) -> None:
    language = Cypher(name="cypher", title="", fences=(), keywords=())
    text = around + word + around
    for query in (
        f"RETURN '{text}'",
        f'RETURN "{text}"',
        f"MATCH (n:`{text}`) RETURN n",
        f"/* {text} */ RETURN 1",
        "RETURN 1 // " + text.replace("\n", " "),
    ):
        language.check_safety(query)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_as_a_query(text: str) -> None:
    language = Cypher(name="cypher", title="", fences=(), keywords=())
    try:
        language.check_safety(text)
    except QueryError:
        return
    assert list(tokenize(text))
