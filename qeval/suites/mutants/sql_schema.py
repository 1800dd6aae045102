"""What a SQL gold's mutants must know of the tables: types, keys, references."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

DIALECT = "postgres"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. `target` is the (table, key) that it refers to.

    `is_key`: it alone is the primary key; `is_required`: it is never missing.
    """

    type: str
    target: tuple[str, str] | None
    is_key: bool
    is_required: bool
    is_unique: bool


@dataclass(frozen=True, slots=True)
class Shape:
    """The tables that a DDL script creates: their columns by name, and their primary keys."""

    tables: Mapping[str, Mapping[str, Column]]
    keys: Mapping[str, frozenset[str]]

    def columns(self, table: str) -> Mapping[str, Column]:
        """The columns of a table, none of an unknown one."""
        return self.tables.get(table, {})

    def target(self, table: str, column: str) -> tuple[str, str] | None:
        """The (table, key) that a column refers to, missing or not."""
        found = self.columns(table).get(column)
        return None if found is None else found.target

    def other_role(self, table: str, column: str) -> str | None:
        """The other column of the table that refers to the same key, if there is just one."""
        target = self.target(table, column)
        others = [
            name
            for name, other in self.columns(table).items()
            if target is not None and other.target == target and name != column
        ]
        return others[0] if len(others) == 1 else None

    def refers_to_itself(self, table: str, first: str, second: str) -> bool:
        """Whether one of the columns refers to the other, a key of the same table."""
        return (table, first) == self.target(table, second) or (table, second) == self.target(
            table, first
        )

    def supertype(self, table: str) -> tuple[str, str, str] | None:
        """(key, table of the supertype, its key) of a table whose key refers to another's."""
        for name, column in self.columns(table).items():
            if column.is_key and column.target is not None and column.target[0] != table:
                return name, *column.target
        return None

    def alike(self, table: str, column: str) -> Iterator[str]:
        """Attributes of the table that have the type of this one; no keys, no references."""
        columns = self.columns(table)
        mine = columns.get(column)
        for name, other in columns.items():
            if mine is not None and name != column and _is_attribute(mine, other):
                yield name

    def identifies(self, table: str, columns: frozenset[str]) -> bool:
        """Whether no two rows of the table are equal in these columns."""
        found = self.columns(table)
        return self.has_key(table, columns) or any(
            found[name].is_unique and found[name].is_required for name in columns & found.keys()
        )

    def has_key(self, table: str, columns: frozenset[str]) -> bool:
        """Whether these columns hold the whole primary key of the table."""
        return table in self.keys and self.keys[table] <= columns


def _is_attribute(*columns: Column) -> bool:
    """Whether columns of one type are neither keys nor references."""
    return len({column.type for column in columns}) == 1 and not any(
        column.is_key or column.target for column in columns
    )


@cache
def read_shape(schema: str) -> Shape:
    """The shape of the tables that a DDL script creates."""
    import sqlglot
    from sqlglot import exp

    tables: dict[str, Mapping[str, Column]] = {}
    keys: dict[str, frozenset[str]] = {}
    for statement in sqlglot.parse(schema, read=DIALECT):
        if not isinstance(statement, exp.Create) or not isinstance(statement.this, exp.Schema):
            continue
        table = statement.this.this.name
        tables[table] = {node.name: _column(node) for node in statement.find_all(exp.ColumnDef)}
        listed = statement.find(exp.PrimaryKey)
        keys[table] = frozenset(
            [name for name, column in tables[table].items() if column.is_key]
            if listed is None
            else [key.name for key in listed.expressions]
        )
    return Shape(tables, {table: key for table, key in keys.items() if key})


def _column(node: Any) -> Column:
    from sqlglot import exp

    reference = node.find(exp.Reference)
    is_key = node.find(exp.PrimaryKeyColumnConstraint) is not None
    return Column(
        type=node.kind.sql(DIALECT),
        target=reference and (reference.this.this.name, reference.this.expressions[0].name),
        is_key=is_key,
        is_required=is_key or node.find(exp.NotNullColumnConstraint) is not None,
        is_unique=is_key or node.find(exp.UniqueColumnConstraint) is not None,
    )
