"""Faults in the conditions of a Cypher query."""

from collections.abc import Iterator, Sequence

from qeval.suites.mutants.cypher_changes import Change, Edit, Source, bare, dropped
from qeval.suites.mutants.cypher_tree import Node
from qeval.suites.mutants.near_literals import MOVED, TURNED

_TURNED = TURNED | {
    "=": "<>", "<>": "=",
    "STARTS WITH": "CONTAINS", "ENDS WITH": "CONTAINS", "CONTAINS": "STARTS WITH",
}  # fmt: skip
_NEVER_NULL = frozenset({"count", "sum", "collect", "exists"})


def condition_changes(source: Source) -> Iterator[Change]:
    """Comparisons turned, boundaries moved, conditions and checks for null dropped, NOT removed."""
    for node, above in source.tree.walk():
        if node.kind in ("comparison", "predicate"):
            yield from _comparisons(source, node)
        elif node.kind in ("and", "or", "xor"):
            yield from _operands(source, node)
        elif node.kind in ("where", "condition"):
            yield from _whole(source, node, above)
        elif node.kind == "map" and above[-1].kind in ("node", "rel"):
            yield from _entries(source, node, above[-1])
        elif node.kind == "call" and node.word == "coalesce":
            yield from _defaults(source, node)
        else:
            yield from _negations(source, node, above)


def _comparisons(source: Source, node: Node) -> Iterator[Change]:
    for part in node.parts:
        if part.kind != "operator":
            continue
        if part.word in _TURNED:
            edit = (part.start, part.end, _TURNED[part.word])
            yield source.replaced("comparison", node, [edit])
        if part.word in MOVED:
            edit = (part.start, part.end, MOVED[part.word])
            yield source.replaced("boundary", node, [edit])


def _operands(source: Source, node: Node) -> Iterator[Change]:
    for index, part in enumerate(node.parts):
        yield _without(source, part, dropped(node.parts, index))


def _without(source: Source, condition: Node, edit: Edit) -> Change:
    inner = bare(condition)
    checked = bare(inner.parts[0]) if inner.kind == "not" else inner
    account = f"without {source.line(inner)}"
    return Change("null-check" if checked.kind == "null-check" else "filter", account, (edit,))


def _whole(source: Source, node: Node, above: Sequence[Node]) -> Iterator[Change]:
    """A condition on its own; one of several operands is dropped as such."""
    (condition,) = node.parts
    if bare(condition).kind in ("and", "or", "xor"):
        return
    if node.kind == "condition" and above[-1].kind != "comprehension":
        return  # all(x IN xs WHERE …) can't do without
    yield _without(source, condition, (node.start, node.end, ""))


def _entries(source: Source, node: Node, owner: Node) -> Iterator[Change]:
    for index, entry in enumerate(node.parts):
        whole = len(node.parts) == 1
        edit = (node.start, node.end, "") if whole else dropped(node.parts, index)
        account = f"without {source.line(entry)} of {source.line(owner)}"
        yield Change("filter", account, (edit,))


def _defaults(source: Source, node: Node) -> Iterator[Change]:
    first = node.parts[0]
    if is_never_null(first):
        return
    edit = (node.start, node.end, source.of(first))
    yield source.replaced("null-check", node, [edit])


def is_never_null(node: Node) -> bool:
    """Whether an expression always has a value: aggregates that begin with 0 or the empty list."""
    return (node.kind == "call" and node.word in _NEVER_NULL) or (
        node.kind == "subquery" and node.word in ("COUNT", "COLLECT", "EXISTS")
    )


def _negations(source: Source, node: Node, above: Sequence[Node]) -> Iterator[Change]:
    if node.kind == "not" and above[-1].kind != "not":
        edit = (node.start, node.end, source.of(node.parts[0]))
        yield source.replaced("negation", node, [edit])
    elif node.kind == "null-check" and node.word == "IS NOT NULL":
        edit = (node.start, node.end, f"{source.of(node.parts[0])} IS NULL")
        yield source.replaced("negation", node, [edit])
    elif node.kind == "label-not":
        edit = (node.start, node.end, source.of(node.parts[0]))
        yield source.replaced("negation", above[-1], [edit])
    elif node.kind == "quantified" and node.word == "NONE":
        yield source.replaced("negation", node, [(node.start, node.start + 4, "any")])
