"""Mutants of Cypher golds, made at the places that the query's tree names."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from qeval.suites.mutants.base import Mutant
from qeval.suites.mutants.cypher_changes import Source
from qeval.suites.mutants.cypher_clauses import read
from qeval.suites.mutants.cypher_conditions import condition_changes
from qeval.suites.mutants.cypher_ends import end_changes
from qeval.suites.mutants.cypher_graph import Graph
from qeval.suites.mutants.cypher_joins import join_changes
from qeval.suites.mutants.cypher_paths import path_changes
from qeval.suites.mutants.cypher_values import value_changes


def mutants(query: str, schema: str, mapping: Mapping[str, Any] | None = None) -> Iterator[Mutant]:
    """Near misses of a read query.

    `mapping` tells the ends of relationships and the subtypes; `schema`, the constraints, says
    nothing of these. Raises `QueryError` for a query whose strings or comments do not end.
    """
    del schema
    source, graph = Source(*read(query)), Graph.of(mapping or {})
    changes = chain(
        condition_changes(source),
        value_changes(source),
        join_changes(source),
        path_changes(source, graph),
        end_changes(source, graph),
    )
    for change in changes:
        yield Mutant(change.operator, change.account, source.with_edits(change.edits))
