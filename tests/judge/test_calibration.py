"""Calibration: what a judge's card says of good and bad judges, and what it lets their word do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from qeval.cells import compose
from qeval.commands.judge import main
from qeval.errors import InputError
from qeval.exit_codes import ExitCode
from qeval.journal import read_journal
from qeval.judge.base import Judgement, Vote
from qeval.judge.cards import Card, read_card
from qeval.judge.figures import Figures, Judged, figures
from qeval.record import Record
from qeval.review.decisions import Decision, append, item_key
from qeval.sweep import evaluate_cells
from tests.judge.company import build, gold
from tests.judge.disputes import judge

SALARIES = (900, 1500, 2500, 3000)
GOLDS = {f"co-{salary}": gold(salary) for salary in SALARIES}
Calibrate = Callable[..., ExitCode]


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of four cases with pairs of its own and a second instance."""
    return build(tmp_path_factory.mktemp("suite") / "company", SALARIES)


@pytest.fixture
def calibrate(company: Path, tmp_path: Path) -> Calibrate:
    """Run `qeval judge calibrate` on the company's pairs."""

    def run(behaviour: str, *words: str, action: str = "calibrate") -> ExitCode:
        return ExitCode(
            main(
                [action, "judge=mock", f"judge.behaviour={behaviour}", "lang=typeql",
                 f"suite.path={company}", f"runs_dir={tmp_path}", "workers=2", *words]
            )
        )  # fmt: skip

    return run


def card(runs: Path, behaviour: str) -> Card:
    from qeval.judge.base import digest_of

    found = read_card(runs, digest_of(judge(f"judge.behaviour={behaviour}")))
    assert found is not None
    return found


def numbers(found: Figures, name: str) -> tuple[float, int]:
    value = getattr(found, name)
    return value.numerator, value.denominator


def test_a_card_tells_the_judges_word_alone_in_runs_and_behind_the_instances(
    calibrate: Calibrate, tmp_path: Path
) -> None:
    assert calibrate("yes") is ExitCode.MISSED
    (entry,) = card(tmp_path, "yes").entries
    # Base tells "strict" from the gold and variant-1 "wider": the instances alone are right.
    assert numbers(entry.instances, "accuracy") == (12, 12)
    assert numbers(entry.alone, "false_accept") == (8, 8)
    assert numbers(entry.alone, "false_refuse") == (0, 4)
    assert numbers(entry.in_runs, "false_accept") == (8, 8)
    assert entry.in_runs.false_refuse is None
    assert numbers(entry.chain, "false_accept") == (8, 8)
    assert entry.alone.kappa is not None
    assert entry.alone.kappa.value == pytest.approx(0)
    assert entry.in_runs.false_accept is not None
    assert entry.in_runs.false_accept.high == 1
    assert (entry.suite, entry.language, entry.failed) == ("company", "typeql", 0)


SILENT = {"unscored": [(12, 12), (8, 8)], "false_accept": [None, None]}


@pytest.mark.parametrize(
    ("behaviour", "counts"),
    [
        ("no", {"false_refuse": [(4, 4), None], "false_accept": [(0, 8), (0, 8)]}),
        ("garbage", SILENT),
        ("prose", SILENT),
        ("refuse", SILENT),
        ("contradict", {**SILENT, "turned": [(12, 12), (8, 8)], "split": [(12, 12), (8, 8)]}),
        (
            "same",
            {
                "contradicted": [(0, 12), (8, 8)],
                "unscored": [(0, 12), (8, 8)],
                "false_accept": [(8, 8), None],
            },
        ),
    ],
)
def test_bad_judges_show_up_in_their_cards_and_who_says_nothing_is_refused(
    calibrate: Calibrate,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    behaviour: str,
    counts: dict[str, list[tuple[int, int] | None]],
) -> None:
    code = calibrate(behaviour, "judge.max_false_accept=1")
    told = " ".join(capsys.readouterr().out.split())
    (entry,) = card(tmp_path, behaviour).entries
    for figure, expected in counts.items():
        found = [getattr(part, figure) for part in (entry.alone, entry.in_runs)]
        assert [value and (value.numerator, value.denominator) for value in found] == expected
    silent = "gave a label in runs, 8 of 8 unscored" in told
    assert silent == (code is ExitCode.MISSED) == (behaviour != "no")


def test_a_judge_that_times_out_gets_a_card_that_says_so_and_is_refused(
    calibrate: Calibrate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert calibrate("timeout") is ExitCode.INCOMPLETE
    (entry,) = card(tmp_path, "timeout").entries
    assert (entry.failed, entry.alone.n, entry.in_runs.n) == (12, 0, 0)
    assert calibrate("timeout", action="card") is ExitCode.MISSED
    assert "12 pairs of its card could not be asked about" in capsys.readouterr().out


def test_row_sets_are_tried_and_counted(calibrate: Calibrate, tmp_path: Path) -> None:
    # Someone with exactly 1500 tells the queries about 1500 apart, and no others.
    rows = "judge.row_set=[{table: employees, columns: [salary], rows: [[1500]]}]"
    calibrate("no", rows)
    (path,) = tmp_path.glob("judges/*.json")
    found = json.loads(path.read_text())["entries"][0]["alone"]
    assert (found["claimed"]["numerator"], found["claimed"]["denominator"]) == (12, 12)
    # "co-1500-strict" drops that row; "wider" has it as well.
    assert (found["confirmed"]["numerator"], found["confirmed"]["denominator"]) == (1, 12)


def test_what_was_asked_is_not_asked_again(calibrate: Calibrate, tmp_path: Path) -> None:
    calibrate("no")
    (asked,) = tmp_path.glob("judges/*.jsonl")
    before = asked.read_bytes()
    lines = before.splitlines(keepends=True)
    assert len(lines) == 20
    calibrate("no")
    assert asked.read_bytes() == before
    asked.write_bytes(b"".join(lines[:5]) + lines[5][:30])  # what a kill leaves
    calibrate("no")
    assert sorted(asked.read_bytes().splitlines(keepends=True)) == sorted(lines)


def test_a_budget_ends_it_and_more_money_goes_on(calibrate: Calibrate, tmp_path: Path) -> None:
    paid = "judge.usd_per_call=1"
    assert calibrate("no", paid, "limits.budget_usd=10", "workers=1") is ExitCode.INCOMPLETE
    (asked,) = tmp_path.glob("judges/*.jsonl")
    assert len(asked.read_text().splitlines()) == 3
    assert calibrate("no", paid, "limits.budget_usd=9", "workers=1") is ExitCode.INCOMPLETE
    assert len(asked.read_text().splitlines()) == 3
    calibrate("no", paid, "limits.budget_usd=70")
    assert len(asked.read_text().splitlines()) == 20


WRONG = "match $e isa employee, has name $name, has salary $s; select $name, $s;"


def run(company: Path, runs: Path, tmp: Path, *words: str) -> Any:
    """Evaluate the company's cases with predictions that have a column too many."""
    answers = tmp / "answers.jsonl"
    wider = "select $name, $s;"
    lines = [
        {"case_id": name, "query": query.replace("select $name;", wider)}
        for name, query in GOLDS.items()
    ]
    answers.write_text("\n".join(json.dumps(line) for line in lines))
    return evaluate_cells(
        [
            compose(
                ["model=replay", f"model.file={answers}", "lang=typeql", f"suite.path={company}",
                 f"runs_dir={runs}", "tracking=none", "judge=mock",
                 "prompt_strategy=schema_zero_shot", *words]
            )
        ],
        quiet=True,
    )  # fmt: skip


def test_a_calibrated_judge_makes_headlines_and_no_other_does(
    company: Path, calibrate: Calibrate, tmp_path: Path
) -> None:
    limit = "judge.max_false_accept=0.5"
    before = run(company, tmp_path, tmp_path, limit).cells[0]
    assert "semantic_equivalence" not in before.metrics.overall
    # No false accept among eight pairs of four cases: at most 49 % by Wilson.
    assert calibrate("columns", limit) is ExitCode.DONE
    assert calibrate("columns") is ExitCode.MISSED
    cell = run(company, tmp_path, tmp_path, limit).cells[0]
    assert cell.key == before.key
    assert cell.metrics.overall["execution_accuracy"].value == 0
    assert cell.metrics.overall["semantic_equivalence"].value == 1
    assert cell.metrics.overall["composite"].value == pytest.approx(0.2 + 0.3)
    summary = json.loads((cell.folder / "summary.json").read_text())
    assert summary["judge"]["accepted"] is True
    assert summary["judge"]["card"]["in_runs"]["false_accept"]["numerator"] == 0
    strict = run(company, tmp_path, tmp_path).cells[0]
    assert "semantic_equivalence" not in strict.metrics.overall
    assert strict.metrics.overall["semantic_equivalence_uncalibrated"].value == 1
    missed = run(company, tmp_path, tmp_path, "fail_under.semantic_equivalence=0.5")
    assert missed.exit_code is ExitCode.MISSED
    assert any("not calibrated" in note for note in missed.notes)


def test_no_limit_is_loose_enough_without_a_card(company: Path, tmp_path: Path) -> None:
    cell = run(company, tmp_path, tmp_path, "judge.max_false_accept=1").cells[0]
    assert cell.trust.accepted is False
    assert "has no card" in cell.trust.why
    assert not {"semantic_equivalence", "composite"} & cell.metrics.overall.keys()


@pytest.mark.parametrize("line", ["{}", '{"key": "k", "judgement": 3}', "junk"])
def test_a_damaged_judgement_is_named(calibrate: Calibrate, tmp_path: Path, line: str) -> None:
    calibrate("yes")
    (kept,) = tmp_path.glob("judges/*.jsonl")
    before = kept.read_text()
    kept.write_text(f"{line}\n{before}")
    with pytest.raises(InputError, match=rf"{kept.name}:1: .*Delete"):
        calibrate("yes")


@pytest.mark.parametrize("place", [".", "judges"])
def test_a_folder_that_cant_be_written_is_told(
    calibrate: Calibrate, tmp_path: Path, place: str
) -> None:
    in_the_way = tmp_path / "runs" / place
    in_the_way.parent.mkdir(exist_ok=True)
    in_the_way.touch()
    with pytest.raises(InputError, match=r"can't write .*runs_dir="):
        calibrate("yes", f"runs_dir={tmp_path / 'runs'}")


def test_a_card_on_other_pairs_than_todays_says_nothing(
    company: Path, calibrate: Calibrate, tmp_path: Path
) -> None:
    limit = "judge.max_false_accept=0.5"
    assert calibrate("columns", limit) is ExitCode.DONE
    file = company / "calibration" / "typeql.yaml"
    text = file.read_text()
    try:
        file.write_text(text + "# changed\n")
        cell = run(company, tmp_path, tmp_path, limit).cells[0]
    finally:
        file.write_text(text)
    assert cell.trust.accepted is False
    assert "other pairs" in cell.trust.why


def test_another_prompt_or_model_is_another_judge(
    company: Path, calibrate: Calibrate, tmp_path: Path
) -> None:
    limit = "judge.max_false_accept=0.5"
    assert calibrate("columns", limit) is ExitCode.DONE
    cell = run(company, tmp_path, tmp_path, limit, "judge.votes=1").cells[0]
    assert cell.trust.accepted is False
    assert "has no card" in cell.trust.why


def test_pairs_of_a_user_and_reviewed_cases_are_added(
    company: Path, calibrate: Calibrate, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.yaml"
    own = {"id": "mine-1", "case": "co-900", "label": "different", "query": WRONG}
    mine.write_text(yaml.safe_dump({"pairs": [own]}))
    cell = run(company, tmp_path, tmp_path).cells[0]
    _, records = read_journal(cell.folder)

    def decided(record: Record, *, saw_judge: bool) -> Decision:
        item = item_key(record.question, record.gold, record.query or "")
        return Decision(item, "company", record.case_id, "typeql", "equivalent", "a", "2025-01-01",
                        saw_judge=saw_judge)  # fmt: skip

    append(tmp_path, [decided(records[0], saw_judge=False), decided(records[1], saw_judge=True)])
    calibrate("columns", "--pairs", str(mine))
    (entry,) = card(tmp_path, "columns").entries
    assert (entry.extra, entry.reviewed) == (1, 1)
    assert entry.alone.n == 13
    # The user's pair has a further column as well, so this judge accepts it.
    assert numbers(entry.in_runs, "false_accept") == (1, 9)
    assert numbers(entry.in_runs, "false_refuse") == (0, 1)
    assert numbers(entry.own, "false_accept") == (0, 8)


def test_easy_pairs_of_a_user_make_no_judge_look_better_and_hard_ones_tell_against_it(
    calibrate: Calibrate, tmp_path: Path
) -> None:
    limit = "judge.max_false_accept=0.5"
    mine = tmp_path / "mine.yaml"

    def trusted(queries: list[str]) -> tuple[bool, float, float]:
        pairs = [
            {
                "id": f"mine-{n}",
                "case": f"co-{SALARIES[n % 4]}",
                "label": "different",
                "query": query,
            }
            for n, query in enumerate(queries)
        ]
        mine.write_text(yaml.safe_dump({"pairs": pairs}))
        code = calibrate("columns", limit, "--pairs", str(mine))
        (entry,) = card(tmp_path, "columns").entries
        assert entry.deciding is not None
        assert entry.own.false_accept is not None
        return code is ExitCode.DONE, entry.deciding.high, entry.own.false_accept.high

    accepted, deciding, own = trusted([gold(3 * n + 1) for n in range(40)])
    assert accepted
    assert deciding == own
    # Judged equivalent for their further column: four in twelve, and it is refused.
    accepted, deciding, own = trusted(
        [query.replace("$name;", "$name, $s;") for query in GOLDS.values()]
    )
    assert not accepted
    assert deciding > 0.5 > own


def test_a_sample_has_every_kind_in_its_share_and_says_so(
    calibrate: Calibrate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrate("no", "--sample", "6")
    (entry,) = card(tmp_path, "no").entries
    assert (entry.left_out, entry.alone.n) == (6, 6)
    assert entry.alone.labels == {"different/different": 4, "equivalent/different": 2}
    assert "all but 6" in capsys.readouterr().out
    lines = len(next(tmp_path.glob("judges/*.jsonl")).read_text().splitlines())
    calibrate("no")
    (entry,) = card(tmp_path, "no").entries
    assert (entry.left_out, entry.alone.n) == (0, 12)
    assert lines == 10  # six alone, four in runs; they were not asked again
    assert len(next(tmp_path.glob("judges/*.jsonl")).read_text().splitlines()) == 20
    with pytest.raises(InputError, match="--sample"):
        calibrate("no", "--sample", "0")


def test_an_equivalent_pair_that_an_instance_tells_apart_is_told(
    calibrate: Calibrate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.yaml"
    own = {"id": "mine-1", "case": "co-900", "label": "equivalent", "query": WRONG}
    mine.write_text(yaml.safe_dump({"pairs": [own]}))
    calibrate("no", "--pairs", str(mine))
    assert "an instance tells this pair apart" in capsys.readouterr().out


def test_wrong_use_is_told(calibrate: Calibrate, tmp_path: Path, company: Path) -> None:
    with pytest.raises(InputError, match="needs a judge"):
        main(["calibrate", "judge=none", "lang=typeql", f"runs_dir={tmp_path}"])
    calibrate("no")
    (path,) = tmp_path.glob("judges/*.json")
    path.write_text("{}")
    with pytest.raises(InputError, match="no judge's card"):
        calibrate("no", action="card")
    file = company / "calibration" / "typeql.yaml"
    text = file.read_text()
    try:
        file.unlink()
        with pytest.raises(InputError, match="--pairs"):
            calibrate("no")
    finally:
        file.write_text(text)


def test_figures_of_a_known_table() -> None:
    def judged(truth: Any, label: Any, n: int) -> list[Judged]:
        said = Judgement(label, (Vote(label),))
        return [Judged(f"{truth}{label}{i}", truth, said) for i in range(n)]

    found = figures(
        [
            *judged("equivalent", "equivalent", 20),
            *judged("equivalent", "different", 5),
            *judged("different", "equivalent", 10),
            *judged("different", "different", 15),
            *judged("different", "unscored", 10),
        ]
    )
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(0.4)
    assert found.kappa.n == 50
    assert numbers(found, "accuracy") == (35, 60)
    assert numbers(found, "false_accept") == (10, 25)
    assert numbers(found, "false_refuse") == (5, 25)
    assert numbers(found, "unscored") == (10, 60)
    assert found.false_accept is not None
    # Wilson's interval of 10 of 25.
    assert found.false_accept.low == pytest.approx(0.2340, abs=1e-4)
    assert found.false_accept.high == pytest.approx(0.5926, abs=1e-4)
    assert Figures.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_card_is_never_made_on_some_of_the_pairs_and_its_cost_is_told_before(
    calibrate: Calibrate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=r"which is left out.*all pairs"):
        calibrate("no", "difficulty.ids=[co-900]")
    assert calibrate("no", "--dry-run", "judge.votes=2", "judge.usd_per_call=0.5") is ExitCode.DONE
    told = capsys.readouterr().out
    assert "at most" in told
    assert "pairs" in told
    assert not (tmp_path / "judges").exists(), "nobody was asked"
    calibrate("no")
    assert "chain: both together" in capsys.readouterr().out
