"""Queries that stand in an answer without a code block around them."""

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from qeval.languages.base import Language

# Outside a code block a line of dashes is a ruler, and "# Query" a heading but in languages whose
# comments begin so; "## Query" is a heading everywhere.
_BLANK = r"\s+|--(?!-*[ \t]*\r?$)[^\n]*(?:\n|\Z)|//[^\n]*(?:\n|\Z)|/\*.*?\*/"
_COMMENT = re.compile(rf"(?:{_BLANK})+", re.DOTALL | re.MULTILINE)
_COMMENT_OR_HASH = re.compile(rf"(?:{_BLANK}|#(?!#)[^\n]*(?:\n|\Z))+", re.DOTALL | re.MULTILINE)
_HASHES = re.compile(r"(?:\s*#[^\n]*(?:\n|\Z))+")
_NEXT_LINE = re.compile(r"\s*([^\n]*)")
_LABEL = re.compile(r"[^\n`]{0,80}?[:：][*_\s]*")
_CODE = re.compile(r"[*(){}\[\]$=<>;]|\bfrom\b", re.IGNORECASE)
_STOP = re.compile(
    r"^(?:[ \t]*(?:`{3,}|~{3,}|<\|\w+\|>|</s>|\[/?INST\]|\*\*\w|-{3,}[ \t]*\r?$)"
    r"|#{1,6} \w(?=.*[^;,]\r?$)"
    r"|(?:question|q|user|human|assistant|explanation|note|output|result|answer|问题|解释|说明)"
    r"\s*\d*\s*[:：](?!:))",
    re.IGNORECASE | re.MULTILINE,
)
_BULLET = re.compile(r"(?:[-*+•]|\d+[.)]) +\S")
_TITLE = re.compile(r"[A-Z][a-z’']*[ ,:]|I |I'|[\u3000-\u303f\u3040-\u30ff\u4e00-\u9fff]")
_SENTENCE = re.compile(r"(?:[a-z’'\"-]+,? ){3,}[^*(){}\[\]$=<>]*[.:!]$", re.IGNORECASE)
_AFTER_SEMICOLON = re.compile(r";[ \t]+(?=(?:[A-Z][a-z]+ [a-z]|[\u4e00-\u9fff]))")


@dataclass(frozen=True, slots=True)
class Piece:
    """A query found in prose, with its offsets in the answer.

    `complete`: something that is not the query follows it.
    """

    start: int
    end: int
    complete: bool


def starts_like_query(text: str, language: Language) -> bool:
    """Whether the first word after comments and brackets is one of the language's keywords."""
    hashes = _HASHES.match(text)
    position = _skip_comments(text, hashes.end() if hashes else 0, language)
    return _keyword_at(text, position, language) is not None


def _comments(language: Language) -> tuple[str, ...]:
    """What begins a comment that ends with its line."""
    marks: tuple[str, ...] = getattr(language, "comments", ("--", "//"))
    return marks


def _skip_comments(text: str, position: int, language: Language) -> int:
    blank = _COMMENT_OR_HASH if "#" in _comments(language) else _COMMENT
    found = blank.match(text, position)
    position = found.end() if found else position
    while position < len(text) and text[position] == "(":
        found = blank.match(text, position + 1)
        position = found.end() if found else position + 1
    return position


def _keyword_at(text: str, position: int, language: Language) -> str | None:
    word = re.compile(r"[A-Za-z]+(?![\w'’])").match(text, position)
    return word[0] if word and word[0].upper() in language.keywords else None


def find_bare(answer: str, language: Language, begin: int = 0) -> Piece | None:
    """The first query from offset `begin` on that starts a line or follows a label (`Answer: …`).

    It goes up to where prose goes on, or to the end.
    """
    start = _start(answer, language, begin)
    if start is None:
        return None
    end = query_end(answer, start, language)
    return Piece(start, end, complete=answer[end:].strip() != "")


def _start(answer: str, language: Language, position: int) -> int | None:
    before = ""
    skipped = position  # comments that no query follows reach up to here
    for line in answer[position:].splitlines(keepends=True):
        begin = position + len(line) - len(line.lstrip(" \t>"))
        if begin >= skipped:
            fresh = not before.strip() or before.rstrip().endswith((":", "：", "**"))
            at = _skip_comments(answer, begin, language)
            if _is_query(answer, begin, at, language, fresh=fresh):
                return begin
            if _keyword_at(answer, at, language) is None:
                skipped = at
        label = _LABEL.match(line)
        if label and line[label.end() :].strip():
            begin = position + label.end()
            at = _skip_comments(answer, begin, language)
            if _is_query(answer, begin, at, language, fresh=True):
                return begin
        position += len(line)
        before = line
    return None


def _is_query(answer: str, begin: int, at: int, language: Language, *, fresh: bool) -> bool:
    """Whether a query begins here, its first word behind comments at `at`.

    `fresh`: after a blank line, a label or at the very start. English sentences start with
    "Select", "With", "Match" too: a capitalised word is a query only where the rest of the line
    looks like code; a lower-case one only at a fresh start besides.
    """
    word = _keyword_at(answer, at, language)
    if word is None or (at > begin and not fresh):
        return False
    line = answer[at:].partition("\n")[0]
    rest = answer[at:].partition("\n\n")[0]
    if word.isupper():
        return line.strip() != word or bool(_CODE.search(rest))
    return fresh and bool(_CODE.search(rest)) and not _SENTENCE.match(line.strip())


def query_end(answer: str, start: int, language: Language) -> int:
    """Where the query that begins at `start` ends: the first sign of prose, else the end.

    Nothing inside quotes or brackets is a sign of prose.
    """
    inside = _Nesting(answer, start, language)
    end = _first_stop(answer, start, inside, language)
    inline = next(
        (m for m in _AFTER_SEMICOLON.finditer(answer, start, end) if not inside(m.start())), None
    )
    if inline:
        end = inline.start() + 1
    before = ""
    position = start
    for line in answer[start:end].splitlines(keepends=True):
        loose = not before.strip() or before.rstrip().endswith(";")
        if (
            position > start
            and loose
            and line.strip()
            and not inside(position)
            and _is_prose(line.strip(), language)
        ):
            return position
        position += len(line)
        before = line
    return end


def _first_stop(answer: str, start: int, inside: "_Nesting", language: Language) -> int:
    passed = start  # comments of the query reach up to here
    for found in _STOP.finditer(answer, start + 1):
        place = found.start()
        if place < passed or inside(place):
            continue
        comments = _comments_end(answer, place, language)
        if comments is None:
            return place
        passed = comments
    return len(answer)


def _comments_end(answer: str, position: int, language: Language) -> int | None:
    """Where comment lines `# …` that begin here end; None if it is no comment of the query.

    It is one where code goes on below it, not prose, nor, after a blank line, a new query.
    """
    if "#" not in _comments(language) or not re.match(r"#(?!#)", answer[position : position + 2]):
        return None
    lines = _HASHES.match(answer, position)
    assert lines is not None
    after = _NEXT_LINE.match(answer, lines.end())
    below = after[1].rstrip() if after else ""
    apart = answer.endswith(("\n\n", "\n\r\n"), 0, position)
    if _is_prose(below, language) or (apart and _keyword_at(below, 0, language)):
        return None
    return lines.end()


def _is_prose(line: str, language: Language) -> bool:
    if line.startswith(("--", "//", "/*")):
        return False
    first = re.match(r"[A-Za-z]+", line)
    if first and first[0].upper() in language.keywords and _CODE.search(line):
        return False
    return bool(_BULLET.match(line) or _TITLE.match(line) or _SENTENCE.match(line))


class _Nesting:
    """Which offsets lie inside a string, a comment or brackets that opened after `start`."""

    def __init__(self, answer: str, start: int, language: Language) -> None:
        spans: list[tuple[int, int]] = []
        opened: list[int] = []
        for token in _tokens(_comments(language)).finditer(answer, start):
            if token[0] in "([{":
                opened.append(token.start())
            elif token[0] not in ")]}":
                spans.append(token.span())
            elif opened:
                spans.append((opened.pop(), token.end()))
        self._begins: list[int] = []
        self._ends: list[int] = []  # of the outermost spans
        for begin, end in sorted(spans):
            if not self._ends or begin >= self._ends[-1]:
                self._begins.append(begin)
                self._ends.append(end)

    def __call__(self, position: int) -> bool:
        last = bisect_left(self._begins, position) - 1
        return last >= 0 and position < self._ends[last]


@lru_cache
def _tokens(comments: tuple[str, ...]) -> re.Pattern[str]:
    """Brackets, and what hides them: comments and strings."""
    lines = "|".join(rf"{re.escape(mark)}[^\n]*" for mark in comments)
    strings = r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`\n]*`"
    return re.compile(rf"{lines}|/\*.*?\*/|{strings}|[(\[{{]|[)\]}}]", re.DOTALL)


def find_inline(answer: str, language: Language) -> Piece | None:
    """The last span between backticks that starts like a query and has more than one word."""
    found = None
    for span in re.finditer(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)", answer, re.DOTALL):
        if starts_like_query(span[2], language) and len(span[2].split()) > 1:
            found = Piece(span.start(2), span.end(2), complete=True)
    return found
