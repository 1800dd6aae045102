"""Databases of a TypeDB server: made once per instance, recognised again, and their fingerprint.

A database is named `qeval_` and the instance's key. TypeDB has no place for a mark of completeness,
so a database counts as whole when it holds as many things of each type as the data says.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from qeval.engines.base import EngineLostError
from qeval.engines.typedb.writing import write_queries
from qeval.engines.typeql.mapping import TypeqlMapping, keys_of
from qeval.errors import InputError
from qeval.suite import Instance
from qeval.typeql.loading import queries_of


def database_name(instance: Instance) -> str:
    """The database of an instance."""
    if instance.existing is not None:
        return str(instance.existing.database)
    return f"qeval_{instance.key}"


def ensure(driver: Any, instance: Instance, batch: int) -> None:
    """Make sure the server holds the instance. Raises `InputError` or `EngineLostError`."""
    from typedb.driver import TransactionType, TypeDBDriverException

    name = database_name(instance)
    script = instance.script
    mapping = None if script else TypeqlMapping(instance.mapping, instance.dataset())
    try:
        if driver.databases.contains(name):
            # What a script makes is known to nobody, so it is always run anew.
            if mapping and _counts(driver, name, instance.mapping) == expected(mapping):
                return
            driver.databases.get(name).delete()
        driver.databases.create(name)
        with driver.transaction(name, TransactionType.SCHEMA) as transaction:
            transaction.query(instance.schema).resolve()
            transaction.commit()
        queries = (
            write_queries(mapping, batch)
            if mapping
            else (query for _, query in queries_of(script.text if script else ""))
        )
        for query in queries:
            with driver.transaction(name, TransactionType.WRITE) as transaction:
                transaction.query(query).resolve()
                transaction.commit()
    except TypeDBDriverException as error:
        if "[CXN" in str(error):
            raise EngineLostError(f"TypeDB went away while loading: {error}") from error
        raise InputError(
            f"instance {instance.name!r}: TypeDB refuses the schema or data: {error}"
        ) from error


def delete(driver: Any, instance: Instance) -> None:
    """Delete the instance's database if the server has it. Raises `EngineLostError`."""
    from typedb.driver import TypeDBDriverException

    name = database_name(instance)
    try:
        if driver.databases.contains(name):
            driver.databases.get(name).delete()
    except TypeDBDriverException as error:
        raise EngineLostError(f"TypeDB could not delete {name}: {error}") from error


def expected(mapping: TypeqlMapping) -> Counter[str]:
    """How many entities and relations of each exact type the data makes."""
    made = Counter(entity.type for entity in mapping.entities())
    made.update(relation.type for relation in mapping.relations())
    return made


def types_of(mapping: Mapping[str, Any]) -> list[str]:
    """All types that a mapping makes things of."""
    entries = [*mapping["entities"].values(), *mapping.get("subtypes", {}).values()]
    entries += mapping.get("relations", ())
    return list(dict.fromkeys(entry["type"] for entry in entries))


def _counts(driver: Any, name: str, mapping: Mapping[str, Any]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for type_ in types_of(mapping):
        query = f'match $x isa! {type_}; reduce $c = count; fetch {{ "c": $c }};'
        for document in _documents(driver, name, query):
            counted[type_] = document["c"]
    return +counted


def fingerprint(driver: Any, name: str, mapping: Mapping[str, Any]) -> str:
    """SHA-256 over all entities and relations, the same in whatever order they were made."""
    total = 0
    for query in content_queries(mapping):
        for document in _documents(driver, name, query):
            text = json.dumps([query, _sorted(document)], sort_keys=True)
            total += int.from_bytes(hashlib.sha256(text.encode()).digest())
    return f"{total % 2**256:064x}"


def content_queries(mapping: Mapping[str, Any]) -> Iterator[str]:
    """Queries that together return everything that the mapping makes; without one, everything."""
    if not mapping:
        yield 'match entity $t; $x isa! $t; fetch { "t": $t, "a": { $x.* } };'
        yield (
            "match relation $t; $x isa! $t, links ($role: $p), has $v; "
            'fetch { "t": $t, "a": { $x.* }, "p": { $p.* } };'
        )
        return
    keys = keys_of(mapping)
    for type_ in keys:
        yield f'match $x isa! {type_}; fetch {{ "a": {{ $x.* }} }};'
    for entry in mapping.get("relations", ()):
        links, has, fetched = [], [], ['"a": { $x.* }']
        for number, (role, player) in enumerate(entry["players"].items()):
            (table,) = player
            of = mapping["entities"][table]
            links.append(f"{role}: $p{number}")
            has.append(f"$p{number} isa {of['type']}, has {keys[of['type']]} $k{number};")
            fetched.append(f'"{role}": $k{number}')
        yield (
            f"match $x isa! {entry['type']}, links ({', '.join(links)}); {' '.join(has)} "
            f"fetch {{ {', '.join(fetched)} }};"
        )


def _documents(driver: Any, name: str, query: str) -> Iterator[dict[str, Any]]:
    from typedb.driver import TransactionType, TypeDBDriverException

    try:
        with driver.transaction(name, TransactionType.READ) as transaction:
            yield from transaction.query(query).resolve().as_concept_documents()
    except TypeDBDriverException as error:
        raise EngineLostError(f"reading all data of {name} failed: {error}") from error


def _sorted(value: Any) -> Any:
    """The document with its lists sorted: the values of an attribute come in any order."""
    if isinstance(value, dict):
        return {key: _sorted(item) for key, item in value.items()}
    return sorted(map(_sorted, value), key=repr) if isinstance(value, list) else value
