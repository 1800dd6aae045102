"""The values next to a literal, the same in every language."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation


def neighbours(text: str, *, is_string: bool) -> Iterator[str]:
    """The next smaller and larger value of a number or a date; for other text a longer one."""
    if not is_string:
        number = Decimal(text)
        step = Decimal(1).scaleb(min(0, int(number.as_tuple().exponent)))
        yield from (str(number + step), str(number - step))
        return
    for kind in (date, datetime):
        try:
            day = kind.fromisoformat(text)
        except ValueError:
            continue
        yield from ((day + timedelta(days=sign)).isoformat() for sign in (1, -1))
        return
    first, *rest = text.split(" ")
    try:
        yield " ".join([str(Decimal(first) + 1), *rest])
    except InvalidOperation:
        yield text[:-1] + "x%" if text.endswith("%") else text + "x"
