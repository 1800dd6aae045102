"""Faults in what a Cypher query computes and returns: aggregates, DISTINCT, order, literals."""

from collections.abc import Iterator, Sequence
from decimal import InvalidOperation

from qeval.suites.mutants.cypher_changes import Change, Source, may_be_null, scene
from qeval.suites.mutants.cypher_conditions import is_never_null
from qeval.suites.mutants.cypher_tree import Node
from qeval.suites.mutants.near_literals import neighbours

_SWAPPED = {"sum": "avg", "avg": "sum", "min": "max", "max": "min"}
_OTHER_QUANTIFIER = {"ALL": "any", "ANY": "all", "SINGLE": "any"}


def value_changes(source: Source) -> Iterator[Change]:
    """Aggregates swapped, DISTINCT dropped, order turned, limits and literals changed."""
    optional = may_be_null(source.tree)
    for node, above in source.tree.walk():
        if node.kind == "call":
            yield from _aggregates(source, node, optional)
        elif node.kind == "quantified" and node.word in _OTHER_QUANTIFIER:
            edit = (node.start, node.start + len(node.word), _OTHER_QUANTIFIER[node.word])
            yield source.replaced("aggregate", node, [edit])
        elif node.kind == "distinct":
            yield _without_distinct(source, node, above[-1])
        elif node.kind == "union" and node.word == "DISTINCT":
            yield Change("distinct", "UNION → UNION ALL", ((node.start, node.end, "UNION ALL"),))
        elif node.kind == "sort":
            yield _turned(source, node)
        elif node.kind == "limit":
            yield from _limits(node)
        elif node.kind in ("number", "string", "boolean"):
            yield from _literals(source, node, above)


def _aggregates(source: Source, node: Node, optional: frozenset[str]) -> Iterator[Change]:
    written = node.start, node.start + len(node.word)
    if node.word in _SWAPPED:
        yield source.replaced("aggregate", node, [(*written, _SWAPPED[node.word])])
    elif node.word in ("percentilecont", "percentiledisc"):
        edit = (node.start, node.end, f"avg({source.of(node.parts[0])})")
        yield source.replaced("aggregate", node, [edit])
    elif node.word == "count" and len(node.parts) == 1:
        (counted,) = node.parts
        if counted.kind == "star" or (counted.kind == "name" and counted.word not in optional):
            return
        yield source.replaced("aggregate", node, [(counted.start, counted.end, "*")])


def _without_distinct(source: Source, node: Node, owner: Node) -> Change:
    after = owner.parts[1]
    edit = (node.start, after.start, "")
    if owner.kind == "call":
        return source.replaced("distinct", owner, [edit])
    return Change("distinct", f"{owner.word} without DISTINCT {source.line(after)}", (edit,))


def _turned(source: Source, node: Node) -> Change:
    value = source.of(node.parts[0])
    down = node.word == "DESC"
    account = "descending → ascending" if down else "ascending → descending"
    edit = (node.start, node.end, value if down else f"{value} DESC")
    return Change("sort", f"{source.line(node.parts[0])} {account}", (edit,))


def _limits(node: Node) -> Iterator[Change]:
    (count,) = node.parts
    if count.kind != "number":
        return
    for other in neighbours(count.word, is_string=False):
        if not other.startswith("-"):
            account = f"{node.word} {count.word} → {other}"
            yield Change("limit", account, ((count.start, count.end, other),))


def _literals(source: Source, node: Node, above: Sequence[Node]) -> Iterator[Change]:
    owner = above[-1]
    if owner.kind == "limit" or (owner.kind == "call" and owner.word.startswith("percentile")):
        return
    if owner.kind == "call" and owner.word == "coalesce" and is_never_null(owner.parts[0]):
        return
    around = scene(above) or node
    for text in _near(node):
        account = f"{source.line(node)} → {text} in {source.line(around)}"
        yield Change("literal", account, ((node.start, node.end, text),))


def _near(node: Node) -> Iterator[str]:
    if node.kind == "boolean":
        yield "false" if node.word == "TRUE" else "true"
    elif node.kind == "string":
        quote, content = node.word[0], node.word[1:-1]
        for text in neighbours(content, is_string=True):
            yield f"{quote}{text}{quote}"
    else:
        try:
            found = list(neighbours(node.word.replace("_", ""), is_string=False))
        except InvalidOperation:  # hexadecimal, octal
            return
        yield from (f"({text})" if text.startswith("-") else text for text in found)
