"""A judge in a run: it can make a verdict `equivalent`, and can't touch what execution found."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from qeval.cells import build_cell, compose
from qeval.exit_codes import ExitCode
from qeval.journal import read_journal, read_prompts
from qeval.judge.planning import JudgePlan
from qeval.results import CellResult, SweepResult
from qeval.scoring.verdict import Verdict
from qeval.sweep import evaluate, evaluate_cells
from tests.judge.company import build, gold

MOCK = ("model=mock", "model.shares={gold: 0.3, wrong: 0.5, syntax_error: 0.1, refuse: 0.1}")
UNTOUCHED = (
    "syntax_pass", "valid", "execution_accuracy", "execution_accuracy_relaxed", "robust_accuracy",
)  # fmt: skip
BEHAVIOURS = ("yes", "same", "no", "contradict", "garbage", "prose", "off_menu", "refuse", "flaky")


Evaluate = Callable[..., SweepResult]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluate:
    """Evaluate one cell per judge: a tiny suite, a third of the predictions right."""
    company = build(tmp_path_factory.mktemp("suite") / "company", range(100, 3000, 100))
    common = [
        "lang=typeql", "tracking=none", f"suite.path={company}", "prompt_strategy=schema_zero_shot",
    ]  # fmt: skip

    def run(runs: Path, judges: Sequence[Sequence[str]], *words: str) -> SweepResult:
        model = () if any(word.startswith("model=") for word in words) else MOCK
        every = [*common, *model, f"runs_dir={runs}", *words]
        cells = [compose([*every, *judge]) for judge in judges]
        return evaluate_cells(cells, quiet=True)

    return run


@pytest.fixture(scope="module")
def judged(evaluated: Evaluate, tmp_path_factory: pytest.TempPathFactory) -> dict[str, CellResult]:
    """The same cell under every judge, and without one (`none`)."""
    judges = [["judge=none"], *(["judge=mock", f"judge.behaviour={b}"] for b in BEHAVIOURS)]
    result = evaluated(tmp_path_factory.mktemp("runs"), judges)
    assert result.exit_code is ExitCode.DONE
    return dict(zip(["none", *BEHAVIOURS], result.cells, strict=True))


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_no_judge_moves_what_execution_measured(
    judged: dict[str, CellResult], behaviour: str
) -> None:
    plain, other = judged["none"].metrics, judged[behaviour].metrics
    for name in UNTOUCHED:
        assert other.overall[name] == plain.overall[name]
        for level, group in plain.by_difficulty.items():
            assert other.by_difficulty[level][name] == group[name]
    assert 0 < plain.overall["execution_accuracy"].value < 1
    assert judged["none"].key != judged[behaviour].key


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_only_queries_that_ran_are_judged_and_all_of_them(
    judged: dict[str, CellResult], behaviour: str
) -> None:
    asked = {r.case_id for r in judged[behaviour].records if r.judgement is not None}
    disputed = {
        r.case_id
        for r in judged["none"].records
        if r.verdict in (Verdict.WRONG_RESULT, Verdict.REFUTED)
    }
    assert asked == disputed
    assert len(asked) >= 5
    changed = {r.case_id for r in judged[behaviour].records if r.verdict is Verdict.EQUIVALENT}
    assert changed == (disputed if behaviour == "yes" else set())


def test_what_a_judge_said_is_counted(judged: dict[str, CellResult]) -> None:
    asked = sum(r.judgement is not None for r in judged["no"].records)
    counts = {name: cell.metrics.judgements for name, cell in judged.items()}
    assert counts["none"] == {}
    assert counts["yes"] == {"equivalent": asked}
    assert counts["no"] == counts["flaky"] == {"different": asked}
    for name in ("garbage", "prose", "off_menu", "refuse"):
        assert counts[name] == {"unscored": asked}
    assert counts["contradict"] == {"unscored": asked, "split": asked}
    assert counts["same"] == {"unscored": asked, "contradicted": asked}
    assert judged["no"].metrics.layers["judge"] == asked
    assert judged["garbage"].metrics.layers["unscored"] == asked
    assert sum(judged["no"].metrics.layers.values()) == judged["no"].metrics.records


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_without_a_card_a_judge_makes_no_headline(
    judged: dict[str, CellResult], behaviour: str
) -> None:
    cell = judged[behaviour]
    assert {"semantic_equivalence", "composite"}.isdisjoint(cell.metrics.overall)
    apart = cell.metrics.overall["semantic_equivalence_uncalibrated"]
    robust = cell.metrics.overall["robust_accuracy"]
    assert apart.numerator - robust.numerator == cell.metrics.judgements.get("equivalent", 0)
    summary = json.loads((cell.folder / "summary.json").read_text())
    assert summary["judge"]["accepted"] is False
    assert "qeval judge calibrate" in summary["judge"]["why"]


def test_journal_holds_votes_and_prompts(judged: dict[str, CellResult]) -> None:
    header, records = read_journal(judged["no"].folder)
    shown = read_prompts(judged["no"].folder)
    assert header["judge"]["votes"] == 3
    for record in records:
        for vote in record.judgement.votes if record.judgement else ():
            text = "\n".join(content for _, content in shown[vote.prompt_digest])
            assert record.question in text
            assert vote.raw


def test_a_judge_that_times_out_leaves_every_case_in_the_count_and_is_asked_again(
    evaluated: Evaluate, tmp_path: Path, judged: dict[str, CellResult]
) -> None:
    down = ["judge=mock", "judge.behaviour=timeout"]
    result = evaluated(tmp_path, [down])
    (cell,) = result.cells
    assert result.exit_code is ExitCode.INCOMPLETE
    assert cell.metrics.records == judged["none"].metrics.records
    for name in UNTOUCHED:
        assert cell.metrics.overall[name] == judged["none"].metrics.overall[name]
    asked = cell.metrics.judgements["unscored"]
    assert cell.unjudged == cell.metrics.judgements["failed"] == asked > 0
    assert json.loads((cell.folder / "summary.json").read_text())["complete"] is False
    lines = len((cell.folder / "journal.jsonl").read_text().splitlines())
    assert evaluated(tmp_path, [down]).exit_code is ExitCode.INCOMPLETE
    assert len((cell.folder / "journal.jsonl").read_text().splitlines()) == lines + asked


def test_a_spent_budget_ends_the_judging_and_more_money_goes_on(
    evaluated: Evaluate, tmp_path: Path
) -> None:
    paid = ["judge=mock", "judge.behaviour=no", "judge.usd_per_call=1"]
    short = evaluated(tmp_path, [paid], "limits.budget_usd=7", "workers=1")
    assert short.exit_code is ExitCode.INCOMPLETE
    assert any("budget is spent" in note for note in short.notes)
    (cell,) = short.cells
    votes = [v for r in cell.records if r.judgement for v in r.judgement.votes if not v.failed]
    assert len(votes) == 6  # the third dispute got one vote before the money was gone
    rest = evaluated(tmp_path, [paid], "limits.budget_usd=1000")
    assert rest.exit_code is ExitCode.DONE
    assert rest.cells[0].unjudged == 0
    # 7 dollars were spent before; the rest of the votes fit below what is left.
    total = 3 * sum(r.judgement is not None for r in rest.cells[0].records)
    again = evaluated(tmp_path / "again", [paid], f"limits.budget_usd={total}")
    assert again.exit_code is ExitCode.DONE


def test_a_dry_run_counts_the_judges_calls_as_a_bound(tmp_path: Path) -> None:
    from qeval.plan import plan_cell

    words = ["model=mock", "lang=sql", "difficulty=easy", "tracking=none", f"runs_dir={tmp_path}"]
    (plain, judged, panel) = (
        plan_cell(build_cell(compose([*words, *judge])))
        for judge in (["judge=none"], ["judge=gpt4"], ["judge=panel"])
    )
    assert plain.judge == JudgePlan()
    cases = plain.cases
    assert judged.judge.calls == cases * 3
    assert panel.judge.calls == cases * 9
    assert judged.judge.answer_tokens == judged.judge.calls * 1000
    assert judged.judge.cost_usd is not None
    # 30 and 60 dollars per million tokens in and out.
    bound = (30 * judged.judge.prompt_tokens + 60 * judged.judge.calls * 1000) / 1e6
    assert judged.judge.cost_usd == pytest.approx(bound)
    assert (judged.calls, judged.cost_usd) == (plain.calls, plain.cost_usd)


def test_rescoring_repeats_judgements_without_asking(
    judged: dict[str, CellResult], tmp_path: Path
) -> None:
    from qeval.recorded import recorded_cell

    cell, records = recorded_cell(judged["yes"].folder, into=tmp_path)
    again = evaluate([cell], quiet=True).cells[0]
    assert {r.case_id: r.verdict for r in again.records} == {r.case_id: r.verdict for r in records}
    assert again.metrics.judgements == judged["yes"].metrics.judgements
    assert again.key == judged["yes"].key


def test_a_refuted_prediction_comes_with_the_rows_that_refute_it(
    evaluated: Evaluate, tmp_path: Path
) -> None:
    answers = tmp_path / "answers.jsonl"
    # Right on base, wrong for someone who earns 1495.
    lucky = gold(1500).replace(">= 1500", ">= 1493")
    answers.write_text(json.dumps({"case_id": "co-1500", "query": lucky}))
    words = ["model=replay", f"model.file={answers}", "model.missing=empty"]
    judge = ["judge=mock", "judge.behaviour=no"]
    shown: dict[str, str] = {}
    for which in ("refuted", "none"):
        shows = f"judge.counterexamples={which}"
        result = evaluated(tmp_path / which, [[*judge, shows]], *words)
        (record,) = (r for r in result.cells[0].records if r.case_id == "co-1500")
        assert record.verdict is Verdict.REFUTED
        assert record.judgement is not None
        prompts = read_prompts(result.cells[0].folder)
        shown[which] = prompts[record.judgement.votes[0].prompt_digest][-1][1]
    assert 'employees ["id", "name", ' in shown["refuted"]
    assert "1495" in shown["refuted"].partition("A small data set")[2]
    assert "A small data set" not in shown["none"]
