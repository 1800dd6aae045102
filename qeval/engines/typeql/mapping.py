"""How neutral tables become entities and relations: a suite's `mapping` file, checked and applied.

    entities:                             # each row of the table is an entity
      users: {type: user, key: id, attributes: {id: id, birth_date: birth-date}}
    subtypes:                             # a row makes an entity one of a subtype
      premium_users: {of: users, by: user_id, type: premium-user, attributes: {tier: tier}}
    lists:                                # a row adds a value of a multi-valued attribute
      user_emails: {of: users, by: user_id, value: email, attribute: email}
    relations:                            # each row of the table is a relation
      - {table: follows, type: following, attributes: {since: since},
         players: {follower: {users: follower_id}, followed: {users: followed_id}}}

`key`, `by`, `value` and what `players` name are columns of neutral tables; the values of
`attributes` are labels of attribute types. A player `{users: follower_id}` is the entity of table
`users` whose `key` has the value of column `follower_id`. A row with a null among its players gives
no relation, and a null attribute is not owned.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qeval.data.model import Dataset
from qeval.errors import InputError, did_you_mean

Reference = tuple[str, Any]
"""An entity: the table it comes from and the value of its key column."""


@dataclass(frozen=True, slots=True)
class NewEntity:
    """An entity to be made; a value that is a list stands for several attributes."""

    reference: Reference
    type: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewRelation:
    """A relation to be made from a row of `table`, with its players by role."""

    table: str
    type: str
    players: Mapping[str, Reference]
    attributes: Mapping[str, Any]


class TypeqlMapping:
    """A mapping applied to data. Raises `InputError` naming the entry that is wrong.

    `schemas/mapping.typeql.schema.json` has accepted the mapping's shape.
    """

    def __init__(self, mapping: Mapping[str, Any], dataset: Dataset) -> None:
        self._mapping = mapping
        self._rows = dataset.rows
        self._columns = {
            table.name: {field.name: index for index, field in enumerate(table.fields)}
            for table in dataset.tables
        }

    def entities(self) -> Iterator[NewEntity]:
        """All entities, in the order of the mapping and of the rows."""
        for table, entry in self._mapping["entities"].items():
            key = self._index(table, entry["key"])
            types: dict[Any, str] = {}
            more: dict[Any, dict[str, Any]] = defaultdict(dict)
            for other, subtype in self._of("subtypes", table):
                by = self._index(other, subtype["by"])
                for row, attributes in self._attributes(other, subtype):
                    types[row[by]] = subtype["type"]
                    more[row[by]].update(attributes)
            for other, values in self._of("lists", table):
                by, value = self._index(other, values["by"]), self._index(other, values["value"])
                for row in self._rows[other]:
                    more[row[by]].setdefault(values["attribute"], []).append(row[value])
            for row, attributes in self._attributes(table, entry):
                identity = row[key]
                if identity in more:
                    attributes.update(more.pop(identity))
                yield NewEntity((table, identity), types.get(identity, entry["type"]), attributes)
            if more:
                found = next(iter(more))
                raise InputError(
                    f"mapping: subtypes or lists of {table!r} name {entry['key']} {found!r}, "
                    "which the table does not have"
                )

    def relations(self) -> Iterator[NewRelation]:
        """All relations, in the order of the mapping and of the rows."""
        for entry in self._mapping.get("relations", ()):
            table = entry["table"]
            players = [(role, *self._player(table, player))
                       for role, player in entry["players"].items()]  # fmt: skip
            for row, attributes in self._attributes(table, entry):
                if all(row[column] is not None for _, _, column in players):
                    named = {role: (of, row[column]) for role, of, column in players}
                    yield NewRelation(table, entry["type"], named, attributes)

    def identify(self, reference: Reference) -> tuple[str, str, Any]:
        """Type, key attribute and its value, by which a query finds an entity."""
        entry = self._mapping["entities"][reference[0]]
        return entry["type"], _key(reference[0], entry), reference[1]

    def _of(self, part: str, table: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for name, entry in self._mapping.get(part, {}).items():
            if entry["of"] not in self._mapping["entities"]:
                raise self._no_entities(entry["of"])
            if entry["of"] == table:
                yield name, entry

    def _attributes(
        self, table: str, entry: Mapping[str, Any]
    ) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Each row of a table with its attributes, those that are null left out."""
        wanted = [
            (self._index(table, column), label)
            for column, label in entry.get("attributes", {}).items()
        ]
        self._index(table)
        for row in self._rows[table]:
            yield row, {label: row[at] for at, label in wanted if row[at] is not None}

    def _player(self, table: str, player: Mapping[str, str]) -> tuple[str, int]:
        ((of, column),) = player.items()
        if of not in self._mapping["entities"]:
            raise self._no_entities(of)
        return of, self._index(table, column)

    def _no_entities(self, table: str) -> InputError:
        near = did_you_mean(table, self._mapping["entities"])
        return InputError(f"mapping: {table!r} is not among the entities.{near}")

    def _index(self, table: str, column: str | None = None) -> int:
        if table not in self._columns:
            near = did_you_mean(table, self._columns)
            raise InputError(f"mapping: there is no table {table!r}.{near}")
        if column is None:
            return -1
        if column not in self._columns[table]:
            near = did_you_mean(column, self._columns[table])
            raise InputError(f"mapping: table {table!r} has no column {column!r}.{near}")
        return self._columns[table][column]


def keys_of(mapping: Mapping[str, Any]) -> dict[str, str]:
    """The key attribute of each entity type, subtypes included, as the mapping declares it."""
    entities = mapping["entities"]
    keys = {entry["type"]: _key(table, entry) for table, entry in entities.items()}
    for entry in mapping.get("subtypes", {}).values():
        keys[entry["type"]] = _key(entry["of"], entities[entry["of"]])
    return keys


def _key(table: str, entry: Mapping[str, Any]) -> str:
    if entry["key"] not in entry["attributes"]:
        raise InputError(f"mapping: the key {entry['key']!r} of {table!r} is not an attribute")
    return str(entry["attributes"][entry["key"]])
