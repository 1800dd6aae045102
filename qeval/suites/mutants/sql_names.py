"""The tables of a SQL query by alias, and changes to all that it says of one of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qeval.suites.mutants.base import Operator
from qeval.suites.mutants.sql_schema import Shape

Change = tuple[Operator, str, Callable[[Any], None]]
"""Operator, what it does in words, and the edit, given the same node in a copy of the tree."""


@dataclass(frozen=True, slots=True)
class Names:
    """The tables of a query by alias, and the columns it uses of each.

    One alias means one table in all of the suite's golds.
    """

    shape: Shape
    tables: Mapping[str, str]
    used: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, tree: Any, shape: Shape) -> "Names":
        """The names in a query."""
        from sqlglot import exp

        tables = {table.alias_or_name: table.name for table in tree.find_all(exp.Table)}
        names = cls(shape, tables, {})
        used: dict[str, set[str]] = {alias: set() for alias in tables}
        for column in tree.find_all(exp.Column):
            used.get(names.alias_of(column), set()).add(column.name)
        return cls(shape, tables, {alias: frozenset(found) for alias, found in used.items()})

    def alias_of(self, column: Any) -> str:
        """The alias a column belongs to, "" if that isn't plain.

        A bare name belongs to what the nearest SELECT reads that has it; a CTE may have any name.
        """
        if column.table:
            return str(column.table)
        select = column.parent_select
        while select is not None:
            tables = _tables(select)
            owners = [
                alias
                for alias, table in tables.items()
                if table not in self.shape.tables or column.name in self.shape.columns(table)
            ]
            if owners:
                return owners[0] if len(owners) == 1 else ""
            select = select.parent_select
        return ""

    def table_of(self, column: Any) -> str:
        """The table a column belongs to, empty if that isn't plain."""
        return self.tables.get(self.alias_of(column), "")


def _tables(select: Any) -> dict[str, str]:
    """What a SELECT itself reads, by alias: tables by name, "" for a subquery."""
    from sqlglot import exp

    return {
        source.alias_or_name: source.name if isinstance(source, exp.Table) else ""
        for source in select.find_all(exp.Table, exp.Subquery)
        if source.parent_select is select and isinstance(source.parent, exp.From | exp.Join)
    }


def whole_table_changes(names: Names) -> Iterator[Change]:
    """All references to a table read the other way, all of a subtype as of its supertype, and
    all uses of an attribute as of another one of its type. The edits are the whole tree's.
    """
    shape = names.shape
    for alias, table in names.tables.items():
        used = names.used[alias]
        roles = {name: other for name in shape.columns(table)
                 if (other := shape.other_role(table, name))}  # fmt: skip
        if not used.isdisjoint(roles):
            yield "direction", f"{table} {alias} the other way", _renaming(names, alias, roles)
        above = shape.supertype(table)
        if above is not None:
            key, parent, parent_key = above
            if used <= {key, *shape.columns(parent)}:
                edit = _renaming(names, alias, {key: parent_key}, parent)
                yield "subtype", f"{alias}: {table} → {parent}", edit
    for alias, table in names.tables.items():
        for name in sorted(names.used[alias]):
            for other in shape.alike(table, name):
                change = f"{alias}: {name} → {other}"
                yield "attribute", change, _renaming(names, alias, {name: other})


def _renaming(
    names: Names, alias: str, columns: Mapping[str, str], table_name: str | None = None
) -> Callable[[Any], None]:
    """Put other columns in the place of an alias's; subqueries keep the names they return."""

    def edit(tree: Any) -> None:
        from sqlglot import exp

        for column in list(tree.find_all(exp.Column)):
            if names.alias_of(column) == alias and column.name in columns:
                before, select = column.this.copy(), column.parent
                column.set("this", exp.to_identifier(columns[column.name]))
                if isinstance(select, exp.Select) and select is not tree:
                    column.replace(exp.Alias(this=column.copy(), alias=before))
        if table_name is not None:
            for table in tree.find_all(exp.Table):
                if table.alias_or_name == alias:
                    table.set("this", exp.to_identifier(table_name))

    return edit
