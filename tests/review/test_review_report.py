"""Agreement between reviewers, and of judges with them."""

import pytest

from qeval.review.decisions import Decision, now, standing
from qeval.review.report import between_reviewers, divided, with_judges


def said(item: str, choice: str, who: str, judge: str = "", *, saw: bool = False) -> Decision:
    return Decision(item, "s", f"c{item}", "sql", choice, who, now(), "", judge, saw)  # type: ignore[arg-type]


def test_kappa_of_two_reviewers_on_a_known_table() -> None:
    # 20 both equivalent, 5 and 10 crosswise, 15 both different: kappa is 0.4 by hand.
    table = {("equivalent", "equivalent"): 20, ("equivalent", "different"): 5,
             ("different", "equivalent"): 10, ("different", "different"): 15}  # fmt: skip
    decisions = []
    for number, (first, second) in enumerate(
        pair for pair, count in table.items() for _ in range(count)
    ):
        decisions += [said(str(number), first, "ann"), said(str(number), second, "bob")]
    (found,) = between_reviewers(standing(decisions))
    assert (found.first, found.second, found.items, found.same) == ("ann", "bob", 50, 35)
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(0.4)
    assert found.kappa.low < 0.4 < found.kappa.high
    assert len(divided(standing(decisions))) == 15


def test_a_judge_is_compared_with_decisions_made_without_it() -> None:
    decisions = [
        said("1", "equivalent", "ann", "equivalent"),
        said("2", "different", "ann", "equivalent"),
        said("3", "different", "ann", "equivalent", saw=True),
        said("4", "equivalent", "ann", "split"),
        said("5", "equivalent", "ann"),
        said("6", "equivalent", "ann", "different"),
        said("6", "different", "bob", "different"),
    ]
    found = with_judges(standing(decisions))
    assert found is not None
    assert (found.items, found.same) == (2, 1)
    assert with_judges({}) is None
    assert between_reviewers({}) == []
