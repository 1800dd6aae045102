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


def _match(s: Scanner) -> Match:
    begin = s.position
    s.take()
    return Match(patterns(s), span=s.span(begin))


def _insert(s: Scanner) -> Insert:
    begin = s.position
    s.take()
    return Insert(patterns(s), span=s.span(begin))


def _put(s: Scanner) -> Put:
    begin = s.position
    s.take()
    return Put(patterns(s), span=s.span(begin))


def _update(s: Scanner) -> Update:
    begin = s.position
    s.take()
    return Update(patterns(s), span=s.span(begin))


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


def _select(s: Scanner) -> Select:
    begin = s.position
    s.take()
    chosen = variables(s)
    s.expect(";", "',' or ';'")
    return Select(chosen, span=s.span(begin))


def _require(s: Scanner) -> Require:
    begin = s.position
    s.take()
    required = variables(s)
    s.expect(";", "',' or ';'")
    return Require(required, span=s.span(begin))


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


def _offset(s: Scanner) -> Offset:
    begin = s.position
    s.take()
    skipped = count(s)
    s.expect(";")
    return Offset(skipped, span=s.span(begin))


def _limit(s: Scanner) -> Limit:
    begin = s.position
    s.take()
    kept = count(s)
    s.expect(";")
    return Limit(kept, span=s.span(begin))


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
    "match": _match,
    "insert": _insert,
    "put": _put,
    "update": _update,
    "delete": _delete,
    "select": _select,
    "sort": _sort,
    "offset": _offset,
    "limit": _limit,
    "require": _require,
    "distinct": _distinct,
    "reduce": _reduce,
}
