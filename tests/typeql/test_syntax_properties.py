"""What holds for every text."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.typeql.errors import TypeQLError
from qeval.typeql.syntax import ast, parse_query

from .mutations import mutants, tokens_of
from .oracle import cases, samples, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = samples()
TOKENS = sorted({token for text in SAMPLES for token in tokens_of(text)})


def parsed(text: str) -> ast.Query | None:
    try:
        return parse_query(text)
    except TypeQLError:
        return None


def children(node: ast.Node) -> Iterator[ast.Node]:
    for field in fields(node):
        content = getattr(node, field.name)
        for child in content if isinstance(content, tuple) else (content,):
            if isinstance(child, ast.Node):
                yield child


def check_spans(text: str, node: ast.Node) -> None:
    begin, end = node.span
    assert 0 <= begin < end <= len(text)
    own = text[begin:end]
    assert own == own.strip(" \t\r\n")
    if isinstance(node, ast.Variable):
        assert own == f"${node.name or '_'}{'?' if node.optional else ''}"
    elif isinstance(node, ast.Label):
        assert own == node.name
    elif isinstance(node, ast.ScopedLabel):
        assert own == f"{node.scope}:{node.name}"
    elif isinstance(node, ast.Literal) and node.text[0] not in "+-":
        assert own == node.text
    for child in children(node):
        assert begin <= child.span.begin
        assert child.span.end <= end
        check_spans(text, child)


def check_cover(text: str, query: ast.Query) -> None:
    """The query's span leaves out nothing but white space and comments."""
    begin, end = query.span
    for rest in (text[:begin], text[end:]):
        lines = rest.replace("\r", "\n").split("\n")
        assert all(not line.split("#")[0].strip() for line in lines)


@pytest.mark.parametrize("text", SAMPLES, ids=lambda text: text[:20].split("\n")[0])
def test_spans_of_every_construct(text: str) -> None:
    query = parse_query(text)
    check_spans(text, query)
    check_cover(text, query)


def test_spans_of_recorded_queries_and_mutants() -> None:
    texts = [str(case["query"]) for case in cases()] + list(mutants(sources(), 3000, seed=5))
    for text in texts:
        if (query := parsed(text)) is not None:
            check_spans(text, query)
            check_cover(text, query)


@given(st.text())
def test_any_text_parses_or_raises_the_one_error(text: str) -> None:
    parsed(text)


@given(
    st.sampled_from(["match ", "define ", "undefine ", "match $x isa a; fetch {", ""]),
    st.lists(st.one_of(st.sampled_from(TOKENS), st.text(max_size=3)), max_size=20),
)
def test_any_tokens_parse_or_raise_the_one_error(start: str, tokens: list[str]) -> None:
    text = start + " ".join(tokens)
    query = parsed(text)
    if query is not None:
        check_spans(text, query)
        return
    with pytest.raises(TypeQLError) as caught:
        parse_query(text)
    error = caught.value
    assert error.codes == ("TQL03", "TQL0")
    assert error.line is not None
    assert error.column is not None
    assert 1 <= error.line <= 1 + text.count("\n") + text.count("\r")
    assert error.column >= 1


@given(st.sampled_from(SAMPLES), st.data())
def test_white_space_between_tokens_changes_nothing(text: str, data: st.DataObject) -> None:
    blanks = st.sampled_from([" ", "\n", "\t", "\r\n", "  # note\n", " "])
    other = ""
    before = ""
    for token in tokens_of(text):
        # A comment needs its line's end, and behind a time one plain space announces the zone.
        fixed = before.startswith("#") or (before[:1].isdigit() and "T" in before)
        other += data.draw(blanks) if token.isspace() and not fixed else token
        before = token
    assert parsed(other) == parse_query(text)


@given(st.sampled_from(SAMPLES), st.data())
def test_a_prefix_of_a_query_never_breaks_the_parser(text: str, data: st.DataObject) -> None:
    parsed(text[: data.draw(st.integers(0, len(text)))])
