"""What a relational schema says about roles, self-references and subtypes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

_DIALECT = "postgres"


@dataclass(frozen=True, slots=True)
class Shape:
    """Read from DDL.

    `roles`: (table, column) -> the other column of that table that refers to the same key.
    `self_references`: table -> (column, the key in the same table that it refers to).
    `subtypes`: table -> (key, table of the supertype, its key); `columns`: of each table.
    `mandatory`: (table, column) -> the (table, key) that it always refers to.
    """

    columns: Mapping[str, frozenset[str]]
    roles: Mapping[tuple[str, str], str]
    self_references: Mapping[str, tuple[str, str]]
    subtypes: Mapping[str, tuple[str, str, str]]
    mandatory: Mapping[tuple[str, str], tuple[str, str]]

    def refers(self, tables: set[str], left: Any, right: Any) -> bool:
        """Whether `left = right` compares a self-reference with its key."""
        (table,) = tables
        pair = self.self_references.get(table)
        return pair is not None and {left.name, right.name} == set(pair)


@cache
def read_shape(schema: str) -> Shape:
    """The shape of the tables that a DDL script creates."""
    import sqlglot
    from sqlglot import exp

    columns: dict[str, frozenset[str]] = {}
    roles: dict[tuple[str, str], str] = {}
    selves: dict[str, tuple[str, str]] = {}
    subtypes: dict[str, tuple[str, str, str]] = {}
    mandatory: dict[tuple[str, str], tuple[str, str]] = {}
    for statement in sqlglot.parse(schema, read=_DIALECT):
        if not isinstance(statement, exp.Create):
            continue
        table = statement.this.this.name
        defined = list(statement.find_all(exp.ColumnDef))
        columns[table] = frozenset(column.name for column in defined)
        targets: dict[tuple[str, str], list[str]] = {}
        for column in defined:
            reference = column.find(exp.Reference)
            if reference is None:
                continue
            target = (reference.this.this.name, reference.this.expressions[0].name)
            targets.setdefault(target, []).append(column.name)
            is_key = column.find(exp.PrimaryKeyColumnConstraint) is not None
            if is_key or column.find(exp.NotNullColumnConstraint) is not None:
                mandatory[table, column.name] = target
            if target[0] == table:
                selves[table] = (column.name, target[1])
            elif is_key:
                subtypes[table] = (column.name, *target)
        for found in targets.values():
            if len(found) == 2:  # noqa: PLR2004
                first, second = found
                roles[table, first], roles[table, second] = second, first
    return Shape(columns, roles, selves, subtypes, mandatory)


@dataclass(frozen=True, slots=True)
class Names:
    """The tables of a query by alias. One alias means one table in all of the suite's golds."""

    tables: Mapping[str, str]
    used: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, tree: Any, shape: Shape) -> "Names":
        """The aliases of a query, and which columns it uses of each."""
        from sqlglot import exp

        tables = {table.alias_or_name: table.name for table in tree.find_all(exp.Table)}
        used: dict[str, set[str]] = {alias: set() for alias in tables}
        names = cls(tables, {})
        for column in tree.find_all(exp.Column):
            alias = names.alias_of(column, shape)
            if alias in used:
                used[alias].add(column.name)
        return cls(tables, {alias: frozenset(found) for alias, found in used.items()})

    def alias_of(self, column: Any, shape: Shape | None = None) -> str:
        """The alias a column belongs to; for a bare name the only table that can hold it."""
        if column.table:
            return str(column.table)
        owners = [
            alias
            for alias, table in self.tables.items()
            if shape is None or column.name in shape.columns.get(table, ())
        ]
        return owners[0] if len(owners) == 1 else ""

    def table_of(self, column: Any) -> str:
        """The table a column belongs to, empty if that isn't plain."""
        return self.tables.get(self.alias_of(column), "")

    def whole_reference_changes(
        self, shape: Shape
    ) -> Iterator[tuple[str, str, str, Callable[[Any, str], None]]]:
        """(table, alias, account, edit) of changes to all that a query says of one alias."""
        for alias, table in self.tables.items():
            pairs = {column: other for (owner, column), other in shape.roles.items()
                     if owner == table}  # fmt: skip
            if not self.used[alias].isdisjoint(pairs):
                yield table, alias, f"{table} {alias} the other way", _renamer(self, pairs, None)
            if table in shape.subtypes:
                key, parent, parent_key = shape.subtypes[table]
                if self.used[alias] <= {key, *shape.columns[parent]}:
                    account = f"{alias}: {table} → {parent}"
                    yield table, alias, account, _renamer(self, {key: parent_key}, parent)


def _renamer(
    names: Names, columns: Mapping[str, str], table_name: str | None
) -> Callable[[Any, str], None]:
    def edit(tree: Any, alias: str) -> None:
        from sqlglot import exp

        for column in list(tree.find_all(exp.Column)):
            if names.alias_of(column) == alias and column.name in columns:
                column.set("this", exp.to_identifier(columns[column.name]))
        if table_name is not None:
            for table in tree.find_all(exp.Table):
                if table.alias_or_name == alias:
                    table.set("this", exp.to_identifier(table_name))

    return edit
