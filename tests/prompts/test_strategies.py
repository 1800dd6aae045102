"""Every strategy and factor renders for every case, shows what it says, and gives nothing away."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from qeval.cells import Cell, build_cell, cell_key, compose
from qeval.configuration import options
from qeval.engines.base import EngineInfo
from qeval.errors import InputError
from qeval.prompts.base import Trial
from qeval.prompts.schema import document
from qeval.suites import load_suite
from qeval.suites.leaks import account

SUITE = load_suite("ecommerce")
LANGUAGES = [name for name in SUITE.languages if name in options("language")]
FACTORS = [
    "schema=full", "schema=linked", "schema=oracle", "schema=none", "schema=auto",
    "schema_form=short", "sample_values=2", "notes=true", "answer_form=json",
    "selection=random", "selection=similar", "selection=diverse", "shots=5",
]  # fmt: skip


@lru_cache
def cell(language: str, strategy: str, *factors: str, asked: str = "en") -> Cell:
    words = [f"prompt_strategy.{factor}" for factor in factors]
    return build_cell(
        compose(
            [
                "model=gold",
                f"language={language}",
                f"prompt_strategy={strategy}",
                f"question_language={asked}",
                *words,
            ]
        )
    )


@pytest.mark.parametrize("asked", ["en", "zh"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("strategy", options("prompt_strategy"))
def test_every_strategy_renders_every_case(language: str, strategy: str, asked: str) -> None:
    source = "cypher" if language == "sql" else "sql"
    given = [f"source_language={source}"] if strategy == "translate" else []
    made = cell(language, strategy, *given, asked=asked)
    for case in made.cases:
        if given and source not in case.gold:
            continue
        prompt = made.strategy.render(case, made.suite, made.language)
        text = "\n".join(message.content for message in prompt.messages)
        assert case.question[asked] in prompt.messages[-1].content
        assert case.gold[language] not in text
        assert SUITE.reference_date in text
        assert made.language.title in text
        assert ("CREATE TABLE" in text) == (language == "sql" and prompt.schema == "full")
        assert prompt.messages[-1].role == "user"
        assert len(prompt.messages) == 2 + 2 * len(prompt.examples)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("factor", FACTORS)
def test_every_factor_renders_and_changes_the_identity(language: str, factor: str) -> None:
    plain, made = cell(language, "schema_few_shot"), cell(language, "schema_few_shot", factor)
    for case in made.cases:
        made.strategy.render(case, made.suite, made.language)
    if factor != "schema=full":
        assert made.strategy.identity() != plain.strategy.identity()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("selection", ["fixed", "random", "similar", "diverse"])
def test_no_example_gives_its_case_away(language: str, selection: str) -> None:
    made = cell(language, "few_shot", f"selection={selection}", "shots=6")
    bank = {example.id: example for example in made.suite.examples}
    for case in made.cases:
        shown = made.strategy.render(case, made.suite, made.language).examples
        assert len(set(shown)) == 6
        assert [account(bank[name], case, 0.75) for name in shown] == [""] * 6


def test_selections_do_what_they_say() -> None:
    case = SUITE.cases[0]

    def ids(*factors: str) -> tuple[str, ...]:
        made = cell("sql", "few_shot", *factors)
        return made.strategy.render(case, made.suite, made.language).examples

    bank = [example.id for example in SUITE.examples]
    assert list(ids("shots=2")) == bank[:2]
    assert ids("selection=random", "shots=6") == ids("selection=random", "shots=6")
    drawn = {ids("selection=random", "shots=6", f"selection_seed={n}") for n in range(4)}
    assert len(drawn) > 1
    tags = {example.id: set(example.tags) for example in SUITE.examples}
    diverse, fixed = ids("selection=diverse", "shots=6"), ids("shots=6")
    assert len(set().union(*(tags[n] for n in diverse))) >= len(
        set().union(*(tags[n] for n in fixed))
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_oracle_shows_the_declared_scope_and_says_so(language: str) -> None:
    made = cell(language, "schema_zero_shot", "schema=oracle")
    schema = document(language, SUITE.schema_text[language])
    for case in made.cases:
        prompt = made.strategy.render(case, made.suite, made.language)
        assert prompt.schema == "oracle"
        for name in case.scope[language]:
            item = next(item for item in schema.items if item.name == name)
            assert item.texts[0].strip() in prompt.parts["schema"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_auto_prunes_only_above_its_budget(language: str) -> None:
    for tokens, kind in ((100_000, "full"), (10, "linked")):
        made = cell(language, "schema_zero_shot", "schema=auto", f"auto_tokens={tokens}")
        prompt = made.strategy.render(made.cases[0], made.suite, made.language)
        assert prompt.schema == kind


def test_an_error_goes_back_with_the_answer() -> None:
    made = cell("sql", "self_repair")
    strategy: Any = made.strategy
    first = strategy.render(made.cases[0], made.suite, made.language)
    trial = Trial("schema_error", 'column "x" does not exist')
    second = strategy.follow_up(first, "SELECT x", trial, made.language)
    assert second.messages[: len(first.messages)] == first.messages
    assert [m.role for m in second.messages[-2:]] == ["assistant", "user"]
    assert 'column "x" does not exist' in second.messages[-1].content


def test_half_a_character_in_an_answer_can_go_back() -> None:
    made = cell("sql", "self_repair")
    first = made.strategy.render(made.cases[0], made.suite, made.language)
    answers = ("SELECT '\ud83d'", "SELECT '\ud83e'")
    asked = [
        made.strategy.follow_up(first, answer, Trial("syntax_error", "no"), made.language)  # type: ignore[attr-defined]
        for answer in answers
    ]
    assert asked[0].digest != asked[1].digest


@pytest.mark.parametrize("with_question", [True, False])
def test_translation_shows_the_source_and_the_question_only_if_asked(with_question: bool) -> None:  # noqa: FBT001
    made = cell("cypher", "translate", f"with_question={str(with_question).lower()}")
    case = made.cases[0]
    last = made.strategy.render(case, made.suite, made.language).messages[-1].content
    assert case.gold["sql"] in last
    assert (case.question["en"] in last) is with_question
    same = cell("sql", "translate")
    with pytest.raises(InputError, match="into itself"):
        same.strategy.render(same.cases[0], same.suite, same.language)


@pytest.mark.parametrize(
    ("factor", "told"),
    [
        ("schema=linkd", "Did you mean 'linked'"),
        ("selection=similr", "Did you mean 'similar'"),
        ("schema_form=dll", "Did you mean 'ddl'"),
        ("answer_form=xml", "expected fence, json"),
        ("linking.least=few", "linking.least must be a whole number"),
        ("repair_rounds=-1", "repair_rounds must be 0 or more"),
    ],
)
def test_a_wrong_factor_is_explained(factor: str, told: str) -> None:
    def render() -> None:
        made = cell("sql", "schema_few_shot", factor)
        made.strategy.render(made.cases[0], made.suite, made.language)

    with pytest.raises(InputError, match=told):
        render()


def test_a_strategy_is_one_template_and_one_yaml(tmp_path: Path) -> None:
    (tmp_path / "prompt_strategy").mkdir()
    (tmp_path / "prompt_strategy" / "polite.yaml").write_text(
        "defaults:\n  - base/template@_here_\n  - _self_\n"
        f"name: polite\ntemplate: {tmp_path / 'polite.jinja'}\nschema: linked\n",
        encoding="utf-8",
    )
    (tmp_path / "polite.jinja").write_text(
        '{% extends "_base.jinja" %}{% block notes %}Please.{% endblock %}', encoding="utf-8"
    )
    made = build_cell(compose(["model=gold", "prompt_strategy=polite"], tmp_path))
    prompt = made.strategy.render(made.cases[0], made.suite, made.language)
    assert "Please." in prompt.messages[0].content
    assert prompt.schema == "linked"


def _key(made: Cell) -> str:
    return cell_key(made, EngineInfo("postgres", "18", "embedded"))


def _with_case(made: Cell, **changes: object) -> Cell:
    """The cell with another first case."""
    first, *others = made.cases
    return replace(made, cases=(replace(first, **changes), *others))  # type: ignore[arg-type]


def test_another_source_to_translate_from_is_another_cell() -> None:
    made = cell("cypher", "translate", "source_language=sql")
    gold = made.cases[0].gold
    assert _key(_with_case(made, gold={**gold, "sql": "SELECT 1"})) != _key(made)
    assert _key(_with_case(made, gold={**gold, "typeql": "match $u isa user;"})) == _key(made)


def test_another_scope_is_another_cell_where_prompts_show_the_scope() -> None:
    made = cell("sql", "schema_zero_shot", "schema=oracle")
    assert _key(_with_case(made, scope={"sql": ("orders",)})) != _key(made)
    shown = cell("sql", "schema_zero_shot")
    assert _key(_with_case(shown, scope={"sql": ("orders",)})) == _key(shown)


def test_other_tags_of_examples_are_another_cell() -> None:
    made = cell("sql", "cot", "shots=2")
    first, *others = made.suite.examples
    bank = (replace(first, tags=("other",)), *others)
    assert _key(replace(made, suite=replace(made.suite, examples=bank))) != _key(made)
