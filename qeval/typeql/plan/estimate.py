"""Estimates of how many rows a step yields, from the counts the store keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qeval.typeql.plan.steps import ValueTest
    from qeval.typeql.schema import Schema, Type
    from qeval.typeql.store import Store

# Fractions of the rows that pass, where nothing better is known.
_SELECTIVITY = {"==": 0.02, "!=": 0.9, "like": 0.2, "contains": 0.2}
_RANGE_SELECTIVITY = 0.35


class Estimator:
    """Counts and average fan-outs over sets of types; computed once per set."""

    def __init__(self, schema: Schema, store: Store) -> None:
        self._schema = schema
        self._store = store
        self._counts: dict[int, int] = {}
        self._fans: dict[tuple[str, int, int], int] = {}

    def things(self, types: int) -> int:
        """Return the number of instances of some types."""
        found = self._counts.get(types)
        if found is None:
            found = sum(self._store.count(type_) for type_ in self._schema.members(types))
            self._counts[types] = found
        return found

    def ownerships(self, owners: int, attributes: int) -> int:
        """Return the number of ownerships between some owner and attribute types."""
        return self._edges("has", self._store.has_counts, owners, attributes)

    def players(self, relations: int, roles: int) -> int:
        """Return the number of role players in relations of some types."""
        return self._edges("links", self._store.link_counts, relations, roles)

    def playings(self, players: int, roles: int) -> int:
        """Return the number of role players among objects of some types."""
        return self._edges("plays", self._store.play_counts, players, roles)

    def per(self, edges: int, types: int) -> float:
        """Return the average number of edges per instance."""
        return edges / max(1, self.things(types))

    def _edges(
        self, kind: str, counts: dict[tuple[Type, Type], int], lefts: int, rights: int
    ) -> int:
        key = (kind, lefts, rights)
        found = self._fans.get(key)
        if found is None:
            found = sum(
                count
                for (left, right), count in counts.items()
                if left.bit & lefts and right.bit & rights
            )
            self._fans[key] = found
        return found


def selectivity(tests: tuple[ValueTest, ...]) -> float:
    """Return the fraction of values that pass some tests."""
    fraction = 1.0
    for test in tests:
        fraction *= _SELECTIVITY.get(test.op, _RANGE_SELECTIVITY)
    return fraction
