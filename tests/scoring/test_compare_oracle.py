"""`compare` against an oracle that tries every column assignment and every pairing of rows."""

from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import permutations
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from qeval.scoring import AnswerSpec, Column, Policy, Table, compare

Row = tuple[Any, ...]


def cells_equal(a: Any, b: Any, column: Column, policy: Policy, *, soft: bool) -> bool:
    if a is None or b is None:
        return a is b
    if isinstance(a, str) or isinstance(b, str):
        return type(a) is type(b) and bool(a == b)
    if not soft and column.type != "decimal":
        return bool(a == b)
    x, y = float(a), float(b)
    if column.type == "decimal":
        places = Decimal(1).scaleb(-(column.scale or 0))
        left, right = (
            Decimal(f"{v:.15g}" if isinstance(v, float) else v).quantize(places, ROUND_HALF_UP)
            for v in (a, b)
        )
        near = abs(x - y) <= min(1e-9 * max(abs(x), abs(y)), 0.001 * float(places))
        return left == right or (soft and near)
    bound = max(policy.relative_tolerance * max(abs(x), abs(y)), policy.absolute_tolerance)
    return a == b or abs(x - y) <= bound


def is_inexact(values: Sequence[Any]) -> bool:
    return any(isinstance(v, float) and not v.is_integer() for v in values)


def bags_match(few: Sequence[int], many: Sequence[int], edges: set[tuple[int, int]]) -> bool:
    owner: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j in many:
            if (i, j) in edges and j not in seen:
                seen.add(j)
                if j not in owner or place(owner[j], seen):
                    owner[j] = i
                    return True
        return False

    return all(place(i, set()) for i in few)


def oracle(
    gold: Table, predicted: Table, spec: AnswerSpec, policy: Policy, *, relaxed: bool = False
) -> bool:
    columns = spec.columns
    width, wide = len(columns), len(predicted.columns)
    if wide < width or (wide > width and not relaxed):
        return False
    wanted = len(gold) if spec.top_k is None else min(spec.top_k, len(gold))
    if len(predicted) != wanted:
        return False
    keys = [[c.name for c in columns].index(key.column) for key in spec.order_by]
    groups: list[list[int]] = []
    for i, row in enumerate(gold.rows):
        tied = groups and all(
            cells_equal(row[k], gold.rows[i - 1][k], columns[k], policy, soft=False) for k in keys
        )
        if tied:
            groups[-1].append(i)
        else:
            groups.append([i])
    for chosen in permutations(range(wide), width):
        soft = []
        for j, c in enumerate(chosen):
            kind = columns[j].type
            values = [r[j] for r in gold.rows], [r[c] for r in predicted.rows]
            soft.append(
                kind == "float" or (kind == "decimal" and any(is_inexact(v) for v in values))
            )
        edges = {
            (p, g)
            for p, other in enumerate(predicted.rows)
            for g, row in enumerate(gold.rows)
            if all(
                cells_equal(row[j], other[c], columns[j], policy, soft=soft[j])
                for j, c in enumerate(chosen)
            )
        }
        done, right = 0, True
        for group in groups:
            part = list(range(done, min(done + len(group), wanted)))
            right = right and bags_match(part, group, edges)
            done += len(part)
        if right:
            return True
    return False


small = st.one_of(st.none(), st.integers(0, 2))
word = st.sampled_from(["a", "b", "1", ""])
# floats around 1 and 2 in steps that are just inside, on, and outside of the tolerances used
near = st.builds(
    lambda base, steps: base * (1 + steps * 4e-10),
    st.sampled_from([1.0, 2.0]),
    st.integers(-6, 6),
)
money = st.one_of(
    st.sampled_from([Decimal("1.00"), Decimal("1.005"), Decimal("1.01"), Decimal(2)]),
    st.sampled_from([1.0, 1.005, 1.0049999999999997, 1.01, 2.0, 1.0100000001]),
)
CELLS: dict[str, st.SearchStrategy[Any]] = {
    "int": small,
    "string": word,
    "float": st.one_of(st.none(), near),
    "decimal": money,
}


@st.composite
def tables(
    draw: st.DrawFn, kinds: Sequence[str], *, ordered: bool = False, extra: bool = False
) -> tuple[Table, Table, AnswerSpec]:
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))
    columns = tuple(
        Column(f"c{i}", kind, scale=2 if kind == "decimal" else None)  # type: ignore[arg-type]
        for i, kind in enumerate(chosen)
    )
    row = st.tuples(*(CELLS[kind] for kind in chosen))
    rows = draw(st.lists(row, min_size=1, max_size=5))
    mode = draw(st.sampled_from(["shuffled", "changed", "jittered", "fresh"]))
    other = draw(st.permutations(rows))
    if mode == "fresh":
        other = draw(st.lists(row, min_size=len(rows), max_size=len(rows)))
    elif mode == "changed":
        at = draw(st.integers(0, len(rows) - 1))
        other = [*other[:at], draw(row), *other[at + 1 :]]
    elif mode == "jittered":
        other = [
            tuple(
                v * (1 + draw(st.integers(-3, 3)) * 4e-10) if isinstance(v, float) else v for v in r
            )
            for r in other
        ]
    order = draw(st.permutations(range(len(chosen))))
    placed = [[r[i] for i in order] for r in other]
    names = [f"p{i}" for i in range(len(order))]
    if extra:
        for i in range(draw(st.integers(0, 2))):
            spare = draw(st.lists(small, min_size=len(placed), max_size=len(placed)))
            at = draw(st.integers(0, len(names)))
            names.insert(at, f"x{i}")
            placed = [[*r[:at], value, *r[at:]] for r, value in zip(placed, spare, strict=True)]
    spec = AnswerSpec(columns)
    if ordered:
        key = draw(st.integers(0, len(chosen) - 1))
        rows = sorted(
            rows, key=lambda r: (r[key] is None, r[key] or 0) if chosen[key] != "string" else r[key]
        )
        top = draw(st.none() | st.integers(1, 6))
        spec = AnswerSpec(columns, order_by=f"c{key}", top_k=top)
        if draw(st.booleans()):
            inverse = [order.index(i) for i in range(len(order))]
            placed = sorted(
                placed,
                key=lambda r: (
                    (r[inverse[key]] is None, r[inverse[key]] or 0)
                    if chosen[key] != "string"
                    else r[inverse[key]]
                ),
            )
        if top is not None and draw(st.booleans()):
            placed = placed[:top]
    return Table([c.name for c in columns], rows), Table(names, placed), spec


FAST = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))


@FAST
@given(tables(["int", "string"]))
def test_bags_of_exact_rows(drawn: tuple[Table, Table, AnswerSpec]) -> None:
    gold, predicted, spec = drawn
    assert compare(gold, predicted, spec).equal == oracle(gold, predicted, spec, Policy())


@FAST
@given(tables(["int", "string"], ordered=True))
def test_order_and_top_k(drawn: tuple[Table, Table, AnswerSpec]) -> None:
    gold, predicted, spec = drawn
    assert compare(gold, predicted, spec).equal == oracle(gold, predicted, spec, Policy())


@FAST
@given(tables(["float", "float", "int"]))
@example(
    (
        Table(["c0", "c1"], [(1.0, 2.0), (1.0 + 8e-10, 2.0 + 1.6e-9)]),
        Table(["p0", "p1"], [(1.0 + 8e-10, 2.0), (1.0, 2.0 + 1.6e-9)]),
        AnswerSpec((Column("c0", "float"), Column("c1", "float"))),
    )
)
def test_near_ties_of_floats(drawn: tuple[Table, Table, AnswerSpec]) -> None:
    gold, predicted, spec = drawn
    assert compare(gold, predicted, spec).equal == oracle(gold, predicted, spec, Policy())


@FAST
@given(tables(["float", "int"]), st.sampled_from([0.0, 1e-9, 3e-9, 1.0]))
def test_absolute_tolerance(drawn: tuple[Table, Table, AnswerSpec], absolute: float) -> None:
    gold, predicted, spec = drawn
    policy = Policy(relative_tolerance=0.0, absolute_tolerance=absolute)
    assert compare(gold, predicted, spec, policy).equal == oracle(gold, predicted, spec, policy)


@FAST
@given(tables(["decimal", "decimal", "int"]))
def test_money_at_rounding_boundaries(drawn: tuple[Table, Table, AnswerSpec]) -> None:
    gold, predicted, spec = drawn
    assert compare(gold, predicted, spec).equal == oracle(gold, predicted, spec, Policy())


@FAST
@given(tables(["int", "string", "float"], extra=True))
def test_relaxed_view_takes_extra_columns(drawn: tuple[Table, Table, AnswerSpec]) -> None:
    gold, predicted, spec = drawn
    found = compare(gold, predicted, spec)
    assert found.equal == oracle(gold, predicted, spec, Policy())
    assert found.relaxed_equal == oracle(gold, predicted, spec, Policy(), relaxed=True)


@FAST
@given(tables(["int"], ordered=True, extra=True))
def test_relaxed_view_keeps_order_and_top_k(drawn: tuple[Table, Table, AnswerSpec]) -> None:
    gold, predicted, spec = drawn
    expected = oracle(gold, predicted, spec, Policy(), relaxed=True)
    assert compare(gold, predicted, spec).relaxed_equal == expected


flags = st.integers(0, 1)


@FAST
@given(st.integers(3, 5), st.integers(2, 6), st.data())
def test_flag_columns(width: int, height: int, data: st.DataObject) -> None:
    rows = st.lists(st.tuples(*[flags] * width), min_size=height, max_size=height)
    first = data.draw(rows)
    order = data.draw(st.permutations(range(width)))
    second = [tuple(r[i] for i in order) for r in data.draw(st.permutations(first))]
    if data.draw(st.booleans()):
        at, column = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
        second[at] = tuple(1 - v if i == column else v for i, v in enumerate(second[at]))
    names = [f"f{i}" for i in range(width)]
    bags = [Counter(tuple(r[i] for i in p) for r in second) for p in permutations(range(width))]
    expected = any(bag == Counter(first) for bag in bags)
    assert compare(Table(names, first), Table(names, second)).equal == expected
