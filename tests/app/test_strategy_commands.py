"""Seeing prompts and prices before anything is asked, caps on money, and recipes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import qeval as package
from qeval.cells import build_cell, compose
from qeval.configuration import compose_grid, options
from qeval.exit_codes import ExitCode
from tests.conftest import Run

QUICK = ["tracking=none", "difficulty=easy", "difficulty.limit=10"]


def test_a_prompt_is_shown_as_it_would_be_sent(qeval: Run) -> None:
    words = ["prompt", "ec-e02", "model=gpt4", "prompt_strategy.schema=linked"]
    done = qeval(*words)  # no key is needed: nothing is asked
    assert done.returncode == 0, done.stderr
    assert "How many users have no birth date on record?" in done.stdout
    assert "counted by cl100k_base; schema shown: linked" in done.stdout
    shown = json.loads(qeval(*words, "--json").stdout)
    assert shown["exact"] is True
    assert shown["tokens"] > sum(shown["parts"].values()) - 10
    assert [role for role, _ in shown["messages"]][-1] == "user"
    cell = build_cell(compose(words[2:]))
    case = next(case for case in cell.cases if case.id == "ec-e02")
    assert cell.strategy.render(case, cell.suite, cell.language).digest == shown["digest"]


def test_an_estimate_is_marked_and_the_fattest_part_named(qeval: Run) -> None:
    done = qeval("prompt", "ec-e02", "model=claude2", "prompt_strategy.shots=20")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "tokens (estimate)" in told
    assert re.search(r"about [\d,]+ tokens, above 2,000; the fattest part is the examples", told)


def test_a_prompt_beyond_the_window_is_refused_before_anything_runs(
    tmp_path: Path, qeval: Run
) -> None:
    for words in (["prompt", "ec-e02"], QUICK):
        done = qeval(*words, "model=llama2_70b", "model.window=1200", AWS_PROFILE="nobody")
        assert done.returncode == 2
        assert "the window of llama2_70b (1,200) has room for 688" in done.stderr
        assert "prompt_strategy.schema=linked" in done.stderr
    assert not list(tmp_path.glob("runs/*"))


def test_an_unknown_case_is_explained(qeval: Run) -> None:
    done = qeval("prompt", "ec-e2", "model=gold")
    assert done.returncode == 2
    assert "Did you mean 'ec-e" in done.stderr


def test_a_dry_run_plans_and_runs_nothing(tmp_path: Path, qeval: Run) -> None:
    words = ["-m", "model=gpt4,gold", "prompt_strategy=few_shot,self_repair", *QUICK]
    done = qeval(*words, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "4 cells, 40 calls (at most 80)" in done.stdout
    assert "≤ $" in done.stdout
    assert "Nothing was asked or run" in done.stdout
    assert not (tmp_path / "runs").exists()
    unknown = ["model=openai_compatible", "model.base_url=http://x/v1", "model.id=y"]
    assert "1 cell whose price is unknown" in qeval(*unknown, *QUICK, "--dry-run").stdout


def test_a_budget_ends_the_sweep_and_a_larger_one_goes_on(tmp_path: Path, qeval: Run) -> None:
    words = ["-m", "model=mock", "model.usd_per_call=0.01", "model.seed=0,1", *QUICK]
    done = qeval(*words, "limits.budget_usd=0.15")
    assert done.returncode == 3, done.stderr
    assert "the budget is spent: $0.1500 of limits.budget_usd=0.15" in done.stdout
    assert "To go on:" in done.stdout
    assert _records(tmp_path) == 15
    again = qeval(*words, "limits.budget_usd=0.15")
    assert again.returncode == 3
    assert _records(tmp_path) == 15
    assert qeval(*words, "limits.budget_usd=0.21").returncode == 0
    assert _records(tmp_path) == 20


def _records(folder: Path) -> int:
    return sum(
        path.read_text(encoding="utf-8").count('"type":"record"')
        for path in folder.glob("runs/*/journal.jsonl")
    )


def test_a_budget_needs_prices(qeval: Run) -> None:
    words = ["model=openai_compatible", "model.base_url=http://127.0.0.1:9/v1", "model.id=y"]
    done = qeval(*words, *QUICK, "limits.budget_usd=1")
    assert done.returncode == 2
    assert "the price of model=openai_compatible is unknown" in done.stderr


def test_errors_go_back_and_both_scores_are_told(tmp_path: Path) -> None:
    result = package.run(
        [
            "model=mock",
            "model.repairs=0.7",
            "prompt_strategy=self_repair",
            "tracking=none",
            f"runs_dir={tmp_path}",
        ]
    )
    (cell,) = result.cells
    assert result.exit_code is ExitCode.DONE
    before = cell.metrics.before_repair["execution_accuracy"].value
    assert before < cell.metrics.overall["execution_accuracy"].value
    asked_again = [record for record in cell.records if len(record.rounds) > 1]
    assert cell.metrics.behaviour["repaired"].numerator == len(asked_again) > 0
    prompts = (cell.folder / "prompts.jsonl").read_text(encoding="utf-8")
    for record in cell.records:
        fine = [round_.kind == "fine" for round_ in record.rounds]
        assert True not in fine[:-1]
        assert record.raw == record.rounds[-1].raw
        assert record.prompt_tokens == sum(r.prompt_tokens or 0 for r in record.rounds)
        assert all(round_.prompt_digest in prompts for round_ in record.rounds)
    assert len(asked_again[0].rounds) <= 3


def test_repeats_are_measured(tmp_path: Path) -> None:
    words = ["model=mock", *QUICK, "repeats=3", f"runs_dir={tmp_path}"]
    (cell,) = package.run(words).cells
    stable = cell.metrics.stability
    assert set(stable) == {
        "exact_agreement", "verdict_agreement", "pass_at_1", "pass_at_2", "pass_at_3",
    }  # fmt: skip
    assert stable["pass_at_1"].value == pytest.approx(
        cell.metrics.overall["execution_accuracy"].value
    )
    assert stable["pass_at_1"].value <= stable["pass_at_3"].value


def test_copied_literals_are_found_in_records(tmp_path: Path) -> None:
    """A model that hands in the first example's query copies its literal."""
    example = "SELECT id FROM warehouses WHERE code = '014'"
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        "\n".join(
            json.dumps({"case_id": f"ec-e{number:02}", "query": example}) for number in range(1, 11)
        ),
        encoding="utf-8",
    )
    words = ["model=replay", f"model.file={answers}", *QUICK, f"runs_dir={tmp_path / 'runs'}"]
    (cell,) = package.run([*words, "prompt_strategy=few_shot"]).cells
    assert cell.metrics.behaviour["copy_rate"].value == 1.0
    assert cell.records[0].copied == ("014", "code = 014", "the whole query")


@pytest.mark.parametrize("recipe", options("experiment"))
def test_every_recipe_composes_and_plans(qeval: Run, recipe: str) -> None:
    done = qeval(f"+experiment={recipe}", "model=gold", "difficulty.limit=2", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "Nothing was asked or run" in done.stdout


def test_programs_get_the_same_cells_of_a_recipe() -> None:
    made: list[Any] = compose_grid(["+experiment=seed_table"])
    assert {cell.reference for cell in made} == {"published"}
    assert len({(cell.model.name, cell.language.name) for cell in made}) == len(made) == 12
    assert len(compose_grid(["+experiment=seed_table", "model=gold"])) == 3
    assert len(compose_grid(["+experiment=translate_grid", "model=gold"])) == 12


def test_translating_into_itself_is_left_out(qeval: Run) -> None:
    words = ["+experiment=translate_grid", "model=gold", "language=sql,cypher", "--dry-run"]
    done = qeval(*words, "prompt_strategy.source_language=sql,cypher", "difficulty.limit=2")
    assert done.returncode == 0, done.stderr
    assert "4 cells, 8 calls" in done.stdout
