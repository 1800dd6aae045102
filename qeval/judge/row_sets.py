"""A judge's row set becomes a data set: typed, completed as the schema asks, or refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from qeval.data.model import Dataset, Field, TableModel
from qeval.judge.base import RowSet

_WHOLE_LIMIT = 2**63


class ImpossibleError(ValueError):
    """The rows can't be a data set of the suite; the message says why."""


def dataset_of(row_set: RowSet, model: Dataset, most: int) -> Dataset:
    """The rows as a data set of `model`'s tables; every other table is empty.

    What a row leaves out is null where that is allowed; else, for keys, the next free one, for
    references a row that is there or an added one, for the rest what rows of `model` have, a
    different row of it for each. Rows that are referred to and not there are added likewise. At
    most `most` rows come out. Raises `ImpossibleError`: unknown tables or columns, wrong types,
    nulls where none may be, two rows with one key, too many rows.
    """
    tables = {table.name: table for table in model.tables}
    work = _Work(tables, model, most)
    given: list[tuple[TableModel, dict[str, Any]]] = []
    for part in row_set:
        table = tables.get(str(part["table"]))
        if table is None:
            raise ImpossibleError(f"there is no table {part['table']!r}")
        given += [(table, row) for row in _typed_rows(table, part["columns"], part["rows"])]
    if not given:
        raise ImpossibleError("it has no rows")
    # Rows whose keys are stated come first: no added row may take their keys.
    for table, row in given:
        if all(name in row for name in table.key):
            work.claim_key(table, row)
    for table in model.tables:
        for place, (_, row) in enumerate(pair for pair in given if pair[0] is table):
            work.add(table, row, place)
    rows = {table.name: work.ordered(table) for table in model.tables}
    return Dataset(model.tables, rows, model.reference_date)


@dataclass(slots=True)
class _Work:
    """The rows so far, by table and key."""

    tables: Mapping[str, TableModel]
    model: Dataset
    most: int
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    claimed: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = field(default_factory=dict)
    patterns: dict[str, int] = field(default_factory=dict)

    def claim_key(self, table: TableModel, row: dict[str, Any]) -> None:
        if not table.key:
            return
        key = tuple(row[name] for name in table.key)
        there = self.claimed.setdefault(table.name, {})
        if key in there and there[key] is not row:
            raise ImpossibleError(f"two rows of {table.name} have the key {_said(key)}")
        there[key] = row

    def add(self, table: TableModel, row: dict[str, Any], place: int) -> None:
        """Complete a row, and add what it refers to."""
        self.rows.setdefault(table.name, []).append(row)
        if sum(map(len, self.rows.values())) > self.most:
            raise ImpossibleError(f"it has more than {self.most} rows")
        pattern = self._pattern(table)
        for column in table.fields:
            if column.name not in row:
                row[column.name] = self._filling(table, column, pattern, place)
            value = row[column.name]
            if value is None and (not column.nullable or column.name in table.key):
                raise ImpossibleError(f"{table.name}.{column.name} can't be null")
        self.claim_key(table, row)
        for column in table.fields:
            if column.references is not None and row[column.name] is not None:
                self._surely_there(column.references, row[column.name])

    def ordered(self, table: TableModel) -> list[tuple[Any, ...]]:
        """A table's rows as tuples, whoever is referred to before who refers."""
        own = [c for c in table.fields if _target(c)[0] == table.name]
        waiting = list(self.rows.get(table.name, ()))
        done: list[dict[str, Any]] = []
        while waiting:
            ready = [row for row in waiting if not _waits(row, waiting, own)] or waiting
            done += ready
            waiting = [row for row in waiting if not any(row is other for other in ready)]
        return [tuple(row[column.name] for column in table.fields) for row in done]

    def _pattern(self, table: TableModel) -> Mapping[str, Any]:
        """The next row of the model's data, whose values are known to be allowed together."""
        number = self.patterns.get(table.name, 0)
        self.patterns[table.name] = number + 1
        known = self.model.rows[table.name]
        if not known:
            return {}
        values = known[number % len(known)]
        return dict(zip((column.name for column in table.fields), values, strict=True))

    def _filling(
        self, table: TableModel, column: Field, pattern: Mapping[str, Any], place: int
    ) -> Any:
        if column.references is not None and (not column.nullable or column.name in table.key):
            return self._any_of(column.references, place)
        if table.key == (column.name,) and column.type == "int":
            taken = {key[0] for key in self.claimed.get(table.name, {})}
            return next(number for number in range(1, len(taken) + 2) if number not in taken)
        if column.nullable and column.name not in table.key:
            return None
        if column.name not in pattern:
            raise ImpossibleError(
                f"{table.name}.{column.name} is missing and nothing is known of it"
            )
        return pattern[column.name]

    def _any_of(self, reference: str, place: int) -> Any:
        """What can be referred to: the place-th row that is there, or one of the model's data."""
        name, column = reference.split(".")
        there = list(self.claimed.get(name, {}).values())
        if place < len(there) and column in there[place]:
            return there[place][column]
        table = self.tables[name]
        taken = {row.get(column) for row in there}
        at = [c.name for c in table.fields].index(column)
        for values in self.model.rows[name]:
            if values[at] not in taken:
                return values[at]
        raise ImpossibleError(f"there is no further row that {reference} could name")

    def _surely_there(self, reference: str, value: Any) -> None:
        name, column = reference.split(".")
        table = self.tables[name]
        there = [*self.claimed.get(name, {}).values(), *self.rows.get(name, ())]
        if not any(row.get(column) == value for row in there):
            self.add(table, {column: value}, len(self.rows.get(name, ())))


def _target(column: Field) -> tuple[str, str]:
    table, _, name = (column.references or "").partition(".")
    return table, name


def _waits(
    row: Mapping[str, Any], waiting: Sequence[Mapping[str, Any]], own: Sequence[Field]
) -> bool:
    """Whether a row refers to another one that waits."""
    return any(
        row[column.name] is not None
        and any(
            other is not row and other[_target(column)[1]] == row[column.name] for other in waiting
        )
        for column in own
    )


def _typed_rows(
    table: TableModel, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> list[dict[str, Any]]:
    fields = {column.name: column for column in table.fields}
    unknown = [name for name in columns if name not in fields]
    if unknown or len(set(columns)) != len(columns):
        named = ", ".join(map(repr, unknown)) or "one twice"
        raise ImpossibleError(f"table {table.name}: columns {named}")
    found = []
    for row in rows:
        if len(row) != len(columns):
            raise ImpossibleError(f"a row of {table.name} has {len(row)} cells for {len(columns)}")
        found.append(
            {
                name: _typed(table.name, fields[name], cell)
                for name, cell in zip(columns, row, strict=True)
            }
        )
    return found


def _typed(table: str, column: Field, cell: Any) -> Any:
    """A JSON cell as a value of the column's type; nothing is bent to fit."""
    if cell is None:
        if not column.nullable:
            raise ImpossibleError(f"{table}.{column.name} can't be null")
        return None
    try:
        return _READERS[column.type](column, cell)
    except (ValueError, TypeError, InvalidOperation, OverflowError):
        raise ImpossibleError(
            f"{table}.{column.name} is {column.type}, not {_said((cell,))}"
        ) from None


def _bool(_: Field, cell: Any) -> bool:
    if not isinstance(cell, bool):
        raise TypeError
    return cell


def _int(_: Field, cell: Any) -> int:
    if isinstance(cell, bool) or not isinstance(cell, int | float) or cell != int(cell):
        raise TypeError
    if abs(int(cell)) >= _WHOLE_LIMIT:
        raise OverflowError
    return int(cell)


def _decimal(column: Field, cell: Any) -> Decimal:
    if isinstance(cell, bool):
        raise TypeError
    value = Decimal(str(cell))
    step = Decimal(1).scaleb(-(column.scale or 0))
    if not value.is_finite() or (column.scale is not None and value != value.quantize(step)):
        raise ValueError
    return value if column.scale is None else value.quantize(step)


def _float(_: Field, cell: Any) -> float:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        raise TypeError
    return float(cell)


def _string(_: Field, cell: Any) -> str:
    if not isinstance(cell, str):
        raise TypeError
    if "\0" in cell:
        raise ValueError
    return cell.encode("utf-8").decode("utf-8")  # half a surrogate pair is no text


def _date(_: Field, cell: Any) -> date:
    if not isinstance(cell, str):
        raise TypeError
    return date.fromisoformat(cell)


def _datetime(_: Field, cell: Any) -> datetime:
    if not isinstance(cell, str):
        raise TypeError
    value = datetime.fromisoformat(cell)
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


_READERS = {
    "bool": _bool,
    "int": _int,
    "decimal": _decimal,
    "float": _float,
    "string": _string,
    "date": _date,
    "datetime": _datetime,
}


def _said(cells: tuple[Any, ...]) -> str:
    return ", ".join(repr(cell)[:60] for cell in cells)
