"""What lies beside an item: both results in full, row by row, from the engine itself.

A record keeps only a few of the rows that differ, so gold and prediction are run again, on the
instance that told them apart. Where that can't be, the record's own rows are shown.
"""

import threading
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qeval.equivalence.counterexample import Counterexample, read_counterexamples
from qeval.errors import QevalError
from qeval.review.items import Item
from qeval.scoring.comparison import canonical_columns, compare, expect
from qeval.scoring.difference import shown
from qeval.scoring.spec import AnswerSpec, Policy
from qeval.scoring.table import Table

if TYPE_CHECKING:
    from qeval.bench import Bench
    from qeval.cells import Cell

SHOWN_ROWS = 200
"""How many rows of a result are shown; those that differ come first."""


@dataclass(frozen=True, slots=True)
class Side:
    """One result. `rows` are (cells, whether the other side has the row), `total` all rows.

    `matched` names the answer's column that each column was taken for ("" for none).
    """

    columns: tuple[str, ...]
    matched: tuple[str, ...]
    rows: tuple[tuple[tuple[Any, ...], bool], ...]
    total: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Both results on `instance`; `note` says where they come from if not from a fresh run."""

    instance: str
    message: str
    gold: Side
    predicted: Side
    note: str = ""


def side_by_side(
    gold: Table, predicted: Table, spec: AnswerSpec, policy: Policy
) -> tuple[Side, Side]:
    """Both tables, each row marked: does the other have it, in the columns that correspond.

    Raises `ValueError` where the gold isn't what `spec` declares.
    """
    difference = compare(gold, predicted, spec, policy).difference
    expected = expect(gold, canonical_columns(gold), spec, policy)
    other = canonical_columns(predicted)
    taken = difference.mapping if difference is not None and difference.mapping else ()
    if not taken:
        taken = tuple(predicted.columns[: len(expected.names)])
    places = _places(taken, predicted.columns)
    pairs = [(j, place) for j, place in enumerate(places) if place is not None]
    gold_keys = _keys([expected.coercions[j].keys(expected.columns[j]) for j, _ in pairs], gold)
    other_keys = _keys([expected.coercions[j].keys(other[c]) for j, c in pairs], predicted)
    named = {c: expected.names[j] for j, c in pairs}
    return (
        _side(expected.names, expected.names, expected.columns, gold_keys, Counter(other_keys)),
        _side(
            predicted.columns,
            tuple(named.get(c, "") for c in range(len(predicted.columns))),
            other,
            other_keys,
            Counter(gold_keys),
        ),
    )


def _places(names: Sequence[str], columns: Sequence[str]) -> list[int | None]:
    free = list(range(len(columns)))
    places: list[int | None] = []
    for name in names:
        place = next((i for i in free if columns[i] == name), None)
        places.append(place)
        if place is not None:
            free.remove(place)
    return places


def _keys(columns: Sequence[Sequence[Hashable]], table: Table) -> list[Hashable]:
    return list(zip(*columns, strict=True)) if columns else list(range(-len(table), 0))


def _side(
    columns: Sequence[str],
    matched: Sequence[str],
    values: Sequence[Sequence[Any]],
    keys: Sequence[Hashable],
    other: Counter[Hashable],
) -> Side:
    rows = list(zip(*values, strict=True)) if values and keys else [()] * len(keys)
    left = Counter(other)
    marked = []
    for row, key in zip(rows, keys, strict=True):
        common = left[key] > 0
        left[key] -= common
        marked.append((tuple(shown(value) for value in row), common))
    marked.sort(key=lambda pair: pair[1])
    return Side(tuple(columns), tuple(matched), tuple(marked[:SHOWN_ROWS]), len(keys))


def recorded(item: Item, note: str = "") -> Evidence:
    """What the record keeps of the rows that differ."""
    outcome = item.telling
    return Evidence(
        outcome.instance,
        outcome.message,
        *differing(outcome.difference or {}),
        note or "only rows that differ, as recorded",
    )


def differing(difference: Mapping[str, Any]) -> tuple[Side, Side]:
    """The rows of a recorded difference: those only the gold has, those only the prediction has."""
    columns = tuple(difference.get("columns") or ())
    mapping = tuple(difference.get("mapping") or columns)

    def side(which: str, names: tuple[str, ...]) -> Side:
        rows = tuple((tuple(row), False) for row in difference.get(which) or ())
        return Side(names, columns, rows, int(difference.get(f"{which}_count") or len(rows)))

    return side("missing", columns), side("extra", mapping)


def counterexample_of(item: Item) -> Counterexample | None:
    """The few rows that tell an item's queries apart, from whichever of its cells found them.

    A damaged file of them keeps nobody from deciding: it counts as none.
    """
    for folder, key in item.shrunk:
        with suppress(QevalError):
            found = read_counterexamples(folder).get(key)
            if found is not None:
                return found
    return None


class Laboratory:
    """Runs gold and prediction of items again; engines start when they are first needed.

    Used by one thread at a time (it locks). Nothing it can't do is an error for the reviewer.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._cells: dict[Path, Cell] = {}
        self._benches: dict[str, Bench] = {}
        self._known: dict[str, Evidence] = {}
        self._lock = threading.Lock()

    def evidence(self, item: Item) -> Evidence:
        """Both results of an item, fresh if that is possible."""
        with self._lock:
            if item.key not in self._known:
                try:
                    self._known[item.key] = self._fresh(item)
                except Exception as error:  # noqa: BLE001 - the record's rows do as well
                    reason = str(error) or type(error).__name__
                    note = f"only rows that differ, as recorded; running again failed: {reason}"
                    return recorded(item, note)
            return self._known[item.key]

    def close(self) -> None:
        """Stop the engines that were started."""
        with self._lock, suppress(QevalError):
            self._stack.close()

    def _fresh(self, item: Item) -> Evidence:
        cell = self._cell(item.folder)
        case = next(case for case in cell.suite.cases if case.id == item.case_id)
        bench = self._bench(cell)
        outcome = item.telling
        instance = bench.ready(cell, outcome.instance)
        query = item.record.query
        assert query is not None
        cell.language.check_safety(query)
        gold = bench.engine.execute(item.record.gold, instance, cell.limits)
        other = bench.engine.execute(query, instance, cell.limits)
        sides = side_by_side(gold.table, other.table, case.answer, cell.policy)
        cut = gold.truncated or other.truncated
        note = "a result was cut by a limit" if cut else ""
        return Evidence(outcome.instance, outcome.message, *sides, note)

    def _cell(self, folder: Path) -> "Cell":
        from qeval.recorded import recorded_cell

        if folder not in self._cells:
            self._cells[folder] = recorded_cell(folder)[0]
        return self._cells[folder]

    def _bench(self, cell: "Cell") -> "Bench":
        from qeval.bench import Bench
        from qeval.cells import build_engine

        if cell.engine_id not in self._benches:
            engine = build_engine(cell.engine_config)
            self._stack.callback(engine.stop)
            self._benches[cell.engine_id] = Bench(engine, engine.start())
        return self._benches[cell.engine_id]
