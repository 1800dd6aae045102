r"""What a string literal says once its quotes and escapes are gone.

TypeDB parses any character behind a backslash and looks at escapes only when it needs the value.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from qeval.typeql.errors import TypeQLError

if TYPE_CHECKING:
    from re import Match

_ESCAPE: Final = re.compile(
    r"\\(?:(?P<plain>[btnfr\"'\\])|u(?:\{(?P<braced>[^}]{0,6})\}|(?P<four>.{4}))|u.{0,4}|.|$)",
    re.DOTALL,
)
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F]{1,6}")
_SURROGATES: Final = range(0xD800, 0xE000)
_PLAIN: Final = {
    "b": "\b",
    "t": "\t",
    "n": "\n",
    "f": "\f",
    "r": "\r",
    '"': '"',
    "'": "'",
    "\\": "\\",
}


def decode_string(text: str) -> str:
    r"""The value of a string literal given with its quotes.

    Known are `\b \t \n \f \r \" \' \\`, `\uXXXX` and `\u{X…}` with up to six digits. Raises
    TypeQLError (TQL06, TQL0, LIT5), without a place, for any other escape.
    """
    body = text[1:-1]
    return _ESCAPE.sub(_character, body) if "\\" in body else body


def decode_regex(text: str) -> str:
    r"""The pattern of a string literal that `like` or `@regex` takes.

    Only `\"` is an escape there; every other backslash belongs to the pattern.
    """
    return text[1:-1].replace('\\"', '"')


def _character(escape: Match[str]) -> str:
    if (plain := escape["plain"]) is not None:
        return _PLAIN[plain]
    digits = escape["braced"] if escape["braced"] is not None else escape["four"]
    if digits is not None and _HEXADECIMAL.fullmatch(digits):
        code = int(digits, 16)
        if code <= sys.maxunicode and code not in _SURROGATES:
            return chr(code)
    raise TypeQLError(
        ("TQL06", "TQL0", "LIT5"),
        f"'{escape[0]}' is no escape of a string; known are \\b \\t \\n \\f \\r \\\" \\' \\\\, "
        "\\uXXXX and \\u{…}.",
    )
