"""Agreement and pass@k have the right values, and copying is told from being right."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.record import Record, Round
from qeval.scoring.copying import WHOLE, copied, marks
from qeval.scoring.metrics import cell_metrics
from qeval.scoring.stability import agreement, pass_at
from qeval.scoring.verdict import Verdict

WEIGHTS = {"execution_accuracy": 1.0}


def record(case: str, repeat: int, query: str, verdict: Verdict) -> Record:
    return Record(case, repeat, "easy", (), "q", "g", verdict, query=query)


def test_agreement_counts_equal_pairs() -> None:
    assert agreement("aaaa") == 1.0
    assert agreement("ab") == 0.0
    assert agreement("aab") == pytest.approx(1 / 3)


def test_pass_at_k_is_the_unbiased_estimate() -> None:
    assert pass_at(1, 10, 3) == pytest.approx(0.3)
    assert pass_at(2, 3, 1) == pytest.approx(2 / 3)
    assert pass_at(5, 10, 6) == 1.0


@given(st.integers(1, 12), st.data())
def test_pass_at_k_counts_draws(answers: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, answers))
    k = data.draw(st.integers(1, answers))
    missed = comb(answers - right, k)
    assert pass_at(k, answers, right) * comb(answers, k) == pytest.approx(comb(answers, k) - missed)


def test_a_cells_stability_is_averaged_over_cases() -> None:
    right, wrong = Verdict.CORRECT, Verdict.WRONG_RESULT
    records = [
        record("a", 0, "x", right), record("a", 1, "x", right),
        record("b", 0, "x", right), record("b", 1, "y", wrong),
        record("c", 0, "y", wrong), record("c", 1, "z", wrong),
    ]  # fmt: skip
    stable = cell_metrics(records, WEIGHTS).stability
    assert stable["exact_agreement"].value == pytest.approx(1 / 3)
    assert stable["verdict_agreement"].value == pytest.approx(2 / 3)
    assert stable["pass_at_2"].value == pytest.approx(2 / 3)
    assert stable["pass_at_2"].denominator == 3
    assert cell_metrics(records[::2], WEIGHTS).stability == {}


def test_scores_before_repair_are_those_of_the_first_answers() -> None:
    fixed = Record(
        "a", 0, "easy", (), "q", "g", Verdict.CORRECT,
        rounds=(Round("x", "x", "syntax_error"), Round("y", "y", "fine")),
    )  # fmt: skip
    at_once = Record(
        "b", 0, "easy", (), "q", "g", Verdict.CORRECT, rounds=(Round("x", "x", "fine"),)
    )
    metrics = cell_metrics([fixed, at_once], WEIGHTS)
    assert metrics.overall["syntax_pass"].value == 1.0
    assert metrics.before_repair["syntax_pass"].value == 0.5
    assert metrics.behaviour["repaired"].value == 0.5
    assert Record.from_json(fixed.to_json()) == fixed


SHOWN = [
    "SELECT id FROM products WHERE discontinued = true AND sku = 'A-77' AND price > 25",
    "SELECT name FROM suppliers WHERE country_code IS NULL",
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT id FROM products WHERE sku = 'B-1'", ()),
        ("SELECT id FROM products AS p WHERE p.sku = 'A-77'", ("a-77", "sku = a-77")),
        ("SELECT id FROM users WHERE age > 25", ("25",)),
        ("SELECT id FROM suppliers WHERE country_code IS NULL", ("country_code is null",)),
        (
            "select name\n  from suppliers where country_code is null -- so\n",
            ("country_code is null", WHOLE),
        ),
        ("MATCH (p:Product {sku: 'A-77'}) RETURN p.id", ("a-77", "sku = a-77")),
        ('match $p isa product, has sku "A-77"; select $p;', ("a-77", "sku = a-77")),
        ("SELECT 1 -- sku = 'A-77'", ()),
        ("SELECT '-- ', id FROM products WHERE sku = 'A-77'", ("a-77", "sku = a-77")),
    ],
)
def test_what_only_an_example_asks_for_is_copied(query: str, found: tuple[str, ...]) -> None:
    gold = "SELECT id FROM products WHERE sku = 'B-1'"
    assert copied(query, "Which product has SKU B-1?", gold, SHOWN) == found


def test_what_the_question_or_the_gold_says_is_not_copied() -> None:
    query = "SELECT id FROM products WHERE sku = 'A-77' AND price > 25"
    assert copied(query, "Which of SKU a-77 cost more than 25?", "SELECT 1", SHOWN) == ()
    assert copied(query, "Which?", query, SHOWN) == ()


@pytest.mark.parametrize(
    ("condition", "question", "found"),
    [
        ("placed_at < '2025-01-01'", "How many orders in 2024?", False),
        ("placed_at < TIMESTAMP '2025-01-01 00:00:00'", "How many orders in 2024?", False),
        ("o.placedAt < datetime('2025-01-01T00:00:00Z')", "2024 年有多少订单?", False),
        ("placed_at < '2025-01-01'", "How many orders in 2023?", True),
        ("day <= '2025-06-29'", "What came before 2025-06-30?", False),
        ("rating >= 5", "Which have a rating above 4?", False),
        ("rating >= 5", "Which have a rating above four?", False),
        ("rating >= 5", "评分高于四的?", False),
        ("rating >= 5", "Which have a rating above two?", True),
        ("share > 0.5", "Which make up more than half?", False),
        ("share > 0.5", "Which are popular?", True),
        ("card_id IS NULL", "Which orders have none?", False),
        ("quantity > 250", "Which have more than 249?", False),
        ("quantity > 250", "Which have more?", True),
    ],
)
def test_the_question_explains_what_it_says_in_other_words(
    condition: str, question: str, *, found: bool
) -> None:
    example = f"SELECT name FROM t WHERE {condition}"
    assert bool(copied(f"SELECT id FROM o WHERE {condition}", question, "X", [example])) is found


def test_whatever_a_gold_has_may_be_said_of_another_column() -> None:
    shown = ["SELECT 1 FROM t WHERE since >= '2024-01-01'"]
    gold = "SELECT 2 FROM t WHERE since BETWEEN '2024-01-01' AND '2024-12-31'"
    answer = "SELECT 2 FROM t WHERE since >= '2024-01-01' AND since <= '2024-12-31'"
    assert copied(answer, "Which?", gold, shown) == ()


@given(st.text())
def test_any_text_has_marks(text: str) -> None:
    assert isinstance(marks(text), frozenset)
