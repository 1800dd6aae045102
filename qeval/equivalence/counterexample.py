"""A counterexample: the few rows of data on which a prediction and its gold differ, for people."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from qeval.data.model import Dataset
from qeval.errors import IncompleteError, InputError
from qeval.journal import AppendFile, read_lines
from qeval.record import InstanceOutcome, Record
from qeval.scoring.spec import Policy
from qeval.scoring.verdict import Verdict, Which

COUNTEREXAMPLES = "counterexamples.jsonl"
SHOWN_ROWS = 8  # of a table, and of the rows that differ: more are counted, not shown

_SHAPE = ("extra_columns", "missing_columns", "undecided", "too_large")


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Data on which two queries differ, and how.

    `instance` is the data set that it was cut from. `tables` holds what is left of it: of each
    table that isn't empty `{"columns": […], "rows": [[…]]}`, cells as numbers, texts, booleans and
    null. `minimal`: no row can go; False where the time was up. Where `cut` is False its rows could
    not be cut down (the difference depends on more than them): it is `instance` as a whole. `kind`,
    `message` and `difference` tell how the two differ on these rows, as in an `InstanceOutcome`.
    """

    key: str
    case_id: str
    instance: str
    rows: int
    minimal: bool
    tables: Mapping[str, Mapping[str, Any]]
    cut: bool = True
    kind: str = ""
    message: str = ""
    difference: Mapping[str, Any] | None = None
    trials: int = 0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dictionary; `from_json` reads it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Counterexample":
        """Rebuild what `to_json` gave. Raises `TypeError` for other keys."""
        return cls(**data)

    def __str__(self) -> str:
        if not self.cut:
            return f"they differ on {self.instance} as a whole; its rows could not be cut down"
        size = "1 row" if self.rows == 1 else f"{self.rows} rows"
        few = "" if self.minimal else " (not the fewest: the time was up)"
        return f"they differ on {size} of {self.instance}{few}"

    def text(self) -> str:
        """The rows, table by table, in words that need no further explanation."""
        lines = [f"{self}:" if self.tables else f"{self}"]
        for name, table in self.tables.items():
            lines.append(f"{name} ({' | '.join(table['columns'])})")
            shown = table["rows"][:SHOWN_ROWS]
            lines += ["  " + " | ".join(map(_cell, row)) for row in shown]
            if len(table["rows"]) > len(shown):
                lines.append(f"  … and {len(table['rows']) - len(shown)} more")
        return "\n".join(lines)


def counterexample_key(
    case_id: str, gold: str, query: str, instance_key: str, policy: Policy
) -> str:
    """The content that decides a counterexample: 16 hex digits."""
    facts = [case_id, gold, query, instance_key, asdict(policy)]
    text = json.dumps(facts, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def deciding(record: Record, which: Which) -> InstanceOutcome | None:
    """The outcome in which a prediction differs from its gold, if data can be cut down to show it.

    None where the columns already differ (any data shows it), where no rows are compared, and for
    verdicts that `which` leaves out.
    """
    telling = next((o for o in record.outcomes if o.verdict is not Verdict.CORRECT), None)
    if telling is None or record.query is None or which == "none":
        return None
    refuted = record.verdict is Verdict.REFUTED
    if not refuted and not (which == "all" and telling.verdict is Verdict.WRONG_RESULT):
        return None
    if telling.verdict not in (Verdict.WRONG_RESULT, Verdict.RUNTIME_ERROR):
        return None
    return None if telling.kind in _SHAPE else telling


def plain_tables(dataset: Dataset) -> dict[str, dict[str, Any]]:
    """The tables of a data set that aren't empty, JSON-ready."""
    return {
        table.name: {
            "columns": [field.name for field in table.fields],
            "rows": [[_plain(value) for value in row] for row in dataset.rows[table.name]],
        }
        for table in dataset.tables
        if dataset.rows[table.name]
    }


class CounterexampleFile:
    """The counterexamples of a cell, open for appending by one thread; `known` are their keys.

    A damaged file is begun anew: everything in it can be found again.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / COUNTEREXAMPLES
        self._file: AppendFile | None = None
        try:
            self.known = {found.key for found in read_counterexamples(folder).values()}
        except InputError:
            self.known = set()
            with suppress(OSError):  # told by `append`
                self._path.unlink()

    def append(self, found: Counterexample) -> None:
        """Keep one. Raises `IncompleteError` on a full disk and where the file can't be written."""
        if self._file is None:
            try:
                self._file = AppendFile(self._path)
            except OSError as error:
                raise IncompleteError(
                    f"can't write {self._path}: {error.strerror or error}"
                ) from error
        self._file.append(found.to_json())
        self.known.add(found.key)

    def close(self) -> None:
        """Make everything durable. Safe to call twice."""
        if self._file is not None:
            self._file.close()


def read_counterexamples(folder: Path) -> dict[str, Counterexample]:
    """The counterexamples of a cell's folder by key; a half-written last line is passed over."""
    found = {}
    path = folder / COUNTEREXAMPLES
    for number, line in read_lines(path):
        try:
            one = Counterexample.from_json(line)
        except TypeError as error:
            raise InputError(
                f"{path}:{number}: no counterexample ({error}). Delete the file: it is made again"
            ) from None
        found[one.key] = one
    return found


def of_record(record: Record, found: Mapping[str, Counterexample]) -> Counterexample | None:
    """The counterexample that a record points at, where it was found."""
    return found.get(record.counterexample) if record.counterexample else None


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, date | datetime):
        return value.isoformat()
    return str(value)


def _cell(value: Any) -> str:
    return "null" if value is None else value if isinstance(value, str) else json.dumps(value)
