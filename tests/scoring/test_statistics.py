"""Intervals and the paired test against tables of others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from qeval.scoring.statistics import (
    clustered_interval,
    compare_paired,
    mcnemar,
    percentile,
    wilson,
)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17 (1998), table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_agrees_with_published_table(
    successes: int, trials: int, low: float, high: float
) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(drawn: tuple[int, int]) -> None:
    successes, trials = drawn
    expected = binomtest(successes, trials).proportion_ci(0.95, "wilson")
    assert wilson(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("successes", "trials"), [(1, 0), (-1, 5), (6, 5)])
def test_wilson_refuses_nonsense(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="expected 0 <= successes <= trials > 0"):
        wilson(successes, trials)


def test_single_scores_give_wilson() -> None:
    scores = [1.0] * 15 + [0.0] * 133
    assert clustered_interval(scores, range(148)) == pytest.approx(wilson(15, 148))


def test_identical_repeats_add_nothing() -> None:
    once = [1.0] * 7 + [0.0] * 3
    clusters = [f"case-{i}" for i in range(10)]
    assert clustered_interval(once * 5, clusters * 5) == pytest.approx(wilson(7, 10))
    assert clustered_interval([1.0] * 50, clusters * 5) == pytest.approx(wilson(10, 10))


def test_independent_repeats_never_beat_independent_cases() -> None:
    scores = [1.0, 0.0] * 10
    clusters = [i // 2 for i in range(20)]
    assert clustered_interval(scores, clusters) == pytest.approx(wilson(10, 20))


def test_percentiles() -> None:
    assert percentile([], 0.5) is None
    assert percentile([3.0], 0.95) == 3.0
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
    assert percentile(range(101), 0.95) == 95.0


@pytest.mark.parametrize(
    ("only_first", "only_second", "p_value"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (0, 6, 0.03125),
        (6, 16, 0.0524788),  # binomial, 22 trials, 6 or fewer, two-sided
        (59, 6, 4.2e-12),
        (1000, 1001, 1.0),
    ],
)
def test_mcnemar(only_first: int, only_second: int, p_value: float) -> None:
    assert mcnemar(only_first, only_second) == pytest.approx(p_value, rel=0.02)
    assert mcnemar(only_second, only_first) == mcnemar(only_first, only_second)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_agrees_with_the_binomial_test(first: int, second: int) -> None:
    if first + second:
        expected = binomtest(first, first + second, 0.5).pvalue
        assert mcnemar(first, second) == pytest.approx(expected, rel=1e-9)


def test_paired_comparison() -> None:
    """Agresti and Min's example: 150 and 86 of 1,600 changed their mind (prime minister poll)."""
    outcomes = [(True, True)] * 794 + [(True, False)] * 150 + [(False, True)] * 86
    outcomes += [(False, False)] * 570
    first = {f"c{i}": [a] for i, (a, _) in enumerate(outcomes)}
    second = {f"c{i}": [b] for i, (_, b) in enumerate(outcomes)}
    found = compare_paired(first, second)
    assert (found.both, found.only_first, found.only_second, found.neither) == (794, 150, 86, 570)
    assert found.difference == pytest.approx(-0.04)
    assert (found.low, found.high) == pytest.approx((-0.0587, -0.0212), abs=2e-4)
    assert found.p_value == pytest.approx(3.7e-5, rel=0.05)


def test_paired_comparison_of_repeats_counts_cases() -> None:
    found = compare_paired(
        {"a": [True, True, False], "b": [False, False], "only-here": [True]},
        {"a": [True, False, False], "b": [False, False]},
    )
    assert (found.cases, found.only_first, found.only_second, found.neither) == (2, 1, 0, 1)
    assert found.difference == pytest.approx(-1 / 6)
    with pytest.raises(ValueError, match="no case in common"):
        compare_paired({"a": [True]}, {"b": [True]})
