"""The journal of reviewers' decisions: `reviews.jsonl` beside the cell folders, append-only.

A decision is about one item: a question, its gold and a predicted query. Whatever cell brings the
same three again is covered by it; a case that is reworded is not.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, cast, get_args

from qeval.errors import InputError, did_you_mean
from qeval.journal import AppendFile, read_lines

REVIEWS = "reviews.jsonl"

Choice = Literal["equivalent", "different", "withdrawn"]
"""`withdrawn` takes back what the same reviewer said before."""

CHOICES: tuple[str, ...] = get_args(Choice)


@dataclass(frozen=True, slots=True)
class Decision:
    """What one reviewer said of one item, and when (UTC, ISO 8601).

    `judge` is the judge's label at that time ("" for none) and `saw_judge` whether the reviewer
    had it before the eyes: only decisions made without it say how good the judge is.
    """

    item: str
    suite: str
    case_id: str
    language: str
    choice: Choice
    reviewer: str
    at: str
    reason: str = ""
    judge: str = ""
    saw_judge: bool = False


def item_key(question: str, gold: str, query: str) -> str:
    """What a decision is about, as 16 hex digits."""
    text = json.dumps([question, gold, query], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def now() -> str:
    """The time of a decision."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def append(folder: Path, decisions: Iterable[Decision]) -> None:
    """Add decisions to the journal in `folder`; several reviewers may do so at once.

    Raises `InputError` where it can't be written, `IncompleteError` on a full disk.
    """
    from filelock import FileLock

    path = folder / REVIEWS
    try:
        with FileLock(folder / f".{REVIEWS}.lock"):
            file = AppendFile(path)
            try:
                for decision in decisions:
                    file.append(asdict(decision))
            finally:
                file.close()
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror or error}") from error


def read(folder: Path) -> list[Decision]:
    """All decisions in the order in which they were made; none where there is no journal.

    Raises `InputError` naming the line that is not a decision.
    """
    path = folder / REVIEWS
    found = []
    for number, line in read_lines(path):
        try:
            decision = Decision(**line)
        except TypeError as error:
            raise InputError(
                f"{path}:{number}: not a decision ({error}); delete the line or mend it"
            ) from None
        for name, value in asdict(decision).items():
            wanted = bool if name == "saw_judge" else str
            if not isinstance(value, wanted):
                raise InputError(
                    f"{path}:{number}: {name} is {value!r}, expected "
                    f"{'true or false' if wanted is bool else 'text'}; delete the line or mend it"
                )
        checked_choice(decision.choice, f"{path}:{number}")
        found.append(decision)
    return found


def checked_choice(choice: str, where: str) -> Choice:
    """The choice as one. Raises `InputError` for a choice that there is not."""
    if choice not in CHOICES:
        hint = did_you_mean(str(choice), CHOICES)
        raise InputError(f"{where}: {choice!r} is not one of {', '.join(CHOICES)}.{hint}")
    return cast("Choice", choice)


Said = Mapping[str, Mapping[str, Decision]]
"""By item, then by reviewer: the decision that stands."""


def standing(decisions: Iterable[Decision]) -> Said:
    """The latest decision of each reviewer on each item; what was withdrawn is gone."""
    said: dict[str, dict[str, Decision]] = {}
    for decision in decisions:
        reviewers = said.setdefault(decision.item, {})
        reviewers.pop(decision.reviewer, None)
        if decision.choice != "withdrawn":
            reviewers[decision.reviewer] = decision
    return {item: reviewers for item, reviewers in said.items() if reviewers}


def agreed(reviewers: Mapping[str, Decision]) -> Choice | None:
    """What more than half of the reviewers of an item said; None where there is no majority."""
    choices = [decision.choice for decision in reviewers.values()]
    for choice in dict.fromkeys(choices):
        if 2 * choices.count(choice) > len(choices):
            return choice
    return None
