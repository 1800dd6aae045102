"""What qeval must know of a query language apart from any engine."""

from typing import Protocol, runtime_checkable


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
