"""Changes to a TypeQL text by spans of its tree; everything outside the spans stays as it was."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qeval.suites.mutants.base import Mutant, Operator
from qeval.typeql.syntax import ast

_PIECE = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<comment>\#[^\r\n]*)|(?P<blank>\s+)|.""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` in the place of the characters from `begin` to `end`, the latter excluded."""

    begin: int
    end: int
    text: str = ""


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits that don't overlap. A comment in a replaced span is kept."""
    for edit in sorted(edits, key=lambda edit: edit.begin, reverse=True):
        lost = Counter(comments(text[edit.begin : edit.end])) - Counter(comments(edit.text))
        kept = "".join(f"{comment}\n" for comment in lost.elements())
        text = text[: edit.begin] + kept + edit.text + text[edit.end :]
    return text


def comments(text: str) -> list[str]:
    """The comments in a TypeQL text, in order."""
    return [found["comment"] for found in _PIECE.finditer(text) if found["comment"]]


def on_one_line(text: str) -> str:
    """The text with single blanks for white space outside strings, and without comments."""
    pieces: list[str] = []
    for found in _PIECE.finditer(text):
        if not found["blank"] and not found["comment"]:
            pieces.append(found[0])
        elif pieces and pieces[-1] != " ":
            pieces.append(" ")
    return "".join(pieces).strip()


def source(text: str, node: ast.Node) -> str:
    """What stands in the text for a node."""
    return text[node.span.begin : node.span.end]


def account(text: str, node: ast.Node) -> str:
    """A node on one line, for the name of a mutant."""
    return on_one_line(source(text, node))


def behind_semicolon(text: str, position: int) -> int:
    """The place behind the semicolon that ends the pattern which ends at `position`."""
    for found in _PIECE.finditer(text, position):
        if found[0] == ";":
            return found.end()
    return len(text)


def replaced(node: ast.Node, by: str) -> Edit:
    """Other text for a node."""
    return Edit(*node.span, by)


def erased(text: str, begin: int, end: int) -> Edit:
    """Take a stretch out, with its whole lines if nothing else stands on them."""
    line = text.rfind("\n", 0, begin) + 1
    behind = re.compile(r"[ \t]*(\r?\n|$)?").match(text, end)
    assert behind is not None
    if text[line:begin].isspace() or line == begin:
        return Edit(line if behind[1] is not None else begin, behind.end())
    return Edit(begin, behind.end() if behind[1] is None else end)


def without_pattern(text: str, pattern: ast.Node) -> Edit:
    """Drop a pattern and its semicolon."""
    return erased(text, pattern.span.begin, behind_semicolon(text, pattern.span.end))


def without_item(items: Sequence[ast.Node], index: int, before: int | None = None) -> Edit:
    """Drop one item of a list with its comma or `or`; `before`: end of what precedes the list.

    Without `before` the list must have another item.
    """
    if index > 0 or before is not None:
        start = items[index - 1].span.end if index > 0 else before
        assert start is not None
        return Edit(start, items[index].span.end)
    return Edit(items[0].span.begin, items[1].span.begin)


def unwrapped(block: ast.Negation | ast.Try) -> tuple[Edit, Edit]:
    """Let the patterns of a block stand in its place; its semicolon becomes that of the last."""
    patterns = block.body.patterns
    return (
        Edit(block.span.begin, patterns[0].span.begin),
        Edit(patterns[-1].span.end, block.span.end),
    )


def changed(operator: Operator, text: str, scene: ast.Node, *edits: Edit) -> Mutant:
    """A mutant made by edits within `scene`, named by what stands there before and after."""
    begin, end = scene.span
    moved = [Edit(edit.begin - begin, edit.end - begin, edit.text) for edit in edits]
    after = on_one_line(edited(text[begin:end], moved))
    return Mutant(operator, f"{account(text, scene)} → {after}", edited(text, edits))


def dropped(operator: Operator, text: str, what: ast.Node, *edits: Edit) -> Mutant:
    """A mutant without `what`, which the edits take out."""
    return Mutant(operator, f"without {account(text, what)}", edited(text, edits))
