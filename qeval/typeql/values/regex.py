r"""Regular expressions in the dialect of the server (the Rust crate ``regex``), in linear time.

They run on RE2, whose language is nearly the same. Translated are: the Unicode meaning of
``\d \w \s``, ``\u`` escapes, nested and combined repetitions, flags RE2 does not know, free
spacing (``x``). Refused as on the server: look-around, back-references, unknown escapes, a ``{``
that is no repetition. Not covered: Unicode word boundaries and set operations within classes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from qeval.typeql.faults import Fault

Matcher: TypeAlias = Callable[[str], bool]

_MAX_MEMORY = 16 << 20  # bytes RE2 may use for one expression
_WORD = r"\p{L}\p{Nl}\p{M}\p{Nd}\p{Pc}"
_SPACE = r"\t\n\v\f\r \x{85}\p{Z}"
_CLASSES = {"d": r"\p{Nd}", "w": _WORD, "s": _SPACE}
_SIMPLE_ESCAPES = frozenset("aftnrvbBAz")
_REPETITION = re.compile(r"\{\s*(?:(\d+)\s*(?:(,)\s*(\d*)\s*)?|,\s*(\d+)\s*)\}")
_HEX = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]+)")
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_GROUP = re.compile(r"\((?:\?(?:P?<([^>=!][^>]*)>|([a-zA-Z-]*)([:)])))?")
_PROPERTY = re.compile(r"[pP](?:[A-Za-z]|\{\^?[^}]+\})")
_POSIX = re.compile(r"\[:\^?[a-z]+:\]")
_MAX_CODE_POINT = 0x10FFFF


@lru_cache(maxsize=64)  # each may take _MAX_MEMORY
def compile_regex(pattern: str) -> Matcher:
    """Return a function that tells whether a text holds a match; raises REP51 for a bad pattern."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        compiled = re2.compile(_Translator(pattern).run(), options)
    except (re2.error, _UnsupportedError) as error:
        raise Fault("REP51", f"not a regular expression: {pattern}: {error}") from error
    search = compiled.search
    return lambda text: search(text) is not None


class _UnsupportedError(ValueError):
    """Something the dialect does not have."""


class _Translator:
    """Rewrites one pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.out: list[str] = []
        self.atom: int | None = None  # where in `out` the last repeatable piece begins
        self.repeated = False
        self.groups: list[tuple[int, bool]] = []
        self.spaced = False

    def run(self) -> str:
        while self.at < len(self.pattern):
            self._step(self.pattern[self.at])
        return "".join(self.out)

    def _step(self, char: str) -> None:
        if self.spaced and self._skip_spacing(char):
            return
        if char == "\\":
            self._piece(self._escape(in_class=False))
        elif char == "[":
            self._piece(self._class())
        elif char == "(":
            self._open_group()
        elif char == ")":
            self._close_group()
        elif char in "*+?{":
            self._repeat(char)
        elif char in "|^$":
            self.out.append(char)
            self.atom, self.repeated = (None if char == "|" else len(self.out) - 1), False
            self.at += 1
        else:
            self._piece("." if char == "." else re.escape(char))
            self.at += 1

    def _piece(self, text: str) -> None:
        self.atom, self.repeated = len(self.out), False
        self.out.append(text)

    def _skip_spacing(self, char: str) -> bool:
        if char == "#":
            end = self.pattern.find("\n", self.at)
            self.at = len(self.pattern) if end < 0 else end + 1
            return True
        if char.isspace():
            self.at += 1
            return True
        return False

    def _open_group(self) -> None:
        match = _GROUP.match(self.pattern, self.at)
        if match is None or (match.end() == self.at + 1 and self._follows("(?")):
            raise _UnsupportedError("unknown kind of group")
        name, flags, closer = match.groups()
        self.at = match.end()
        opening = "("
        outer_spacing = self.spaced
        if name is not None:
            opening = f"(?P<{name}>"
        elif flags is not None:
            opening = self._flags(flags, closer)
        if closer == ")":
            self.out.append(opening)
            self.atom = None
            return
        self.groups.append((len(self.out), outer_spacing))
        self.out.append(opening)
        self.atom = None

    def _follows(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def _flags(self, flags: str, closer: str) -> str:
        on, minus, off = flags.partition("-")
        if any(flag not in "imsUuxR" for flag in on + off) or (minus and not off):
            raise _UnsupportedError(f"unknown flags '{flags}'")
        self.spaced = "x" in on or (self.spaced and "x" not in off)
        on, off = (re.sub("[uxR]", "", part) for part in (on, off))
        kept = on + (f"-{off}" if off else "")
        if closer == ")":
            return f"(?{kept})" if kept else ""
        return f"(?{kept}:"

    def _close_group(self) -> None:
        if not self.groups:
            raise _UnsupportedError("unopened group")
        self.atom, self.spaced = self.groups.pop()
        self.repeated = False
        self.out.append(")")
        self.at += 1

    def _repeat(self, char: str) -> None:
        if self.atom is None:
            raise _UnsupportedError("nothing to repeat")
        text = char
        if char == "{":
            match = _REPETITION.match(self.pattern, self.at)
            if match is None:
                raise _UnsupportedError("'{' begins no repetition")
            low, comma, high, only_high = match.groups()
            bounds = f"0,{only_high}" if only_high else f"{low}{',' if comma else ''}{high or ''}"
            text = f"{{{bounds}}}"
            self.at = match.end()
        else:
            self.at += 1
        if self._follows("?"):
            text += "?"
            self.at += 1
        if self.repeated:  # RE2 refuses `a**`, which the server takes
            self.out.insert(self.atom, "(?:")
            self.out.append(")")
        self.out.append(text)
        self.repeated = True

    def _escape(self, *, in_class: bool) -> str:
        self.at += 1
        if self.at >= len(self.pattern):
            raise _UnsupportedError("trailing backslash")
        char = self.pattern[self.at]
        if char in _HEX_DIGITS:
            return self._code_point(char)
        if char in "pP":
            match = _PROPERTY.match(self.pattern, self.at)
            if match is None:
                raise _UnsupportedError("bad Unicode property")
            self.at = match.end()
            return f"\\{match[0]}"
        self.at += 1
        lowered = char.lower()
        if lowered in _CLASSES:
            return self._perl_class(char, _CLASSES[lowered], in_class=in_class)
        if char in _SIMPLE_ESCAPES and not (in_class and char in "bBAz"):
            return f"\\{char}"
        if char.isascii() and not char.isalnum() and char not in "<>":
            return f"\\x{{{ord(char):x}}}"
        raise _UnsupportedError(f"unknown escape '\\{char}'")

    def _perl_class(self, char: str, members: str, *, in_class: bool) -> str:
        if char.islower():
            return members if in_class else f"[{members}]"
        if not in_class:
            return f"[^{members}]"
        return r"\P{Nd}" if char == "D" else f"\\{char}"

    def _code_point(self, kind: str) -> str:
        match = _HEX.match(self.pattern, self.at + 1)
        digits = ""
        if match is not None:
            digits = match[1] or match[2][: _HEX_DIGITS[kind]]
            self.at += 1 + (len(match[0]) if match[1] else len(digits))
        bare = match is not None and match[1] is None
        if not digits or (bare and len(digits) < _HEX_DIGITS[kind]):
            raise _UnsupportedError("bad hexadecimal escape")
        if int(digits, 16) > _MAX_CODE_POINT:
            raise _UnsupportedError("no such character")
        return f"\\x{{{digits}}}"

    def _class(self) -> str:
        """Translate ``[…]``; nested classes without ``^`` are joined to the outer one."""
        self.at += 1
        parts = ["["]
        if self._follows("^"):
            parts.append("^")
            self.at += 1
        first = True
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            if char == "]" and not first:
                self.at += 1
                return "".join([*parts, "]"])
            first = False
            parts.append(self._class_item(char))
        raise _UnsupportedError("unclosed class")

    def _class_item(self, char: str) -> str:
        if char == "\\":
            return self._escape(in_class=True)
        if char == "[":
            posix = _POSIX.match(self.pattern, self.at)
            if posix is not None:
                self.at = posix.end()
                return posix[0]
            nested = self._class()
            if nested.startswith("[^"):
                raise _UnsupportedError("a negated class within a class")
            return nested[1:-1]
        if self.pattern[self.at : self.at + 2] in ("&&", "--", "~~"):
            raise _UnsupportedError("set operations within a class")
        self.at += 1
        return char if char == "-" else re.escape(char)
