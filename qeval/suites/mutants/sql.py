"""Mutants of PostgreSQL golds, made on sqlglot's syntax tree."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from qeval.suites.mutants.base import Mutant, Operator
from qeval.suites.mutants.near_literals import neighbours
from qeval.suites.mutants.sql_grouping import groupings
from qeval.suites.mutants.sql_joins import outer_is_the_same
from qeval.suites.mutants.sql_names import Change, Names, whole_table_changes
from qeval.suites.mutants.sql_schema import DIALECT, read_shape


def mutants(query: str, schema: str, mapping: Mapping[str, Any] | None = None) -> Iterator[Mutant]:
    """Near misses of a SELECT. `schema` (DDL) tells references, subtypes, keys and types."""
    del mapping
    import sqlglot

    tree: Any = sqlglot.parse_one(query, read=DIALECT)
    names = Names.of(tree, read_shape(schema))
    for place, node in enumerate(list(tree.walk())):
        for operator, change, edit in _changes(node, names):
            copy = tree.copy()
            edit(next(found for index, found in enumerate(copy.walk()) if index == place))
            yield Mutant(operator, change, copy.sql(DIALECT, pretty=True))
    for operator, change, edit in whole_table_changes(names):
        copy = tree.copy()
        edit(copy)
        yield Mutant(operator, change, copy.sql(DIALECT, pretty=True))


def _changes(node: Any, names: Names) -> Iterator[Change]:
    yield from _comparisons(node)
    yield from _conditions(node)
    yield from _selections(node, names)
    yield from _aggregates(node)
    yield from _literals(node)
    yield from _directions(node, names)
    yield from groupings(node, names)


def _sql(node: Any) -> str:
    return str(node.sql(DIALECT))


def _replaced(operator: Operator, node: Any, make: Callable[[Any], Any]) -> Change:
    """A change of a node into what `make` makes of it."""
    return (
        operator,
        f"{_sql(node)} → {_sql(make(node))}",
        lambda twin: twin.replace(make(twin)),
    )


def _as(kind: Any) -> Callable[[Any], Any]:
    """A node of another kind with the same operands."""
    operands = ("this", "expression")
    return lambda node: kind(**{name: node.args[name].copy() for name in operands
                                if name in node.args})  # fmt: skip


def _operand(node: Any) -> Any:
    return node.this.copy()


def _comparisons(node: Any) -> Iterator[Change]:
    from sqlglot import exp

    turned = {exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE,
              exp.EQ: exp.NEQ, exp.NEQ: exp.EQ}  # fmt: skip
    moved = {exp.LT: exp.LTE, exp.LTE: exp.LT, exp.GT: exp.GTE, exp.GTE: exp.GT}
    if type(node) in turned:
        yield _replaced("comparison", node, _as(turned[type(node)]))
    if type(node) in moved:
        yield _replaced("boundary", node, _as(moved[type(node)]))


def _conditions(node: Any) -> Iterator[Change]:
    """Dropped conditions and NULL checks, removed negations."""
    from sqlglot import exp

    if isinstance(node, exp.And | exp.Or):
        for dropped, kept in (("this", "expression"), ("expression", "this")):
            if not isinstance(node.args[dropped], exp.And | exp.Or):
                yield _without(node.args[dropped].unnest(), _put_part(kept))
    elif isinstance(node, exp.Where | exp.Having) and not isinstance(node.this, exp.And | exp.Or):
        yield _without(node.this, lambda twin: twin.pop())
    elif isinstance(node, exp.Not) and not isinstance(node.parent, exp.Not):
        yield _replaced("negation", node, _operand)
    elif isinstance(node, exp.Coalesce):
        yield _replaced("null-check", node, _operand)


def _put_part(kept: str) -> Callable[[Any], None]:
    return lambda twin: twin.replace(twin.args[kept].copy())


def _without(condition: Any, edit: Callable[[Any], None]) -> Change:
    from sqlglot import exp

    inner = condition.this if isinstance(condition, exp.Not) else condition
    is_check = isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null)
    return "null-check" if is_check else "filter", f"without {_sql(condition)}", edit


def _selections(node: Any, names: Names) -> Iterator[Change]:
    """DISTINCT, kinds of joins, directions of sorting, limits."""
    from sqlglot import exp

    if isinstance(node, exp.Select) and node.args.get("distinct"):
        change = f"SELECT without DISTINCT {_sql(node.expressions[0])}"
        yield "distinct", change, lambda twin: twin.set("distinct", None)
    elif isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        yield _replaced(
            "distinct", node, lambda one: exp.Count(this=one.this.expressions[0].copy())
        )
    elif isinstance(node, exp.Union) and node.args.get("distinct"):
        yield "distinct", "UNION → UNION ALL", lambda twin: twin.set("distinct", value=False)
    elif isinstance(node, exp.Join) and node.args.get("on"):
        outer = node.args.get("side") == "LEFT"
        if outer or not outer_is_the_same(node, names):
            change = f"{_sql(node).split(' ON ')[0]} {'→ inner' if outer else '→ outer'}"
            yield "join", change, lambda twin: twin.set("side", None if outer else "LEFT")
    elif isinstance(node, exp.Ordered):
        turn = "descending → ascending" if node.args.get("desc") else "ascending → descending"
        yield "sort", f"{_sql(node.this)} {turn}", _turn_sorting
    elif isinstance(node, exp.Fetch):
        count = int(node.args["count"].this)
        for other in (count + 1, count - 1):
            yield "limit", f"{count} → {other}", _set_count(other)


def _turn_sorting(twin: Any) -> None:
    """Missing values go along: last when ascending, first when descending, as PostgreSQL does."""
    down = bool(twin.args.get("desc"))
    twin.set("desc", not down)
    twin.set("nulls_first", not down)


def _set_count(count: int) -> Callable[[Any], None]:
    def edit(twin: Any) -> None:
        from sqlglot import exp

        twin.set("count", exp.Literal.number(count))

    return edit


def _aggregates(node: Any) -> Iterator[Change]:
    from sqlglot import exp

    swaps = {exp.Sum: exp.Avg, exp.Avg: exp.Sum, exp.Min: exp.Max, exp.Max: exp.Min}
    if type(node) in swaps:
        yield _replaced("aggregate", node, _as(swaps[type(node)]))
    elif isinstance(node, exp.Count) and not isinstance(node.this, exp.Star | exp.Distinct):
        yield _replaced("aggregate", node, lambda _: exp.Count(this=exp.Star()))
    elif isinstance(node, exp.WithinGroup):
        yield _replaced("aggregate", node, lambda one: exp.Avg(this=_sorted_by(one)))


def _sorted_by(within_group: Any) -> Any:
    """What a percentile is taken of."""
    return within_group.expression.expressions[0].this.copy()


def _literals(node: Any) -> Iterator[Change]:
    from sqlglot import exp

    if not isinstance(node, exp.Literal) or isinstance(node.parent, exp.Fetch):
        return
    if isinstance(node.parent, exp.Select | exp.PercentileCont):
        return  # SELECT 1 inside EXISTS and the fraction of a median
    if not node.is_string and isinstance(node.parent, exp.Coalesce):
        return
    for text in neighbours(str(node.this), is_string=node.is_string):
        new = exp.Literal.string(text) if node.is_string else exp.Literal.number(text)
        scene = node.parent if isinstance(node.parent, exp.Predicate) else node
        yield "literal", f"{_sql(node)} → {_sql(new)} in {_sql(scene)}", _put(new)


def _put(new: Any) -> Callable[[Any], None]:
    return lambda twin: twin.replace(new.copy())


def _directions(node: Any, names: Names) -> Iterator[Change]:
    """One reference to a role read as the other, and a self-reference walked the other way."""
    from sqlglot import exp

    if isinstance(node, exp.Column):
        other = names.shape.other_role(names.table_of(node), node.name)
        if other is not None:
            change = f"{_scene(node)}: {_sql(node)} → {other}"
            yield "role", change, lambda twin: twin.set("this", exp.to_identifier(other))
    elif isinstance(node, exp.EQ):
        left, right = node.this, node.expression
        if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
            return
        table = names.table_of(left)
        if table == names.table_of(right) and names.shape.refers_to_itself(
            table, left.name, right.name
        ):
            yield "direction", f"{_sql(node)} → the other way", _turn


def _turn(twin: Any) -> None:
    left, right = twin.this, twin.expression
    first, second = left.this.copy(), right.this.copy()
    left.set("this", second)
    right.set("this", first)


def _scene(node: Any) -> str:
    """The smallest condition or clause that a column stands in."""
    from sqlglot import exp

    scene = node.find_ancestor(exp.Predicate, exp.Select, exp.Group, exp.AggFunc)
    if isinstance(scene, exp.Select):
        return "SELECT"
    return "GROUP BY" if isinstance(scene, exp.Group) else _sql(scene)
