"""What is near a comparison or a literal, the same in every language."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation

TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""Comparisons of order the other way round."""

MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
"""Comparisons of order with the boundary moved."""


def neighbours(text: str, *, is_string: bool) -> Iterator[str]:
    """The next smaller and larger value of a number or a date; for other text a longer one."""
    if not is_string:
        yield from beside(text)
        return
    for kind in (date, datetime):
        try:
            moment = kind.fromisoformat(text)
        except ValueError:
            continue
        yield from ((moment + timedelta(days=sign)).isoformat() for sign in (1, -1))
        return
    first, *rest = text.split(" ")
    try:
        yield " ".join([str(Decimal(first) + 1), *rest])
    except InvalidOperation:
        yield text[:-1] + "x%" if text.endswith("%") else text + "x"


def beside(text: str) -> tuple[str, str]:
    """The next larger and smaller number, by one of its last place behind the point.

    Raises `decimal.InvalidOperation` for what is no number in decimal figures.
    """
    number = Decimal(text)
    step = Decimal(1).scaleb(min(0, int(number.as_tuple().exponent)))
    return str(number + step), str(number - step)
