"""The planner: greedy, one conjunction at a time.

Tests run as soon as their variables are bound. Among what can expand the rows next, the cheapest
is taken: what follows an index from a bound variable, a lookup by value, or, to begin with, the
smallest scan. Constraints that only restrict types cost nothing here: type inference has put them
into the sets of types the other steps filter by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.budget import work
from qeval.typeql.faults import Fault
from qeval.typeql.ir import constraints as c
from qeval.typeql.ir.functions import Concepts
from qeval.typeql.ir.patterns import Not, Or, Try
from qeval.typeql.ir.variables import Var
from qeval.typeql.plan import steps as s
from qeval.typeql.plan.options import Option, Options
from qeval.typeql.plan.state import Settings, State, mentioned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qeval.typeql.ir.patterns import Conjunction

__all__ = ["Settings", "plan_conjunction"]

_NO_GROWTH = 1.1


def plan_conjunction(
    settings: Settings,
    conjunction: Conjunction,
    bound: dict[Var, int],
    wanted: Iterable[Var],
) -> s.Plan:
    """Plan a conjunction.

    ``bound`` are the variables bound before, with the types they can have (0 for values);
    ``wanted`` are those that are needed afterwards.
    """
    return _Planner(settings, conjunction, bound, frozenset(wanted)).run()


class _Planner:
    """Plans one conjunction; nested ones have planners of their own."""

    def __init__(
        self,
        settings: Settings,
        conjunction: Conjunction,
        bound: dict[Var, int],
        wanted: frozenset[Var],
    ) -> None:
        self._state = State(settings, conjunction, bound, wanted)
        self._options = Options(self._state)
        self._to_test = dict(self._state.constraints)
        self._only_typed = self._find_only_typed()
        self._branchings: dict[tuple[Or, frozenset[Var]], Option] = {}
        self._rows = 1.0
        self._steps: list[s.Step] = []
        self._binds: list[Var] = []
        self._unique = True

    def run(self) -> s.Plan:
        self._check_inputs()
        while True:
            while self._take_tests():
                work(1)
            if not (self._state.constraints or self._open_nested() or self._unbound()):
                break
            self._take(self._best_option() or self._scan_for_stuck())
        self._take_optionals()
        return s.Plan(tuple(self._steps), tuple(self._binds), self._unique, self._rows)

    def _scan_for_stuck(self) -> Option:
        """Bind by a scan what only something binds that needs it itself: ``let $x in f($x)``."""
        waiting = (var for constraint in self._state.constraints for var in constraint.needs())
        scans = [option for var in waiting for option in self._options.binding(var)]
        if not scans:
            raise Fault("REP55", "no order of evaluation exists", self._state.conjunction.span)
        return min(scans, key=lambda option: option.score)

    def _find_only_typed(self) -> list[Var]:
        """Find variables that nothing but dropped constraints would bind: they are scanned."""
        binders = {var for constraint in self._state.constraints for var in constraint.binds()}
        for nested in self._state.nested:
            if isinstance(nested, Or):
                binders |= nested.visible - nested.needed
        bindable = (var for k in self._state.conjunction.constraints for var in k.binds())
        return [var for var in dict.fromkeys(bindable) if var not in binders]

    def _check_inputs(self) -> None:
        """Test what comes from outside: not empty, and of the types inferred here."""
        own = {var for k in self._state.conjunction.constraints for var in k.variables()}
        optional = self._state.settings.registry.optional
        present = tuple(var for var in self._state.bound if var in own and var in optional)
        if present:
            self._steps.append(s.CheckPresent(present))
        for var, before in self._state.bound.items():
            here = self._state.types.get(var)
            if here is not None and before & ~here:
                if var not in own and var not in self._state.conjunction.visible:
                    continue
                self._steps.append(s.CheckTypes(var, here))
                self._state.bound[var] = here

    def _unbound(self) -> list[Var]:
        """Return variables that no remaining constraint binds but that must have a value."""
        return [var for var in self._only_typed if var not in self._state.bound]

    # Tests ------------------------------------------------------------------------------------

    def _take_tests(self) -> bool:
        """Take what the last bindings made possible: tests, else one ``let`` or ``not``."""
        lets: list[c.Let] = []
        while self._to_test:
            constraint = next(iter(self._to_test))
            del self._to_test[constraint]
            if constraint not in self._state.constraints:
                continue
            if isinstance(constraint, c.Let):
                lets.append(constraint)
                continue
            step = self._test(constraint)
            if step is not None:
                self._steps.append(step)
                del self._state.constraints[constraint]
        for let in lets:
            if self._state.all_bound(let.needs()):
                self._to_test.update(dict.fromkeys(lets))
                self._take(Option(1.0, s.Assigning(let), (let.target,), (let,)))
                return True
        for nested in self._state.nested:
            if isinstance(nested, Not) and self._ready(nested):
                self._take_negation(nested)
                return True
        return False

    def _test(self, constraint: c.Constraint) -> s.Step | None:  # noqa: PLR0911 - one a kind
        """Return the step that tests a constraint whose variables are all bound."""
        if isinstance(constraint, c.DifferentEdges):
            return s.Differing(constraint) if self._state.all_bound(mentioned(constraint)) else None
        if isinstance(constraint, c.Iid | c.Call) or not self._state.all_bound(
            constraint.variables()
        ):
            return self._test_edge(constraint) if isinstance(constraint, c.Links) else None
        match constraint:
            case c.Compare():
                return s.Comparing(constraint)
            case c.Has():
                return s.CheckOwns(constraint.owner, constraint.attribute)
            case c.Is():
                return s.Identifying(constraint, None, None)
            case c.Isa() if isinstance(constraint.type, Var):
                return s.CheckIsa(constraint.thing, constraint.type, constraint.exact)
            case c.Links():
                roles = self._state.types[constraint.role]
                relation, player, role = constraint.relation, constraint.player, constraint.role
                return s.EdgesBetween(relation, player, role, roles, role_bound=True)
            case c.Sub() | c.Owns() | c.Plays() | c.Relates():
                left, right, forward, _ = self._options.type_ends(constraint)
                return s.TypesAlong(left, right, forward, 0, end_bound=True)
        return None

    def _test_edge(self, links: c.Links) -> s.Step | None:
        """Test an edge whose role does not matter."""
        if self._state.role(links) is None and self._state.all_bound(
            (links.relation, links.player)
        ):
            roles = self._state.types[links.role]
            return s.EdgesBetween(links.relation, links.player, None, roles)
        return None

    def _ready(self, nested: Not | Try) -> bool:
        return self._state.all_bound(nested.body.needed)

    # Nested patterns --------------------------------------------------------------------------

    def _open_nested(self) -> bool:
        return any(not isinstance(nested, Try) for nested in self._state.nested)

    def _take_negation(self, nested: Not) -> None:
        self._state.nested.remove(nested)
        plan = plan_conjunction(self._state.settings, nested.body, self._state.bound, ())
        inputs = tuple(var for var in self._state.bound if var in nested.body.visible)
        self._steps.append(s.Rejecting(plan, inputs))

    def _take_optionals(self) -> None:
        for nested in self._state.nested:
            assert isinstance(nested, Try)
            visible = nested.body.visible
            plan = plan_conjunction(self._state.settings, nested.body, self._state.bound, visible)
            targets = tuple(var for var in plan.binds if var in visible)
            self._steps.append(s.Attempting(plan, targets))
            self._unique &= plan.unique and len(targets) == len(plan.binds)
            self._bind(targets, nested.body.types)

    def _branching(self, nested: Or) -> Option:
        key = (nested, frozenset(self._state.bound.keys() & nested.visible))
        known = self._branchings.get(key)
        if known is not None:
            return known
        bound, wanted = self._state.bound, nested.visible
        plans = tuple(
            plan_conjunction(self._state.settings, branch, bound, wanted)
            for branch in nested.branches
        )
        targets = tuple(var for var in plans[0].binds if var in wanted)
        rows = sum(plan.rows for plan in plans)
        option = Option(rows, s.Branching(plans, targets), targets, (nested,), multiplies=True)
        self._branchings[key] = option
        return option

    # Choosing the next expansion --------------------------------------------------------------

    def _take(self, option: Option) -> None:
        self._steps.append(option.step)
        self._unique &= not option.multiplies
        self._rows *= max(option.score, 0.01)
        for covered in option.covers:
            if isinstance(covered, c.Constraint):
                del self._state.constraints[covered]
            else:
                self._state.nested.remove(covered)
        self._bind(option.binds, self._state.types)
        if isinstance(option.step, s.Calling):
            self._check_results(option.step.call, option.binds)

    def _check_results(self, call: c.Call, fresh: tuple[Var, ...]) -> None:
        """Test results of a function that may be of more types than the pattern admits."""
        for var, result in zip(call.targets, call.function.results, strict=True):
            if (
                var in fresh
                and isinstance(result, Concepts)
                and result.types & ~self._state.types[var]
            ):
                self._steps.append(s.CheckTypes(var, self._state.types[var]))

    def _bind(self, variables: Iterable[Var], types: dict[Var, int]) -> None:
        for var in variables:
            self._state.bound[var] = types.get(var, 0)
            self._binds.append(var)
            self._to_test.update(dict.fromkeys(self._state.of_var.get(var, ())))

    def _best_option(self) -> Option | None:
        """Return the cheapest option; one that adds no rows is good enough to stop looking.

        Once there are several rows, scans come last: a few values look cheap next to a long step
        along an index, but they multiply the rows, and the long step is still to be made.
        """
        best: Option | None = None
        scan: Option | None = None
        for option in self._all_options():
            work(1)
            if self._rows > 1 and isinstance(option.step, s.ScanThings):
                if scan is None or option.score < scan.score:
                    scan = option
            elif best is None or option.score < best.score:
                best = option
                if option.score <= _NO_GROWTH and not isinstance(option.step, s.Calling):
                    break
        return best or scan

    def _all_options(self) -> Iterator[Option]:
        for constraint in self._state.constraints:
            yield from self._options.meeting(constraint)
        for nested in self._state.nested:
            if isinstance(nested, Or) and self._state.all_bound(nested.needed):
                yield self._branching(nested)
        for var in self._unbound():
            yield from self._options.binding(var)
