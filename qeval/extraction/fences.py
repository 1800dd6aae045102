"""Code blocks in an answer, as models write them rather than as Markdown defines them."""

import re
from dataclasses import dataclass

from qeval.extraction.bare import starts_like_query
from qeval.languages.base import Language

# At the start of a line, or after a colon or a space (models do not always break the line).
_OPEN = re.compile(r"(?:^|(?<=[\s:：(]))(?P<mark>`{3,})|^[ \t]*(?P<tilde>~{3,})", re.MULTILINE)
_INFO = re.compile(r"[ \t]*(?P<info>[^\n`~]*)")
_TAG = re.compile(r"\{?\s*\.?(?:language-|lang=)?([A-Za-z][\w+#.-]*)\}?(?=[\s:]|$)")


@dataclass(frozen=True, slots=True)
class Block:
    """A code block: `tag` is its language in lower case ("" without one), offsets in the answer.

    `closed` is False where the answer ended inside it.
    """

    tag: str
    text: str
    start: int
    end: int
    closed: bool


def find_blocks(answer: str) -> list[Block]:
    """All code blocks in order. A block ends at the next mark of its kind, wherever it stands."""
    blocks: list[Block] = []
    position = 0
    while True:
        opened = _OPEN.search(answer, position)
        if opened is None:
            return blocks
        mark = opened["mark"] or opened["tilde"]
        closing = _closing(mark).search(answer, opened.end())
        end = closing.start() if closing else len(answer)
        blocks.append(
            _block(answer, opened.start(), opened.end(), end, closing.end() if closing else None)
        )
        position = closing.end() if closing else len(answer)


def _closing(mark: str) -> re.Pattern[str]:
    if mark[0] == "`":
        return re.compile(rf"`{{{len(mark)},}}")
    return re.compile(rf"^[ \t]*~{{{len(mark)},}}[ \t]*\r?$", re.MULTILINE)


def _block(answer: str, start: int, inside: int, end: int, after: int | None) -> Block:
    found = _INFO.match(answer, inside, end)
    assert found is not None
    info = found["info"].strip()
    named = _TAG.match(info)
    tag = named[1].lower() if named else ""
    multiline = found.end() < end
    if multiline and (not info or (named and (named.end() >= len(info) or _attributes(info)))):
        text = answer[found.end() : end]
    elif named and info[named.end() :].strip():
        # The query begins on the fence's own line: with a tag before it, or as the whole of it.
        text = answer[found.start("info") : end]
        tag = ""
    else:
        text = answer[inside:end]
        tag = ""
    if not tag:
        tag, text = _leading_tag(text)
    return Block(tag, text, start, end if after is None else after, after is not None)


def _attributes(info: str) -> bool:
    return bool(re.fullmatch(r"[\w.{}+-]+(?:\s+\{?[\w.-]+=\S+\}?|\s*:\S+|\s*\{[^}]*\})*", info))


_NAMES = ("sql", "cypher", "typeql", "postgresql", "postgres", "pgsql", "neo4j", "tql")


def _leading_tag(text: str) -> tuple[str, str]:
    """A language's name that stands before the query inside the block is the tag it was meant."""
    found = re.match(r"\s*([A-Za-z0-9]+)[ \t]*(?:\r?\n|[ \t:])", text)
    if found and found[1].lower() in _NAMES:
        return found[1].lower(), text[found.end() :]
    return "", text


def is_closing_stray(answer: str, blocks: list[Block], language: Language) -> bool:
    """Whether the only mark closes a block that the prompt had opened (completion models)."""
    first = blocks[0]
    return (
        len(blocks) == 1
        and not first.closed
        and not first.tag
        and starts_like_query(answer, language)
        and not starts_like_query(first.text, language)
    )
