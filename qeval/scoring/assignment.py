"""The joint assignment of predicted columns to gold columns.

Rows are compared as bags under an unknown pairing of columns. Pairing columns one by one accepts
scrambled rows, and trying all pairings explodes, so this searches as graph isomorphism programs
do (colour refinement with individualisation, after McKay and Piperno, "Practical graph
isomorphism II", 2014): columns that may stand for each other share a class; a row is told apart by
the values it holds in each class; a column by the kinds of rows in which it holds a value. Classes
split until nothing changes; if some class still holds several columns, one pairing in it is tried
after the other. Every mapping that comes out was verified on whole rows, and if there is one, it
is found. The work is bounded (`Undecided`), and the bound is out of reach of any table that a
question would ask for.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Keys = Sequence[Hashable]
Assignment = tuple[int, ...]
Relation = Literal["equal", "inside", "around"]
"""How the predicted bag must relate to the gold's: the same, contained in it, containing it."""

WORK = 20_000_000
PASSES = 60
"""Cells that one search may touch before it gives up as `Undecided`, and how often, in passes over
the whole table, where that is more."""


class Undecided(Exception):  # noqa: N818 - a result, not a fault
    """The search for a column assignment was given up; the tables are not known to be equal."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Gold columns `gold[j]` and predicted columns `column(j, c)` as keys, and what may match.

    `candidates[j]` are the predicted columns that gold column j may be; `views[j]` numbers the
    way its cells are read (equal numbers: `column(j, c)` is the same). `gold_blocks` and
    `predicted_blocks` number blocks of rows that must match within themselves (None: one block).
    Rows of the block `open_block` (None: every block) relate by `relation`, others are equal.
    """

    gold: Sequence[Keys]
    column: Callable[[int, int], Keys]
    views: Sequence[int]
    candidates: Sequence[Sequence[int]]
    preferred: Assignment = ()
    gold_blocks: Sequence[int] | None = None
    predicted_blocks: Sequence[int] | None = None
    relation: Relation = "equal"
    open_block: int | None = None
    exact: bool = True  # columns of equal keys may stand for each other

    def related(self, gold: Counter[Any], predicted: Counter[Any]) -> bool:
        """Whether two bags relate as asked (blocks have the right sizes already)."""
        if self.relation == "equal":
            return dict.__eq__(gold, predicted)  # Counter's own is ten times slower
        few, many = (gold, predicted) if self.relation == "around" else (predicted, gold)
        held = many.get
        return all(held(row, 0) >= count for row, count in few.items())

    def holds(self, mapping: Assignment) -> bool:
        """Whether whole rows relate as asked under a mapping."""
        predicted = [self.column(j, c) for j, c in enumerate(mapping)]
        if self.relation == "equal":
            for mine, other in zip(self.gold, predicted, strict=True):
                if len(set(mine)) == len(mine) == len(other):  # a key: no row is hashed whole
                    rows = dict(zip(mine, _rows(self.gold_blocks, self.gold), strict=True))
                    return rows == dict(
                        zip(other, _rows(self.predicted_blocks, predicted), strict=True)
                    )
        return self.related(
            Counter(_rows(self.gold_blocks, self.gold)),
            Counter(_rows(self.predicted_blocks, predicted)),
        )


def _rows(blocks: Sequence[int] | None, columns: Sequence[Keys]) -> Iterator[tuple[Any, ...]]:
    return zip(*columns, strict=True) if blocks is None else zip(blocks, *columns, strict=True)


def assignments(problem: Problem) -> Iterator[Assignment]:
    """Yield verified mappings, the preferred one first; a mapping may come twice.

    Raises `Undecided` when the bound on the work is hit.
    """
    preferred = problem.preferred
    likely = len(preferred) == len(problem.gold) and all(
        c in problem.candidates[j] for j, c in enumerate(preferred)
    )
    if likely and problem.holds(preferred):
        yield preferred
    single = [options[0] for options in problem.candidates if len(options) == 1]
    if len(single) == len(problem.gold):
        mapping = tuple(single)
        distinct = len(set(mapping)) == len(mapping)
        if distinct and mapping != preferred and problem.holds(mapping):
            yield mapping
        return
    if all(problem.candidates):
        yield from _Search(problem).run()


@dataclass(slots=True)
class _State:
    """A point of the search: the class of every gold column and of every living node."""

    gold: list[int]
    nodes: dict[int, int] = field(default_factory=dict)


class _Search:
    """Colour refinement over distinct rows. A *node* is a predicted column read in one way."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        pairs = {
            (problem.views[j], c): j
            for j, options in enumerate(problem.candidates)
            for c in options
        }
        self.nodes = sorted(pairs)
        self.node_of = {pair: n for n, pair in enumerate(self.nodes)}
        ids: dict[Hashable, int] = {}
        gold = Counter(_rows(problem.gold_blocks, problem.gold))
        nodes = [problem.column(pairs[node], node[1]) for node in self.nodes]
        predicted = Counter(_rows(problem.predicted_blocks, nodes))
        self.blocked = problem.gold_blocks is not None
        self.gold_counts = list(gold.values())
        self.predicted_counts = list(predicted.values())
        self.gold_blocks, self.gold_keys = self._columns(list(gold), ids)
        self.predicted_blocks, self.node_keys = self._columns(list(predicted), ids)
        same: dict[tuple[int, ...], int] = {}
        self.twin = [same.setdefault(tuple(keys), n) for n, keys in enumerate(self.node_keys)]
        cells = (len(gold) + len(predicted)) * (len(problem.gold) + len(self.nodes))
        self.left = max(WORK, PASSES * cells)

    def _columns(
        self, rows: list[tuple[Any, ...]], ids: dict[Hashable, int]
    ) -> tuple[list[int], list[list[int]]]:
        columns = [list(column) for column in zip(*rows, strict=True)]
        blocks = columns.pop(0) if self.blocked and columns else [0] * len(rows)
        return blocks, [[ids.setdefault(key, len(ids)) for key in column] for column in columns]

    def run(self) -> Iterator[Assignment]:
        """Yield every complete mapping that holds."""
        state = self._start()
        if self._refine(state):
            self._split_by_pairs(state)
            yield from self._explore(state)

    def _start(self) -> _State:
        """Put columns that are linked by candidates, directly or not, into one class."""
        parent = list(range(len(self.problem.gold) + len(self.nodes)))

        def root(x: int) -> int:
            while parent[x] != x:
                parent[x] = parent[parent[x]]
                x = parent[x]
            return x

        first_node = len(self.problem.gold)
        for j, options in enumerate(self.problem.candidates):
            for c in options:
                node = self.node_of[self.problem.views[j], c]
                parent[root(first_node + node)] = root(j)
        gold = [root(j) for j in range(first_node)]
        return _State(gold, {n: root(first_node + n) for n in range(len(self.nodes))})

    def _explore(self, state: _State) -> Iterator[Assignment]:
        if not self._refine(state):
            return
        members = _members(state)
        open_classes = [cls for cls, (_, nodes) in members.items() if len(nodes) > 1]
        if not open_classes:
            mapping = tuple(self.nodes[members[cls][1][0]][1] for cls in state.gold)
            if all(c in self.problem.candidates[j] for j, c in enumerate(mapping)):
                yield mapping
            return
        chosen = min(open_classes, key=lambda cls: len(members[cls][1]))
        j = members[chosen][0][0]
        tried: set[int] = set()
        for node in members[chosen][1]:
            view, c = self.nodes[node]
            if view != self.problem.views[j] or c not in self.problem.candidates[j]:
                continue
            if self.problem.exact and self._is_unambiguous(state, node):
                if self.twin[node] in tried:
                    continue
                tried.add(self.twin[node])
            fresh = 1 + max(state.gold)
            fresh = max(fresh, 1 + max(state.nodes.values()))
            gold = list(state.gold)
            gold[j] = fresh
            yield from self._explore(_State(gold, {**state.nodes, node: fresh}))

    def _is_unambiguous(self, state: _State, node: int) -> bool:
        c = self.nodes[node][1]
        return all(self.nodes[other][1] != c or other == node for other in state.nodes)

    def _refine(self, state: _State) -> bool:
        """Split classes until stable; False when the state can't lead to a mapping."""
        while True:
            solid = self._propagate(state)
            if solid is None:
                return False
            gold_rows, predicted_rows = self._row_colours(state, solid)
            if gold_rows is None or predicted_rows is None:
                return False
            before = _extent(state)
            self._split(state, gold_rows, predicted_rows)
            if _extent(state) == before:
                return True

    def _propagate(self, state: _State) -> list[int] | None:
        """Remove nodes whose column is taken; return the classes in which every node is used."""
        while True:
            solid: list[int] = []
            taken: dict[int, int] = {}
            members = _members(state)
            for cls, (golds, nodes) in members.items():
                columns = [self.nodes[n][1] for n in nodes]
                if len(golds) > len(set(columns)):
                    return None
                if len(golds) == len(nodes) == len(set(columns)):
                    if any(c in taken for c in columns):
                        return None
                    taken.update(dict.fromkeys(columns, cls))
                    solid.append(cls)
            dead = [
                n
                for n, cls in state.nodes.items()
                if cls not in members or taken.get(self.nodes[n][1], cls) != cls
            ]
            if not dead:
                return solid
            for n in dead:
                del state.nodes[n]

    def _row_colours(
        self, state: _State, solid: list[int]
    ) -> tuple[list[int] | None, list[int] | None]:
        """Colour rows by block and by the bag of values in each solid class."""
        members = _members(state)
        gold_parts: list[Sequence[Any]] = [self.gold_blocks]
        predicted_parts: list[Sequence[Any]] = [self.predicted_blocks]
        for cls in sorted(solid):
            golds, nodes = members[cls]
            gold_parts.append(_bags([self.gold_keys[j] for j in golds]))
            predicted_parts.append(_bags([self.node_keys[n] for n in nodes]))
            self._spend(len(golds) * (len(self.gold_blocks) + len(self.predicted_blocks)))
        ids: dict[Any, int] = {}
        gold = [ids.setdefault(row, len(ids)) for row in zip(*gold_parts, strict=True)]
        predicted = [ids.setdefault(row, len(ids)) for row in zip(*predicted_parts, strict=True)]
        related = self.problem.related(
            _weighted(gold, self.gold_counts), _weighted(predicted, self.predicted_counts)
        )
        return (gold, predicted) if related else (None, None)

    def _split(self, state: _State, gold_rows: list[int], predicted_rows: list[int]) -> None:
        """Tell columns of a class apart by the rows in which they hold each value."""
        members = _members(state)
        fresh = 1 + max([*state.gold, *state.nodes.values()])
        for cls, (golds, nodes) in members.items():
            if len(nodes) == 1:
                continue
            signatures: dict[Hashable, int] = {}
            for columns, keys, rows, counts, blocks, classes in (
                (golds, self.gold_keys, gold_rows, self.gold_counts, self.gold_blocks, state.gold),
                (
                    nodes,
                    self.node_keys,
                    predicted_rows,
                    self.predicted_counts,
                    self.predicted_blocks,
                    state.nodes,
                ),
            ):
                for column in columns:
                    signature = self._signature(keys[column], rows, counts, blocks)
                    self._spend(len(rows))
                    number = signatures.setdefault(signature, len(signatures))
                    classes[column] = cls if number == 0 else fresh + number
            fresh += len(signatures)

    def _split_by_pairs(self, state: _State) -> None:
        """Tell columns of a class apart by the pairs of values that they form with each other.

        Done once, before anything is tried: it refuses at once what would otherwise be refused
        only below every branch, such as designs of which a few lines were bent.
        """
        if self.problem.relation != "equal":
            return
        fresh = 1 + max([*state.gold, *state.nodes.values()])
        for golds, nodes in _members(state).values():
            if not 2 < len(golds) == len(nodes):  # noqa: PLR2004 - two have one pair
                continue
            signatures: dict[int, int] = {}
            for columns, keys, counts, blocks, classes in (
                (golds, self.gold_keys, self.gold_counts, self.gold_blocks, state.gold),
                (nodes, self.node_keys, self.predicted_counts, self.predicted_blocks, state.nodes),
            ):
                self._spend(len(columns) ** 2 * len(counts))
                for column in columns:
                    pairs = (
                        _pair_signature(keys[column], keys[other], counts, blocks)
                        for other in columns
                        if other != column
                    )
                    # a sum of sums would forget which pair was which: hash each sum as a whole
                    signature = sum(hash((pair,)) for pair in pairs)
                    classes[column] = fresh + signatures.setdefault(signature, len(signatures))
            fresh += len(signatures)

    def _signature(
        self, keys: list[int], rows: list[int], counts: list[int], blocks: list[int]
    ) -> Hashable:
        """What is known to be equal for columns that match: rows of the open block don't count."""
        problem = self.problem
        if problem.relation == "equal":
            pairs = zip(rows, keys, counts, strict=True)
            return sum(hash((row, key)) * count for row, key, count in pairs)
        if problem.open_block is None:
            return 0
        return sum(
            hash((row, key)) * count
            for row, key, count, block in zip(rows, keys, counts, blocks, strict=True)
            if block != problem.open_block
        )

    def _spend(self, cells: int) -> None:
        self.left -= cells
        if self.left < 0:
            raise Undecided


def _pair_signature(
    keys: list[int], others: list[int], counts: list[int], blocks: list[int]
) -> int:
    rows = zip(blocks, keys, others, strict=True)
    return sum(hash(row) * count for row, count in zip(rows, counts, strict=True))


def _extent(state: _State) -> tuple[int, int]:
    """How far classes are split: it changes with every step forward."""
    members = _members(state)
    return len(members), sum(len(nodes) for _, nodes in members.values())


def _members(state: _State) -> dict[int, tuple[list[int], list[int]]]:
    members: dict[int, tuple[list[int], list[int]]] = {}
    for j, cls in enumerate(state.gold):
        members.setdefault(cls, ([], []))[0].append(j)
    for n, cls in state.nodes.items():
        if cls in members:
            members[cls][1].append(n)
    return members


def _bags(columns: list[list[int]]) -> Sequence[Any]:
    if len(columns) == 1:
        return columns[0]
    return [tuple(sorted(cells)) for cells in zip(*columns, strict=True)]


def _weighted(colours: list[int], counts: list[int]) -> Counter[int]:
    total: Counter[int] = Counter()
    for colour, count in zip(colours, counts, strict=True):
        total[colour] += count
    return total
