"""Inner joins that an outer join in their place provably equals."""

from collections.abc import Iterator
from typing import Any

from qeval.suites.mutants.sql_names import Names


def outer_is_the_same(join: Any, names: Names) -> bool:
    """Whether LEFT JOIN instead of JOIN can't change the result.

    So it is when every row finds a partner (a mandatory foreign key leads to its key), or when
    the rows without partner are thrown away anyhow, as WHERE or the condition of a later inner
    join is not true where a column of the joined table is missing.
    """
    return _always_matches(join, names) or _unmatched_are_dropped(join)


def _always_matches(join: Any, names: Names) -> bool:
    from sqlglot import exp

    condition = join.args["on"]
    if not isinstance(condition, exp.EQ):
        return False
    for key, reference in (
        (condition.this, condition.expression),
        (condition.expression, condition.this),
    ):
        if not (isinstance(key, exp.Column) and isinstance(reference, exp.Column)):
            return False
        if key.table != join.this.alias_or_name:
            continue
        found = names.shape.columns(names.table_of(reference)).get(reference.name)
        leads = found is not None and found.is_required and found.target == (
            names.table_of(key), key.name)  # fmt: skip
        if leads and not _is_outer(reference, join):
            return True
    return False


def _is_outer(column: Any, join: Any) -> bool:
    """Whether the column's own table is joined by an outer join, so that it may be missing."""
    return any(
        other.args.get("side") == "LEFT" and other.this.alias_or_name == column.table
        for other in join.parent.args.get("joins", ())
    )


def _unmatched_are_dropped(join: Any) -> bool:
    select = join.parent
    alias = join.this.alias_or_name
    where = select.args.get("where")
    if where is not None and any(_rejects(part, alias) for part in _parts(where.this)):
        return True
    joins = select.args["joins"]
    later = joins[next(n for n, other in enumerate(joins) if other is join) + 1 :]
    return any(
        other.args.get("side") != "LEFT" and other.args.get("on") is not None
        and any(_rejects(part, alias) for part in _parts(other.args["on"]))
        for other in later
    )  # fmt: skip


def _parts(condition: Any) -> Iterator[Any]:
    """The conditions that must all hold."""
    from sqlglot import exp

    yield from condition.flatten() if isinstance(condition, exp.And) else (condition.unnest(),)


def _rejects(condition: Any, alias: str) -> bool:
    """Whether a condition is never true when the columns of `alias` are missing."""
    from sqlglot import exp

    if isinstance(condition, exp.Column):
        return bool(condition.table == alias)
    if isinstance(condition, exp.Or):
        sides = (condition.this.unnest(), condition.expression.unnest())
        return all(_rejects(side, alias) for side in sides)
    comparisons = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.In)
    if not isinstance(condition, comparisons):
        return isinstance(condition, exp.Not) and _rejects_negated(condition.this, alias)
    operands = (condition.this, condition.args.get("expression"))
    return any(isinstance(side, exp.Column) and side.table == alias for side in operands)


def _rejects_negated(condition: Any, alias: str) -> bool:
    from sqlglot import exp

    if isinstance(condition, exp.Is):
        column = condition.this
        return isinstance(column, exp.Column) and column.table == alias
    return isinstance(condition, exp.In | exp.Column) and _rejects(condition, alias)
