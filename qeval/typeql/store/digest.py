"""A digest of everything in a store, the same in whatever order it was written."""

from __future__ import annotations

from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING

from qeval.typeql.store.things import Relation

if TYPE_CHECKING:
    from qeval.typeql.store.store import Store
    from qeval.typeql.store.things import Object
    from qeval.typeql.values import Value


def fingerprint(store: Store) -> str:
    """Return the sum, modulo 2^256, of the SHA-256 of every entity and relation, in hexadecimal.

    An entity is its type and attributes; a relation its type, attributes and the entities that play
    in it (of a relation that plays, its type and attributes).
    """
    known: dict[Object, str] = {}
    total = 0
    for instances in store.objects.values():
        for thing in instances:
            facts = [_described(thing, known)]
            if isinstance(thing, Relation):
                for role, players in thing.players.items():
                    facts += [f"{role.label} {_described(player, known)}" for player in players]
                facts.sort()
            total += int.from_bytes(sha256("\n".join(facts).encode()).digest())
    return f"{total % 2**256:064x}"


def _described(thing: Object, known: dict[Object, str]) -> str:
    found = known.get(thing)
    if found is None:
        owned = sorted(
            f"{type_.label} {_plain(attribute.value)!r}"
            for type_, attributes in thing.has.items()
            for attribute in attributes
        )
        found = known[thing] = sha256(repr((thing.type.label, owned)).encode()).hexdigest()
    return found


def _plain(value: Value) -> Value:
    return value.normalize() if isinstance(value, Decimal) else value  # 1.5 is 1.50
