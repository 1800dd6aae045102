"""Faults in how the patterns of a Cypher query are joined: MATCH, OPTIONAL MATCH, EXISTS."""

from collections.abc import Iterator

from qeval.suites.mutants.cypher_changes import Change, Edit, Source, bare, conjuncts
from qeval.suites.mutants.cypher_tree import Node


def join_changes(source: Source) -> Iterator[Change]:
    """Mandatory and optional patterns swapped, and existence made a join."""
    for query, above in source.tree.walk():
        if query.kind != "query":
            continue
        joined = not any(node.kind == "subquery" and node.word != "CALL" for node in above)
        known: set[str] = set()
        first = True
        for clause in query.parts:
            if clause.kind == "match":
                yield from _swapped(source, clause, known)
                if joined:
                    yield from _split(source, clause) if first else ()
                    yield from _existence(source, clause)
            known = _known(clause, known)
            first = clause.kind == "union"


def _known(clause: Node, before: set[str]) -> set[str]:
    """The names that can be used behind a clause."""
    if clause.kind == "union":
        return set()
    if clause.kind == "projection" and clause.one("star") is None:
        return {part.word for part in clause.parts if part.kind == "item"}
    return before | {node.word for node in clause.all("variable", "item", "unwind", "yield")}


def _head(source: Source, clause: Node) -> str:
    """A MATCH as far as its patterns go."""
    last = [part for part in clause.parts if part.kind == "path"][-1]
    return " ".join(source.text[clause.start : last.end].split())


def _swapped(source: Source, clause: Node, known: set[str]) -> Iterator[Change]:
    """Only a MATCH that goes on from what is known can be mistaken for an optional one."""
    head = _head(source, clause)
    names = {part.word for path in clause.parts if path.kind == "path"
             for part in path.all("variable")}  # fmt: skip
    if clause.word == "MATCH" and names & known:
        edit = (clause.start, clause.start, "OPTIONAL ")
        yield Change("join", f"{head} → OPTIONAL", (edit,))
    elif clause.word == "OPTIONAL MATCH":
        bare_start = clause.start + source.of(clause).upper().index("MATCH")
        yield Change("join", f"{head} → MATCH", ((clause.start, bare_start, ""),))
        where = clause.one("where")
        if where is not None:
            account = f"{head}: {source.line(where)} → afterwards"
            yield Change("join", account, ((where.start, where.start, "WITH * "),))


def _split(source: Source, clause: Node) -> Iterator[Change]:
    """Keep one end of the first path and make the rest optional, as an outer join does."""
    paths = [part for part in clause.parts if part.kind == "path"]
    if clause.word != "MATCH" or len(paths) > 1 or paths[0].word:
        return
    elements = paths[0].parts
    if len(elements) == 1 or any(part.kind not in ("node", "rel") for part in elements):
        return
    for end in (elements[0], elements[-1]):
        name, labels = end.one("variable"), end.one("labels")
        elsewhere = [part for part in elements if part.kind == "node" and part is not end]
        if name is None or labels is None:
            continue
        if any(one.word == name.word for part in elsewhere for one in part.all("variable")):
            continue
        edits = (
            (clause.start, clause.start, f"MATCH {source.of(end)}\nOPTIONAL "),
            (end.start, end.end, f"({name.word})"),
        )
        account = f"{_head(source, clause)} → optional but for {source.line(end)}"
        yield Change("join", account, edits)


def _existence(source: Source, clause: Node) -> Iterator[Change]:
    """A pattern that must exist joined instead: a row for each of its matches."""
    where = clause.one("where")
    if where is None or clause.word != "MATCH":
        return
    for part, drop in conjuncts(where.parts[0]):
        inner = _pattern_text(source, bare(part))
        if inner is None:
            continue
        start, end, _ = drop or (where.start, where.end, "")
        edits: tuple[Edit, ...] = (start, end, ""), (clause.end, clause.end, f"\nMATCH {inner}")
        if end == clause.end:  # two edits at one place: make them one
            edits = ((start, end, f"\nMATCH {inner}"),)
        yield Change("join", f"{source.line(part)} → MATCH", edits)


def _pattern_text(source: Source, node: Node) -> str | None:
    if node.kind == "pattern":
        return source.of(node)
    if node.kind != "subquery" or node.word != "EXISTS":
        return None
    clauses = node.parts[0].parts
    if len(clauses) != 1 or clauses[0].kind != "match":
        return None
    return source.text[clauses[0].parts[0].start : clauses[0].end]
