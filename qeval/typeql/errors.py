"""The one exception of the TypeQL engine, with the codes a TypeDB server gives."""

from __future__ import annotations


class TypeQLError(Exception):
    """A query, schema or data that TypeDB would refuse.

    `codes` is the chain of TypeDB error codes, innermost (most specific) first, as in
    `("INF2", "QUA1", "QEX8")`; `code` is its first. `line` and `column` count from 1, as editors
    do (TypeDB counts the columns of syntax errors, and only those, from 0); both are None when
    the error belongs to no place in the text. `str(error)` is the message; for syntax errors it
    includes the source line with a caret and, where a common habit is recognised, a hint.
    """

    def __init__(
        self,
        codes: str | tuple[str, ...],
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.codes: tuple[str, ...] = (codes,) if isinstance(codes, str) else codes
        self.message = message
        self.line = line
        self.column = column

    @property
    def code(self) -> str:
        """The most specific code of the chain."""
        return self.codes[0]

    def __str__(self) -> str:
        return f"[{self.code}] {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments are lost by the default protocol, and process pools pickle errors.
        return _rebuild, (type(self), self.codes, self.message, self.line, self.column)


def _rebuild(
    kind: type[TypeQLError],
    codes: tuple[str, ...],
    message: str,
    line: int | None,
    column: int | None,
) -> TypeQLError:
    return kind(codes, message, line=line, column=column)
