"""Queries with small faults, of the kinds that people and models make, for tests of the parser.

    mutants(sources, count, seed)

is a reproducible stream of mutated texts. Most are refused and many are not, which is the point:
the parser must agree with TypeDB's about each.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_TOKEN = re.compile(
    r"""
      \s+ | \#[^\n]* | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | \$[\w-]+ | @\w+
    | \d[\w.:+-]* | [^\W\d][\w-]*!? | == | != | <= | >= | -> | \.\. | .
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = [
    "match",
    "insert",
    "put",
    "update",
    "delete",
    "select",
    "sort",
    "offset",
    "limit",
    "require",
    "distinct",
    "reduce",
    "fetch",
    "return",
    "with",
    "fun",
    "given",
    "end",
    "define",
    "undefine",
    "redefine",
    "entity",
    "relation",
    "attribute",
    "role",
    "struct",
    "isa",
    "isa!",
    "has",
    "links",
    "iid",
    "is",
    "sub",
    "sub!",
    "owns",
    "plays",
    "relates",
    "as",
    "value",
    "label",
    "alias",
    "let",
    "in",
    "not",
    "try",
    "or",
    "of",
    "from",
    "first",
    "last",
    "check",
    "count",
    "sum",
    "max",
    "min",
    "mean",
    "median",
    "std",
    "list",
    "groupby",
    "asc",
    "desc",
    "contains",
    "like",
    "true",
    "false",
    "integer",
    "string",
    "datetime-tz",
    "person",
    "name",
    "friendship:friend",
    "abs",
    "len",
    "P1D",
    "PT5M",
    "P1Y2MT3S",
    "get",
    "rule",
    "where",
    "group",
    "by",
    "order",
    "having",
    "and",
    "null",
    "long",
    "@key",
    "@card",
    "@unique",
    "@range",
    "@doc",
    "@meta",
]
_SYMBOLS = [
    ";",
    ",",
    ":",
    ".",
    "..",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "[]",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "->",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "?",
    "!",
    "|",
    "&",
    "$",
    "@",
    "#",
    '"',
    "'",
    "\\",
    "~",
    "`",
    "$x",
    "$_",
    "$y?",
    "$_z",
    "$0",
    "1",
    "0",
    "-5",
    "+7",
    "1.5",
    "5.",
    ".5",
    "1e5",
    "1.5e3",
    "2dec",
    "1.5dec",
    "0x1f",
    "2024-01-01",
    "2024-13-01",
    "2024-01-01T10:20",
    "2024-01-01T10:20:30.5Z",
    "+12024-01-01",
    '"text"',
    "'text'",
    '""',
]
_CHARACTERS = "abzAZP_019-+.:;,=<>!?@#$%^&*()[]{}\"'\\/ \t\n\r\u00a0éß·\u0301²😀"


def _delete(r: random.Random, tokens: list[str]) -> None:
    del tokens[r.randrange(len(tokens))]


def _delete_run(r: random.Random, tokens: list[str]) -> None:
    begin = r.randrange(len(tokens))
    del tokens[begin : begin + r.randint(2, 6)]


def _duplicate(r: random.Random, tokens: list[str]) -> None:
    begin = r.randrange(len(tokens))
    tokens[begin:begin] = tokens[begin : begin + r.randint(1, 4)]


def _swap(r: random.Random, tokens: list[str]) -> None:
    a, b = r.randrange(len(tokens)), r.randrange(len(tokens))
    tokens[a], tokens[b] = tokens[b], tokens[a]


def _swap_neighbours(r: random.Random, tokens: list[str]) -> None:
    solid = [i for i, token in enumerate(tokens) if token.strip()]
    if len(solid) > 1:
        k = r.randrange(len(solid) - 1)
        a, b = solid[k], solid[k + 1]
        tokens[a], tokens[b] = tokens[b], tokens[a]


def _replace(r: random.Random, tokens: list[str]) -> None:
    tokens[r.randrange(len(tokens))] = r.choice(r.choice((_WORDS, _SYMBOLS)))


def _insert(r: random.Random, tokens: list[str]) -> None:
    token = r.choice(r.choice((_WORDS, _SYMBOLS)))
    tokens.insert(r.randrange(len(tokens) + 1), r.choice((token, f" {token} ")))


def _copy(r: random.Random, tokens: list[str]) -> None:
    tokens[r.randrange(len(tokens))] = r.choice(tokens)


def _case(r: random.Random, tokens: list[str]) -> None:
    i = r.randrange(len(tokens))
    tokens[i] = r.choice((tokens[i].upper(), tokens[i].title(), tokens[i].swapcase()))


def _space(r: random.Random, tokens: list[str]) -> None:
    blanks = [i for i, token in enumerate(tokens) if token.isspace()]
    if blanks:
        tokens[r.choice(blanks)] = r.choice(("", "", "\n", " # note\n", "\r", "\t", "\v", "\u00a0"))


def _character(r: random.Random, tokens: list[str]) -> None:
    text = "".join(tokens)
    if not text:
        return
    at = r.randrange(len(text))
    new = r.choice(("", r.choice(_CHARACTERS), text[at] + r.choice(_CHARACTERS), text[at] * 2))
    tokens[:] = [text[:at], new, text[at + 1 :]]


_MUTATIONS: tuple[Callable[[random.Random, list[str]], None], ...] = (
    _delete,
    _delete,
    _delete_run,
    _duplicate,
    _swap,
    _swap_neighbours,
    _replace,
    _replace,
    _insert,
    _copy,
    _case,
    _space,
    _character,
    _character,
)


def tokens_of(text: str) -> list[str]:
    """The text cut into rough tokens, white space included."""
    return _TOKEN.findall(text)


def mutants(sources: Sequence[str], count: int, seed: int) -> Iterator[str]:
    """`count` texts, each one of the sources with one to three mutations."""
    r = random.Random(seed)
    cut = [tokens_of(source) for source in sources]
    for _ in range(count):
        tokens = list(r.choice(cut))
        if r.random() < 0.1:
            tokens += r.choice(cut)
        for _ in range(r.choice((1, 1, 1, 2, 3))):
            if tokens:
                r.choice(_MUTATIONS)(r, tokens)
        yield "".join(tokens)
