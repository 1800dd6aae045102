"""A shell is told how a line can go on: configuration, sub-commands, and lang=."""

import pytest

from tests.conftest import Run


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("qeval ch", {"check"}),
        ("qeval lang=", {"lang=cypher", "lang=sql", "lang=typeql"}),
        ("qeval check lang=ty", {"lang=typeql"}),
        ("qeval -m model=mo", {"model=mock"}),
    ],
)
def test_a_line_is_completed(qeval: Run, line: str, expected: set[str]) -> None:
    done = qeval("-sc", "query=bash", COMP_LINE=line)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == expected


def test_the_first_word_may_be_anything(qeval: Run) -> None:
    found = set(qeval("-sc", "query=bash", COMP_LINE="qeval ").stdout.split())
    assert {"doctor", "mock-server", "lang=", "repeats="} <= found
    found = set(qeval("-sc", "query=bash", COMP_LINE="qeval model=gold ").stdout.split())
    assert "lang=" in found
    assert "doctor" not in found
