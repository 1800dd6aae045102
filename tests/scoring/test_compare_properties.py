"""Properties of `compare` on tables too large for the oracle."""

import random
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.scoring import AnswerSpec, Table, compare

Row = tuple[Any, ...]
SPEC = AnswerSpec([("n", "int"), ("s", "string"), ("m", "decimal", 2), ("f", "float"), "x"])
CALM = settings(max_examples=60, deadline=None)


def rows_of(rng: random.Random, size: int) -> list[Row]:
    return [
        (
            rng.randrange(5),
            rng.choice(["a", "b", "ä", ""]),
            Decimal(rng.randrange(500)).scaleb(-2),
            rng.choice([None, 0.0, rng.random()]),
            rng.choice([None, 1, "1", 2.5, True]),
        )
        for _ in range(size)
    ]


def shuffled(rng: random.Random, rows: list[Row]) -> Table:
    order = rng.sample(range(5), 5)
    placed = [tuple(row[i] for i in order) for row in rng.sample(rows, len(rows))]
    return Table([f"c{i}" for i in order], placed)


seeds = st.integers(0, 2**32)


@CALM
@given(seeds, st.integers(1, 80))
def test_permuting_rows_and_columns_changes_nothing(seed: int, size: int) -> None:
    rng = random.Random(seed)
    rows = rows_of(rng, size)
    gold = Table("nsmfx", rows)
    found = compare(gold, shuffled(rng, rows), SPEC)
    assert found.equal
    assert found.mapping is not None
    assert compare(shuffled(rng, rows), gold).equal  # untyped, and the other way round


@CALM
@given(seeds, st.integers(1, 80), st.integers(0, 4))
def test_changing_one_cell_is_seen(seed: int, size: int, column: int) -> None:
    rng = random.Random(seed)
    rows = rows_of(rng, size)
    other = list(rows)
    at = rng.randrange(size)
    changed: list[Any] = list(other[at])
    changed[column] = [99, "q", Decimal("77.77"), 7.5, "new"][column]
    other[at] = tuple(changed)
    assert not compare(Table("nsmfx", rows), shuffled(rng, other), SPEC).equal


@CALM
@given(seeds, st.integers(2, 40), st.integers(0, 4))
def test_swapping_two_cells_is_seen_unless_rows_stay(seed: int, size: int, column: int) -> None:
    rng = random.Random(seed)
    rows = rows_of(rng, size)
    first, second = rng.sample(range(size), 2)
    other = [list(row) for row in rows]
    other[first][column], other[second][column] = other[second][column], other[first][column]
    keyed = [sorted(map(repr, table)) for table in (rows, map(tuple, other))]
    expected = keyed[0] == keyed[1]
    assert compare(Table("nsmfx", rows), Table("nsmfx", other), SPEC).equal == expected


@CALM
@given(seeds, st.integers(1, 60))
def test_noise_is_forgiven_in_every_column_at_once(seed: int, size: int) -> None:
    rng = random.Random(seed)
    rows = [
        tuple(rng.choice([rng.random(), rng.random() * 1e6]) for _ in range(5)) for _ in range(size)
    ]
    noisy: list[Row] = [tuple(x * (1 + rng.uniform(-3e-16, 3e-16)) for x in row) for row in rows]
    assert compare(Table("abcde", rows), shuffled(rng, noisy)).equal
    at = rng.randrange(size)
    noisy[at] = (noisy[at][0] * (1 + 1e-6), *noisy[at][1:])
    assert not compare(Table("abcde", rows), shuffled(rng, noisy)).equal


@CALM
@given(seeds, st.integers(2, 60))
def test_sorted_by_noisy_keys(seed: int, size: int) -> None:
    """Ties that noise breaks differently on both sides stay ties, and nothing else does."""
    rng = random.Random(seed)
    spec = AnswerSpec(["k", "v"], order_by="k")
    base = sorted(rng.choice([0.1, 0.7, 0.3, rng.random()]) for _ in range(size))

    def run() -> list[Row]:
        noisy = [(k * (1 + rng.uniform(-2e-16, 2e-16)), i) for i, k in enumerate(base)]
        return sorted(noisy, key=lambda row: row[0])

    gold, predicted = run(), run()
    assert compare(Table("kv", gold), Table("kv", predicted), spec).equal
    if base[0] != base[-1]:
        assert not compare(Table("kv", gold), Table("kv", predicted[::-1]), spec).equal
