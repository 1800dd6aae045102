"""What qeval must know of a query language apart from any engine."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from qeval.engines.base import QueryError


@runtime_checkable
class Language(Protocol):
    """Built by Hydra from `conf/language/<name>.yaml`.

    A language may also have `volatile`, a compiled pattern that finds whatever makes a query give
    other rows when it is run again (clocks, chance); without it no two cells share a run. And
    `comments`, a tuple of what begins a comment that ends with its line, `--` and `//` without it.
    """

    name: str  # "sql": the key in cases and journals
    title: str  # "PostgreSQL SQL": as prompts and reports say it
    fences: tuple[str, ...]  # info strings of code fences that hold this language
    keywords: tuple[str, ...]  # upper-case words a bare query can start with

    def check_safety(self, query: str) -> None:
        """Static read-only check on the parsed query.

        Raises `QueryError("unsafe", …)` for writes, sandbox escapes and several statements, and
        `QueryError("syntax_error", …)` where the language's parser refuses the text.
        """
        ...


class Described:
    """A language as its YAML describes it: what qeval's own ones begin with."""

    def __init__(
        self, *, name: str, title: str, fences: Sequence[str], keywords: Sequence[str]
    ) -> None:
        self.name = name
        self.title = title
        self.fences = tuple(fences)
        self.keywords = tuple(keywords)


def syntax_error(query: str, message: str, index: int, code: str = "") -> QueryError:
    """A syntax error at an offset of the query, told by line and column (both from 1)."""
    before = query[:index]
    line, column = before.count("\n") + 1, index - before.rfind("\n")
    return QueryError("syntax_error", message, code=code, line=line, column=column)


def check_text(query: str, code: str = "") -> None:
    """Raise a syntax error for a query that can't be sent to a server: one with half characters."""
    try:
        query.encode()
    except UnicodeEncodeError as error:
        message = "the query holds a lone surrogate: no valid text"
        raise syntax_error(query, message, error.start, code) from None
