"""What a syntax error says: the place, what was expected, and a hint for common habits."""

from __future__ import annotations

from qeval.typeql.errors import TypeQLError
from qeval.typeql.syntax.places import excerpt, place_of


def syntax_error(text: str, offset: int, expected: str) -> TypeQLError:
    """The TQL03 error for a text whose token at `offset` is not what was expected."""
    line, column = place_of(text, offset)
    message = f"Syntax error at line {line}, column {column}: expected {expected}.\n"
    message += excerpt(text, offset)
    return TypeQLError(("TQL03", "TQL0"), message, line=line, column=column)
