"""Which disputed predictions people are asked about."""

from collections import Counter
from pathlib import Path

from qeval.review.decisions import Decision, now, standing
from qeval.review.items import Item, collect
from qeval.review.sample import queue
from qeval.scoring.verdict import Verdict

from .disputes import cell, judgement, record


def said_by(item: Item, *choices: str) -> list[Decision]:
    return [
        Decision(item.key, "s", item.case_id, "sql", choice, f"r{i}", now())  # type: ignore[arg-type]
        for i, choice in enumerate(choices)
    ]


def test_only_queries_that_ran_and_differ_are_collected_each_once(tmp_path: Path) -> None:
    same = record(1)
    one = cell(tmp_path / "a", same, record(2, Verdict.CORRECT), record(3, Verdict.SYNTAX_ERROR),
               record(4, Verdict.REFUTED),
               record(5, Verdict.EQUIVALENT, judgement=judgement()))  # fmt: skip
    two = cell(tmp_path / "b", same, model="n")
    items = collect([one, two])
    assert [item.case_id for item in items] == ["c1", "c4", "c5"]
    assert items[0].models == ["m", "n"]
    assert items[0].folders == [one, two]
    assert [item.verdict for item in items] == ["wrong_result", "refuted", "wrong_result"]
    assert [item.judged for item in items] == ["", "", "equivalent"]
    assert items[1].telling.instance == "variant-2"


def test_a_fifth_of_each_stratum_is_drawn_and_every_disagreement(tmp_path: Path) -> None:
    agreeing = [record(n, judgement=judgement("different" if n % 2 else "equivalent"))
                for n in range(120)]  # fmt: skip
    split = [record(n, judgement=judgement("unscored", split=True)) for n in range(200, 207)]
    unjudged = [record(n) for n in range(300, 310)]
    items = collect([cell(tmp_path / "a", *agreeing, *split, *unjudged)])
    drawn = queue(items, {}, share=0.2, seed=0)
    assert [item.case_id for item in drawn[:7]] == [f"c{n}" for n in range(200, 207)]
    strata = Counter((item.judged, item.record.difficulty) for item in drawn[7:])
    assert set(strata.values()) == {4}, "a fifth of 20 in each of six strata"
    assert len(strata) == 6
    assert queue(items, {}, share=0.2, seed=0) == drawn
    assert queue(items, {}, share=0.2, seed=1) != drawn
    assert len(queue(items, {}, share=0.0, seed=0)) == 7
    assert len(queue(items, {}, share=1.0, seed=0)) == 127


def test_without_a_judge_a_share_of_all_is_drawn(tmp_path: Path) -> None:
    items = collect([cell(tmp_path / "a", *(record(n) for n in range(30)))])
    assert len(queue(items, {}, share=0.2, seed=0)) == 6


def test_a_draw_does_not_turn_over_when_cells_are_added(tmp_path: Path) -> None:
    first = cell(tmp_path / "a", *(record(n) for n in range(60)))
    more = cell(tmp_path / "b", *(record(n) for n in range(60, 90)))
    before = {item.key for item in queue(collect([first]), {}, share=0.5, seed=3)}
    after = queue(collect([first, more]), {}, share=0.5, seed=3)
    kept = before & {item.key for item in after}
    assert len(kept) >= 0.6 * len(before)


def test_divided_reviewers_bring_an_item_back(tmp_path: Path) -> None:
    items = collect([cell(tmp_path / "a", *(record(n) for n in range(30)))])
    drawn = queue(items, {}, share=0.1, seed=0)
    outside = next(item for item in items if item not in drawn)
    said = standing(said_by(outside, "equivalent", "different"))
    assert queue(items, said, share=0.1, seed=0)[0] is outside
    settled = standing(said_by(outside, "equivalent", "different", "different"))
    assert outside not in queue(items, settled, share=0.1, seed=0)


def test_two_judges_that_contradict_each_other_make_a_disagreement(tmp_path: Path) -> None:
    from dataclasses import replace

    other = replace(judgement("different"), identity="k")
    one = cell(tmp_path / "a", record(1, judgement=judgement("equivalent")))
    two = cell(tmp_path / "b", record(1, judgement=other))
    (item,) = collect([one, two])
    assert item.judged == "split"
    assert item.is_disputed
