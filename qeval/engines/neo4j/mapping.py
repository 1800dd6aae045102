"""How neutral tables become a graph: a suite's `mapping` file, checked and applied.

    nodes:
      users: {label: User, key: id, properties: {id: id, birth_date: birthDate}}
    subtypes:
      premium_users: {of: users, by: user_id, label: PremiumUser, properties: {tier: tier}}
    lists:
      user_emails: {of: users, by: user_id, value: email, property: emails}
    relationships:
      - {table: follows, type: FOLLOWS, from: {users: follower_id}, to: {users: followed_id},
         properties: {since: since}}

`key` and the columns named in `from`, `to`, `by` are columns of neutral tables; the values of
`properties` are property names. A row whose `from` or `to` column is null gives no relationship.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from qeval.data.model import Dataset
from qeval.errors import InputError, did_you_mean


@dataclass(frozen=True, slots=True)
class NodeBatch:
    """Nodes of one combination of labels, as property maps without nulls.

    `key` is the first label and the property that identifies its nodes; `kinds` has the type of
    each property, in Neo4j's terms ("float" for decimals, "string[]" for a list of texts).
    """

    labels: tuple[str, ...]
    key: tuple[str, str]
    kinds: dict[str, str]
    rows: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class RelationshipBatch:
    """Relationships of one type: (start's key, end's key, properties).

    `table` is the neutral one they come from; `start` and `end` name the (label, property) that
    the keys are of; `kinds` as in `NodeBatch`.
    """

    table: str
    type: str
    start: tuple[str, str]
    end: tuple[str, str]
    kinds: dict[str, str]
    rows: tuple[tuple[Any, Any, dict[str, Any]], ...]


class GraphMapping:
    """A checked mapping. Raises `InputError` naming the entry that is wrong."""

    def __init__(self, mapping: Mapping[str, Any], dataset: Dataset) -> None:
        self._mapping = mapping
        self._columns = {
            table.name: {field.name: index for index, field in enumerate(table.fields)}
            for table in dataset.tables
        }
        self._types = {
            table.name: {field.name: field.type for field in table.fields}
            for table in dataset.tables
        }
        self._rows = dataset.rows

    def names(self) -> tuple[list[str], list[str], list[str]]:
        """All labels, relationship types and property names, also those without data."""
        entries = [
            *self._part("nodes").values(),
            *self._part("subtypes").values(),
            *self._relationships(),
        ]
        labels = [entry["label"] for entry in entries if "label" in entry]
        types = [entry["type"] for entry in entries if "type" in entry]
        properties = [name for entry in entries for name in entry.get("properties", {}).values()]
        properties += [entry["property"] for entry in self._part("lists").values()]
        return labels, types, list(dict.fromkeys(properties))

    def nodes(self) -> Iterator[NodeBatch]:
        """All nodes, grouped by their labels."""
        for table, entry in self._part("nodes").items():
            key = self._index(table, entry["key"])
            made = {
                row[key]: properties
                for row, properties in zip(
                    self._rows[table], self._property_maps(table, entry), strict=True
                )
            }
            labels = {identity: [str(entry["label"])] for identity in made}
            kinds = self._kinds(table, entry)
            for other, subtype in self._of("subtypes", table):
                by = self._index(other, subtype["by"])
                maps = self._property_maps(other, subtype)
                kinds |= self._kinds(other, subtype)
                for row, properties in zip(self._rows[other], maps, strict=True):
                    _owner(made, row[by], other, table).update(properties)
                    labels[row[by]].append(subtype["label"])
            for other, values in self._of("lists", table):
                by, value = self._index(other, values["by"]), self._index(other, values["value"])
                kinds[values["property"]] = f"{self._kind(other, values['value'])}[]"
                for row in self._rows[other]:
                    owner = _owner(made, row[by], other, table)
                    if row[value] is not None:
                        owner.setdefault(values["property"], []).append(row[value])
            grouped: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
            for identity, properties in made.items():
                grouped[tuple(labels[identity])].append(properties)
            for combination, rows in grouped.items():
                yield NodeBatch(combination, self._node_key(entry), kinds, tuple(rows))

    def relationships(self) -> Iterator[RelationshipBatch]:
        """All relationships, by entry of the mapping."""
        for entry in self._relationships():
            table = entry["table"]
            start, start_at = self._end(table, entry["from"])
            end, end_at = self._end(table, entry["to"])
            maps = self._property_maps(table, entry)
            rows = tuple(
                (row[start_at], row[end_at], properties)
                for row, properties in zip(self._rows[table], maps, strict=True)
                if row[start_at] is not None and row[end_at] is not None
            )
            kinds = self._kinds(table, entry)
            yield RelationshipBatch(table, entry["type"], start, end, kinds, rows)

    def keys(self) -> dict[str, str]:
        """The property that identifies the nodes of each label, subtypes' labels included."""
        return keys_of(self._mapping)

    def _part(self, name: str) -> Mapping[str, Any]:
        part = self._mapping.get(name) or {}
        assert isinstance(part, Mapping)
        return part

    def _relationships(self) -> list[Mapping[str, Any]]:
        return list(self._mapping.get("relationships") or [])

    def _of(self, part: str, table: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for name, entry in self._part(part).items():
            if entry["of"] == table:
                yield name, entry

    def _index(self, table: str, column: str) -> int:
        if table not in self._columns:
            near = did_you_mean(table, self._columns)
            raise InputError(f"mapping: there is no table {table!r}.{near}")
        try:
            return self._columns[table][column]
        except KeyError:
            near = did_you_mean(column, self._columns[table])
            raise InputError(f"mapping: table {table!r} has no column {column!r}.{near}") from None

    def _end(self, table: str, end: Mapping[str, str]) -> tuple[tuple[str, str], int]:
        ((node_table, column),) = end.items()
        nodes = self._part("nodes")
        if node_table not in nodes:
            near = did_you_mean(node_table, nodes)
            raise InputError(f"mapping: {node_table!r} is not among the nodes.{near}")
        entry = nodes[node_table]
        return self._node_key(entry), self._index(table, column)

    @staticmethod
    def _node_key(entry: Mapping[str, Any]) -> tuple[str, str]:
        return entry["label"], entry["properties"][entry["key"]]

    def _kinds(self, table: str, entry: Mapping[str, Any]) -> dict[str, str]:
        return {
            name: self._kind(table, column)
            for column, name in (entry.get("properties") or {}).items()
        }

    def _kind(self, table: str, column: str) -> str:
        self._index(table, column)
        kind = self._types[table][column]
        return "float" if kind == "decimal" else kind

    def _property_maps(self, table: str, entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        wanted = [
            (name, self._index(table, column), _converter(self._types[table][column]))
            for column, name in entry.get("properties", {}).items()
        ]
        for row in self._rows[table]:
            yield {
                name: convert(row[index]) if convert else row[index]
                for name, index, convert in wanted
                if row[index] is not None
            }


def keys_of(mapping: Mapping[str, Any]) -> dict[str, str]:
    """The property that identifies the nodes of each label, subtypes' labels included."""
    nodes = mapping.get("nodes") or {}
    keys = {entry["label"]: entry["properties"][entry["key"]] for entry in nodes.values()}
    for entry in (mapping.get("subtypes") or {}).values():
        of = nodes[entry["of"]]
        keys[entry["label"]] = of["properties"][of["key"]]
    return keys


def _owner(made: Mapping[Any, dict[str, Any]], key: Any, table: str, of: str) -> dict[str, Any]:
    try:
        return made[key]
    except KeyError:
        raise InputError(
            f"mapping: a row of {table!r} belongs to {key!r}, but no row of {of!r} has that key"
        ) from None


def _converter(kind: str) -> Any:
    if kind == "decimal":
        return _float
    if kind == "datetime":
        return _utc
    return None


def _float(value: Decimal) -> float:
    return float(value)


def _utc(value: Any) -> Any:
    from datetime import UTC

    return value.replace(tzinfo=UTC)
