"""Literals. Alternatives are tried in TypeDB's order, each whole or not at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from qeval.typeql.syntax.ast import Literal
from qeval.typeql.syntax.grammar.scanner import SYMBOL, WORD, continues_name

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast import ValueTypeName
    from qeval.typeql.syntax.grammar.scanner import Scanner

_DATE = r"(?:[0-9]{4}|[+-][0-9]++)-(?:0[1-9]|1[0-2])-[0-3][0-9]"
_TIME = r"[0-2][0-9]:[0-5][0-9](?::[0-6][0-9](?:\.[0-9]{1,9}+)?+)?+"
_ZONE_NAME = r"[A-Z][A-Za-z0-9_+\-]++"
_ZONE = rf"(?:\ {_ZONE_NAME}(?:/{_ZONE_NAME}){{0,2}}+|Z|[+-][0-2][0-9](?::?[0-5][0-9])?+)"
_DURATION_DATE = r"(?:[0-9]++Y(?:[0-9]++M)?+(?:[0-9]++D)?+|[0-9]++M(?:[0-9]++D)?+|[0-9]++D)"
_SECONDS = r"[0-9]++(?:\.[0-9]++(?:[eE][+-]?[0-9]++)?+)?+S"
_DURATION_TIME = rf"(?:[0-9]++H(?:[0-9]++M)?+(?:{_SECONDS})?+|[0-9]++M(?:{_SECONDS})?+|{_SECONDS})"

STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|' r"'(?:[^'\\]|\\.)*+'", re.DOTALL)
_BOUNDED: Final[tuple[tuple[ValueTypeName, re.Pattern[str]], ...]] = (
    ("datetime-tz", re.compile(rf"{_DATE}T{_TIME}{_ZONE}")),
    ("datetime", re.compile(rf"{_DATE}T{_TIME}")),
    ("date", re.compile(_DATE)),
)
_DURATION: Final = re.compile(
    rf"P(?:[0-9]++W|{_DURATION_DATE}(?:T{_DURATION_TIME})?+|T{_DURATION_TIME})"
)
_NUMBER: Final = re.compile(
    r"""
    (?P<sign> [+-]? )
    (?: [ \t\r\n]++ | \#[^\r\n]*+ )*+
    (?: (?P<decimal> [0-9]++ (?: \.[0-9]++ )?+ dec )
      | (?P<double> [0-9]++ \.[0-9]++ (?: [eE] [+-]?+ [0-9]++ )?+ )
      | (?P<integer> [0-9]++ )
    )
    """,
    re.VERBOSE,
)
_DIGITS: Final = re.compile(r"[0-9]++")

_NUMERIC: Final = frozenset("0123456789+-")
_QUOTES: Final = frozenset("\"'")
STARTS: Final = _NUMERIC | _QUOTES


def _bounded_end(s: Scanner, pattern: re.Pattern[str]) -> int | None:
    found = pattern.match(s.text, s.position)
    if found is None:
        return None
    end = found.end()
    return None if end < len(s.text) and continues_name(s.text[end]) else end


def _literal(s: Scanner, value_type: ValueTypeName, end: int) -> Literal:
    begin = s.position
    s.advance(end)
    return Literal(value_type, s.text[begin:end], span=s.span(begin))


def _numeric(s: Scanner) -> Literal | None:
    for value_type, pattern in _BOUNDED:
        if (end := _bounded_end(s, pattern)) is not None:
            return _literal(s, value_type, end)
    found = _NUMBER.match(s.text, s.position)
    if found is None:
        return None
    begin = s.position
    s.advance(found.end())
    span = s.span(begin)
    if (digits := found["decimal"]) is not None:
        return Literal("decimal", found["sign"] + digits, span=span)
    if (digits := found["double"]) is not None:
        return Literal("double", found["sign"] + digits, span=span)
    return Literal("integer", found["sign"] + found["integer"], span=span)


def literal_ahead(s: Scanner) -> Literal | None:
    """The literal at the reading position, consumed, or None."""
    if s.kind == SYMBOL:
        if s.ahead in _QUOTES:
            return string(s)
        return _numeric(s) if s.ahead in _NUMERIC else None
    if s.kind != WORD:
        return None
    if s.ahead in {"true", "false"}:
        return _literal(s, "boolean", s.position + len(s.ahead))
    # A duration's fraction and exponent's sign leave the word, so the text is matched anew.
    if s.ahead[0] == "P" and (end := _bounded_end(s, _DURATION)) is not None:
        return _literal(s, "duration", end)
    return None


def literal(s: Scanner) -> Literal:
    """Any literal."""
    found = literal_ahead(s)
    if found is None:
        raise s.mismatch("a value")
    return found


def string(s: Scanner, expected: str = "a string") -> Literal:
    """`"…"` or `'…'`; a backslash takes the next character with it."""
    if s.ahead not in _QUOTES:
        raise s.mismatch(expected)
    found = STRING.match(s.text, s.position)
    if found is None:
        raise s.mismatch("a string with its closing quote")
    return _literal(s, "string", found.end())


def count(s: Scanner) -> Literal:
    """Digits without a sign, as `limit` and `@card` take them."""
    found = _DIGITS.match(s.text, s.position)
    if found is None:
        raise s.mismatch("a number without sign or fraction")
    return _literal(s, "integer", found.end())
