"""The ends of a relationship mixed up: one reference to a variable read as the other end's."""

from collections.abc import Iterator, Mapping

from qeval.suites.mutants.cypher_changes import Change, Source, may_be_null, scene
from qeval.suites.mutants.cypher_graph import Graph
from qeval.suites.mutants.cypher_tree import Node


def end_changes(source: Source, graph: Graph) -> Iterator[Change]:
    """For relationships between nodes of one label, each use of either end in turn.

    A use counts in the conditions behind the pattern and in the WITH or RETURN that ends its
    part of the query, where both ends are known.
    """
    optional = may_be_null(source.tree)
    for query in source.tree.all("query"):
        twins: dict[str, set[str]] = {}
        for clause in query.parts:
            if clause.kind in ("match", "projection"):
                for path in clause.parts:
                    if path.kind == "path":
                        _add_twins(path, graph, twins)
                yield from _uses(source, clause, twins, optional)
            if clause.kind != "match":
                twins = {}


def _add_twins(path: Node, graph: Graph, twins: dict[str, set[str]]) -> None:
    for before, rel, after in zip(path.parts, path.parts[1:], path.parts[2:], strict=False):
        labels = rel.one("labels")
        if rel.kind != "rel" or labels is None:
            continue
        first, second = before.one("variable"), after.one("variable")
        if first is None or second is None or first.word == second.word:
            continue
        if any(graph.alike(one.word) for one in labels.all("label")):
            twins.setdefault(first.word, set()).add(second.word)
            twins.setdefault(second.word, set()).add(first.word)


def _uses(
    source: Source, clause: Node, twins: Mapping[str, set[str]], optional: frozenset[str]
) -> Iterator[Change]:
    for part in clause.parts:
        if part.kind not in ("where", "item") or (part.kind == "where" and clause.kind != "match"):
            continue
        for node, above in part.walk((clause,)):
            if node.kind not in ("name", "variable"):
                continue
            for other in sorted(twins.get(node.word, ())):
                if _is_count(above[-1]) and not {node.word, other} & optional:
                    continue  # every row counts once, by either end
                kept = node.word if above[-1].kind == "item" and part.parts[0] is node else ""
                bare = kept and source.line(part) == kept
                new = f"{other} AS {kept}" if bare else other
                around = scene(above) or above[-1]
                account = f"{source.line(around)}: {node.word} → {other}"
                yield Change("role", account, ((node.start, node.end, new),))


def _is_count(node: Node) -> bool:
    return node.kind == "call" and node.word == "count" and node.one("distinct") is None
