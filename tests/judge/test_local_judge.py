"""The real small model as a judge: held to the schema it stays on the menu, whatever it thinks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qeval.errors import InputError
from tests.judge.disputes import dispute, judge

# The built-in prompt has 900 tokens before the schema: this one asks the same in a few words.
SHORT = """\
{% block system %}Are two queries equal? Answer in JSON: reason, and answer, which is same_rows,
another_reading or different.{% endblock %}
{% block user %}A: {{ a.query }}
B: {{ b.query }}{% endblock %}
{% block again %}{{ fault }}{% endblock %}
"""


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prompt") / "short.jinja"
    path.write_text(SHORT)
    return path


@pytest.fixture(scope="module")
def local(short: Path) -> Iterator[Any]:
    asked = judge("judge=local", f"judge.template={short}", "judge.model.cache=false")
    asked.preflight()
    yield asked
    asked.close()


def test_every_vote_has_a_word_of_the_menu_and_the_same_one_each_time(local: Any) -> None:
    first = local.decide(dispute(differing="", shown=False))
    assert [vote.attempts for vote in first.votes] == [1, 1]
    assert {vote.label for vote in first.votes} <= {"equivalent", "different"}
    assert {vote.swapped for vote in first.votes} == {False, True}
    assert all(len(vote.reason) <= 160 for vote in first.votes)
    assert not first.failed
    again = local.decide(dispute(differing="", shown=False))
    assert [vote.raw for vote in again.votes] == [vote.raw for vote in first.votes]


@pytest.mark.usefixtures("local")  # its server is shared
def test_a_cut_answer_is_unusable_all_the_same(short: Path) -> None:
    cut = judge(
        "judge=local", "judge.votes=1", f"judge.template={short}", "judge.model.cache=false",
        "judge.model.max_tokens=4",
    )  # fmt: skip
    cut.preflight()
    try:
        found = cut.decide(dispute())
    finally:
        cut.close()
    assert (found.label, found.votes[0].attempts) == ("unscored", 2)
    assert found.votes[0].finish_reason == "length"


def test_a_form_that_a_local_model_has_not_is_told() -> None:
    with pytest.raises(InputError, match="a local model has chat, json, auto"):
        judge("judge=local", "judge.form=tool")
