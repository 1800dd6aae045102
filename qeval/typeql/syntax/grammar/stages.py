"""The stages of a pipeline, each up to its last semicolon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qeval.typeql.syntax.ast import (
    Delete,
    DeleteHas,
    DeleteLinks,
    DeleteThing,
    DeleteTry,
    Distinct,
    Insert,
    Limit,
    Match,
    Offset,
    Put,
    Reduce,
    Reducer,
    Reduction,
    Require,
    Select,
    Sort,
    SortKey,
    Update,
)
from qeval.typeql.syntax.grammar.literals import count
from qeval.typeql.syntax.grammar.names import sequence, target, variable, variables
from qeval.typeql.syntax.grammar.patterns import patterns
from qeval.typeql.syntax.grammar.scanner import VARIABLE, WORD
from qeval.typeql.syntax.grammar.statements import players

if TYPE_CHECKING:
    from collections.abc import Callable

    from qeval.typeql.syntax.ast import Deletable, ReducerName, Stage
    from qeval.typeql.syntax.grammar.scanner import Scanner

_REDUCERS: Final[dict[str, ReducerName]] = {
    "count": "count",
    "max": "max",
    "min": "min",
    "mean": "mean",
    "median": "median",
    "std": "std",
    "sum": "sum",
    "list": "list",
}
_ORDERS: Final = frozenset({"asc", "desc"})


def stages(s: Scanner) -> tuple[Stage, ...]:
    """One stage or more."""
    found = [_stage(s)]
    while s.at_word(STAGES):
        found.append(_stage(s))
    return tuple(found)


def _stage(s: Scanner) -> Stage:
    if not s.at_word(STAGES):
        raise s.mismatch("a stage (" + ", ".join(STAGES) + ")")
    return STAGES[s.ahead](s)


def _of_patterns(stage: Callable[..., Stage]) -> Callable[[Scanner], Stage]:
    """The rule of a stage that takes patterns, such as `match pattern; …`."""

    def rule(s: Scanner) -> Stage:
        begin = s.position
        s.take()
        return stage(patterns(s), span=s.span(begin))

    return rule


# delete ------------------------------------------------------------------------------------------


def _delete(s: Scanner) -> Delete:
    begin = s.position
    s.take()
    items = [_deletable_or_try(s)]
    while s.kind == VARIABLE or s.ahead == "(" or s.at_word({"has", "links", "try"}):
        items.append(_deletable_or_try(s))
    return Delete(tuple(items), span=s.span(begin))


def _deletable_or_try(s: Scanner) -> Deletable | DeleteTry:
    begin = s.position
    if not s.accept("try"):
        return _deletable(s)
    s.expect("{")
    items = [_deletable(s)]
    while s.ahead != "}":
        items.append(_deletable(s))
    s.take()
    s.expect(";")
    return DeleteTry(tuple(items), span=s.span(begin))


def _deletable(s: Scanner) -> Deletable:
    begin = s.position
    marked = s.accept("has")
    if s.kind == VARIABLE:
        first = variable(s)
        if not marked and s.ahead != "of":
            s.expect(";", "'of' or ';'")
            return DeleteThing(first, span=s.span(begin))
        s.expect("of")
        owner = variable(s)
        s.expect(";")
        return DeleteHas(first, owner, span=s.span(begin))
    if marked:
        raise s.mismatch("a variable")
    s.accept("links")
    if s.ahead != "(":
        raise s.mismatch("a variable, 'has $attribute of $owner' or 'links (…) of $relation'")
    removed = players(s)
    s.expect("of")
    relation = variable(s)
    s.expect(";")
    return DeleteLinks(removed, relation, span=s.span(begin))


# Operators ---------------------------------------------------------------------------------------


def _of_variables(stage: Callable[..., Stage]) -> Callable[[Scanner], Stage]:
    """The rule of a stage that takes variables, such as `select $a, …;`."""

    def rule(s: Scanner) -> Stage:
        begin = s.position
        s.take()
        named = variables(s)
        s.expect(";", "',' or ';'")
        return stage(named, span=s.span(begin))

    return rule


def _sort(s: Scanner) -> Sort:
    begin = s.position
    s.take()
    keys = sequence(s, _sort_key, ";")
    s.expect(";", "'asc', 'desc', ',' or ';'")
    return Sort(keys, span=s.span(begin))


def _sort_key(s: Scanner) -> SortKey:
    begin = s.position
    by = variable(s)
    descending = s.at_word(_ORDERS) and s.take() == "desc"
    return SortKey(by, descending, span=s.span(begin))


def _of_count(stage: Callable[..., Stage]) -> Callable[[Scanner], Stage]:
    """The rule of a stage that takes a number, such as `limit 10;`."""

    def rule(s: Scanner) -> Stage:
        begin = s.position
        s.take()
        number = count(s)
        s.expect(";")
        return stage(number, span=s.span(begin))

    return rule


def _distinct(s: Scanner) -> Distinct:
    begin = s.position
    s.take()
    s.expect(";")
    return Distinct(span=s.span(begin))


def _reduce(s: Scanner) -> Reduce:
    begin = s.position
    s.take()
    reductions = sequence(s, _reduction, "groupby ;")
    groupby = variables(s) if s.accept("groupby") else ()
    s.expect(";", "',' or ';'" if groupby else "',', 'groupby' or ';'")
    return Reduce(reductions, groupby, span=s.span(begin))


def _reduction(s: Scanner) -> Reduction:
    begin = s.position
    to = target(s)
    s.expect("=")
    return Reduction(to, reducer(s), span=s.span(begin))


def reducer(s: Scanner) -> Reducer:
    """`count`, or `sum($x)` and its like."""
    begin = s.position
    if s.kind != WORD or s.ahead not in _REDUCERS:
        raise s.mismatch("a reducer (" + ", ".join(_REDUCERS) + ")")
    by = _REDUCERS[s.take()]
    if by == "count" and s.ahead != "(":
        return Reducer(by, span=s.span(begin))
    s.expect("(")
    over = variable(s)
    s.expect(")")
    return Reducer(by, over, span=s.span(begin))


STAGES: Final[dict[str, Callable[[Scanner], Stage]]] = {
    "match": _of_patterns(Match),
    "insert": _of_patterns(Insert),
    "put": _of_patterns(Put),
    "update": _of_patterns(Update),
    "delete": _delete,
    "select": _of_variables(Select),
    "sort": _sort,
    "offset": _of_count(Offset),
    "limit": _of_count(Limit),
    "require": _of_variables(Require),
    "distinct": _distinct,
    "reduce": _reduce,
}
