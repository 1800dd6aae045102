"""Which rows of a data set refer to which: parts of it that keep every reference whole."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from qeval.data.model import Dataset


class References:
    """The rows of a data set, numbered from 0 through all tables, and what they refer to.

    `table_of[i]` is the table of row i, `numbers[table]` the range of a table's numbers;
    `children[i]` are the rows that refer to row i. A reference to a value that no row has needs
    nothing.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self.numbers: dict[str, range] = {}
        self.table_of: list[str] = []
        for table in dataset.tables:
            first, count = len(self.table_of), len(dataset.rows[table.name])
            self.numbers[table.name] = range(first, first + count)
            self.table_of += [table.name] * count
        self.children: list[list[int]] = [[] for _ in self.table_of]
        self._link()

    def _link(self) -> None:
        places = {
            table.name: {field.name: index for index, field in enumerate(table.fields)}
            for table in self._dataset.tables
        }
        known: dict[str, dict[object, int]] = {}
        for table in self._dataset.tables:
            rows = self._dataset.rows[table.name]
            for index, field in enumerate(table.fields):
                if field.references is None:
                    continue
                target, _, column = field.references.partition(".")
                if field.references not in known:
                    at = places[target][column]
                    found = zip(self.numbers[target], self._dataset.rows[target], strict=True)
                    known[field.references] = {row[at]: number for number, row in found}
                for number, row in zip(self.numbers[table.name], rows, strict=True):
                    parent = known[field.references].get(row[index])
                    if row[index] is not None and parent is not None and parent != number:
                        self.children[parent].append(number)

    def with_dependents(self, rows: Iterable[int]) -> set[int]:
        """The rows and all that refer to them, directly or not."""
        found = set(rows)
        waiting = list(found)
        while waiting:
            for child in self.children[waiting.pop()]:
                if child not in found:
                    found.add(child)
                    waiting.append(child)
        return found

    def part(self, rows: AbstractSet[int]) -> Dataset:
        """The data set of these rows alone, in their order. What they refer to must be in it."""
        kept = {
            table: [
                row
                for number, row in zip(numbers, self._dataset.rows[table], strict=True)
                if number in rows
            ]
            for table, numbers in self.numbers.items()
        }
        return Dataset(self._dataset.tables, kept, self._dataset.reference_date)
