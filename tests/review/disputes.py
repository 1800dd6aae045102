"""Cell folders with disputed predictions, as a sweep leaves them behind."""

import json
from pathlib import Path

from qeval.judge.base import Judgement, Vote
from qeval.record import InstanceOutcome, Record
from qeval.scoring.verdict import Verdict

DIFFERENCE = {"columns": ["n"], "mapping": ["n"], "missing": [[1]], "extra": [[2]],
              "missing_count": 1, "extra_count": 1}  # fmt: skip


def outcome(instance: str, verdict: Verdict = Verdict.WRONG_RESULT) -> InstanceOutcome:
    """A run on an instance; one that is not right has a row on each side."""
    wrong = verdict is not Verdict.CORRECT
    return InstanceOutcome(instance, verdict, kind="other" if wrong else "",
                           difference=DIFFERENCE if wrong else None)  # fmt: skip


def judgement(label: str = "equivalent", *, split: bool = False) -> Judgement:
    """What a judge said with one vote."""
    return Judgement(label, (Vote(label, "because of this"),), split=split, judge="j", identity="i")  # type: ignore[arg-type]


def record(number: int = 1, verdict: Verdict = Verdict.WRONG_RESULT, **changes: object) -> Record:
    """A prediction for case `c<number>`."""
    outcomes = {
        Verdict.WRONG_RESULT: (outcome("base"),),
        Verdict.EQUIVALENT: (outcome("base"),),
        Verdict.REFUTED: (outcome("base", Verdict.CORRECT), outcome("variant-2")),
        Verdict.CORRECT: (outcome("base", Verdict.CORRECT),),
    }
    values: dict[str, object] = {
        "case_id": f"c{number}",
        "repeat": 0,
        "difficulty": ("easy", "medium", "hard")[number % 3],
        "tags": (),
        "question": f"How many of {number}?",
        "gold": f"SELECT {number}",
        "query": f"SELECT {number} + 1",
        "verdict": verdict,
        "outcomes": outcomes.get(verdict, ()),
    }
    return Record(**(values | changes))  # type: ignore[arg-type]


def cell(folder: Path, *records: Record, language: str = "sql", model: str = "m") -> Path:
    """Write a cell's journal."""
    folder.mkdir(parents=True)
    config = {"suite": {"name": "s"}, "language": {"name": language}, "model": {"name": model}}
    lines = [{"type": "cell", "key": folder.name, "name": folder.name, "config": config}]
    lines += [{"type": "record", **found.to_json()} for found in records]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "journal.jsonl").write_text(text, encoding="utf-8")
    return folder
