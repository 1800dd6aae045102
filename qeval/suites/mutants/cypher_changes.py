"""Changes to the text of a Cypher query, as all of its operators make them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qeval.suites.mutants.base import Operator
from qeval.suites.mutants.cypher_tree import Node, squeezed

Edit = tuple[int, int, str]
"""Start, end, and the text that takes the place of what is between."""


@dataclass(frozen=True, slots=True)
class Change:
    """One fault: the operator, what it does in words, and the edits, none over another."""

    operator: Operator
    account: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a query with its tree."""

    text: str
    tree: Node

    def of(self, node: Node) -> str:
        """The text of a node as written."""
        return self.text[node.start : node.end]

    def line(self, node: Node) -> str:
        """The text of a node in one line."""
        return squeezed(self.of(node))

    def with_edits(self, edits: Sequence[Edit], node: Node | None = None) -> str:
        """The text of a node, by default of all, after edits inside it."""
        start, end = (node.start, node.end) if node else (0, len(self.text))
        pieces = []
        for first, last, new in sorted(edits):
            pieces += [self.text[start:first], new]
            start = last
        return "".join([*pieces, self.text[start:end]])

    def replaced(self, operator: Operator, node: Node, edits: Sequence[Edit]) -> Change:
        """A change inside `node` that is told by what the node was and what it becomes."""
        account = f"{self.line(node)} → {squeezed(self.with_edits(edits, node))}"
        return Change(operator, account, tuple(edits))


def scene(above: Sequence[Node]) -> Node | None:
    """The smallest condition, pattern element or item around a node."""
    kinds = ("comparison", "predicate", "node", "rel", "call", "item", "index", "sort")
    return next((node for node in reversed(above) if node.kind in kinds), None)


def bare(node: Node) -> Node:
    """An expression without the parentheses around it."""
    return bare(node.parts[0]) if node.kind == "group" and len(node.parts) == 1 else node


def dropped(parts: Sequence[Node], index: int) -> Edit:
    """The edit that takes one of several operands or entries away, with what joins it."""
    if index:
        return parts[index - 1].end, parts[index].end, ""
    return parts[0].start, parts[1].start, ""


def conjuncts(condition: Node) -> Iterator[tuple[Node, Edit | None]]:
    """The parts that must all hold, each with the edit that drops it; None: it is the only one."""
    if condition.kind != "and":
        yield condition, None
        return
    for index, part in enumerate(condition.parts):
        yield part, dropped(condition.parts, index)


def may_be_null(tree: Node) -> frozenset[str]:
    """Variables other than those that a mandatory pattern binds first."""
    sure: set[str] = set()
    other: set[str] = set()
    for node in tree.all("match", "item", "unwind", "yield"):
        if node.kind == "match":
            names = {part.word for part in node.all("variable")}
            (sure if node.word == "MATCH" else other).update(names - sure - other)
        elif not (node.kind == "item" and node.parts[0].kind == "name"):
            other.add(node.word)
    return frozenset(other)
