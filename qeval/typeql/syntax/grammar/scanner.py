"""The reading position in a source text, one token ahead.

TypeQL has no context-free tokens (`2024-01-01` is a date only where a value may stand), so the
scanner looks at the text from wherever the last token ended, and literals are matched separately.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from qeval.typeql.errors import TypeQLError
from qeval.typeql.syntax.ast import Span
from qeval.typeql.syntax.places import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container

T = TypeVar("T")

MAX_DEPTH: Final = 100
"""Levels of blocks and brackets. TypeDB's own limit is its stack; ours keeps errors clear."""

WORD: Final = "word"
VARIABLE: Final = "variable"
ANNOTATION: Final = "annotation"
SYMBOL: Final = "symbol"
END: Final = "end"

# Joiners and middle dots continue names since Unicode 15.1, whatever version Python has.
_CONTINUING: Final = frozenset("-\u200c\u200d\u30fb\uff65")

# Beyond ASCII the pattern is wider than the language; `_trim` cuts the token to what is allowed.
_TAIL = r"[A-Za-z0-9_\-\x80-\U0010ffff]"
_NEXT = re.compile(
    rf"""
    (?: [ \t\r\n]++ | \#[^\r\n]*+ )*+
    (?: (?P<word> [A-Za-z_\x80-\U0010ffff] {_TAIL}*+ )
      | (?P<variable> \$ (?: _ (?!{_TAIL}) | [A-Za-z0-9\x80-\U0010ffff] {_TAIL}*+ ) )
      | (?P<annotation> @ [a-z]++ (?!{_TAIL}) )
      | (?P<symbol> == | != | >= | <= | -> | \.\. | . )
    )?
    """,
    re.VERBOSE | re.DOTALL,
)


class Mismatch(Exception):  # noqa: N818 - a step of the search, not an error of its own
    """The text at `offset` is not what the rule needs."""

    def __init__(self, offset: int, expected: str) -> None:
        super().__init__(offset, expected)
        self.offset = offset
        self.expected = expected


class Mark(NamedTuple):
    """A state of the scanner to go back to."""

    position: int
    end: int
    kind: str
    ahead: str
    depth: int


class Scanner:
    """A source text and the token at the reading position.

    `ahead` is the token at the reading position: a word, variable or annotation, else one symbol;
    empty at the end of the text. It starts at `position`, and the one before it ended at `end`.
    """

    __slots__ = ("ahead", "depth", "end", "furthest", "kind", "operators", "position", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.operators = 0
        self.furthest: Mismatch | None = None
        self.position = self.end = 0
        self.kind = self.ahead = ""
        self.advance(0)

    def advance(self, to: int) -> None:
        """Consume the text up to `to` and look at the token behind it."""
        found = _NEXT.match(self.text, to)
        assert found is not None
        kind = found.lastgroup
        self.end = to
        if kind is None:
            self.position = found.end()
            self.kind, self.ahead = END, ""
            return
        self.position = found.start(kind)
        self.kind, self.ahead = kind, found[kind]
        if not self.ahead.isascii():
            self._trim()

    def _trim(self) -> None:
        token = self.ahead
        head = 1 if self.kind == VARIABLE else 0
        first = token[head : head + 1]
        if not (first.isidentifier() or (head and first.isdecimal() and first.isascii())):
            self.kind, self.ahead = SYMBOL, token[0]
            return
        for index in range(head + 1, len(token)):
            if not continues_name(token[index]):
                self.ahead = token[:index]
                return

    def take(self) -> str:
        """Consume the token and return it."""
        token = self.ahead
        self.advance(self.position + len(token))
        return token

    def accept(self, token: str) -> bool:
        """Consume the token if it is `token`."""
        if self.ahead != token:
            return False
        self.advance(self.position + len(token))
        return True

    def expect(self, token: str, expected: str | None = None) -> None:
        """Consume `token`; raises Mismatch naming `expected` if something else is there."""
        if self.ahead != token:
            raise self.mismatch(expected or f"'{token}'")
        self.advance(self.position + len(token))

    def mismatch(self, expected: str) -> Mismatch:
        """The exception that says the token is not what is expected."""
        return Mismatch(self.position, expected)

    def span(self, begin: int) -> Span:
        """The span from `begin` to the end of the last consumed token."""
        return Span(begin, self.end)

    def mark(self) -> Mark:
        """The state to come back to by `reset`."""
        return Mark(self.position, self.end, self.kind, self.ahead, self.depth)

    def reset(self, mark: Mark) -> None:
        """Go back to the state of `mark`."""
        self.position, self.end, self.kind, self.ahead, self.depth = mark

    def peek(self) -> tuple[str, str]:
        """Kind and token of what follows the present token."""
        mark = self.mark()
        self.take()
        following = self.kind, self.ahead
        self.reset(mark)
        return following

    def attempt(self, rule: Callable[[Scanner], T]) -> T | None:
        """What `rule` reads, or None with the scanner where it was."""
        mark = self.mark()
        try:
            return rule(self)
        except Mismatch as mismatch:
            self.remember(mismatch)
            self.reset(mark)
            return None

    def remember(self, mismatch: Mismatch) -> Mismatch:
        """Keep the mismatch that lies furthest in the text: the likeliest fault. Returns it.

        Of two at one place the later is kept, which came from the last choice of a rule.
        """
        if self.furthest is None or mismatch.offset >= self.furthest.offset:
            self.furthest = mismatch
        return self.furthest

    def descend(self) -> None:
        """Enter a block or bracket, left by `ascend`; raises TypeQLError beyond MAX_DEPTH."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise too_deep(self.text, self.position)

    def ascend(self) -> None:
        """Leave a block or bracket."""
        self.depth -= 1

    def at_word(self, words: Container[str]) -> bool:
        """Whether the token is one of `words`."""
        return self.kind == WORD and self.ahead in words


def continues_name(character: str) -> bool:
    """Whether a name may go on with `character`: Unicode's XID_Continue or a hyphen.

    Characters that Python's Unicode version does not know yet count as no part of a name.
    """
    return ("a" + character).isidentifier() or character in _CONTINUING


def too_deep(text: str, offset: int) -> TypeQLError:
    """The error for a text nested beyond what the parser follows."""
    return too_much(text, offset, f"the query is nested more than {MAX_DEPTH} levels deep")


def too_much(text: str, offset: int, reason: str) -> TypeQLError:
    """The error for a text that is beyond a bound of this parser."""
    line, column = place_of(text, offset)
    message = f"Syntax error at line {line}, column {column}: {reason}."
    return TypeQLError(("TQL03", "TQL0"), message, line=line, column=column)
