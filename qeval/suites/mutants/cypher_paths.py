"""Faults in the patterns of a Cypher query: direction, type, length, labels, and mixed-up ends."""

from collections.abc import Iterator, Sequence

from qeval.suites.mutants.cypher_changes import Change, Edit, Source, conjuncts, scene
from qeval.suites.mutants.cypher_graph import Graph
from qeval.suites.mutants.cypher_tree import Node


def path_changes(source: Source, graph: Graph) -> Iterator[Change]:
    """Relationships turned, of another type or longer, and subtypes widened."""
    for node, above in source.tree.walk():
        if node.kind == "rel":
            yield from _relationships(source, node, above, graph)
        elif (
            node.kind == "label"
            and node.word in graph.supertypes
            and not _is_told_otherwise(node, above, graph.owned[node.word])
        ):
            wider = graph.supertypes[node.word]
            account = f"{node.word} → {wider} in {source.line(scene(above) or above[-1])}"
            yield Change("subtype", account, ((node.start, node.end, wider),))
        elif node.kind == "label-and":
            yield from _fewer_labels(source, node, above, graph)


def _fewer_labels(
    source: Source, node: Node, above: Sequence[Node], graph: Graph
) -> Iterator[Change]:
    """`:User:PremiumUser` with the subtype's label dropped."""
    for index, label in enumerate(node.parts):
        if label.word in graph.supertypes:
            edit = (node.parts[index - 1].end, label.end, "")
            edit = edit if index else (label.start, node.parts[1].start, "")
            account = f"without {label.word} in {source.line(scene(above) or above[-1])}"
            yield Change("subtype", account, (edit,))


def _is_told_otherwise(label: Node, above: Sequence[Node], owned: frozenset[str]) -> bool:
    """Whether a condition that only the subtype's nodes can meet stands beside its label.

    It compares a property that no other node has, so widening the label changes nothing.
    """
    node = next((one for one in reversed(above) if one.kind == "node"), None)
    match = next((one for one in reversed(above) if one.kind == "match"), None)
    if node is None:
        return False
    entries = node.one("map")
    if entries is not None and any(entry.word in owned for entry in entries.parts):
        return True
    name = node.one("variable")
    where = match.one("where") if match else None
    if name is None or where is None or label.start > where.start:
        return False
    return any(
        operand.kind == "property" and operand.word in owned and operand.parts[0].word == name.word
        for condition, _ in conjuncts(where.parts[0])
        if condition.kind in ("comparison", "predicate") or condition.word == "IS NOT NULL"
        for operand in condition.parts
    )


def _relationships(
    source: Source, rel: Node, above: Sequence[Node], graph: Graph
) -> Iterator[Change]:
    path = above[-1]
    place = path.parts.index(rel)
    ends = path.parts[place - 1], path.parts[place + 1]
    around = Node("step", ends[0].start, ends[1].end)
    labels = rel.one("labels")
    types = list(labels.all("label")) if labels else []
    alike = not types or any(graph.alike(one.word) or one.word not in graph.ends for one in types)
    head, tail = rel.one("head"), rel.one("tail")
    assert head is not None
    assert tail is not None
    for first, last in _arrows(rel.word, undirected=alike):
        edits = [(head.start, head.end, first), (tail.start, tail.end, last)]
        yield source.replaced("direction", around, edits)
    for one in types:
        for other in graph.others(one.word):
            yield source.replaced("role", around, [(one.start, one.end, other)])
    somewhere = _only_exists(above) and (
        (rel is path.parts[1] and _is_any(ends[0], types, graph))
        or (rel is path.parts[-2] and _is_any(ends[1], types, graph))
    )
    grouped = any(node.kind == "group" for node in above)  # may hold no variable length
    for edit in _lengths(rel, longer=bool(types) and alike and not somewhere and not grouped):
        yield source.replaced("path-length", around, [edit])


def _only_exists(above: Sequence[Node]) -> bool:
    """Whether a path is asked for no more than that it exists."""
    if above[-1].kind == "pattern":
        return True
    kinds = ("subquery", "comprehension")
    holder = next((node for node in reversed(above) if node.kind in kinds), None)
    if holder is None or holder.word != "EXISTS":
        return False
    return all(clause.kind == "match" for clause in holder.parts[0].parts)


def _is_any(node: Node, types: Sequence[Node], graph: Graph) -> bool:
    """Whether a node says nothing that the type of its relationship doesn't say already."""
    if any(part.kind != "labels" for part in node.parts):
        return False
    known = {label for one in types for pair in graph.ends.get(one.word, ()) for label in pair}
    return all(label.word in known for label in node.all("label"))


def _arrows(word: str, *, undirected: bool) -> Iterator[tuple[str, str]]:
    """What a direction may become. Where the labels of its ends differ, `-` changes nothing."""
    if word == "->":
        yield "<-", "-"
    elif word == "<-":
        yield "-", "->"
    if word != "-" and undirected:
        yield "-", "-"


def _lengths(rel: Node, *, longer: bool) -> Iterator[Edit]:
    hops, quantifier = rel.one("hops"), rel.one("quantifier")
    if hops is not None:
        for least, most in _near(*hops.word.split("..")):
            exact = least == most and least
            yield hops.start, hops.end, f"*{least}" if exact else f"*{least}..{most}"
        yield hops.start, hops.end, ""
    elif quantifier is not None:
        for least, most in _near(*quantifier.word.split("..")):
            yield quantifier.start, quantifier.end, f"{{{least or 0},{most}}}"
    elif longer and rel.one("variable", "map", "where") is None:
        labels = rel.one("labels")
        assert labels is not None
        yield labels.end, labels.end, "*1..2"


def _near(least: str, most: str) -> Iterator[tuple[str, str]]:
    """Bounds by one lower or higher; a missing lower bound is 1."""
    low, high = int(least or 1), int(most) if most else None
    if least == most and least:
        yield from ((str(n), str(n)) for n in (low + 1, low - 1) if n > 0)
        return
    for other in (low + 1, low - 1):
        if other >= 0 and (high is None or other <= high):
            yield str(other), most
    if high is not None:
        yield from ((least, str(n)) for n in (high + 1, high - 1) if n >= low)
