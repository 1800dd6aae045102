"""Files that are replaced in one step, and the errors of those that can't be."""

from pathlib import Path
from typing import Any

import pytest

from qeval.atomic import write_atomically
from qeval.cells import build_judge
from qeval.configuration import compose, plain
from qeval.errors import IncompleteError
from qeval.judge.base import digest_of
from qeval.judge.cards import Entry, card_file, read_card, write_card
from qeval.judge.figures import Figures


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomically(path, "old")
    write_atomically(path, "中 \udc80")
    assert path.read_text(encoding="utf-8") == "中 \\udc80"
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def test_what_can_not_be_written_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    for path in (tmp_path / "folder", tmp_path / "absent" / "a.json"):
        with pytest.raises(IncompleteError, match=f"can't write {path}: .* run the same command"):
            write_atomically(path, "new")
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_a_judges_card_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    names = ("alone", "in_runs", "own", "chain", "instances")
    figures: dict[str, Any] = dict.fromkeys(names, Figures(0))
    entry = Entry(suite="shop", language="sql", pairs="", engine="engine", **figures)
    judge = build_judge(plain(compose(["judge=mock"]))["judge"])
    assert judge is not None
    path = write_card(tmp_path, judge, entry)
    path.with_name(path.name + ".part").mkdir()

    with pytest.raises(IncompleteError, match=f"can't write {path}"):
        write_card(tmp_path, judge, entry)

    found = read_card(tmp_path, digest_of(judge))
    assert path == card_file(tmp_path, digest_of(judge))
    assert found is not None
    assert found.entries == (entry,)
