"""Compilation of plans: each step becomes a function from rows to rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.execute import computing, nesting, scanning, typing_steps, walking
from qeval.typeql.execute.runtime import collected
from qeval.typeql.plan import steps as s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from qeval.typeql.execute.runtime import Layout, Row, Runtime, Transform

# Generators resume each other on Python's stack: long chains are cut by collecting the rows.
_LONGEST_CHAIN = 60

_COMPILERS: dict[type, Callable[..., Transform]] = {
    s.ScanThings: scanning.scan_things,
    s.ScanTypes: scanning.scan_types,
    s.FindByIid: scanning.find_by_iid,
    s.FindByValue: scanning.find_by_value,
    s.AttributesOf: walking.attributes_of,
    s.OwnersOf: walking.owners_of,
    s.CheckOwns: walking.check_owns,
    s.PlayersOf: walking.players_of,
    s.RelationsOf: walking.relations_of,
    s.EdgesBetween: walking.edges_between,
    s.TypesOf: typing_steps.types_of,
    s.InstancesOf: typing_steps.instances_of,
    s.CheckIsa: typing_steps.check_isa,
    s.TypesAlong: typing_steps.types_along,
    s.CheckTypes: typing_steps.check_types,
    s.CheckPresent: typing_steps.check_present,
    s.Comparing: computing.comparing,
    s.Assigning: computing.assigning,
    s.Identifying: computing.identifying,
    s.Differing: computing.differing,
    s.Calling: computing.calling,
}
_NESTING: dict[type, Callable[..., Transform]] = {
    s.Branching: nesting.branching,
    s.Rejecting: nesting.rejecting,
    s.Attempting: nesting.attempting,
}


def compile_plan(plan: s.Plan, layout: Layout, runtime: Runtime) -> Transform:
    """Return a function from rows in a layout to rows extended by what the plan binds.

    ``layout`` is extended accordingly.
    """
    transforms: list[Transform] = []
    for step in plan.steps:
        if type(step) in _NESTING:
            compiled = _NESTING[type(step)](step, layout, runtime, compile_plan)
        else:
            compiled = _COMPILERS[type(step)](step, layout, runtime)
        transforms.append(compiled)
    return _chained(transforms, runtime)


def _chained(transforms: list[Transform], runtime: Runtime) -> Transform:
    if len(transforms) > _LONGEST_CHAIN:
        first = _chained(transforms[:_LONGEST_CHAIN], runtime)
        rest = _chained(transforms[_LONGEST_CHAIN:], runtime)

        def cut(rows: Iterable[Row]) -> Iterator[Row]:
            with collected(first(rows), runtime.budget) as whole:
                yield from rest(whole)

        return cut

    def run(rows: Iterable[Row]) -> Iterator[Row]:
        for transform in transforms:
            rows = transform(rows)
        return iter(rows)

    return run
