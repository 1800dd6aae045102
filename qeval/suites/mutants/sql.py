"""Mutants of PostgreSQL golds, made on sqlglot's syntax tree."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from qeval.suites.mutants.base import Mutant, Operator
from qeval.suites.mutants.near_literals import neighbours
from qeval.suites.mutants.sql_joins import outer_is_the_same
from qeval.suites.mutants.sql_schema import Names, Shape, read_shape

_DIALECT = "postgres"

Change = tuple[Operator, str, Callable[[Any], None]]
"""Operator, what it does in words, and the edit, given the same node in a copy of the tree."""


def mutants(query: str, schema: str, mapping: Mapping[str, Any] | None = None) -> Iterator[Mutant]:
    """Near misses of a SELECT. `schema` (DDL) tells which columns are roles and subtypes."""
    del mapping
    import sqlglot

    tree: Any = sqlglot.parse_one(query, read=_DIALECT)
    shape = read_shape(schema)
    nodes = list(tree.walk())
    names = Names.of(tree, shape)
    for place, node in enumerate(nodes):
        for operator, change, edit in _changes(node, shape, names):
            copy = tree.copy()
            twin = next(found for index, found in enumerate(copy.walk()) if index == place)
            edit(twin)
            yield Mutant(operator, change, copy.sql(_DIALECT, pretty=True))
    for table, alias, change, rename in names.whole_reference_changes(shape):
        copy = tree.copy()
        rename(copy, alias)
        yield Mutant("direction" if change.startswith(table) else "subtype", change,
                     copy.sql(_DIALECT, pretty=True))  # fmt: skip


def _changes(node: Any, shape: Shape, names: Names) -> Iterator[Change]:
    yield from _comparisons(node)
    yield from _conditions(node)
    yield from _selections(node, shape, names)
    yield from _aggregates(node)
    yield from _literals(node)
    yield from _directions(node, shape, names)


def _sql(node: Any) -> str:
    return str(node.sql(_DIALECT))


def _swap(node: Any, kind: Any) -> Callable[[Any], None]:
    """Replace a binary node by one of another kind with the same operands."""

    def edit(twin: Any) -> None:
        twin.replace(kind(this=twin.this.copy(), expression=twin.expression.copy()))

    del node
    return edit


def _comparisons(node: Any) -> Iterator[Change]:
    from sqlglot import exp

    turned = {exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE,
              exp.EQ: exp.NEQ, exp.NEQ: exp.EQ}  # fmt: skip
    moved = {exp.LT: exp.LTE, exp.LTE: exp.LT, exp.GT: exp.GTE, exp.GTE: exp.GT}
    operators: tuple[tuple[Operator, Any], ...] = (("comparison", turned), ("boundary", moved))
    for operator, kinds in operators:
        kind = kinds.get(type(node))
        if kind is not None:
            other = kind(this=node.this.copy(), expression=node.expression.copy())
            yield operator, f"{_sql(node)} → {_sql(other)}", _swap(node, kind)


def _conditions(node: Any) -> Iterator[Change]:
    """Dropped conditions and NULL checks, removed negations."""
    from sqlglot import exp

    if isinstance(node, exp.And | exp.Or):
        for dropped, kept in (("this", "expression"), ("expression", "this")):
            if not isinstance(node.args[dropped], exp.And | exp.Or):
                yield _drop(node.args[dropped], kept)
    elif isinstance(node, exp.Where | exp.Having) and not isinstance(node.this, exp.And | exp.Or):
        operator: Operator = "null-check" if _is_null_check(node.this) else "filter"
        yield operator, f"without {_sql(node.this)}", lambda twin: twin.pop()
    elif isinstance(node, exp.Not):
        if isinstance(node.parent, exp.Not):
            return
        yield (
            "negation",
            f"{_sql(node)} → {_sql(node.this)}",
            lambda twin: twin.replace(twin.this.copy()),
        )
    elif isinstance(node, exp.Coalesce):
        yield (
            "null-check",
            f"{_sql(node)} → {_sql(node.this)}",
            lambda twin: twin.replace(twin.this.copy()),
        )


def _drop(condition: Any, kept: str) -> Change:
    bare = condition.unnest()
    operator: Operator = "null-check" if _is_null_check(bare) else "filter"
    return operator, f"without {_sql(bare)}", lambda twin: twin.replace(twin.args[kept].copy())


def _is_null_check(condition: Any) -> bool:
    from sqlglot import exp

    inner = condition.this if isinstance(condition, exp.Not) else condition
    return isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null)


def _selections(node: Any, shape: Shape, names: Names) -> Iterator[Change]:
    """DISTINCT, kinds of joins, directions of sorting, limits."""
    from sqlglot import exp

    if isinstance(node, exp.Select) and node.args.get("distinct"):
        first = _sql(node.expressions[0])
        yield (
            "distinct",
            f"SELECT without DISTINCT {first}",
            lambda twin: twin.set("distinct", None),
        )
    elif isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        inner = node.this.expressions[0]
        yield (
            "distinct",
            f"{_sql(node)} → COUNT({_sql(inner)})",
            lambda twin: twin.set("this", twin.this.expressions[0].copy()),
        )
    elif isinstance(node, exp.Union) and node.args.get("distinct"):
        yield "distinct", "UNION → UNION ALL", lambda twin: twin.set("distinct", value=False)
    elif isinstance(node, exp.Join) and node.args.get("on"):
        outer = node.args.get("side") == "LEFT"
        if not outer and outer_is_the_same(node, shape, names):
            return
        yield (
            "join",
            f"{_sql(node).split(' ON ')[0]} {'→ inner' if outer else '→ outer'}",
            lambda twin: twin.set("side", None if outer else "LEFT"),
        )
    elif isinstance(node, exp.Ordered):
        down = bool(node.args.get("desc"))
        yield (
            "sort",
            f"{_sql(node.this)} {'descending → ascending' if down else 'ascending → descending'}",
            _turn_sorting,
        )
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
    kind = swaps.get(type(node))
    if kind is not None:
        other = kind(this=node.this.copy())
        yield (
            "aggregate",
            f"{_sql(node)} → {_sql(other)}",
            lambda twin: twin.replace(kind(this=twin.this.copy())),
        )
    elif isinstance(node, exp.Count) and not isinstance(node.this, exp.Star | exp.Distinct):
        yield "aggregate", f"{_sql(node)} → COUNT(*)", lambda twin: twin.set("this", exp.Star())
    elif isinstance(node, exp.WithinGroup):
        ordered = node.expression.expressions[0].this
        yield (
            "aggregate",
            f"{_sql(node)} → AVG({_sql(ordered)})",
            lambda twin: twin.replace(exp.Avg(this=twin.expression.expressions[0].this.copy())),
        )


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


def _directions(node: Any, shape: Shape, names: Names) -> Iterator[Change]:
    """One reference to a role read as the other, and a self-reference walked the other way."""
    from sqlglot import exp

    if isinstance(node, exp.Column):
        other = shape.roles.get((names.table_of(node), node.name))
        if other is not None:
            name = other
            yield (
                "role",
                f"{_scene(node)}: {_sql(node)} → {name}",
                lambda twin: twin.set("this", exp.to_identifier(name)),
            )
    elif isinstance(node, exp.EQ):
        left, right = node.this, node.expression
        if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
            return
        tables = {names.table_of(left), names.table_of(right)}
        if len(tables) == 1 and left.name != right.name and shape.refers(tables, left, right):
            yield "direction", f"{_sql(node)} → the other way", _turn


def _turn(twin: Any) -> None:
    left, right = twin.this, twin.expression
    first, second = left.this.copy(), right.this.copy()
    left.set("this", second)
    right.set("this", first)


def _scene(node: Any) -> str:
    """The smallest condition or clause that a column stands in."""
    from sqlglot import exp

    scene = node.parent
    while scene is not None and not isinstance(
        scene, exp.Predicate | exp.Select | exp.Group | exp.AggFunc
    ):
        scene = scene.parent
    if isinstance(scene, exp.Select):
        return "SELECT"
    return "GROUP BY" if isinstance(scene, exp.Group) else _sql(scene)
