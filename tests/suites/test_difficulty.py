"""How hard a gold is, computed from its text in each language."""

from dataclasses import replace

import pytest

from qeval.suites import load_suite
from qeval.suites.difficulty import Shape, computed, mislabelled, shape

HOP = "MATCH (a:A)-[:R]->(b:B)"


@pytest.mark.parametrize(
    ("language", "query", "steps", "level"),
    [
        ("sql", "SELECT a FROM t WHERE b > 'JOIN (SELECT'", 0, "easy"),
        ("sql", "SELECT a FROM t JOIN u USING (b)", 2, "medium"),
        ("sql", "SELECT a FROM t JOIN u USING (b) JOIN v USING (c) JOIN w USING (d)", 3, "medium"),
        ("sql", "SELECT a FROM t WHERE b = (SELECT max(b) FROM t)", 0, "hard"),
        ("sql", "SELECT a, rank() OVER (ORDER BY b) FROM t", 0, "hard"),
        ("cypher", "MATCH (a:A) WHERE a.x = '-[:R]-' // -[:R]-\nRETURN count(*)", 0, "easy"),
        ("cypher", f"{HOP} RETURN a.x", 1, "easy"),
        ("cypher", "MATCH (a)<-[:R]-(b)-->(c) RETURN a.x", 2, "medium"),
        ("cypher", "MATCH (a:A)-[:R]->{1,3}(b) RETURN a.x", 1, "hard"),
        ("cypher", f"{HOP}<-[r:S {{x: 1}}]-(c) RETURN a.x, count(*)", 2, "medium"),
        ("cypher", "MATCH (a:A) WHERE NOT (a)-[:R]->() RETURN a.x", 1, "easy"),
        ("cypher", "MATCH (a:A) WHERE EXISTS { (a)-[:R]->() } RETURN a.x", 1, "easy"),
        ("cypher", "MATCH (a:A) WHERE NOT EXISTS { (a)-[:R]->()-[:S]->() } RETURN a.x", 2, "hard"),
        ("cypher", "MATCH (a:A)-[:R*1..]->(b) RETURN a.x", 1, "hard"),
        ("cypher", "MATCH (a:A) (()-[:R]->()){1,3} (b) RETURN a.x", 1, "hard"),
        ("cypher", f"{HOP} WITH a, count(*) AS n WHERE n > 1 RETURN a.x, n", 1, "easy"),
        ("cypher", f"{HOP} WITH a, count(*) AS n RETURN avg(n)", 1, "hard"),
        ("typeql", 'match $a isa a, has x "r (s: $b) not {"; # r (s: $b)', 0, "easy"),
        ("typeql", "match r (s: $a, t: $b); select $a;", 1, "easy"),
        ("typeql", "match r (s: $a, t: $b); $r isa q, links (u: $b); select $a;", 2, "medium"),
        ("typeql", "match $a isa a; not { $a has x $x; }; select $a;", 0, "easy"),
        ("typeql", "match $a isa a; not { r (s: $a, t: $b); q (u: $b); };", 2, "hard"),
        ("typeql", "match $a isa a; not { $a has x $x; not { $b has x $x; }; };", 0, "hard"),
        ("typeql", "match $a isa a; let $b in reach($a); select $b;", 0, "hard"),
        ("typeql", "match $a isa a; reduce $n = count groupby $a; match $n > 1;", 0, "easy"),
        ("typeql", "match $a isa a; reduce $n = count groupby $a; reduce $m = mean($n);", 0,
         "hard"),
    ],
)  # fmt: skip
def test_steps_and_nesting(language: str, query: str, steps: int, level: str) -> None:
    found = shape(language, query)
    assert found is not None
    assert (found.steps, found.level) == (steps, level)


def test_the_value_at_a_limit_is_no_nesting() -> None:
    ties = "MATCH (a) WITH a.x AS x ORDER BY x LIMIT 3 WITH max(x) AS m MATCH (a) RETURN a"
    assert shape("cypher", ties, first_k=True) == Shape(0, nested=False)
    assert shape("cypher", ties) == Shape(0, nested=True)
    assert shape("gremlin", "g.V()") is None


def test_labels_are_compared_with_the_golds() -> None:
    suite = load_suite("flights")
    assert list(mislabelled(suite)) == []
    easy, hard = suite.cases[0], suite.cases[-1]
    wrong = replace(easy, difficulty="hard")
    told = list(mislabelled(replace(suite, cases=(wrong,))))
    assert [(case, language) for case, language, _ in told] == [
        (easy.id, "sql"), (easy.id, "cypher"), (easy.id, "typeql"),
    ]  # fmt: skip
    declared = replace(hard, gold_level={"cypher": "easy"})
    ((_, language, account),) = mislabelled(replace(suite, cases=(declared,)))
    assert (language, account) == ("cypher", "declared easy, but its cypher gold is hard")
    graph = replace(hard, gold={"cypher": hard.gold["cypher"], "typeql": easy.gold["typeql"]})
    assert computed(graph) == "hard"
