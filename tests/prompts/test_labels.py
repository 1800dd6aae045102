"""What sets strategies of one name apart is said in tables; published figures are marked."""

from typing import Any

import pytest

from qeval.cells import build_cell
from qeval.configuration import compose, plain
from qeval.models.labels import model_label
from qeval.prompts.labels import strategy_label
from qeval.report.reference import account, figure
from qeval.suites import load_suite
from qeval.suites.leaks import leaks


def settings(*words: str) -> dict[str, Any]:
    return dict(plain(compose(["model=gold", *words]))["prompt_strategy"])


@pytest.mark.parametrize(
    ("words", "label"),
    [
        (["prompt_strategy=few_shot"], "few_shot"),
        (["question_language=zh"], "schema_few_shot"),
        (["prompt_strategy.schema=linked"], "schema_few_shot (schema=linked)"),
        (
            ["prompt_strategy.schema=oracle", "prompt_strategy.notes=true"],
            "schema_few_shot (schema=oracle, notes=true)",
        ),
        (["prompt_strategy.linking.share=0.2"], "schema_few_shot (linking={least: 2, share: 0.2})"),
    ],
)
def test_a_label_says_what_was_changed(words: list[str], label: str) -> None:
    assert strategy_label(settings(*words)) == label


def test_an_oracle_is_told_even_where_it_is_the_strategys_own() -> None:
    own = {**settings(), "name": "my_oracle", "schema": "oracle"}
    assert strategy_label(own) == "my_oracle (schema=oracle)"


class Cell:
    """As much of a result as the reference looks at."""

    def __init__(self, model: str, language: str, reference: str | None) -> None:
        self.header = {
            "config": {
                "model": {"name": model},
                "language": {"name": language},
                "prompt_strategy": {"name": "schema_few_shot"},
                "reference": reference,
            }
        }


def test_published_figures_are_shown_only_where_they_belong() -> None:
    gpt4: Any = Cell("gpt4", "typeql", "published")
    assert figure(gpt4, "composite") == pytest.approx(0.621)
    assert "NOT re-run" in account(gpt4)
    assert "2026-11-30" in account(gpt4)
    llama: Any = Cell("llama2_70b", "sql", "published")
    assert figure(llama, "composite") == pytest.approx(0.689)
    assert figure(llama, "execution_accuracy") is None
    for other in (Cell("mock", "sql", "published"), Cell("gpt4", "sql", None)):
        shown: Any = other
        assert figure(shown, "composite") is None


def test_no_example_gives_any_case_away() -> None:
    assert list(leaks(load_suite("ecommerce"), 0.75)) == []


def test_a_server_of_ones_own_is_called_by_its_models_name() -> None:
    words = ["model=openai_compatible", "model.base_url=http://x/v1"]
    labels = []
    for name in ("qwen3:8b", "org/llama"):
        cell = build_cell(compose([*words, f"model.id={name}"]))
        labels.append((model_label(cell.composed["model"]), cell.name))
    assert [label for label, _ in labels] == ["qwen3:8b", "org/llama"]
    assert labels[0][1].startswith("qwen3_8b-sql-")
    assert labels[1][1].startswith("org_llama-sql-")
    assert model_label(compose(["model=gpt4"])["model"]) == "gpt4"
