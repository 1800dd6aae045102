"""Generated data and queries: the engine against the evaluator that tries every binding."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from qeval.typeql import Database, TypeQLError
from tests.typeql.brute_force import Compare, Has, HasValue, Isa, Links, Pattern, Same, solve

SCHEMA = """define
  attribute mark @abstract, value integer;
  attribute size sub mark;
  attribute rank sub mark;
  entity thing @abstract, owns size @card(0..), plays bond:left, plays bond:right;
  entity stone sub thing, owns rank @card(0..);
  entity plant sub thing;
  entity herb sub plant, owns rank;
  relation bond, relates left @card(0..), relates right @card(0..), owns size,
    plays bond:left, plays bond:right;
  relation strong-bond sub bond;
"""
OBJECTS = ("p", "q", "r")
ATTRIBUTES = ("m", "n")
LABELS = ("thing", "stone", "plant", "herb", "bond", "strong-bond")
OPS = ("==", "!=", "<", ">")
numbers = st.integers(0, 3)
objects, attributes = st.sampled_from(OBJECTS), st.sampled_from(ATTRIBUTES)
roles = st.sampled_from(("left", "right", None))
marks = st.sampled_from(("size", "rank", "mark"))

statements = st.one_of(
    st.builds(Isa, objects, st.sampled_from(LABELS), st.booleans()),
    st.builds(Has, objects, marks, attributes),
    st.builds(HasValue, objects, marks, st.sampled_from(OPS), numbers),
    st.builds(
        Links,
        st.one_of(st.none(), st.just("r")),
        st.lists(st.tuples(roles, objects), min_size=1, max_size=2).map(tuple),
    ),
    st.builds(Compare, attributes, st.sampled_from(OPS), st.one_of(numbers, attributes)),
    st.builds(Same, objects, objects),
)
bodies = st.lists(statements, min_size=1, max_size=2).map(tuple)
simple = st.builds(Pattern, bodies)
branches = st.lists(simple, min_size=2, max_size=2).map(tuple)
patterns = st.builds(
    Pattern,
    st.lists(statements, min_size=1, max_size=3).map(tuple),
    st.one_of(st.just(()), st.lists(branches, max_size=1).map(tuple)),
    st.lists(simple, max_size=1).map(tuple),
    st.lists(simple, max_size=1).map(tuple),
)
entities = st.lists(
    st.tuples(st.sampled_from(("stone", "plant", "herb")), st.sets(numbers, max_size=2), numbers),
    min_size=1,
    max_size=3,
)
bonds = st.lists(
    st.tuples(st.booleans(), st.lists(st.integers(0, 4), max_size=2), st.integers(0, 2)),
    max_size=2,
)


def build(things: list[Any], links: list[Any]) -> Database:
    database = Database()
    database.define(SCHEMA)
    with database.bulk() as bulk:
        made = []
        for label, sizes, rank in things:
            ranked = {"rank": rank} if label != "plant" and rank else {}
            made.append(bulk.entity(label, {"size": sorted(sizes), **ranked}))
        for strong, lefts, right in links:
            players = {
                "left": [made[index % len(made)] for index in lefts],
                "right": made[right % len(made)],
            }
            label = "strong-bond" if strong else "bond"
            made.append(bulk.relation(label, players, {"size": right}))
    return database


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(entities, bonds, patterns)
def test_match_gives_every_binding_of_the_named_variables_once(
    things: list[Any], links: list[Any], pattern: Pattern
) -> None:
    database = build(things, links)
    query = f"match {pattern.text()}"
    expected = list(solve(database._store, pattern, {}))
    try:
        answer = database.query(query)
    except TypeQLError as error:
        # What the language refuses (scoping, categories) has no answer to compare.
        assume(error.code.startswith("INF"))
        event("refused by type inference")
        # A branch, negation or attempt that can never hold is refused as well.
        nested = pattern.ors or pattern.nots or pattern.tries
        assert nested or not expected, query
        return
    wanted = {tuple(env[name] for name in answer.columns) for env in expected}
    got = [tuple(None if c is None else c._held for c in row) for row in answer.rows]
    assert len(got) == len(set(got)), query
    assert set(got) == wanted, query


@settings(max_examples=100, deadline=None)
@given(entities, bonds, st.lists(statements, min_size=1, max_size=3).map(tuple))
def test_the_order_of_statements_does_not_matter(
    things: list[Any], links: list[Any], body: tuple[Any, ...]
) -> None:
    database = build(things, links)
    answers: list[Any] = []
    for statements_ in (body, body[::-1]):
        try:
            answer = database.query(f"match {Pattern(statements_).text()}")
        except TypeQLError as error:
            answers.append(error.code[:3])
        else:
            answers.append(
                {frozenset(zip(answer.columns, row, strict=True)) for row in answer.rows}
            )
    assert answers[0] == answers[1]
