"""Mutants of golds, and where the mutator of a language is found."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, cast

Operator = Literal[
    "comparison",
    "boundary",
    "filter",
    "distinct",
    "join",
    "direction",
    "role",
    "path-length",
    "attribute",
    "aggregate",
    "grouping",
    "sort",
    "limit",
    "literal",
    "null-check",
    "negation",
    "subtype",
]

OPERATORS: Mapping[str, str] = {
    "comparison": "comparison operator turned round, e.g. < to >, = to <>",
    "boundary": "boundary moved, e.g. < to <=",
    "filter": "one condition dropped",
    "distinct": "DISTINCT dropped",
    "join": "inner and outer join swapped",
    "direction": "direction of a relationship flipped",
    "role": "one role or type of a relationship read as its other",
    "path-length": "more or fewer steps along a path",
    "attribute": "one attribute read as another of the same type",
    "aggregate": "aggregate swapped, e.g. sum for avg",
    "grouping": "one key of grouping dropped",
    "sort": "sort direction flipped",
    "limit": "limit one larger or smaller",
    "literal": "literal changed, numbers and dates by one up and down",
    "null-check": "check or default for a missing value dropped",
    "negation": "negation removed",
    "subtype": "subtype widened to its supertype",
}
"""What each operator does to a gold."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A gold with one fault.

    `change` says what was changed into what and is unique among the mutants of one gold, so that
    (case, operator, change) names a mutant for good.
    """

    operator: Operator
    change: str
    query: str


class Mutator(Protocol):
    """The module `qeval.suites.mutants.<language>`."""

    def mutants(self, query: str, schema: str, mapping: Mapping[str, Any]) -> Iterable[Mutant]:
        """Near misses of `query`, made on its syntax tree.

        `schema` and `mapping` are the instance's: what the engine loads, and how neutral tables
        become what the language knows ({} where they stay tables).
        """
        ...


_OWN = ("base", "declared", "strength", "summary")


def mutated_languages() -> tuple[str, ...]:
    """The languages that have a mutator: a module here named as the language, without _."""
    names = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return tuple(sorted(name for name in names if name not in _OWN and "_" not in name))


def mutants(
    language: str, query: str, schema: str, mapping: Mapping[str, Any] | None = None
) -> tuple[Mutant, ...]:
    """The mutants of a gold, each query once. Raises `KeyError` for a language without mutator."""
    if language not in mutated_languages():
        raise KeyError(language)
    mutator = cast("Mutator", importlib.import_module(f"qeval.suites.mutants.{language}"))
    return tuple(_named_apart(mutator.mutants(query, schema, mapping or {}), query))


def _named_apart(found: Iterable[Mutant], gold: str) -> Iterator[Mutant]:
    queries = {gold}
    names: dict[tuple[str, str], int] = {}
    for mutant in found:
        if mutant.query in queries:
            continue
        queries.add(mutant.query)
        name = (mutant.operator, mutant.change)
        names[name] = names.get(name, 0) + 1
        change = mutant.change if names[name] == 1 else f"{mutant.change} #{names[name]}"
        yield Mutant(mutant.operator, change, mutant.query)
