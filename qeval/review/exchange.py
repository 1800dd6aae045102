"""Reviews as CSV: the queue out for a spreadsheet, the decisions back in.

Text that models wrote can begin like a formula; such a cell gets an apostrophe in front, which a
spreadsheet takes for "this is text".
"""

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from qeval.errors import InputError
from qeval.review.decisions import CHOICES
from qeval.review.session import Session, checked_name, checked_reason
from qeval.tracking.failures import counterexample_text, difference_text

COLUMNS = (
    "item",
    "case",
    "language",
    "difficulty",
    "question",
    "gold",
    "prediction",
    "difference",
    "counterexample",
    "judge",
    "judge_reason",
    "choice",
    "reason",
    "reviewer",
)
_GUARDED = ("=", "+", "-", "@", "\t", "\r", "'")
"""What a cell gets an apostrophe in front of; one that is there already too, so that reading takes
away what writing gave and nothing else."""
_LONGEST = 2**31 - 1  # characters of a cell: predictions may be long


def write(session: Session, path: Path, reviewer: str) -> int:
    """Write the queue with this reviewer's decisions so far; returns the number of rows.

    Raises `InputError` where the file can't be written.
    """
    said = session.said()
    try:
        with path.open("w", newline="", encoding="utf-8-sig", errors="replace") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for item in session.items:
                mine = said.get(item.key, {}).get(reviewer)
                record = item.record
                found = session.counterexample(item)
                row = (
                    item.key,
                    item.case_id,
                    item.language,
                    record.difficulty,
                    record.question,
                    record.gold,
                    record.query or "",
                    difference_text(record),
                    "" if found is None else counterexample_text(found),
                    item.judged,
                    item.judgements[0].reason if item.judgements else "",
                    mine.choice if mine else "",
                    mine.reason if mine else "",
                    reviewer,
                )
                writer.writerow([_guarded(cell) for cell in row])
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror or error}") from error
    return len(session.items)


def read(session: Session, path: Path, reviewer: str) -> int:
    """Take over the decisions of a CSV file; returns how many are new.

    Rows without a choice are passed over, and so are decisions that stand already. A `reviewer` in
    the file counts before the one given. Nothing is taken over if any row is wrong: `InputError`
    names the line.
    """
    before = csv.field_size_limit(_LONGEST)
    try:
        wanted = list(_rows(session, path, reviewer))
    except csv.Error as error:
        raise InputError(f"{path}: no CSV table: {error}") from error
    finally:
        csv.field_size_limit(before)
    said = session.said()
    new = 0
    for key, choice, who, reason in wanted:
        stands = said.get(key, {}).get(who)
        if stands is None and choice == "withdrawn":
            continue
        if stands is None or (stands.choice, stands.reason) != (choice, reason):
            session.decide(key, choice, who, reason=reason, saw_judge=True)
            new += 1
    return new


def _rows(session: Session, path: Path, reviewer: str) -> Iterator[tuple[str, str, str, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"can't read {path} as UTF-8 text: {reason}") from error
    reader = csv.DictReader(StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    missing = {"item", "choice"} - set(reader.fieldnames or ())
    if missing:
        raise InputError(
            f"{path}:1: the column{'s' if len(missing) > 1 else ''} "
            f"{' and '.join(sorted(missing))} must be there; qeval review --export writes them"
        )
    for row in reader:
        case = (row.get("case") or "").strip()
        where = f"{path}:{reader.line_num}" + (f" ({case})" if case else "")
        choice = (row["choice"] or "").strip().lower()
        if not choice:
            continue
        if choice not in CHOICES:
            raise InputError(f"{where}: choice {choice!r} is not one of {', '.join(CHOICES)}")
        key = _bare(row["item"]).strip()
        try:
            session.item(key)
            who = checked_name(_bare(row.get("reviewer")) or reviewer)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        yield key, choice, who, checked_reason(_bare(row.get("reason")))


def _delimiter(text: str) -> str:
    """Spreadsheets of some countries write semicolons."""
    head = text.partition("\n")[0]
    return ";" if head.count(";") > head.count(",") else ","


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_GUARDED) else cell


def _bare(cell: str | None) -> str:
    return (cell or "").removeprefix("'")
