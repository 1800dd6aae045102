"""From what the driver raises to a verdict on the query, or to a lost engine."""

import re
from typing import NoReturn

from qeval.engines.base import EngineLostError
from qeval.engines.typeql.failures import raise_query_error

_CODE = re.compile(r"\[([A-Z]{3}\d+)\]")
_LOST = ("CXN", "PDR", "HSR", "SRV")  # connection, driver closed, server: nothing about the query


def raise_for(error: Exception) -> NoReturn:
    """Raise the `QueryError` of a failed query, or `EngineLostError` where no query is at fault.

    The message of a `TypeDBDriverException` carries the chain of codes, the specific one first.
    """
    text = str(error)
    codes = tuple(_CODE.findall(text))
    if not codes or codes[0].startswith(_LOST):
        raise EngineLostError(f"TypeDB could not answer: {text}") from error
    raise_query_error(codes, text)
