"""What the mapping of a graph says about subtypes and the ends of relationships."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Graph:
    """Read from a suite's mapping (`qeval.engines.neo4j.mapping`).

    `supertypes`: label of a subtype -> label of its nodes' supertype.
    `owned`: label of a subtype -> properties that only its nodes have.
    `ends`: relationship type -> (label of its start, label of its end), one for each source.
    """

    supertypes: Mapping[str, str]
    owned: Mapping[str, frozenset[str]]
    ends: Mapping[str, frozenset[tuple[str, str]]]

    @classmethod
    def of(cls, mapping: Mapping[str, Any]) -> "Graph":
        """The graph of a mapping; an empty one says nothing."""
        nodes = mapping.get("nodes") or {}
        labels = {table: entry["label"] for table, entry in nodes.items()}
        supertypes = {
            entry["label"]: labels[entry["of"]]
            for entry in (mapping.get("subtypes") or {}).values()
        }
        owned = {
            entry["label"]: frozenset((entry.get("properties") or {}).values())
            - frozenset((nodes[entry["of"]].get("properties") or {}).values())
            for entry in (mapping.get("subtypes") or {}).values()
        }
        ends: dict[str, set[tuple[str, str]]] = {}
        for entry in mapping.get("relationships") or ():
            (start,), (end,) = entry["from"], entry["to"]
            ends.setdefault(entry["type"], set()).add((labels[start], labels[end]))
        return cls(supertypes, owned, {kind: frozenset(pairs) for kind, pairs in ends.items()})

    def alike(self, kind: str) -> bool:
        """Whether a relationship of this type may start and end at nodes of one label."""
        return any(start == end for start, end in self.ends.get(kind, ()))

    def others(self, kind: str) -> list[str]:
        """The other relationship types between the same labels."""
        pairs = self.ends.get(kind)
        return sorted(name for name in self.ends if name != kind and self.ends[name] == pairs)
