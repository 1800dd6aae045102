"""The journal: nothing finished is lost, whatever ends the process."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.errors import IncompleteError, InputError
from qeval.journal import AppendFile, Journal, asked_for, read_journal, read_prompts
from qeval.judge.base import Judgement, Vote
from qeval.prompts.base import Message, Prompt
from qeval.record import InstanceOutcome, Record, Round
from qeval.scoring.verdict import Verdict

HEADER = {"key": "0123456789abcdef", "name": "gold-sql", "config": {}}
PROMPT = Prompt((Message("system", "s"), Message("user", "多少用户？")), "t1")


def record(case_id: str, repeat: int = 0, verdict: Verdict = Verdict.CORRECT) -> Record:
    outcome = InstanceOutcome("base", verdict, difference={"missing": [[1, None, "é"]]})
    return Record(
        case_id=case_id,
        repeat=repeat,
        difficulty="easy",
        tags=("a", "b"),
        question="?",
        gold="SELECT 1",
        verdict=verdict,
        outcomes=(outcome,),
        raw="```sql\nSELECT '\u2028\x00'\n```",
        examples=("x1",),
        prompt_digest=PROMPT.digest,
    )


def test_records_and_prompts_come_back_as_they_were_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "cell", HEADER)
    written = [record("c1"), record("c1", 1), record("c2", verdict=Verdict.NO_QUERY)]
    for each in written:
        journal.append(each, PROMPT)
    journal.close()
    header, records = read_journal(tmp_path / "cell")
    assert header == HEADER
    assert records == written
    assert read_prompts(tmp_path / "cell") == {
        PROMPT.digest: [["system", "s"], ["user", "多少用户？"]]
    }


def test_the_latest_header_holds_and_an_equal_one_is_no_news(tmp_path: Path) -> None:
    journal = Journal(tmp_path, {**HEADER, "config": {"repeats": 2}, "instances": ("base",)})
    journal.append(record("c1"), None)
    journal.append(record("c1", 1), None)
    journal.close()
    whole = (tmp_path / "journal.jsonl").read_bytes()
    Journal(tmp_path, {**HEADER, "config": {"repeats": 2}, "instances": ("base",)}).close()
    assert (tmp_path / "journal.jsonl").read_bytes() == whole
    again = Journal(tmp_path, {**HEADER, "config": {"repeats": 1}})
    assert again.finished("c1", 1)
    again.close()
    header, records = read_journal(tmp_path)
    assert header == {**HEADER, "config": {"repeats": 1}}
    assert [r.repeat for r in records] == [0, 1]
    assert [r.repeat for r in asked_for(header, records)] == [0]
    with pytest.raises(InputError, match="belongs to cell 0123456789abcdef, not ff"):
        Journal(tmp_path, {**HEADER, "key": "ff"})


def test_infrastructure_errors_are_run_again_and_replaced(tmp_path: Path) -> None:
    journal = Journal(tmp_path, HEADER)
    journal.append(record("c1", verdict=Verdict.INFRA_ERROR), None)
    assert not journal.finished("c1", 0)
    journal.close()
    again = Journal(tmp_path, HEADER)
    assert not again.finished("c1", 0)
    again.append(record("c1"), None)
    again.close()
    assert [r.verdict for r in read_journal(tmp_path)[1]] == [Verdict.CORRECT]


@given(
    texts=st.lists(st.text(), min_size=1, max_size=5),
    cut=st.integers(min_value=0, max_value=400),
)
def test_a_file_cut_anywhere_keeps_every_whole_line_and_goes_on(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], cut: int
) -> None:
    path = tmp_path_factory.mktemp("journal") / "j.jsonl"
    file = AppendFile(path)
    for text in texts:
        file.append({"text": text})
    file.close()
    data = path.read_bytes()
    os.truncate(path, max(0, len(data) - cut))
    whole = path.read_bytes().count(b"\n")
    file = AppendFile(path)
    file.append({"text": "after"})
    file.close()
    lines = [json.loads(line)["text"] for line in path.read_bytes().splitlines()]
    assert lines == [*texts[:whole], "after"]


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path, HEADER)
    script = textwrap.dedent(f"""
        from pathlib import Path
        from qeval.journal import Journal
        Journal(Path({str(tmp_path)!r}), {HEADER!r})
    """)
    second = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    journal.close()
    assert second.returncode == 1
    assert "InputError: another qeval process is writing" in second.stderr


def test_kill_9_leaves_every_finished_record(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import os, signal
        from pathlib import Path
        from qeval.journal import Journal
        from tests_journal import record
        journal = Journal(Path({str(tmp_path / "cell")!r}), {HEADER!r})
        for number in range(50):
            journal.append(record(f"c{{number}}"), None)
        os.write(journal._journal._file.fileno(), b'{{"type":"record","case_id":"half')
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    (tmp_path / "tests_journal.py").write_bytes(Path(__file__).read_bytes())
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(read_journal(tmp_path / "cell")[1]) == 50
    journal = Journal(tmp_path / "cell", HEADER)
    journal.append(record("c50"), None)
    journal.close()
    assert [r.case_id for r in read_journal(tmp_path / "cell")[1]] == [f"c{n}" for n in range(51)]


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    script = textwrap.dedent(f"""
        import resource, signal
        from pathlib import Path
        from qeval.journal import AppendFile
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        file = AppendFile(Path({str(path)!r}))
        file.append({{"text": "a" * 500}})
        file.append({{"text": "b" * 900}})
    """)
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert IncompleteError.__name__ in ended.stderr
    assert "make room and run the same command again" in ended.stderr
    assert [json.loads(line)["text"][0] for line in path.read_bytes().splitlines()] == ["a"]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    journal = Journal(tmp_path, HEADER)
    journal.append(record("c1"), None)
    journal.close()
    path = tmp_path / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][: len(lines[1]) // 2] + b"\n" + lines[1])
    with pytest.raises(InputError, match=r"journal\.jsonl:2: this line is damaged"):
        read_journal(tmp_path)


def test_a_folder_of_another_cell_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path, HEADER).close()
    with pytest.raises(InputError, match="belongs to cell 0123456789abcdef, not f00d"):
        Journal(tmp_path, {**HEADER, "key": "f00d"})


def test_a_record_survives_json_unchanged() -> None:
    whole = replace(record("c"), cost_usd=None, query=None, sent={"temperature": 0})
    assert Record.from_json(json.loads(json.dumps(whole.to_json()))) == whole


def test_a_record_without_times_tells_none_and_all_else() -> None:
    vote = Vote("different", "why", seconds=1.0)
    timed = replace(
        record("c1"),
        outcomes=(InstanceOutcome("base", Verdict.CORRECT, rows=2, seconds=1.0),),
        rounds=(Round("raw", "SELECT 1", "fine", generation_s=1.0),),
        judgement=Judgement("different", (vote,)),
        generation_s=1.0,
        execution_s=1.0,
        finished_at="2026-01-01T00:00:00.000+00:00",
    )

    def told(value: Any) -> dict[tuple[str, str], Any]:
        found: dict[tuple[str, str], Any] = {}
        for field in fields(value):
            inner = getattr(value, field.name)
            for part in inner if isinstance(inner, tuple) else (inner,):
                found |= told(part) if is_dataclass(part) else {}
            if re.search(r"(_s|seconds|_at)$", field.name):
                found[type(value).__name__, field.name] = inner
        return found

    assert all(told(timed).values())
    assert not any(told(timed.without_times()).values())
    (outcome,) = timed.without_times().outcomes
    assert (outcome.rows, timed.without_times().raw) == (2, timed.raw)


@pytest.mark.parametrize(
    "change",
    [
        ('"verdict":"correct"', '"verdict":"nonsense"'),
        ('"case_id"', '"case"'),
        ('"repeat":0', '"repeat":[0]'),
        ('"outcomes":[{', '"outcomes":[3,{'),
        ('"tags"', '"labels"'),
    ],
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, change: tuple[str, str]) -> None:
    journal = Journal(tmp_path, HEADER)
    journal.append(record("c1"), PROMPT)
    journal.close()
    path = tmp_path / "journal.jsonl"
    text = path.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change), encoding="utf-8")
    for read in (lambda: Journal(tmp_path, HEADER), lambda: read_journal(tmp_path)):
        with pytest.raises(InputError, match=r"journal\.jsonl:2: not a record"):
            read()


@pytest.mark.parametrize("name", ["journal.jsonl", "prompts.jsonl", ".lock"])
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "cell" / name).mkdir(parents=True)
    with pytest.raises(InputError, match=r"can't write in .*cell"):
        Journal(tmp_path / "cell", HEADER)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"can't write in .*file"):
        Journal(tmp_path / "file" / "cell", HEADER)


def test_a_foreign_line_among_the_prompts_costs_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path, HEADER)
    journal.append(record("c1"), PROMPT)
    journal.close()
    with (tmp_path / "prompts.jsonl").open("a") as file:
        file.write('{"a":1}\n')
    Journal(tmp_path, HEADER).close()
    assert list(read_prompts(tmp_path)) == [PROMPT.digest]
