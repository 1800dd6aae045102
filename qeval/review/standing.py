"""What reviews change: the verdicts of records whose item people agree on."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from qeval.journal import read_journal
from qeval.record import Record
from qeval.review.decisions import REVIEWS, Said, agreed, item_key, read, standing
from qeval.scoring.outcome import final_verdict
from qeval.scoring.verdict import Verdict

DISPUTABLE = (Verdict.WRONG_RESULT, Verdict.REFUTED)
"""Verdicts of queries that ran and gave other rows: the only ones a person may overrule."""


def executed_verdict(record: Record) -> Verdict:
    """What execution alone says of a record, whatever a judge made of it."""
    if record.verdict is not Verdict.EQUIVALENT:
        return record.verdict
    return final_verdict(record.outcomes) if record.outcomes else Verdict.WRONG_RESULT


def is_disputable(record: Record) -> bool:
    """Whether the prediction ran and differs from the gold."""
    return record.query is not None and executed_verdict(record) in DISPUTABLE


def item_of(record: Record) -> str:
    """The item that the record belongs to ("" where there is no query)."""
    return "" if record.query is None else item_key(record.question, record.gold, record.query)


def reviewed(records: Sequence[Record], said: Said) -> list[Record]:
    """The records with the verdicts that reviewers agreed on; `review` names what they said.

    Where they are divided, what was there before stands. Execution's outcomes are never touched.
    """
    if not said:
        return list(records)
    return [_reviewed(record, said) for record in records]


def _reviewed(record: Record, said: Said) -> Record:
    if not is_disputable(record):
        return record
    reviewers = said.get(item_of(record))
    choice = agreed(reviewers) if reviewers else None
    if choice is None:
        return record
    alike = choice == "equivalent"
    verdict = Verdict.EQUIVALENT if alike else executed_verdict(record)
    return replace(record, verdict=verdict, review=choice)


def read_reviewed(folder: Path) -> tuple[dict[str, Any], list[Record]]:
    """A cell's header and records as its journal and the reviews beside it tell them.

    Raises `InputError` for a damaged journal.
    """
    header, records = read_journal(folder)
    if not (folder.parent / REVIEWS).is_file():
        return header, records
    return header, reviewed(records, standing(read(folder.parent)))
