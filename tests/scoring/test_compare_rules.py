"""The rules of docs/comparison.md, and what published evaluators get wrong."""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from qeval.scoring import AnswerSpec, Column, Policy, Table, compare
from qeval.scoring.values import Duration, Map, Node

CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("comparator_cases.jsonl").read_text("utf-8").splitlines()
]
NAN = float("nan")
INF = float("inf")


def column(*values: Any, name: str = "v") -> Table:
    return Table([name], [(value,) for value in values])


def same(
    gold: Sequence[Any],
    predicted: Sequence[Any],
    kind: Any = "any",
    policy: Policy | None = None,
    **settings: Any,
) -> bool:
    """Compare two single columns."""
    spec = AnswerSpec([Column("v", kind, **settings)])
    return compare(column(*gold), column(*predicted, name="x"), spec, policy or Policy()).equal


def tables_of(case: dict[str, Any]) -> tuple[Table, Table]:
    return (
        Table(case["gold_columns"], case["gold_rows"]),
        Table(case["pred_columns"], case["pred_rows"]),
    )


DECIDED = [case for case in CASES if case["expected"] in ("equal", "not_equal")]
POLICY = {case["id"]: case for case in CASES if case["expected"] == "policy"}


@pytest.mark.parametrize("case", DECIDED, ids=lambda case: str(case["id"]))
def test_decided_cases(case: dict[str, Any]) -> None:
    assert compare(*tables_of(case)).equal == (case["expected"] == "equal")


def test_both_empty_is_inconclusive() -> None:
    (case,) = (case for case in CASES if case["expected"] == "inconclusive")
    found = compare(*tables_of(case))
    assert found.inconclusive
    assert found.equal
    assert found.difference is None


MONEY = AnswerSpec([("v", "decimal", 2)])
BY_POLICY: dict[str, tuple[tuple[AnswerSpec, Policy], tuple[AnswerSpec, Policy]]] = {
    # case: settings that accept, settings that refuse
    "row-F10": (
        (AnswerSpec([("v", "bool")]), Policy(bool_equals_int=True)),
        (AnswerSpec([("v", "bool")]), Policy()),
    ),
    "row-F7": (
        (AnswerSpec(), Policy(relative_tolerance=1e-6)),
        (AnswerSpec(), Policy(relative_tolerance=1e-10)),
    ),
    "row-F8": ((AnswerSpec(), Policy(absolute_tolerance=1e-2)), (AnswerSpec(), Policy())),
    "row-S1": ((AnswerSpec(), Policy(trim_strings=True)), (AnswerSpec(), Policy())),
    "row-S2": ((AnswerSpec(), Policy()), (AnswerSpec(), Policy(normalize_unicode=False))),
}


@pytest.mark.parametrize("case_id", sorted(BY_POLICY))
def test_policy_cases_are_decided_by_settings(case_id: str) -> None:
    gold, predicted = tables_of(POLICY[case_id])
    accepting, refusing = BY_POLICY[case_id]
    assert compare(gold, predicted, *accepting).equal
    assert not compare(gold, predicted, *refusing).equal


def test_policy_case_large_magnitudes_as_money() -> None:
    assert not compare(*tables_of(POLICY["row-F7"]), MONEY).equal


def test_policy_case_extra_column_is_relaxed_only() -> None:
    found = compare(*tables_of(POLICY["row-C4"]))
    assert (found.equal, found.relaxed_equal) == (False, True)
    assert found.difference is not None
    assert found.difference.kind == "extra_columns"


def test_policy_case_fraction_against_percentage_is_of_kind_scale() -> None:
    found = compare(*tables_of(POLICY["row-F9"]))
    assert not found.equal
    assert found.difference is not None
    assert found.difference.kind == "scale"


def test_every_policy_case_is_tested() -> None:
    assert set(POLICY) == {*BY_POLICY, "row-C4", "row-F9"}


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ([["a"]], []),  # an empty result equals nothing but an empty one
        ([[1], [1], [2]], [[1], [2], [2]]),  # sets of rows hide which row is doubled
        ([[None]], [[0]]),
        ([[None]], [[""]]),
        ([[None]], [["NA"]]),
        ([[None]], [["NULL"]]),
        ([[None]], [[False]]),
        ([["007"]], [[7]]),
        ([["7"]], [[7]]),
        ([["1.0"]], [["1"]]),
        ([[1, 2], [2, 1]], [[1, 1], [2, 2]]),  # columns one by one accept scrambled rows
        ([[1, 2], [3, 4]], [[2, 1], [3, 4]]),  # sorting inside rows accepts swapped values
        ([[0.001]], [[0.009]]),  # an absolute tolerance of 0.01 on rates
        (
            [[datetime(2024, 1, 1, 10, tzinfo=UTC)]],
            [[datetime(2024, 1, 1, 11, tzinfo=UTC)]],
        ),  # cut to the day
        ([[True]], [["True"]]),
        ([[1]], [[True]]),
        ([["a", "x"]], [["b", "x"]]),
    ],
)
def test_faults_of_other_evaluators(gold: list[Any], predicted: list[Any]) -> None:
    width = len(gold[0])
    names = ["n"] * width  # one name for all columns: a dictionary would lose some
    assert not compare(Table(names, gold), Table(names, predicted)).equal


def test_decimal_text_is_no_trap() -> None:
    assert same([Decimal("6.90")], [6.9])
    assert same([Decimal("6.90")], [Decimal("6.900")], "decimal", scale=2)
    assert same([6.9], [Decimal("6.90")], "decimal", scale=2)


# --- numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "predicted", "equal"),
    [
        ("6.90", "6.904", True),
        ("6.90", "6.905", False),
        ("6.91", "6.905", True),  # halves go away from zero
        ("-6.91", "-6.905", True),
        ("1.01", 1.005, True),  # 1.005 is stored below the half, but written as it
        ("1.00", 1.005, False),
        ("2.35", 2.3449999999999998, True),  # noise at a half
        ("2.35", 2.3449, False),
        ("2.34", 2.345, False),
        ("12345678901234567890.12", "12345678901234567890.12", True),
        ("12345678901234567890.12", "12345678901234567890.13", False),
        ("0", -0.0, True),
        ("5", 5, True),
        ("1E+3", 1000, True),
        ("0.004", 0, True),
        ("1E-400", 0, True),
    ],
)
def test_money_with_two_decimals(gold: str, predicted: Any, *, equal: bool) -> None:
    other = Decimal(predicted) if isinstance(predicted, str) else predicted
    assert same([Decimal(gold)], [other], "decimal", scale=2) == equal
    assert same([other], [Decimal(gold)], "decimal", scale=2) == equal


def test_exact_numbers_know_no_tolerance() -> None:
    assert not same([10**15], [10**15 + 1])
    assert not same([10**15], [10**15 + 1], "int")
    assert not same([Decimal("10000000000.01")], [Decimal("10000000000.02")])
    assert not same([Decimal("10000000000.01")], [Decimal("10000000000.02")], "decimal", scale=2)


def test_large_exact_money() -> None:
    large = Decimal("12345678901234567890.12")
    assert not same([large], [large + Decimal("0.01")])


def test_integers_may_come_as_other_numbers() -> None:
    assert same([5, 6], [5.0, Decimal(6)], "int")
    assert not same([5], [5.5], "int")
    assert not same([5], [5.0000000001], "int")
    assert not same([5], ["5"], "int")
    assert not same([1], [True], "int", Policy(bool_equals_int=True))


def test_integers_beyond_floats() -> None:
    assert not same([2**53], [2**53 + 1], "int")
    assert not same([10**400], [10**400 + 1], "int")
    assert same([10**400, 1.5], [10**400, 1.5], "float")
    assert not same([10**400, 1.5], [INF, 1.5], "float")


def test_a_quotient_cut_elsewhere_is_equal() -> None:
    assert same([Decimal("0.3333333333333333")], [Decimal("0.33333333333333333333")])
    assert not same([Decimal("0.3333333333333333")], [Decimal("0.33")])


def test_floats_by_relative_tolerance() -> None:
    assert same([1e-12], [1e-12 * (1 + 5e-10)])
    assert not same([1e-12], [1.1e-12])
    assert same([1e12], [1e12 + 1], "float")
    assert same([100.0], [100.9], "float", tolerance=0.01)
    assert not same([100.0], [100.9], "float")
    assert same([INF, -INF], [-INF, INF])
    assert not same([INF], [1e308])


def test_nan_is_null_for_numbers() -> None:
    assert same([None, 1.5], [1.5, NAN])
    assert same([NAN, 2], [2, None], "int")
    assert same([Decimal("NaN"), Decimal(1)], [None, 1], "decimal", scale=2)
    assert not same([NAN], [0.0])
    assert not same(["x", None], ["x", NAN], "string")


def test_near_ties_in_two_columns_need_a_matching() -> None:
    step = 8e-10
    gold = Table(["a", "b"], [(1.0, 2.0), (1.0 + step, 2.0 + 2 * step)])
    swapped = Table(["a", "b"], [(1.0 + step, 2.0), (1.0, 2.0 + 2 * step)])
    assert compare(gold, swapped).equal
    apart = Table(["a", "b"], [(1.0 + 2 * step, 2.0), (1.0 + 4 * step, 2.0 + 2 * step)])
    assert not compare(gold, apart).equal


def test_a_chain_of_close_numbers_is_not_one_value() -> None:
    chain = [1.0 + i * 8e-10 for i in range(100)]
    assert same(chain, chain[::-1])
    assert same(chain, [value + 8e-10 for value in chain])
    assert not same(chain, [1.0] * 100)
    assert not same(chain, [*chain[:-2], 1.0, 1.0])


# --- other types ----------------------------------------------------------------------------


def test_dates() -> None:
    assert same([date(2024, 2, 29)], ["2024-02-29"], "date")
    assert same([date(2024, 2, 29)], ["2024-02-29"])
    assert not same(["2024-02-29"], [date(2024, 2, 29)], "string")
    assert not same(["2024-02-29"], [date(2024, 2, 29)])
    assert same([date(2024, 2, 29)], [datetime(2024, 2, 29, tzinfo=UTC)], "date")
    assert not same([date(2024, 2, 29)], [datetime(2024, 2, 29, 1, tzinfo=UTC)], "date")
    assert not same([date(2024, 2, 29)], ["29.02.2024"], "date")
    assert not same([date(2024, 2, 29)], ["20240229"], "date")


def test_datetimes_are_instants() -> None:
    noon = datetime(2024, 2, 29, 12, tzinfo=UTC)
    berlin = timezone(timedelta(hours=1))
    assert same([noon], [datetime(2024, 2, 29, 12)])  # noqa: DTZ001 - naive is UTC
    assert same([noon], [datetime(2024, 2, 29, 13, tzinfo=berlin)])
    assert same([noon], ["2024-02-29T12:00:00Z"], "datetime")
    assert same([noon], ["2024-02-29 13:00:00+01:00"], "datetime")
    assert not same([noon], [datetime(2024, 2, 29, 12, microsecond=1, tzinfo=UTC)])
    assert same([datetime(2024, 2, 29, tzinfo=UTC)], [date(2024, 2, 29)], "datetime")


def test_durations() -> None:
    assert same([timedelta(days=1)], [timedelta(hours=24)])
    assert same([timedelta(hours=36)], ["P1DT12H"], "duration")
    assert same([Duration.of(months=12)], ["P1Y"], "duration")
    assert not same([Duration.of(months=1)], [timedelta(days=30)])


def test_text() -> None:
    assert same(["Straße"], ["STRASSE"], policy=Policy(ignore_case=True))
    assert not same(["Straße"], ["STRASSE"])
    assert not same(["a"], [" a"])
    assert same([["é"]], [["é"]], "list")


def test_lists_are_bags_unless_declared_ordered() -> None:
    assert same([["a", "b"]], [["b", "a"]], "list")
    assert same([["a", "b"]], [["b", "a"]])
    assert not same([["a", "b"]], [["b", "a"]], "list", ordered=True)
    assert not same([["a", "a"]], [["a"]], "list")
    assert same([[0.3, 0.5]], [[0.5, 0.1 + 0.2]], "list")
    assert not same([[0.3, 0.5]], [[0.5, 0.31]], "list")
    assert same([[0.3]], [[0.31]], "list", items="float", tolerance=0.1)
    assert same([[Decimal("6.90")]], [[6.9]], "list", items="decimal", scale=2)
    assert same([[date(2024, 1, 1)]], [["2024-01-01"]], "list", items="date")
    assert not same([[1]], [1])


def node(label: str, key: Any, **properties: Any) -> Node:
    return Node((label,), key, tuple(sorted(properties.items())))


def test_nodes_are_compared_by_label_and_key() -> None:
    ada = node("User", 5, name="Ada")
    assert same([ada], [node("User", 5, name="changed")])
    assert not same([ada], [node("User", 6, name="Ada")])
    assert not same([ada], [node("Product", 5)])
    assert same([ada, node("User", 6)], [6, 5], "node")  # the keys themselves
    assert not same([ada, node("Product", 5)], [5, 5], "node")  # which of the two?
    assert same([5, 6], [node("User", 6), ada], "node")


def test_relaxed_view_looks_into_whole_nodes_and_maps() -> None:
    gold = Table(["id", "name"], [(5, "Ada"), (6, "Bo")])
    whole = [node("User", 6, id=6, name="Bo", age=1), node("User", 5, id=5, name="Ada", age=2)]
    found = compare(gold, Table(["u"], [(n,) for n in whole]))
    assert (found.equal, found.relaxed_equal) == (False, True)
    assert found.relaxed_mapping == ("u.id", "u.name")
    maps = Table(["m", "x"], [(Map((("id", 5), ("name", "Ada"))), 1), ({"id": 6, "name": "Bo"}, 2)])
    assert compare(gold, maps).relaxed_equal
    wrong = Table(["u"], [(whole[0],), (whole[0],)])
    assert not compare(gold, wrong).relaxed_equal


# --- order ----------------------------------------------------------------------------------

RANKED = AnswerSpec(["name", "score"], order_by="-score")


def ranking(*rows: tuple[Any, Any]) -> Table:
    return Table(["name", "score"], rows)


def test_ties_may_permute_and_nothing_else() -> None:
    gold = ranking(("a", 3), ("b", 2), ("c", 2), ("d", 1))
    assert compare(gold, ranking(("a", 3), ("c", 2), ("b", 2), ("d", 1)), RANKED).equal
    assert not compare(gold, ranking(("b", 2), ("a", 3), ("c", 2), ("d", 1)), RANKED).equal
    reverse = ranking(("d", 1), ("c", 2), ("b", 2), ("a", 3))
    assert not compare(gold, reverse, RANKED).equal
    assert compare(gold, reverse).equal


def test_order_with_permuted_columns_is_verified_jointly() -> None:
    spec = AnswerSpec(["x", "y"], order_by="x")
    gold = Table(["x", "y"], [(1, 2), (2, 1)])
    assert compare(gold, Table(["p", "q"], [(2, 1), (1, 2)]), spec).equal  # q is x, p is y
    assert not compare(
        Table(["x", "y"], [(1, 1), (2, 3)]), Table("pq", [(2, 3), (1, 1)]), spec
    ).equal


def test_nulls_stand_where_the_gold_has_them() -> None:
    gold = ranking(("a", 3), ("b", None))
    assert not compare(gold, ranking(("b", None), ("a", 3)), RANKED).equal


def test_second_key_orders_ties_of_the_first() -> None:
    spec = AnswerSpec(["name", "score"], order_by=["-score", "name"])
    gold = ranking(("a", 2), ("b", 2), ("c", 1))
    assert compare(gold, ranking(("a", 2.0), ("b", 2.0), ("c", 1.0)), spec).equal
    assert not compare(gold, ranking(("b", 2), ("a", 2), ("c", 1)), spec).equal


def test_noise_in_a_key_is_a_tie() -> None:
    gold = ranking(("a", 0.30000000000000004), ("b", 0.3), ("c", 0.1))
    assert compare(gold, ranking(("b", 0.30000000000000004), ("a", 0.3), ("c", 0.1)), RANKED).equal
    assert not compare(gold, ranking(("c", 0.1), ("a", 0.3), ("b", 0.3)), RANKED).equal


def test_noise_in_the_first_key_frees_the_second() -> None:
    spec = AnswerSpec(["name", "score"], order_by=["-score", "name"])
    exact = ranking(("a", 0.3), ("b", 0.3), ("c", 0.1))
    noisy = ranking(("b", 0.30000000000000004), ("a", 0.3), ("c", 0.1))
    assert compare(exact, noisy, spec).equal  # noise, not the query, put b first
    assert not compare(exact, ranking(("b", 0.3), ("a", 0.3), ("c", 0.1)), spec).equal


def test_a_wide_absolute_tolerance_does_not_switch_order_off() -> None:
    policy = Policy(absolute_tolerance=0.5)
    gold = ranking(*((f"n{i}", 10.0 - 0.4 * i) for i in range(10)))
    reverse = Table(["name", "score"], gold.rows[::-1])
    assert not compare(gold, reverse, RANKED, policy).equal
    assert compare(gold, gold, RANKED, policy).equal


TOP = AnswerSpec(["name", "score"], order_by="-score", top_k=2)
TIED = ranking(("a", 3), ("b", 2), ("c", 2))


@pytest.mark.parametrize(
    ("rows", "equal"),
    [
        ([("a", 3), ("b", 2)], True),
        ([("a", 3), ("c", 2)], True),
        ([("a", 3), ("b", 2), ("c", 2)], False),
        ([("a", 3)], False),
        ([("b", 2), ("c", 2)], False),
        ([("c", 2), ("a", 3)], False),
        ([("a", 3), ("a", 3)], False),
        ([("a", 3), ("d", 2)], False),
        ([("a", 2), ("b", 3)], False),
    ],
)
def test_top_k_takes_any_choice_among_ties(rows: list[tuple[Any, Any]], *, equal: bool) -> None:
    assert compare(TIED, ranking(*rows), TOP).equal == equal
    turned = Table(["s", "n"], [row[::-1] for row in rows])
    assert compare(TIED, turned, TOP).equal == equal


def test_top_k_with_fewer_rows_than_k() -> None:
    spec = AnswerSpec(["name", "score"], order_by="-score", top_k=5)
    assert compare(TIED, ranking(("a", 3), ("c", 2), ("b", 2)), spec).equal
    assert not compare(TIED, ranking(("a", 3), ("b", 2)), spec).equal


def test_rows_where_a_top_k_gold_has_none_are_wrong() -> None:
    """On a variant the gold may be empty: then any row is one too many."""
    found = compare(ranking(), ranking(("a", 1)), TOP)
    assert not found.equal
    assert found.difference is not None
    assert (found.difference.missing_count, found.difference.extra_count) == (0, 1)
    assert compare(ranking(), ranking(), TOP).equal


def test_top_k_ignores_gold_rows_behind_the_ties() -> None:
    gold = ranking(*TIED.rows, ("d", 1))
    assert compare(gold, ranking(("a", 3), ("c", 2)), TOP).equal
    assert not compare(gold, ranking(("a", 3), ("d", 1)), TOP).equal


@pytest.mark.parametrize(
    ("rows", "equal"),
    [
        ([("a", 3), ("b", 2), ("c", 2)], True),
        ([("a", 3), ("c", 2), ("b", 2)], True),
        ([("a", 3), ("c", 2)], True),
        ([("a", 3), ("b", 2), ("c", 2), ("d", 1)], False),
        ([("a", 3), ("b", 2), ("b", 2)], False),
        ([("b", 2), ("c", 2), ("a", 3)], False),
    ],
)
def test_all_ties_takes_the_whole_tied_set_too(rows: list[tuple[Any, Any]], *, equal: bool) -> None:
    gold = ranking(*TIED.rows, ("d", 1))
    spec = AnswerSpec(["name", "score"], order_by="-score", top_k=2, all_ties=True)
    assert compare(gold, ranking(*rows), spec).equal == equal
    assert compare(ranking(), ranking(), spec).equal


def test_top_k_without_an_order_takes_any_rows() -> None:
    spec = AnswerSpec(["name", "score"], top_k=2)
    assert compare(TIED, ranking(("c", 2), ("a", 3)), spec).equal
    assert not compare(TIED, ranking(("c", 2), ("c", 2)), spec).equal


# --- columns --------------------------------------------------------------------------------


def test_names_decide_nothing() -> None:
    gold = Table(["a", "b"], [(1, 2), (3, 4)])
    assert compare(gold, Table(["b", "a"], [(1, 2), (3, 4)])).equal
    found = compare(gold, Table(["b", "a"], [(2, 1), (4, 3)]))
    assert found.mapping == (1, 0)


def test_golds_columns_are_found_by_declared_name_or_else_by_place() -> None:
    spec = AnswerSpec([("label", "string"), ("total-sum", "decimal", 2)])
    for names, row in ((["total_sum", "Label"], (6.904, "x")), (["p", "q"], ("x", 6.904))):
        assert compare(Table(names, [row]), Table(["m", "n"], [(6.9, "x")]), spec).equal


def test_types_belong_to_columns_not_to_names() -> None:
    spec = AnswerSpec([("exact", "string"), ("day", "date")])
    gold = Table(["exact", "day"], [("2024-01-01", date(2024, 1, 1))])
    assert compare(gold, Table(["p", "q"], [("2024-01-01", "2024-01-01")]), spec).equal
    assert compare(gold, Table(["p", "q"], [(date(2024, 1, 1), "2024-01-01")]), spec).equal
    days = Table(["p", "q"], [(date(2024, 1, 1), date(2024, 1, 1))])
    assert not compare(gold, days, spec).equal


def incidence(lines: Sequence[Sequence[int]], points: int) -> list[tuple[int, ...]]:
    return [tuple(int(p in line) for p in range(points)) for line in lines]


FANO = [(0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5)]


def test_symmetric_columns_are_told_apart() -> None:
    """The Fano plane: every column looks alike, and only 168 of 5,040 assignments hold."""
    names = [f"f{i}" for i in range(7)]
    gold = Table(names, incidence(FANO, 7))
    order = (3, 5, 0, 6, 2, 4, 1)
    turned = [tuple(row[i] for i in order) for row in reversed(gold.rows)]
    assert compare(gold, Table(names, turned)).equal
    broken = [*FANO[:5], (2, 3, 4), (2, 5, 6)]
    assert not compare(gold, Table(names, incidence(broken, 7))).equal


def rook_and_shrikhande() -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Edges of two strongly regular graphs that no counting tells apart."""
    cells = list(product(range(4), repeat=2))
    rook, other = [], []
    for (i, a), (j, b) in product(enumerate(cells), repeat=2):
        if i >= j:
            continue
        edge = tuple(int(k in (i, j)) for k in range(16))
        if a[0] == b[0] or a[1] == b[1]:
            rook.append(edge)
        step = ((a[0] - b[0]) % 4, (a[1] - b[1]) % 4)
        if step in ((0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)):
            other.append(edge)
    return rook, other


def test_strongly_regular_graphs_are_decided() -> None:
    rook, shrikhande = rook_and_shrikhande()
    names = [f"v{i}" for i in range(16)]
    assert not compare(Table(names, rook), Table(names, shrikhande)).equal
    order = (7, 3, 11, 0, 15, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14)
    turned = [tuple(row[i] for i in order) for row in shrikhande]
    assert compare(Table(names, shrikhande), Table(names, turned)).equal


def test_parity_of_twelve_flags() -> None:
    """All projections on 11 columns agree; only whole rows differ."""
    rows = list(product((0, 1), repeat=12))
    names = [f"f{i}" for i in range(12)]
    even, odd = [[r for r in rows if sum(r) % 2 == rest] for rest in (0, 1)]
    assert not compare(Table(names, even), Table(names, odd)).equal
    assert compare(Table(names, even), Table(names, [r[::-1] for r in even])).equal


def test_flags_among_more_flags_are_found_or_refused() -> None:
    rows = [tuple(int(bool(i >> b & 1)) for b in range(8)) for i in range(200)]
    names = [f"f{i}" for i in range(8)]
    gold = Table(names[:6], [row[1:7] for row in rows])
    assert compare(gold, Table(names, rows[::-1])).relaxed_equal
    wrong = [*rows[:-1], tuple(1 - v for v in rows[-1])]
    assert not compare(gold, Table(names, wrong)).relaxed_equal


def test_a_gold_that_does_not_fit_its_declaration() -> None:
    with pytest.raises(ValueError, match=r"declares 1 columns \(a\), but the gold returned 2"):
        compare(Table(["x", "y"], [(1, 2)]), Table(["x"], [(1,)]), AnswerSpec(["a"]))
    with pytest.raises(ValueError, match="`order_by` names 'z'"):
        compare(column(1), column(1), AnswerSpec(order_by="z"))


def test_empty_tables_of_other_width_differ() -> None:
    found = compare(Table(["a"], []), Table(["a", "b"], []))
    assert (found.equal, found.relaxed_equal, found.inconclusive) == (False, True, True)
    assert not compare(Table(["a", "b"], []), Table(["a"], [])).relaxed_equal
