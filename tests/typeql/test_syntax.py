"""The parser's verdict against a real server's and the official parser's."""

from __future__ import annotations

import gzip
import json
import time
from typing import TYPE_CHECKING

import pytest

from qeval.typeql.errors import TypeQLError
from qeval.typeql.syntax import parse_queries, parse_query
from qeval.typeql.syntax.ast import Query

from .mutations import mutants
from .oracle import GOLDENS, cases, oracle, samples, sources

if TYPE_CHECKING:
    from pathlib import Path


def verdict(text: str) -> bool:
    """Whether the parser takes the text."""
    try:
        parse_query(text)
    except TypeQLError:
        return False
    return True


def test_every_recorded_query_is_accepted_or_refused_as_by_the_server() -> None:
    wrong = [
        case["id"]
        for case in cases()
        if verdict(str(case["query"])) != (case.get("error_code") != "TQL03")
    ]
    assert wrong == []


def test_a_refused_query_is_refused_at_the_servers_line_and_mostly_its_column() -> None:
    refused = [case for case in cases() if case.get("error_code") == "TQL03"]
    columns = 0
    for case in refused:
        with pytest.raises(TypeQLError) as caught:
            parse_query(str(case["query"]))
        at = case["error_at"]
        assert isinstance(at, list)
        assert caught.value.line == at[0]
        # The server names the start of the rule that failed, we the token that made it fail.
        columns += caught.value.column == at[1] + 1
    assert columns > 0.8 * len(refused)


@pytest.mark.parametrize("path", sorted(GOLDENS.glob("*.tql")), ids=lambda path: path.name)
def test_schemas_and_data_parse(path: Path) -> None:
    for text in path.read_text(encoding="utf-8").split("\n# ---\n"):
        assert isinstance(parse_query(text), Query)


@pytest.mark.parametrize("text", samples(), ids=lambda text: text[:20].split("\n")[0])
def test_every_construct_parses(text: str) -> None:
    assert isinstance(parse_query(text), Query)


def test_mutants_are_judged_as_by_the_official_parser() -> None:
    with gzip.open(GOLDENS / "mutants.jsonl.gz", "rt", encoding="utf-8") as lines:
        frozen = [json.loads(line) for line in lines]
    assert len(frozen) > 3000
    assert [text for ok, text in frozen if verdict(text) != bool(ok)] == []


@pytest.mark.typeql_oracle
def test_fresh_mutants_are_judged_as_by_the_official_parser() -> None:
    ask = oracle()
    if ask is None:
        pytest.skip("neither QEVAL_TYPEQL_ORACLE nor type_bridge_core (Python 3.12 or later)")
    texts = list(mutants(sources(), 12_000, seed=int(time.time())))
    pairs = zip(texts, ask(texts), strict=True)
    assert [text for text, ok in pairs if ok is not None and verdict(text) != ok] == []


def test_several_queries_in_one_text_are_split() -> None:
    text = "define entity a; end; match $x isa a; end;\ninsert $x isa a;"
    first, second, third = parse_queries(text)
    assert (first.ended, second.ended, third.ended) == (True, True, False)
    assert text[slice(*second.span)] == "match $x isa a; end;"
    assert parse_queries(" # nothing\n") == ()
    with pytest.raises(TypeQLError):
        parse_query(text)


def test_a_recorded_query_parses_in_well_under_a_millisecond() -> None:
    queries = [str(case["query"]) for case in cases()]
    begin = time.perf_counter()
    for query in queries:
        verdict(query)
    assert (time.perf_counter() - begin) / len(queries) < 0.001
