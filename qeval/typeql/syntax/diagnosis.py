"""What a syntax error says: the place, what was expected, what was found, and perhaps a hint."""

from __future__ import annotations

from qeval.typeql.errors import TypeQLError
from qeval.typeql.syntax.hints import hint, tokens_around
from qeval.typeql.syntax.places import excerpt, place_of


def syntax_error(text: str, offset: int, expected: str) -> TypeQLError:
    """The TQL03 error for a text whose token at `offset` is not what was expected."""
    line, column = place_of(text, offset)
    around = tokens_around(text, offset)
    found = f"'{around.here}'" if around.here else "the end of the query"
    message = (
        f"Syntax error at line {line}, column {column}: expected {expected}, found {found}.\n"
        f"{excerpt(text, offset)}"
    )
    advice = hint(around, expected)
    if advice:
        message += f"\nHint: {advice}"
    return TypeQLError(("TQL03", "TQL0"), message, line=line, column=column)
