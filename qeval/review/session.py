"""One sitting of a reviewer: the queue, what they said, and what they see of an item."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from qeval.equivalence.counterexample import SHOWN_ROWS, Counterexample
from qeval.errors import InputError
from qeval.review.decisions import (
    Decision,
    Said,
    agreed,
    append,
    checked_choice,
    now,
    read,
    standing,
)
from qeval.review.evidence import Evidence, Laboratory, counterexample_of, differing
from qeval.review.items import Item
from qeval.review.sample import is_divided

NAME_LIMIT = 80  # characters of a reviewer's name
REASON_LIMIT = 4000


class Session:
    """Decisions on a queue of items, written to the journal in `folder` as they are made.

    May be used by many threads: the journal is locked, and read again for every answer, so that
    several reviewers and processes see what the others said.
    """

    def __init__(self, folder: Path, items: Sequence[Item], laboratory: Laboratory) -> None:
        self.folder = folder
        self.items = tuple(items)
        self._by_key = {item.key: item for item in self.items}
        self._laboratory = laboratory

    def said(self) -> Said:
        """What stands now."""
        return standing(read(self.folder))

    def decide(
        self, key: str, choice: str, reviewer: str, *, reason: str = "", saw_judge: bool = False
    ) -> Decision:
        """Keep a decision (`withdrawn` takes one back). Raises `InputError` for wrong input."""
        item = self.item(key)
        decision = Decision(
            item=key,
            suite=item.suite,
            case_id=item.case_id,
            language=item.language,
            choice=checked_choice(choice, f"item {key}"),
            reviewer=checked_name(reviewer),
            at=now(),
            reason=checked_reason(reason),
            judge=item.judged,
            saw_judge=saw_judge,
        )
        append(self.folder, [decision])
        return decision

    def item(self, key: str) -> Item:
        """The item of a key. Raises `InputError` for one that is not in the queue."""
        if key not in self._by_key:
            raise InputError(f"no item {key!r} is in this review's queue")
        return self._by_key[key]

    def evidence(self, item: Item) -> Evidence:
        """Both results of an item."""
        return self._laboratory.evidence(item)

    def counterexample(self, item: Item) -> Counterexample | None:
        """The few rows of data on which an item's queries differ, where they were found."""
        return counterexample_of(item)

    def overview(self, reviewer: str) -> list[dict[str, Any]]:
        """The queue as one reviewer sees it: a line per item."""
        said = self.said()
        return [self._line(item, said, reviewer) for item in self.items]

    def _line(self, item: Item, said: Said, reviewer: str) -> dict[str, Any]:
        mine = said.get(item.key, {}).get(reviewer)
        return {
            "key": item.key,
            "case": item.case_id,
            "language": item.language,
            "verdict": item.verdict,
            "disputed": item.is_disputed or is_divided(item, said),
            "mine": None if mine is None else mine.choice,
        }

    def view(self, key: str, reviewer: str) -> dict[str, Any]:
        """All that is shown of one item, JSON-ready.

        What others said is told only to who has said something: two opinions are worth more than
        one and its echo.
        """
        item = self.item(key)
        reviewers = self.said().get(key, {})
        mine = reviewers.get(reviewer)
        record = item.record
        return {
            "key": key,
            "case": item.case_id,
            "suite": item.suite,
            "language": item.language,
            "difficulty": record.difficulty,
            "tags": list(record.tags),
            "models": item.models,
            "question": record.question,
            "gold": record.gold,
            "query": record.query,
            "verdict": item.verdict,
            "kind": item.telling.kind,
            "judged": item.judged,
            "judgements": [_judgement(said.to_json()) for said in item.judgements],
            "evidence": asdict(self.evidence(item)),
            "counterexample": _few_rows(self.counterexample(item)),
            "mine": None if mine is None else asdict(mine),
            "others": [] if mine is None else _others(reviewers, reviewer),
            "agreed": None if mine is None else agreed(reviewers),
        }


def checked_name(name: str) -> str:
    """A reviewer's name. Raises `InputError` for an empty or unreasonable one."""
    clean = " ".join(name.split())
    if not clean or len(clean) > NAME_LIMIT or not clean.isprintable():
        raise InputError(
            f"a reviewer needs a name of 1 to {NAME_LIMIT} printable characters, found {name!r}"
        )
    return clean


def checked_reason(reason: str) -> str:
    """A reason as it is kept: at most `REASON_LIMIT` characters, no blanks around them."""
    return reason.strip()[:REASON_LIMIT].rstrip()


def _others(reviewers: Mapping[str, Decision], reviewer: str) -> list[dict[str, str]]:
    return [
        {"reviewer": name, "choice": decision.choice, "reason": decision.reason}
        for name, decision in reviewers.items()
        if name != reviewer
    ]


def _few_rows(found: Counterexample | None) -> dict[str, Any] | None:
    """A counterexample for the page: the tables as they are, and the rows that differ on them."""
    if found is None:
        return None
    gold, predicted = differing(found.difference or {})
    return {
        "summary": str(found),
        "message": found.message,
        "tables": [
            {
                "name": name,
                "columns": table["columns"],
                "rows": table["rows"][:SHOWN_ROWS],
                "total": len(table["rows"]),
            }
            for name, table in found.tables.items()
        ],
        "gold": asdict(gold),
        "predicted": asdict(predicted),
    }


def _judgement(said: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "judge": said["judge"],
        "label": said["label"],
        "split": said["split"],
        "contradicted": said["contradicted"],
        "claim": said["claim"],
        "votes": [{"label": v["label"], "reason": v["reason"]} for v in said["votes"]],
    }
