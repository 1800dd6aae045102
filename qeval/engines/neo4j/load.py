"""Loading an instance into an empty database, and the digest of what a database holds."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from qeval.engines.base import EngineLostError
from qeval.engines.neo4j.mapping import GraphMapping
from qeval.suite import Instance

_BATCH = 5000
_WAIT_S = 120


def fill(driver: Any, database: str | None, instance: Instance) -> tuple[int, int]:
    """Make the schema, the names and all data; returns the number of nodes and relationships.

    Raises `InputError` for a mapping that does not fit the data, `EngineLostError` otherwise.
    """
    from neo4j.exceptions import DriverError, Neo4jError

    mapping = GraphMapping(instance.mapping, instance.dataset())
    try:
        with driver.session(database=database) as session:
            for statement in statements(instance.schema):
                session.run(statement).consume()
            _make_names(session, mapping)
            with session.begin_transaction() as transaction:
                ids = _create_nodes(transaction, mapping)
                relationships = _create_relationships(transaction, mapping, ids)
            session.run(f"CALL db.awaitIndexes({_WAIT_S})").consume()
            return sum(map(len, ids.values())), relationships
    except (DriverError, Neo4jError) as error:
        raise EngineLostError(f"loading {instance.key} into Neo4j failed: {error}") from error


def statements(schema: str) -> Iterator[str]:
    """The statements of a schema file: separated by semicolons, `//` comments to line ends."""
    lines = [line for line in schema.splitlines() if not line.lstrip().startswith("//")]
    for statement in "\n".join(lines).split(";"):
        if statement.strip():
            yield statement.strip()


def _make_names(session: Any, mapping: GraphMapping) -> None:
    """All names of the schema exist, also where no data bears them: else they count as unknown."""
    labels, types, properties = mapping.names()
    for procedure, names in (
        ("db.createLabel", labels),
        ("db.createRelationshipType", types),
        ("db.createProperty", properties),
    ):
        query = f"UNWIND $names AS name CALL {procedure}(name) RETURN count(*)"
        session.run(query, names=list(dict.fromkeys(names))).consume()


def _create_nodes(transaction: Any, mapping: GraphMapping) -> dict[tuple[str, str], dict[Any, int]]:
    """Make all nodes; their internal ids by (label, key property), then by key."""
    ids: dict[tuple[str, str], dict[Any, int]] = {}
    for batch in mapping.nodes():
        labels = "".join(f":{_quoted(label)}" for label in batch.labels)
        query = f"UNWIND $rows AS row CREATE (n{labels}) SET n = row RETURN id(n)"
        made = ids.setdefault(batch.key, {})
        for rows in _slices(batch.rows):
            for row, (identity,) in zip(rows, transaction.run(query, rows=rows), strict=True):
                made[row[batch.key[1]]] = identity
    return ids


def _create_relationships(
    transaction: Any, mapping: GraphMapping, ids: dict[tuple[str, str], dict[Any, int]]
) -> int:
    """Make all relationships, finding nodes by internal id: no index is asked 68,000 times."""
    count = 0
    for batch in mapping.relationships():
        starts, ends = ids.get(batch.start, {}), ids.get(batch.end, {})
        query = (
            "UNWIND $rows AS row MATCH (a) WHERE id(a) = row[0] MATCH (b) WHERE id(b) = row[1] "
            f"CREATE (a)-[r:{_quoted(batch.type)}]->(b)"
        )
        if any(properties for _, _, properties in batch.rows):
            query += " SET r = row[2]"
        for rows in _slices(batch.rows):
            found = [(starts[a], ends[b], properties) for a, b, properties in rows]
            made = transaction.run(query, rows=found).consume().counters.relationships_created
            if made != len(rows):
                raise EngineLostError(f"Neo4j made {made} of {len(rows)} {batch.type}")
            count += made
    return count


def counts(driver: Any, database: str | None) -> tuple[int, int]:
    """How many nodes and relationships the database holds."""
    with driver.session(database=database, default_access_mode="READ") as session:
        nodes = session.run("MATCH (n) RETURN count(n) AS c").single()["c"]
        return nodes, session.run("MATCH ()-[r]->() RETURN count(r) AS c").single()["c"]


def fingerprint(driver: Any, database: str | None) -> str:
    """SHA-256 over all nodes and relationships, the same in whatever order they were made.

    A relationship's ends are told by all that the nodes hold, not by their internal ids.
    """
    from neo4j.exceptions import DriverError, Neo4jError

    nodes: dict[int, bytes] = {}
    total = 0
    try:
        with driver.session(
            database=database, default_access_mode="READ", fetch_size=_BATCH
        ) as session:
            for identity, labels, properties in session.run(
                "MATCH (n) RETURN id(n), labels(n), properties(n)"
            ):
                digest = _digest(sorted(labels), sorted(properties.items()))
                nodes[identity] = digest
                total += int.from_bytes(digest)
            for kind, start, end, properties in session.run(
                "MATCH (a)-[r]->(b) RETURN type(r), id(a), id(b), properties(r)"
            ):
                ends = nodes.get(start), nodes.get(end)  # None: made just now, by somebody else
                total += int.from_bytes(_digest(kind, ends, sorted(properties.items())))
    except (DriverError, Neo4jError) as error:
        raise EngineLostError(f"reading all data of Neo4j failed: {error}") from error
    return f"{total % 2**256:064x}"


def _digest(*facts: Any) -> bytes:
    return hashlib.sha256(repr(facts).encode()).digest()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _slices(rows: Iterable[Any]) -> Iterator[list[Any]]:
    listed = list(rows)
    for first in range(0, len(listed), _BATCH):
        yield listed[first : first + _BATCH]
