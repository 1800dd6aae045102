"""Whether a suite's mapping names tables and columns that its CSV data declares.

Rows of a generator are not known before it runs; then the engine's loader says what is wrong.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from qeval.errors import did_you_mean
from qeval.suites.crosschecks import Fault, refuse

_ROWS_OF = {"cypher": "nodes", "typeql": "entities"}


def check_mapping(file: Path, language: str, mapping: Any, data: Mapping[str, Any]) -> None:
    """Raises `InputError` with file, line and key of every name that the data lacks."""
    if "tables" not in data or language not in _ROWS_OF:
        return
    columns = {
        table["name"]: [field["name"] for field in table["fields"]] for table in data["tables"]
    }
    faults = _faults(mapping, _ROWS_OF[language], columns)
    refuse([(file, keys, message) for keys, message in faults])


def _faults(
    mapping: Mapping[str, Any], rows_of: str, columns: Mapping[str, list[str]]
) -> Iterator[Fault]:
    things = mapping.get(rows_of, {})
    for table, entry in things.items():
        yield from _row_faults((rows_of, table), table, entry, ["key"], columns)
        named = entry.get("properties", entry.get("attributes", {}))
        if entry["key"] not in named:
            yield (rows_of, table, "key"), f"{entry['key']!r} must be among the mapped columns"
    for part, own in (("subtypes", ["by"]), ("lists", ["by", "value"])):
        for table, entry in mapping.get(part, {}).items():
            yield from _row_faults((part, table), table, entry, own, columns)
            if entry["of"] not in things:
                near = did_you_mean(entry["of"], things)
                yield (part, table, "of"), f"{entry['of']!r} is not among the {rows_of}.{near}"
    part = "relationships" if rows_of == "nodes" else "relations"
    for index, entry in enumerate(mapping.get(part, ())):
        yield from _row_faults((part, index), entry["table"], entry, [], columns)
        ends = (
            [(("from",), entry["from"]), (("to",), entry["to"])]
            if rows_of == "nodes"
            else [(("players", role), player) for role, player in entry["players"].items()]
        )
        for keys, end in ends:
            ((of, column),) = end.items()
            where = (part, index, *keys)
            if of not in things:
                yield where, f"{of!r} is not among the {rows_of}.{did_you_mean(of, things)}"
            known = columns.get(entry["table"], [column])
            if column not in known:
                near = did_you_mean(column, known)
                yield where, f"table {entry['table']!r} has no column {column!r}.{near}"


def _row_faults(
    keys: tuple[str | int, ...],
    table: str,
    entry: Mapping[str, Any],
    own: list[str],
    columns: Mapping[str, list[str]],
) -> Iterator[Fault]:
    """Faults of what an entry reads from the rows of its own table."""
    if table not in columns:
        yield keys, f"there is no table {table!r}.{did_you_mean(table, columns)}"
        return
    named = [((*keys, key), entry[key]) for key in own]
    for part in ("properties", "attributes"):
        named += [((*keys, part, column), column) for column in entry.get(part, {})]
    for where, column in named:
        if column not in columns[table]:
            near = did_you_mean(column, columns[table])
            yield where, f"table {table!r} has no column {column!r}.{near}"
