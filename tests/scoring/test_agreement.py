"""Cohen's kappa on published tables, and its laws."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from qeval.scoring.agreement import cohens_kappa, kappa_of_table

LABELS = st.sampled_from(["equivalent", "different", "unscored"])
RATED = st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("table", "kappa", "error"),
    [
        # Cohen 1960, table 1: two psychologists, 200 patients, three diagnoses.
        ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.492, None),
        # Fleiss, Cohen and Everitt 1969: 200 items, variance 0.002885.
        ([[106, 10, 4], [22, 28, 10], [2, 12, 6]], 0.429, 0.002885**0.5),
        # Fleiss, "Statistical Methods for Rates and Proportions": 100 patients.
        ([[75, 1, 4], [5, 4, 1], [0, 0, 10]], 0.676, 0.0877),
        # Two readers, 50 proposals, yes or no.
        ([[20, 5], [10, 15]], 0.4, None),
    ],
)
def test_published_tables_give_the_published_kappa(
    table: list[list[int]], kappa: float, error: float | None
) -> None:
    found = kappa_of_table(table)
    assert found is not None
    assert found.value == pytest.approx(kappa, abs=5e-4)
    if error is not None:
        assert found.error == pytest.approx(error, abs=5e-5)
    assert found.n == sum(map(sum, table))
    assert found.low == pytest.approx(found.value - 1.959964 * found.error)
    assert found.high == pytest.approx(found.value + 1.959964 * found.error)


def test_two_reviewers_of_a_known_table_agree_as_the_table_says() -> None:
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    found = cohens_kappa([a for a, _ in pairs], [b for _, b in pairs])
    assert found is not None
    assert found.value == pytest.approx(0.4)
    assert found.agreement == pytest.approx(0.7)
    assert found.n == 50


def test_labels_of_one_case_widen_the_interval() -> None:
    first = ["equivalent", "different", "equivalent", "different"] * 10
    second = ["equivalent", "different", "different", "different"] * 10
    own = cohens_kappa(first, second)
    # Ten copies of four answers: forty items, but four things that were found out.
    together = cohens_kappa(first, second, [place % 4 for place in range(40)])
    assert own is not None
    assert together is not None
    assert own.value == together.value == pytest.approx(0.5)
    assert together.low < own.low


def test_without_disagreement_possible_kappa_is_undefined_not_one() -> None:
    assert cohens_kappa(["different"] * 9, ["different"] * 9) is None
    assert cohens_kappa([], []) is None


def test_a_table_that_is_not_square_is_refused() -> None:
    with pytest.raises(ValueError, match="square"):
        kappa_of_table([[1, 2], [3]])
    with pytest.raises(ValueError, match="zip"):
        cohens_kappa(["a"], ["a", "b"])


@given(RATED)
def test_kappa_is_symmetric_and_bounded(rated: list[tuple[str, str]]) -> None:
    first, second = [a for a, _ in rated], [b for _, b in rated]
    there, back = cohens_kappa(first, second), cohens_kappa(second, first)
    assume(there is not None and back is not None)
    assert there is not None
    assert back is not None
    assert there.value == pytest.approx(back.value)
    assert -1 - 1e-9 <= there.low <= there.value <= there.high + 1e-9
    assert there.high <= 1


@given(RATED)
def test_whoever_agrees_with_themselves_has_kappa_one(rated: list[tuple[str, str]]) -> None:
    labels = [a for a, _ in rated]
    found = cohens_kappa(labels, labels)
    assert found is None if len(set(labels)) == 1 else found is not None
    if found is not None:
        assert found.value == pytest.approx(1)
