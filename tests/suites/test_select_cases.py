"""Filters of conf/difficulty on the cases of a suite."""

from collections import Counter
from typing import Any

import pytest

from qeval.cells import build_cell
from qeval.configuration import compose, compose_grid, plain, spell_out
from qeval.errors import InputError
from qeval.suites import load_suite, select_cases
from qeval.suites.selection import representative

SUITE = load_suite("ecommerce")


def chosen(**filters: Any) -> set[str]:
    return {case.id for case in select_cases(SUITE, filters)}


def test_no_filter_keeps_all_in_order() -> None:
    assert select_cases(SUITE) == SUITE.cases
    assert select_cases(SUITE, {"levels": [], "tags": [], "limit": None}) == SUITE.cases


def test_filters_are_joined() -> None:
    assert chosen(tags=["recursion"]) == {"ec-h01", "ec-h05", "ec-h32", "ec-h33"}
    assert chosen(tags=["median", "second-highest"]) == {"ec-h02", "ec-h04"}
    assert chosen(tags=["recursion"], sources=["graph"]) == {"ec-h05"}
    assert chosen(levels=["easy", "hard"], ids=["ec-e01", "ec-m01"]) == {"ec-e01"}


def test_limit_keeps_the_first() -> None:
    assert [case.id for case in select_cases(SUITE, {"levels": ["hard"], "limit": 2})] == [
        "ec-h01",
        "ec-h02",
    ]


def test_a_representative_choice_is_even_and_the_same_in_every_order() -> None:
    cases = select_cases(SUITE, {"representative": 20})
    assert len(cases) == 20
    assert [case for case in SUITE.cases if case in cases] == list(cases)
    assert sorted(Counter(case.difficulty for case in cases).values()) == [6, 7, 7]
    assert {case.pattern for case in cases} == {case.pattern for case in SUITE.cases}
    assert max(Counter(case.pattern for case in cases).values()) == 2
    assert min(Counter(case.source for case in cases).values()) >= 6
    backwards = representative(SUITE.cases[::-1], 20)
    assert backwards[::-1] == list(cases)


def test_a_representative_choice_joins_with_filters() -> None:
    cases = select_cases(SUITE, {"levels": ["hard"], "representative": 12})
    assert [case.difficulty for case in cases] == ["hard"] * 12
    assert len({case.pattern for case in cases}) == 12
    assert select_cases(SUITE, {"representative": 500}) == SUITE.cases


def test_the_subset_is_named_on_the_command_line() -> None:
    words = spell_out(["subset=representative"])
    assert plain(compose(words))["difficulty"]["representative"] == 20


def test_subset_and_difficulty_compose_and_sweep() -> None:
    words = ["model=gold", "difficulty=hard", "subset=representative"]
    cell = build_cell(compose(words))
    assert [case.difficulty for case in cell.cases] == ["hard"] * 20
    assert cell.name == "gold-sql-schema_few_shot-hard_representative"
    assert build_cell(compose(words[::2])).name == "gold-sql-schema_few_shot-representative"
    grid = compose_grid([*words[:1], "difficulty=easy,hard", "subset=representative,all"])
    cells = [build_cell(config) for config in grid]
    assert [len(cell.cases) for cell in cells] == [20, 40, 20, 40]
    assert len({cell.name for cell in cells}) == 4


def test_only_cases_with_a_gold_in_the_language() -> None:
    assert select_cases(SUITE, language="sql") == SUITE.cases


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"levels": ["esy"]}, "Did you mean 'easy'"),
        ({"tags": ["recursive"]}, "Did you mean 'recursion'"),
        ({"ids": ["ec-e99"]}, "no case has 'ec-e99'"),
        ({"level": ["easy"]}, "Did you mean 'levels'"),
        ({"levels": "easy"}, "must be a list"),
        ({"limit": 0}, "at least 1"),
        ({"representative": "20"}, "at least 1"),
        ({"levels": ["easy"], "tags": ["median"]}, "leaves no case"),
    ],
)
def test_wrong_filters_are_told(filters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        select_cases(SUITE, filters)
