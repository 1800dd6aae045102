"""Where an offset lies in a source text, as people count."""

from __future__ import annotations

import re

_BREAK = re.compile(r"\r\n|\r|\n")
_CLIP = 120


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Line and column of `offset`, both from 1; columns count code points."""
    line, begin = 1, 0
    for found in _BREAK.finditer(text, 0, offset):
        line, begin = line + 1, found.end()
    return line, offset - begin + 1


def excerpt(text: str, offset: int) -> str:
    """The source line of `offset` under its number, with a caret below the place.

    Of a very long line only the neighbourhood is shown.
    """
    line, column = place_of(text, offset)
    begin = offset - column + 1
    found = _BREAK.search(text, offset)
    end = found.start() if found else len(text)
    left, right = max(begin, offset - _CLIP), min(end, offset + _CLIP)
    source = ("…" if left > begin else "") + text[left:right] + ("…" if right < end else "")
    # A tab is as wide as the terminal says, so the caret's line repeats it.
    before = "".join("\t" if c == "\t" else " " for c in source[: offset - left + (left > begin)])
    number = str(line)
    return f"  {number} | {source}\n  {' ' * len(number)} | {before}^"
