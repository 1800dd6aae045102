"""What is taken away before a judge sees two queries: comments, names of the sides, length."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qeval.judge.base import Dispute, Shown

if TYPE_CHECKING:
    from qeval.scoring.table import Table

_ESCAPE = re.compile(r"\\u+([0-9a-fA-F]{4})")
_LINE_ENDS = ("\n", "\r")
_BACKSLASHED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""


@dataclass(frozen=True, slots=True)
class _Lexis:
    """A language's comments; `kept` are texts in which nothing is one.

    A carriage return ends a line, too: what follows it is run, so a judge must see it.
    """

    kept: str
    comment: str
    escaped: bool = False  # \uXXXX is replaced before anything is read, also in comment signs


_LEXES = {
    "cypher": _Lexis(
        _BACKSLASHED + "|`(?:[^`]|``)*`", r"//[^\r\n]*|/\*.*?(?:\*/|\Z)", escaped=True
    ),
    "typeql": _Lexis(_BACKSLASHED, r"#[^\r\n]*"),
}


def strip_comments(query: str, language: str) -> str:
    """The query without its comments, for they may talk to the judge; it means the same as before.

    A language whose comments are not known here is left as it is.
    """
    lexis = _LEXES.get(language)
    if language == "sql":
        spans = _comments_of_sql(query)
    elif lexis is not None:
        if lexis.escaped:
            query = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), query)
        pattern = re.compile(f"{lexis.kept}|(?P<comment>{lexis.comment})", re.DOTALL)
        spans = [f.span() for f in pattern.finditer(query) if f["comment"] is not None]
    else:
        spans = []
    left, place = "", 0
    for start, end in spans:
        left += query[place:start]
        left = left.rstrip(" \t")
        place = end
        alone = not left or left.endswith(_LINE_ENDS)
        if alone and query.startswith(_LINE_ENDS, place):
            place += 2 if query.startswith("\r\n", place) else 1  # nothing is left of this line
        elif not alone and not query.startswith(_LINE_ENDS, place):
            left += " "  # a comment parts two words
    return (left + query[place:]).strip()


def _comments_of_sql(query: str) -> list[tuple[int, int]]:
    """Where PostgreSQL's own scanner finds comments."""
    from pglast.parser import ParseError, scan

    try:
        tokens = scan(query)
    except (ParseError, ValueError, UnicodeError):
        return []
    spans: list[tuple[int, int]] = []
    between: list[tuple[int, int]] = []  # comments since the token before
    before = None
    for token in tokens:
        if token.name in ("SQL_COMMENT", "C_COMMENT"):
            between.append((token.start, token.end + 1))
            continue
        if between and before is not None and {before.name, token.name} == {"SCONST"}:
            # Two texts with nothing but a line's end between them would become one.
            between = [(before.end + 1, token.start)]
        spans += between
        between, before = [], token
    return spans + between


def bounded(table: "Table", rows: int) -> Shown:
    """The first rows of a result (at most `rows`) as printable, bounded cells."""
    from qeval.scoring.difference import SAMPLE_COLUMNS, SAMPLE_TEXT, shown
    from qeval.scoring.values import canonical

    columns = [canonical.column(v) for v in zip(*table.rows[:rows], strict=True)]
    return Shown(
        tuple(name[:SAMPLE_TEXT] for name in table.columns[:SAMPLE_COLUMNS]),
        tuple(
            tuple(shown(value) for value in row[:SAMPLE_COLUMNS])
            for row in zip(*columns, strict=True)
        ),
        len(table),
    )


def trimmed(shown: Shown | None, rows: int, characters: int) -> Shown | None:
    """As many of the first `rows` rows as have no more than so many characters in JSON."""
    if shown is None:
        return None
    return Shown(shown.columns, tuple(_within(shown.rows[:rows], characters)), shown.total)


def _within(rows: Sequence[Any], characters: int) -> list[Any]:
    kept = []
    for row in rows:
        characters -= len(json.dumps(row, ensure_ascii=False, default=str))
        if characters < 0:
            break
        kept.append(row)
    return kept


def swapped_first(dispute: Dispute, seed: int) -> bool:
    """Whether the first vote sees the prediction first: a coin whose toss is the dispute's content.

    The same dispute is shown the same way on every machine; later votes take turns.
    """
    where = f"{seed}/{dispute.question}/{dispute.gold}/{dispute.predicted}"
    return bool(hashlib.sha256(where.encode("utf-8", "surrogatepass")).digest()[0] & 1)


def mark_of(*texts: str) -> str:
    """A mark for the borders of quoted texts which none of them holds, so none can end early.

    Nearly always the same one: a prompt's beginning, which models keep computed, stays equal.
    """
    number = 0
    while True:
        mark = hashlib.sha256(f"mark {number}".encode()).hexdigest()[:12]
        if not any(mark in text for text in texts):
            return mark
        number += 1


def sides(
    dispute: Dispute, *, swapped: bool, rows: int, characters: int
) -> Mapping[str, Mapping[str, Any]]:
    """The two queries as `a` and `b`, each with its result and the rows that only it has."""
    difference = dispute.difference or {}
    language = dispute.language.name
    gold = {
        "query": strip_comments(dispute.gold, language),
        "result": trimmed(dispute.gold_result, rows, characters),
        "alone": _within(difference.get("missing", ()), characters),
        "alone_count": difference.get("missing_count", 0),
    }
    predicted = {
        "query": strip_comments(dispute.predicted, language),
        "result": trimmed(dispute.predicted_result, rows, characters),
        "alone": _within(difference.get("extra", ()), characters),
        "alone_count": difference.get("extra_count", 0),
    }
    return {"a": predicted, "b": gold} if swapped else {"a": gold, "b": predicted}
