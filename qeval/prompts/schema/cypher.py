"""Graph schemas: `patterns` as people draw them, `properties` as lists.

Read from lines `(:Label {name: TYPE, [optional: TYPE]})` and `(:From)-[:TYPE {…}]->(:To)`, each
with an optional `// comment`; other lines are headings and notes.
"""

import re
from dataclasses import replace

from qeval.prompts.schema.model import Item, SchemaDocument, both_ways

_NODE = re.compile(r"^\((?P<labels>(?::\w+)+)\s*(?:\{(?P<props>.*)\})?\)\s*(?://\s*(?P<note>.*))?$")
_EDGE = re.compile(
    r"^\(:(?P<start>\w+)\)-\[:(?P<type>\w+)\s*(?:\{(?P<props>.*)\})?\]->\(:(?P<end>\w+)\)"
    r"\s*(?://\s*(?P<note>.*))?$"
)
_QUOTED = re.compile(r"'[^']*'")
_NODES, _EDGES = "nodes", "relationships"


def parse(text: str) -> SchemaDocument:
    """Cut a graph description into labels and relationship types."""
    nodes: dict[str, Item] = {}
    edges: dict[str, Item] = {}
    head: list[str] = []
    for line in map(str.strip, text.splitlines()):
        if match := _NODE.match(line):
            item = _node(line, match)
            nodes[item.name] = _joined(nodes.get(item.name), item)
        elif match := _EDGE.match(line):
            item = _edge(line, match)
            edges[item.name] = _joined(edges.get(item.name), item)
        elif line.startswith("//") and not nodes:
            head.append(line)
    if not nodes:
        return SchemaDocument("cypher", text)
    top = "\n".join(head)
    short_head = f"{top}\n// ?: may be absent"
    return SchemaDocument(
        "cypher",
        text,
        ("patterns", "properties"),
        tuple(both_ways([*nodes.values(), *edges.values()])),
        (top, short_head),
        {_NODES: "\nNode properties:", _EDGES: "\nRelationships:"},
    )


def _node(line: str, match: re.Match[str]) -> Item:
    labels = match["labels"].strip(":").split(":")
    name, supertypes = labels[-1], frozenset(labels[:-1])
    also = f" (each also has the label {', '.join(labels[:-1])})" if supertypes else ""
    return Item(
        name=name,
        names=(name, *_names(match["props"])),
        texts=(line, f"{name}{also}: {_listed(match['props'], match['note'])}"),
        comment=match["note"] or "",
        links=supertypes,
        needs=supertypes,
        section=_NODES,
    )


def _edge(line: str, match: re.Match[str]) -> Item:
    ends = frozenset({match["start"], match["end"]})
    pattern = f"(:{match['start']})-[:{match['type']}]->(:{match['end']})"
    listed = _listed(match["props"], match["note"])
    return Item(
        name=match["type"],
        names=(match["type"], *_names(match["props"])),
        texts=(line, f"{pattern} {listed}".strip()),
        comment=match["note"] or "",
        links=ends,
        needs=ends,
        joins=True,
        section=_EDGES,
    )


def _joined(before: Item | None, item: Item) -> Item:
    """One type may connect several pairs of labels."""
    if before is None:
        return item
    return replace(
        item,
        names=(*before.names, *item.names[1:]),
        texts=(f"{before.texts[0]}\n{item.texts[0]}", f"{before.texts[1]}\n{item.texts[1]}"),
        comment=f"{before.comment} {item.comment}",
        links=before.links | item.links,
        needs=before.needs | item.needs,
    )


def _names(properties: str | None) -> list[str]:
    return re.findall(r"(\w+)\s*:", properties or "")


def _listed(properties: str | None, note: str | None) -> str:
    shown = re.sub(r"\[(\w+): ([^\]]+)\]", r"\1 \2?", properties or "")
    shown = re.sub(r"(\w+):", r"\1", shown)
    values = _QUOTED.findall(note or "")
    return f"{shown}  // {', '.join(values)}" if values else shown
