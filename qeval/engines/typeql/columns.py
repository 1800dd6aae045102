"""Which columns the answer of a query has: an answer without rows or documents doesn't tell."""

from collections.abc import Iterable

from qeval.typeql.syntax import ast, parse_query
from qeval.typeql.syntax.literals import decode_string


def answer_columns(query: str) -> tuple[str, ...]:
    """The keys of a query's `fetch`, in its order; without one the variables it ends with, sorted.

    The query is one that a server accepts. None are told for `fetch { $x.* }`, whose keys depend
    on the schema, and often on the data. Raises `TypeQLError` for what is no TypeQL.
    """
    body = parse_query(query).body
    if not isinstance(body, ast.Pipeline):
        return ()
    if body.fetch is not None:
        shape = body.fetch.object
        entries = shape.entries if isinstance(shape, ast.FetchObject) else ()
        return tuple(dict.fromkeys(decode_string(entry.key.text) for entry in entries))
    visible: frozenset[str] = frozenset()
    for stage in body.stages:
        match stage:
            case ast.Match(ast.Conjunction(patterns)):
                visible |= _bound(patterns)
            case ast.Select(variables):
                visible = _names(variables)
            case ast.Reduce(reductions, groupby):
                visible = _names((*(item.target for item in reductions), *groupby))
    return tuple(sorted(visible))


def _bound(patterns: Iterable[ast.Pattern]) -> frozenset[str]:
    """The variables that patterns hand on: of an `or` what all branches have, none of a `not`."""
    found: frozenset[str] = frozenset()
    for pattern in patterns:
        match pattern:
            case ast.Negation():
                continue
            case ast.Try(ast.Conjunction(inner)) | ast.Conjunction(inner):
                found |= _bound(inner)
            case ast.Disjunction(branches):
                found |= frozenset.intersection(*(_bound(item.patterns) for item in branches))
            case _:
                found |= _names(node for node in pattern.walk() if isinstance(node, ast.Variable))
    return found


def _names(variables: Iterable[ast.Variable]) -> frozenset[str]:
    return frozenset(variable.name for variable in variables if variable.name is not None)
