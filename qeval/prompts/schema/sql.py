"""SQL schemas: `ddl` as the engine loads it, `compact` with one line per table."""

import re
from typing import Any

from qeval.prompts.schema.model import Item, SchemaDocument, both_ways

_COMMENT = re.compile(r"--\s*(.*)$", re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'")
COMPACT_HEAD = (
    "-- table(column type, …); PK: primary key, ?: may be NULL, -> table.column: foreign key"
)


def parse(text: str) -> SchemaDocument:
    """Cut DDL into its tables and views; anything pglast refuses can only be shown whole."""
    from pglast import parse_sql
    from pglast.parser import ParseError

    try:
        statements = parse_sql(text)
    except ParseError:
        return SchemaDocument("sql", text)
    items = []
    for raw in statements:
        statement: Any = raw.stmt
        start = int(raw.stmt_location or 0)
        end = start + raw.stmt_len if raw.stmt_len else len(text)
        body = _above(text, start) + text[start:end].strip() + ";\n"
        if _is(statement, "CreateStmt"):
            items.append(_table(statement, text, body))
        elif _is(statement, "ViewStmt"):
            name = str(statement.view.relname)
            items.append(Item(name, (name,), (body, body.strip()), links=frozenset()))
    return SchemaDocument(
        "sql", text, ("ddl", "compact"), tuple(both_ways(items)), ("", COMPACT_HEAD)
    )


def _table(statement: Any, text: str, body: str) -> Item:
    from pglast.enums.parsenodes import ConstrType

    name = str(statement.relation.relname)
    keys: list[str] = []
    targets: dict[str, str] = {}
    columns: list[Any] = []
    for element in statement.tableElts or ():
        if _is(element, "ColumnDef"):
            columns.append(element)
            for constraint in element.constraints or ():
                if constraint.contype == ConstrType.CONSTR_FOREIGN:
                    targets[element.colname] = _target(constraint, 0)
                elif constraint.contype == ConstrType.CONSTR_PRIMARY:
                    keys.append(element.colname)
        elif _is(element, "Constraint"):
            if element.contype == ConstrType.CONSTR_PRIMARY:
                keys += [str(key.sval) for key in element.keys]
            elif element.contype == ConstrType.CONSTR_FOREIGN:
                for index, own in enumerate(element.fk_attrs):
                    targets[str(own.sval)] = _target(element, index)
    shown = ", ".join(_column(c, text, keys, targets) for c in columns)
    return Item(
        name=name,
        names=(name, *(str(column.colname) for column in columns)),
        texts=(body, f"{name}({shown})"),
        comment=" ".join(_COMMENT.findall(body)),
        links=frozenset(target.partition(".")[0] for target in targets.values()) - {name},
    )


def _is(node: Any, kind: str) -> bool:
    return type(node).__name__ == kind


def _target(constraint: Any, index: int) -> str:
    columns = constraint.pk_attrs or ()
    column = f".{columns[index].sval}" if index < len(columns) else ""
    return f"{constraint.pktable.relname}{column}"


def _column(column: Any, text: str, keys: list[str], targets: dict[str, str]) -> str:
    from pglast.enums.parsenodes import ConstrType
    from pglast.stream import RawStream

    kinds = {constraint.contype for constraint in column.constraints or ()}
    words = [str(column.colname), RawStream()(column.typeName)]
    certain = ConstrType.CONSTR_NOTNULL in kinds or column.colname in keys
    if not certain:
        words[-1] += "?"
    if column.colname in keys:
        words.append("PK")
    if ConstrType.CONSTR_UNIQUE in kinds:
        words.append("unique")
    if column.colname in targets:
        words.append(f"-> {targets[column.colname]}")
    line = text[column.location : text.find("\n", column.location) % (len(text) + 1)]
    comment = line.partition("--")[2]
    values = _QUOTED.findall(comment)
    if values:  # the values a column takes are what no name tells
        words.append(f"/* {', '.join(values)} */")
    return " ".join(words)


def _above(text: str, start: int) -> str:
    """The comment lines directly above a statement."""
    lines: list[str] = []
    for line in reversed(text[:start].split("\n")[:-1]):
        if not line.startswith("--"):
            break
        lines.insert(0, line)
    return "".join(f"{line}\n" for line in lines)
