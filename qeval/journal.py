"""The append-only JSON-lines file of a cell: the truth that everything else is derived from.

A cell folder holds `journal.jsonl` (first line: the cell's header, then one record a line) and
`prompts.jsonl` (every distinct prompt by its digest). A run with other settings of those that the
cell's key leaves out (repeats, weights, workers …) adds its header: the latest one holds. Whatever
ends the process, at most the line being written is lost: opening the journal again cuts a
half-written end off and goes on.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from qeval.errors import IncompleteError, InputError
from qeval.prompts.base import Prompt
from qeval.record import Record

if TYPE_CHECKING:
    from qeval.scoring.verdict import Verdict

JOURNAL = "journal.jsonl"
PROMPTS = "prompts.jsonl"


class AppendFile:
    """A JSON-lines file that only grows, with no half-written line in it once it is open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO = path.open("a+b", buffering=0)
        self._end = self._cut_half_line()

    def append(self, value: dict[str, Any]) -> None:
        """Write one line. On a full disk the file is left as it was (`IncompleteError`)."""
        line = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        try:
            written = self._file.write(data)
            trouble = None if written == len(data) else f"{written} of {len(data)} bytes written"
        except OSError as error:
            trouble = str(error)
        if trouble is not None:
            self._file.truncate(self._end)
            raise IncompleteError(
                f"can't write {self.path}: {trouble}. What was finished before is kept; make room "
                "and run the same command again"
            )
        self._end += len(data)

    def close(self) -> None:
        """Make everything durable and release the file. Safe to call twice."""
        if not self._file.closed:
            os.fsync(self._file.fileno())
            self._file.close()

    def _cut_half_line(self) -> int:
        size = self._file.seek(0, os.SEEK_END)
        position = size
        while position > 0:
            step = min(position, 65536)
            self._file.seek(position - step)
            newline = self._file.read(step).rfind(b"\n")
            if newline >= 0:
                position = position - step + newline + 1
                break
            position -= step
        if position != size:
            self._file.truncate(position)
            self._file.seek(0, os.SEEK_END)
        return position


def _unusable(folder: Path, error: Exception) -> InputError:
    return InputError(
        f"can't write in {folder.absolute()}: {error}. Choose a folder of your own with runs_dir=…"
    )


def _held(folder: Path) -> str:
    return (
        f"another qeval process is writing {folder}. Wait for it, or stop it; the same "
        "command goes on from where it is"
    )


class Journal:
    """One cell's journal, open for appending by exactly one process.

    Opening raises `InputError` when another process holds it or the folder belongs to another
    cell. `done` maps (case id, repeat) to the verdict of each finished record; `pointing` are
    the records that point at a counterexample.
    """

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        from filelock import FileLock, Timeout

        self.folder = folder
        self._lock = FileLock(folder / ".lock")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except (OSError, NotImplementedError) as error:
            if isinstance(error, Timeout):
                raise InputError(_held(folder)) from None
            raise _unusable(folder, error) from error
        with ExitStack() as undo:
            undo.callback(self._lock.release)
            try:
                self._journal = AppendFile(folder / JOURNAL)
                undo.callback(self._journal.close)
                self._prompts = AppendFile(folder / PROMPTS)
                undo.callback(self._prompts.close)
            except OSError as error:
                raise _unusable(folder, error) from error
            self._read(header)
            self._close = undo.pop_all()

    def _read(self, header: dict[str, Any]) -> None:
        self._shown = {line.get("digest") for _, line in read_lines(self.folder / PROMPTS)}
        self.done: dict[tuple[str, int], Verdict] = {}
        self._unjudged: set[tuple[str, int]] = set()
        self.pointing: dict[tuple[str, int], Record] = {}
        stored: dict[str, Any] | None = None
        for number, line in read_lines(self.folder / JOURNAL):
            if line.get("type") == "record":
                self._note(_record(self.folder / JOURNAL, number, line))
            elif number == 1 or line.get("type") == "cell":
                stored = line
        if stored is not None and stored.get("key") != header["key"]:
            raise InputError(
                f"{self.folder} belongs to cell {stored.get('key')}, not {header['key']}; "
                "choose another runs_dir or move that folder away"
            )
        line = {"type": "cell", **header}
        if stored != json.loads(json.dumps(line, default=str)):
            self._journal.append(line)

    def finished(self, case_id: str, repeat: int) -> bool:
        """Whether that case has a verdict about the prediction (not about our machinery).

        One whose judge could not be asked is still to be judged.
        """
        verdict = self.done.get((case_id, repeat))
        return verdict is not None and verdict.counted and (case_id, repeat) not in self._unjudged

    def _note(self, record: Record) -> None:
        place = (record.case_id, record.repeat)
        self.done[place] = record.verdict
        if record.judgement is not None and record.judgement.failed:
            self._unjudged.add(place)
        else:
            self._unjudged.discard(place)
        if record.counterexample:
            self.pointing[place] = record
        else:
            self.pointing.pop(place, None)

    def append(
        self, record: Record, prompt: Prompt | None, follow_ups: Sequence[Prompt] = ()
    ) -> None:
        """Keep one record, and its prompts unless the cell has shown them before."""
        for shown in (*([prompt] if prompt is not None else []), *follow_ups):
            digest = shown.digest
            if digest not in self._shown:
                messages = [[message.role, message.content] for message in shown.messages]
                self._prompts.append({"digest": digest, "messages": messages})
                self._shown.add(digest)
        self._journal.append({"type": "record", **record.to_json()})
        self._note(record)

    def close(self) -> None:
        """Release the journal for other processes. Safe to call twice."""
        self._close.close()


def read_journal(folder: Path) -> tuple[dict[str, Any], list[Record]]:
    """A cell's latest header and its records, the latest of each (case, repeat), in order of first
    sight, of more repeats, too, than the header asks for (`asked_for`).

    Raises `InputError` naming file and line where the journal can't be read. A half-written last
    line is passed over.
    """
    header: dict[str, Any] = {}
    records: dict[tuple[str, int], Record] = {}
    path = folder / JOURNAL
    if not path.is_file():
        raise InputError(
            f"{folder} is no cell folder: it has no {JOURNAL}. A run ends with the folders of its "
            "cells (runs/…)"
        )
    for number, line in read_lines(path):
        kind = line.pop("type", None)
        if kind == "cell":
            header = line
        elif kind == "record":
            record = _record(path, number, line)
            records[record.case_id, record.repeat] = record
    return header, list(records.values())


def asked_for(header: Mapping[str, Any], records: Iterable[Record]) -> list[Record]:
    """The records that the header asks for: a header before it may have had more repeats."""
    repeats = header.get("config", {}).get("repeats")
    if not isinstance(repeats, int):
        return list(records)
    return [record for record in records if record.repeat < repeats]


def _record(path: Path, number: int, line: dict[str, Any]) -> Record:
    """The record of a journal's line. Raises `InputError` naming the line."""
    try:
        record = Record.from_json({key: value for key, value in line.items() if key != "type"})
        _ = hash((record.case_id, record.repeat))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(
            f"{path}:{number}: not a record ({type(error).__name__}: {error}). Was it written by "
            "another version of qeval? If it is damaged, delete it: its case is then run again"
        ) from None
    return record


def read_prompts(folder: Path) -> dict[str, list[list[str]]]:
    """Messages ([role, content]) of every prompt of a cell by digest."""
    lines = [
        line for _, line in read_lines(folder / PROMPTS) if {"digest", "messages"} <= line.keys()
    ]
    return {line["digest"]: line["messages"] for line in lines}


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The whole lines of a JSON-lines file with their numbers from 1; none where there is no file.

    Raises `InputError` naming a damaged line. A half-written last one is passed over.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if not raw.endswith(b"\n"):
                return
            try:
                value = json.loads(raw)
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict):
                then = ": its case is then run again" if path.name == JOURNAL else " or mend it"
                raise InputError(f"{path}:{number}: this line is damaged. Delete it{then}")
            yield number, value
