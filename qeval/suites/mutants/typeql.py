"""Mutants of TypeQL golds: changes of the text by spans of qeval's own syntax tree.

The schema keeps out what could not differ: types that the other statements imply, attributes and
roles that must be there. What the engine would refuse is left out too, as it is no near miss. What
stands within `fetch` stays as it is.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from qeval.suites.mutants.base import Mutant
from qeval.suites.mutants.typeql_conditions import comparisons, filters, negations
from qeval.suites.mutants.typeql_joins import joins
from qeval.suites.mutants.typeql_relations import multiplicities, roles, subtypes
from qeval.suites.mutants.typeql_schema import read_schema
from qeval.suites.mutants.typeql_scopes import Reading, routines
from qeval.suites.mutants.typeql_values import attributes, literals, recursions, stages
from qeval.typeql import Database, TypeQLError
from qeval.typeql.syntax import ast, parse_query

_ON_BLOCKS = (
    comparisons,
    literals,
    filters,
    negations,
    joins,
    roles,
    multiplicities,
    subtypes,
    attributes,
)


def mutants(query: str, schema: str, mapping: Mapping[str, Any] | None = None) -> Iterator[Mutant]:
    """Near misses of a reading query. `schema` (a `define` query) tells roles, types, cardinality;
    `mapping` has nothing to add.

    Raises `TypeQLError` for a text that does not parse.
    """
    del mapping
    pipeline = parse_query(query).body
    if not isinstance(pipeline, ast.Pipeline):
        return
    known = read_schema(schema)
    functions = known.functions | {function.name: function for function in pipeline.functions}
    reading = Reading(query, schema, pipeline, known, functions)
    database = _checker(schema)
    for mutant in _made(reading):
        try:
            database.check(mutant.query)
        except TypeQLError:  # types that can't meet, a variable nothing binds any more
            continue
        yield mutant


def _made(reading: Reading) -> Iterator[Mutant]:
    for routine in routines(reading.query):
        for block in reading.blocks(routine):
            for operator in _ON_BLOCKS:
                yield from operator(reading, block)
        yield from stages(reading, routine)
    yield from recursions(reading)


@cache
def _checker(schema: str) -> Database:
    """A database without data."""
    database = Database()
    database.define(schema)
    return database
