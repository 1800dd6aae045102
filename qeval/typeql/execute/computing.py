"""Steps that compute: comparisons, assignments, identity, function calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qeval.typeql.budget import BATCH
from qeval.typeql.execute.expressions import compile_comparison, compile_expression
from qeval.typeql.execute.runtime import type_of
from qeval.typeql.schema import Type
from qeval.typeql.store import Thing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qeval.typeql.execute.runtime import Layout, Row, Runtime, Transform
    from qeval.typeql.plan import steps as s


def comparing(step: s.Comparing, layout: Layout, _runtime: Runtime) -> Transform:
    """Test a comparison."""
    holds = compile_comparison(step.compare, layout)
    return lambda rows: filter(holds, rows)


def assigning(step: s.Assigning, layout: Layout, _runtime: Runtime) -> Transform:
    """Bind the value of an expression."""
    evaluate, _ = compile_expression(step.let.expression, layout)
    layout.add(step.let.target)
    return lambda rows: ((*row, evaluate(row)) for row in rows)


def identifying(step: s.Identifying, layout: Layout, _runtime: Runtime) -> Transform:
    """Test that two variables hold the same concept, or copy one to the other."""
    constraint, target, allowed = step.constraint, step.target, step.types
    if target is None:
        left, right = layout.slots[constraint.left], layout.slots[constraint.right]
        return lambda rows: (row for row in rows if _same(row[left], row[right]))
    source = constraint.right if target is constraint.left else constraint.left
    slot = layout.slots[source]
    layout.add(target)
    if allowed is None:
        return lambda rows: ((*row, row[slot]) for row in rows)
    return lambda rows: ((*row, row[slot]) for row in rows if type_of(row[slot]).bit & allowed)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, Thing | Type):
        return left is right
    return left is not None and bool(left == right)


def differing(step: s.Differing, layout: Layout, _runtime: Runtime) -> Transform:
    """Test that two edges of a relation are not the same edge."""
    one, other = step.constraint.one, step.constraint.other
    slots = layout.slots
    player_1, player_2 = slots[one.player], slots[other.player]
    role_1, role_2 = slots[one.role], slots[other.role]
    return lambda rows: (
        row for row in rows if row[player_1] is not row[player_2] or row[role_1] is not row[role_2]
    )


def calling(step: s.Calling, layout: Layout, runtime: Runtime) -> Transform:
    """Bind the results of a function; results for bound targets must be what they hold."""
    call, bound = step.call, step.bound
    arguments = [layout.slots[argument] for argument in call.arguments]
    checks: list[tuple[int, int]] = []  # position in the result, slot it must equal
    fresh: list[int] = []
    seen: dict[Any, int] = {}
    for position, target in enumerate(call.targets):
        if target in bound:
            checks.append((position, layout.slots[target]))
        elif target in seen:
            checks.append((position, seen[target]))
        else:
            seen[target] = layout.width
            layout.add(target)
            fresh.append(position)
    evaluate, function, spend = runtime.caller.call, call.function, runtime.budget.spend

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        spent = 0
        for row in rows:
            for result in evaluate(function, tuple(row[slot] for slot in arguments)):
                spent += 1
                extended = row + tuple(result[position] for position in fresh)
                if all(_same(extended[slot], result[position]) for position, slot in checks):
                    yield extended
            spent += 1
            if spent > BATCH:
                spend(spent)
                spent = 0
        spend(spent)

    return run
