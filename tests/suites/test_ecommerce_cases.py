"""The content rules of the built-in cases, computed from their golds and questions."""

import re
from collections import Counter

import pytest
import sqlglot
from sqlglot import exp

from qeval.suite import Case, Example
from qeval.suites import load_suite
from qeval.suites.difficulty import computed, mislabelled, shape

SUITE = load_suite("ecommerce")
ENTRIES: tuple[Case | Example, ...] = (*SUITE.cases, *SUITE.examples)

DIALECT_WORDS = re.compile(
    r"\b(select|join|joins|group by|having|distinct|null|nulls|where clause|row|rows|column|"
    r"columns|table|tables|node|nodes|edge|edges|relationship|relation|attribute|entity|subquery|"
    r"match|label|property|foreign key|primary key|dd[./-]mm|mm[./-]dd)\b",
    re.IGNORECASE,
)
VAGUE_WORDS = re.compile(r"\b(recent|recently|active|popular|often|big|cheap|good|new)\b")
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")


LEVELS = ("easy", "medium", "hard")
SOURCES = ("relational", "graph", "typedb")
# What catches models (issue 6), by the tag that cases carry for it.
TRAPS = (
    "anti-join", "average", "boundary", "but-not", "consecutive-periods", "co-purchase", "cycle",
    "date-range", "direction", "distinct", "empty-group", "every", "fan-out", "fraud", "group-by",
    "having", "hierarchy", "influence", "integer-division", "join", "median", "missing-value",
    "multi-valued", "negation", "nested-aggregate", "optional", "per-group", "recommendation",
    "recursion", "relation-attribute", "relative-date", "role", "running-total", "second-highest",
    "self-join", "self-reference", "subtype", "ties", "time-window", "top-k", "two-hop",
)  # fmt: skip


def by_id(entry: Case | Example) -> str:
    return entry.id


@pytest.mark.parametrize("case", SUITE.cases, ids=by_id)
def test_the_difficulty_follows_from_the_gold(case: Case) -> None:
    """easy: one table; medium: two or three joins, nothing nested; hard: something nested."""
    found = shape("sql", case.gold["sql"])
    assert found is not None
    assert case.difficulty == computed(case) == found.level
    assert case.difficulty != "medium" or 2 <= found.steps <= 3


def test_no_gold_is_two_steps_off_its_label_undeclared() -> None:
    assert SUITE.check_difficulty
    assert list(mislabelled(SUITE)) == []
    assert sum(len(case.gold_level) for case in SUITE.cases) == 6


@pytest.mark.parametrize("case", SUITE.cases, ids=by_id)
def test_the_scope_is_what_the_gold_reads(case: Case) -> None:
    tree = sqlglot.parse_one(case.gold["sql"], read="postgres")
    inside = {cte.alias for cte in tree.find_all(exp.CTE)}
    tables = {table.name for table in tree.find_all(exp.Table)} - inside
    assert set(case.scope["sql"]) == tables


@pytest.mark.parametrize("entry", ENTRIES, ids=by_id)
def test_columns_are_named_as_declared(entry: Case | Example) -> None:
    tree = sqlglot.parse_one(entry.gold["sql"], read="postgres")
    assert isinstance(tree, exp.Query)
    assert [column.name for column in entry.answer.columns] == tree.named_selects


@pytest.mark.parametrize("entry", ENTRIES, ids=by_id)
def test_questions_are_plain_language(entry: Case | Example) -> None:
    english, chinese = entry.question["en"], entry.question["zh"]
    for text in (english, chinese):
        assert not DIALECT_WORDS.search(text)
        for found in DATE.findall(text):
            assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", found)
        assert "\n" not in text
        assert "  " not in text
    assert not VAGUE_WORDS.search(english) or "most often" in english
    assert re.search(r"[一-鿿]", chinese)
    assert not re.search(r"[一-鿿][,?!;:.]", chinese), "half-width punctuation after Chinese text"
    assert not re.search(r"[一-鿿，。；：？！（）、] +[一-鿿（]", chinese), "folded to a space"
    assert chinese[-1] in "。？"


@pytest.mark.parametrize("entry", ENTRIES, ids=by_id)
def test_both_questions_name_the_same_literals(entry: Case | Example) -> None:
    def numbers(text: str) -> Counter[str]:
        return Counter(re.findall(r"(?<![\d.-])\d{4}-\d{2}-\d{2}|\d{2,}(?:\.\d+)?", text))

    english = re.sub(r"(\d),(\d{3})", r"\1\2", entry.question["en"])
    assert set(numbers(english)) == set(numbers(entry.question["zh"])), (english, entry.question)


def test_ties_at_a_limit_are_said() -> None:
    for entry in ENTRIES:
        assert ("tie for the last place" in entry.question["en"]) == bool(entry.answer.top_k)
        assert ("并列最后一位" in entry.question["zh"]) == bool(entry.answer.top_k)


def test_groups_are_asked_for_with_their_columns_and_without_the_empty_ones() -> None:
    """An outer join is a fair reading of "the most" wherever there are fewer groups than asked."""
    for case in SUITE.cases:
        if "GROUP BY" in case.gold["sql"]:
            english = case.question["en"]
            assert re.search(r"\b[Gg]ive\b|: its ", english), case.id
            assert not case.answer.top_k or re.search("left out|Consider only", english), case.id


def test_relative_dates_count_from_the_reference_date() -> None:
    for entry in ENTRIES:
        if re.search(r"\blast \d+ days\b", entry.question["en"]):
            assert "reference date" in entry.question["en"]
            assert "基准日期" in entry.question["zh"]


def test_levels_and_sources_are_asked_equally() -> None:
    assert Counter(case.difficulty for case in SUITE.cases) == dict.fromkeys(LEVELS, 40)
    assert Counter(case.source for case in SUITE.cases) == dict.fromkeys(SOURCES, 40)
    pairs = Counter((case.source, case.difficulty) for case in SUITE.cases)
    assert set(pairs.values()) == {13, 14}
    assert len(pairs) == len(SOURCES) * len(LEVELS)


def test_no_pattern_is_over_represented_or_only_easy() -> None:
    """Issue 6: no pattern over 10 %, equal difficulty distribution across patterns."""
    patterns = Counter(case.pattern for case in SUITE.cases)
    assert max(patterns.values()) <= len(SUITE.cases) // 10
    pairs = Counter((case.pattern, case.difficulty) for case in SUITE.cases)
    assert len(pairs) == len(patterns) * len(LEVELS)
    assert set(pairs.values()) == {3, 4}
    assert len({tag for case in SUITE.cases for tag in case.tags}) >= 50


@pytest.mark.parametrize("trap", TRAPS)
def test_every_known_trap_is_there(trap: str) -> None:
    tagged = {tag for case in SUITE.cases for tag in case.tags}
    assert trap in tagged
