"""Only an answer in the asked form is one: nothing is searched for, nothing guessed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.judge.answers import MENU, UnusableError, read_answer


def said(**changes: object) -> str:
    return json.dumps({"reason": "r", "answer": "different", "row_set": None, **changes})


@pytest.mark.parametrize("word", MENU)
def test_each_word_of_the_menu_has_its_label(word: str) -> None:
    answer = read_answer(said(answer=word))
    assert answer.label == ("different" if word == "different" else "equivalent")
    assert answer.ground == ("" if word == "different" else word)


def test_one_fence_around_it_is_fine() -> None:
    assert read_answer(f"```json\n{said()}\n```\n").label == "different"


def test_a_row_set_belongs_to_different_alone() -> None:
    rows = [{"table": "users", "columns": ["age"], "rows": [[18]]}]
    assert read_answer(said(row_set=rows)).row_set == rows
    assert read_answer(said(answer="same_rows", row_set=rows)).row_set is None
    assert read_answer(said(row_set=[])).row_set is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "equivalent",
        '"same_rows"',
        "The answer is same_rows.",
        f"Here it is: {said()}",
        f"{said()} Hope it helps!",
        f"{said()}\n{said(answer='same_rows')}",
        f"```json\n{said()}\n```\nor\n```json\n{said()}\n```",
        said(answer="equivalent"),
        said(answer="Same_Rows"),
        said(answer="not same_rows"),
        said(answer="INCORRECT"),
        said(answer=None),
        said(answer=["same_rows"]),
        said(confidence=1),
        said(row_set=[{"table": "users"}]),
        said(row_set=[{"table": "users", "columns": ["age"], "rows": [[{"a": 1}]]}]),
        '{"answer": "same_rows", "row_set": null}',
        '{"reason": "r", "answer": "different", "answer": "same_rows", "row_set": null}',
        '{"reason": "r", "answer": "same_rows", "row_set": NaN}',
        '{"reason": "r", "answer": "same_rows", "row_set": null',
        "[" * 100_000,
        " " * 10 + "x" * 200_000,
    ],
)
def test_anything_else_is_unusable(text: str) -> None:
    with pytest.raises(UnusableError):
        read_answer(text)


@given(st.text(max_size=200))
def test_no_text_gets_a_label_by_chance(text: str) -> None:
    with pytest.raises(UnusableError):
        read_answer(f"{text} same_rows different another_reading {text}")
