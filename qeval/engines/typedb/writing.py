"""An instance's data as TypeQL write queries: what a server is loaded with.

A query makes some entities together with the relations that the same rows say and whose other
players exist already (an order with its purchase), so that each query leaves the cardinalities of
an idiomatic schema intact. All other relations follow.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from qeval.engines.typeql.mapping import NewEntity, NewRelation, Reference, TypeqlMapping

_ESCAPES = str.maketrans(
    {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
)


def write_queries(mapping: TypeqlMapping, batch: int) -> Iterator[str]:
    """The queries, in an order in which they can be run; each makes about `batch` things."""
    entities = list(mapping.entities())
    tables = {table: number for number, table in enumerate(dict.fromkeys(
        entity.reference[0] for entity in entities))}  # fmt: skip
    attached: dict[Reference, list[NewRelation]] = defaultdict(list)
    later: list[NewRelation] = []
    for relation in mapping.relations():
        own = [player for player in relation.players.values() if player[0] == relation.table]
        first = own[0] if own else None
        others = [player for player in relation.players.values() if player != first]
        if first is not None and all(tables[of] < tables[first[0]] for of, _ in others):
            attached[first].append(relation)
        else:
            later.append(relation)
    for made in _slices(entities, batch):
        said = [relation for entity in made for relation in attached[entity.reference]]
        yield _query(mapping, made, said)
    for relations in _slices(later, batch):
        yield _query(mapping, (), relations)


def _query(
    mapping: TypeqlMapping, entities: Iterable[NewEntity], relations: Iterable[NewRelation]
) -> str:
    variables: dict[Reference, str] = {}
    inserts: list[str] = []
    for number, entity in enumerate(entities):
        variables[entity.reference] = f"$e{number}"
        inserts.append(f"$e{number} isa {entity.type}{_has(entity.attributes)};")
    matches: list[str] = []
    for number, relation in enumerate(relations):
        players = []
        for role, reference in relation.players.items():
            if reference not in variables:
                variables[reference] = f"$p{len(matches)}"
                type_, key, value = mapping.identify(reference)
                matches.append(f"{variables[reference]} isa {type_}, has {key} {literal(value)};")
            players.append(f"{role}: {variables[reference]}")
        links = f"links ({', '.join(players)})"
        inserts.append(f"$r{number} isa {relation.type}, {links}{_has(relation.attributes)};")
    lines = [*(["match", *matches] if matches else []), "insert", *inserts]
    return "\n".join(lines)


def _has(attributes: Mapping[str, Any]) -> str:
    return "".join(
        f", has {label} {literal(value)}"
        for label, values in attributes.items()
        for value in (values if isinstance(values, list) else [values])
    )


def literal(value: Any) -> str:
    """A value of the neutral data model as TypeQL writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal | float):
        plain = f"{Decimal(repr(value) if isinstance(value, float) else value):f}"
        whole = plain if "." in plain else f"{plain}.0"
        return whole if isinstance(value, float) else f"{whole}dec"
    if isinstance(value, date):
        return value.isoformat()  # of a datetime too
    return f'"{str(value).translate(_ESCAPES)}"'


def _slices(things: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(things), size):
        yield things[start : start + size]
