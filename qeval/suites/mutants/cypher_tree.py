"""The tree of a Cypher query, whose nodes know their place in the text, and how it is read.

Mutants are made by cutting the text of a gold at the places of nodes, so all that isn't changed
stays as written. The reader (`cypher_clauses.read`) knows the reading clauses of Cypher 5; a clause
it doesn't understand becomes one node of kind `opaque`, of which no mutants are made. The public
Cypher parsers for Python are no match: antlr4-cypher knows openCypher 9 only, cypherast no
quantified paths.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qeval.languages.cypher import Token


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A part of a query: `text[start:end]`.

    `kind` says what it is, `word` its operator, name or keyword in the spelling that tells kinds
    apart (keywords and operators in capitals, names as written), `parts` what it consists of.
    """

    kind: str
    start: int
    end: int
    word: str = ""
    parts: tuple["Node", ...] = ()

    def walk(self, above: tuple["Node", ...] = ()) -> Iterator[tuple["Node", tuple["Node", ...]]]:
        """Walk over this node and all below, each with the nodes above it, the outermost first."""
        yield self, above
        for part in self.parts:
            yield from part.walk((*above, self))

    def all(self, *kinds: str) -> Iterator["Node"]:
        """All nodes of these kinds at or below this one, in the order of the text."""
        return (node for node, _ in self.walk() if node.kind in kinds)

    def one(self, *kinds: str) -> "Node | None":
        """The first direct part of one of these kinds."""
        return next((part for part in self.parts if part.kind in kinds), None)


class UnknownSyntaxError(Exception):
    """A clause holds what the reader doesn't know."""


@dataclass(slots=True)
class Cursor:
    """The tokens of a query and how far they are read."""

    tokens: Sequence[Token]
    at: int = 0

    def peek(self, ahead: int = 0) -> str:
        """The text of a token that comes, words in capitals; empty behind the last."""
        index = self.at + ahead
        if not 0 <= index < len(self.tokens):
            return ""
        return self.tokens[index].word or self.tokens[index].text

    def kind(self, ahead: int = 0) -> str:
        """The kind of a token that comes, empty behind the last."""
        index = self.at + ahead
        return self.tokens[index].kind if index < len(self.tokens) else ""

    def take(self, *texts: str) -> str:
        """Step over these tokens, one after the other. Raises `UnknownSyntaxError` for others."""
        for text in texts:
            if self.peek() != text:
                raise UnknownSyntaxError(f"expected {text}, found {self.peek() or 'the end'}")
            self.at += 1
        return texts[-1]

    def accept(self, *texts: str) -> bool:
        """Step over these tokens if they come next, all of them."""
        if all(self.peek(ahead) == text for ahead, text in enumerate(texts)):
            self.at += len(texts)
            return True
        return False

    def name(self) -> str:
        """Step over a plain or quoted name, and return it as written."""
        if self.kind() not in ("word", "quoted"):
            raise UnknownSyntaxError(f"expected a name, found {self.peek() or 'the end'}")
        self.at += 1
        return self.tokens[self.at - 1].text

    @property
    def start(self) -> int:
        """Where the next token starts; behind the last, where that one ends."""
        return self.tokens[self.at].start if self.at < len(self.tokens) else self.end

    @property
    def end(self) -> int:
        """Where the last token that was read ends."""
        if not self.at:
            return 0
        last = self.tokens[self.at - 1]
        return last.start + len(last.text)

    def closing(self, ahead: int = 0) -> int:
        """How far ahead the bracket closes that opens `ahead`."""
        depth = 0
        for step in range(ahead, len(self.tokens) - self.at):
            text = self.peek(step) if self.kind(step) == "sign" else ""
            depth += (text in tuple("([{")) - (text in tuple(")]}"))
            if not depth:
                return step
        raise UnknownSyntaxError("a bracket does not close")

    def made(
        self, kind: str, start: int, word: str = "", parts: Sequence[Node | None] = ()
    ) -> Node:
        """A node from `start` to where the cursor is."""
        return Node(kind, start, self.end, word, tuple(part for part in parts if part))


def squeezed(text: str) -> str:
    """A piece of a query in one line."""
    return " ".join(text.split())
