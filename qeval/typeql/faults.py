"""Errors on their way out: they gather the chain of codes, and their place when it is known."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from qeval.typeql.errors import TypeQLError
from qeval.typeql.syntax.places import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qeval.typeql.syntax.ast import Span


class Fault(TypeQLError):  # noqa: N818 - the errors users see are the other class
    """A ``TypeQLError`` raised inside the engine, which knows the part of the query it is about."""

    def __init__(self, code: str, message: str, span: Span | None = None) -> None:
        super().__init__(code, message)
        self.span = span

    @classmethod
    def located(cls, error: TypeQLError, span: Span) -> Fault:
        """Return an error of code that knows no places with its place."""
        fault = cls(error.code, error.message, span)
        fault.codes = error.codes
        return fault

    def public(self, text: str) -> TypeQLError:
        """Return the error a user sees, with line and column (from 1) in the query's text."""
        if self.span is None or self.span.end <= self.span.begin:
            return TypeQLError(self.codes, self.message)
        line, column = place_of(text, self.span.begin)
        return TypeQLError(self.codes, self.message, line=line, column=column)


@contextmanager
def within(*codes: str, only: str = "") -> Iterator[None]:
    """Append codes to the chain of an error that passes through.

    ``only`` restricts that to errors whose code begins so. Limits (LIM…) always stay as they are.
    """
    try:
        yield
    except TypeQLError as error:
        if error.code.startswith(only) and not error.code.startswith("LIM"):
            error.codes += codes
        raise
