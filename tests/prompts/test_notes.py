"""The cheat sheets teach what runs: every snippet is executed and answers something."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from qeval.cells import build_cell, build_engine, compose
from qeval.engines.base import Engine, QueryLimits
from qeval.prompts.template import NOTES
from qeval.suite import Instance
from qeval.suites import load_suite

COMPANY = load_suite(Path(__file__).parent / "company")


def snippets(question_language: str, language: str) -> list[str]:
    text = (NOTES / question_language / f"{language}.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)\n```", text, flags=re.DOTALL)


@pytest.fixture(scope="module")
def loaded() -> Iterator[dict[str, tuple[Engine, Instance]]]:
    with ExitStack() as stack:
        found = {}
        for language in COMPANY.languages:
            cell = build_cell(compose(["model=gold", f"language={language}"]))
            engine = build_engine(cell.engine_config)
            stack.callback(engine.stop)
            engine.start()
            instance = COMPANY.instance(language, "base")
            engine.load(instance)
            found[language] = (engine, instance)
        yield found


@pytest.mark.parametrize(
    ("language", "query"),
    [
        (language, query)
        for question_language in ("en", "zh")
        for language in COMPANY.languages
        for query in snippets(question_language, language)
    ],
)
def test_every_snippet_runs_and_finds_something(
    loaded: dict[str, tuple[Engine, Instance]], language: str, query: str
) -> None:
    engine, instance = loaded[language]
    engine.check(query, instance)
    assert len(engine.execute(query, instance, QueryLimits()).table) > 0


@pytest.mark.parametrize("language", ["sql", "cypher", "typeql"])
def test_both_question_languages_teach_the_same_snippets(language: str) -> None:
    assert snippets("en", language)
    assert snippets("en", language) == snippets("zh", language)
