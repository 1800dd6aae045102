"""Keys dropped from the GROUP BY of a SQL query."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from qeval.suites.mutants.sql_names import Change, Names
from qeval.suites.mutants.sql_schema import DIALECT


def groupings(node: Any, names: Names) -> Iterator[Change]:
    """One key of a GROUP BY dropped.

    Left out are keys that the others decide, as nothing would change, and keys that the query
    returns or sorts by, as it would be refused.
    """
    from sqlglot import exp

    if not isinstance(node, exp.Group) or set(node.args) - {"expressions"}:
        return
    keys = node.expressions
    for place, key in enumerate(keys):
        rest = [*keys[:place], *keys[place + 1 :]]
        if not _decides(rest, key, names) and _is_grouped(node.parent, rest, names):
            less = f"GROUP BY {_listed(rest)}" if rest else "one group of all"
            yield "grouping", f"GROUP BY {_listed(keys)} → {less}", _dropping(place)


def _listed(keys: Sequence[Any]) -> str:
    return ", ".join(key.sql(DIALECT) for key in keys)


def _dropping(place: int) -> Callable[[Any], None]:
    def edit(group: Any) -> None:
        del group.expressions[place]
        if not group.expressions:
            group.pop()

    return edit


def _by_alias(keys: Sequence[Any], names: Names) -> Mapping[str, frozenset[str]]:
    """The columns among the keys, by the alias of their table."""
    from sqlglot import exp

    found: dict[str, frozenset[str]] = {}
    for key in keys:
        if isinstance(key, exp.Column):
            alias = names.alias_of(key)
            found[alias] = found.get(alias, frozenset()) | {key.name}
    return found


def _decides(keys: Sequence[Any], key: Any, names: Names) -> bool:
    """Whether rows that are equal in `keys` are equal in `key`, as its table has a key in them."""
    alias = next(iter(_by_alias([key], names)), "")
    same = _by_alias(keys, names).get(alias, frozenset())
    return names.shape.identifies(names.tables.get(alias, ""), same)


def _is_grouped(select: Any, keys: Sequence[Any], names: Names) -> bool:
    """Whether PostgreSQL takes all that stands beside aggregates for grouped by these keys."""
    from sqlglot import exp

    parts = [*select.expressions, *filter(None, map(select.args.get, ("having", "order")))]
    if not keys and not any(part.find(exp.AggFunc) for part in parts):
        return True  # nothing is aggregated, so nothing needs a group
    outputs = {item.alias for item in select.expressions if item.alias}
    written = {key.sql(DIALECT) for key in keys}
    whole = {
        alias
        for alias, columns in _by_alias(keys, names).items()
        if names.shape.has_key(names.tables.get(alias, ""), columns)
    }
    return all(
        names.alias_of(column) in whole or (not column.table and column.name in outputs)
        for part in parts
        for column in _loose(part, written)
    )


def _loose(node: Any, keys: set[str]) -> Iterator[Any]:
    """The columns in an expression that neither a key nor an aggregate holds."""
    from sqlglot import exp

    if node.sql(DIALECT) in keys or isinstance(node, exp.AggFunc | exp.WithinGroup | exp.Filter):
        return
    if isinstance(node, exp.Column):
        yield node
    for child in node.iter_expressions():
        # The function of a window is applied to what is grouped already.
        inner = isinstance(node, exp.Window) and child is node.this
        for part in child.iter_expressions() if inner else (child,):
            yield from _loose(part, keys)
