"""Times `compare` on large and on awkward tables; prints seconds and ratios, asserts nothing.

Run: python benchmarks/bench_compare.py [rows]
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from qeval.scoring import AnswerSpec, Column, Policy, Table, compare

SPEC = AnswerSpec(
    (
        Column("id", "int"),
        Column("name", "string"),
        Column("price", "decimal", scale=2),
        Column("day", "date"),
        Column("rate", "float"),
    )
)


def sales(rows: int, seed: int = 7) -> list[tuple[Any, ...]]:
    """Rows of an id, a name, money, a day and a rate."""
    rng = random.Random(seed)
    first = date(2024, 1, 1)
    return [
        (
            i,
            f"näme {rng.randrange(rows)}",
            Decimal(rng.randrange(1_000_000)).scaleb(-2),
            first + timedelta(days=rng.randrange(500)),
            rng.random(),
        )
        for i in range(rows)
    ]


def flags(rows: int, width: int, seed: int = 3) -> list[tuple[int, ...]]:
    """Rows of random 0/1 flags."""
    rng = random.Random(seed)
    return [tuple(rng.randrange(2) for _ in range(width)) for _ in range(rows)]


def permuted(rows: list[tuple[Any, ...]], seed: int = 11) -> list[tuple[Any, ...]]:
    """The same rows with rows and columns in another order."""
    rng = random.Random(seed)
    order = rng.sample(range(len(rows[0])), len(rows[0]))
    return [tuple(row[i] for i in order) for row in rng.sample(rows, len(rows))]


def best(work: Callable[[], Any], rounds: int = 3) -> tuple[float, Any]:
    """The least CPU seconds of several rounds, and the last result."""
    times = []
    result = None
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def main() -> None:
    """Print one line per case."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    base = sales(rows)
    names = [c.name for c in SPEC.columns]
    gold = Table(names, base)
    other = [f"x{i}" for i in range(5)]
    mixed = permuted(base)
    noisy = [(a, b, float(c), d, e * (1 + 2e-16)) for a, b, c, d, e in base]
    wrong = [list(row) for row in mixed]
    wrong[rows // 2] = list(wrong[rows // 2 + 1])
    even = [
        r for r in (tuple(i >> b & 1 for b in range(12)) for i in range(4096)) if not sum(r) % 2
    ]
    odd = [r for r in (tuple(i >> b & 1 for b in range(12)) for i in range(4096)) if sum(r) % 2]
    bits = flags(rows, 12)
    bits_wrong = [*bits[:-1], tuple(1 - v for v in bits[-1])]
    twelve = [f"f{i}" for i in range(12)]
    floor, _ = best(lambda: Counter(base) == Counter(base))
    cases: list[tuple[str, Callable[[], Any]]] = [
        ("same table", lambda: compare(gold, Table(names, base), SPEC)),
        ("rows and columns permuted", lambda: compare(gold, Table(other, mixed), SPEC)),
        ("the same, untyped", lambda: compare(gold, Table(other, mixed))),
        (
            "money as floats, noise in rates",
            lambda: compare(gold, Table(other, permuted(noisy)), SPEC),
        ),
        ("one row wrong", lambda: compare(gold, Table(other, wrong), SPEC)),
        ("12 flags, permuted", lambda: compare(Table(twelve, bits), Table(twelve, permuted(bits)))),
        (
            "12 flags, one row wrong",
            lambda: compare(Table(twelve, bits), Table(twelve, permuted(bits_wrong))),
        ),
        ("12 flags, parity differs", lambda: compare(Table(twelve, even), Table(twelve, odd))),
        (
            "absolute tolerance 0.01 on rates",
            lambda: compare(
                gold, Table(other, permuted(noisy)), SPEC, Policy(absolute_tolerance=0.01)
            ),
        ),
    ]
    print(f"{rows} rows; comparing two Counters of its row tuples takes {floor:.3f} s = 1.0")
    for name, work in cases:
        seconds, result = best(work, 2)
        print(f"{name:34s} {seconds:7.3f} s {seconds / floor:6.1f} x  equal={result.equal}")


if __name__ == "__main__":
    main()
