"""The planner: greedy, one conjunction at a time.

Tests run as soon as their variables are bound. Among what can expand the rows next, the cheapest
is taken: what follows an index from a bound variable, a lookup by value, or, to begin with, the
smallest scan. Constraints that only restrict types cost nothing here: type inference has put them
into the sets of types the other steps filter by.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from qeval.typeql.budget import work
from qeval.typeql.faults import Fault
from qeval.typeql.ir import constraints as c
from qeval.typeql.ir.expressions import Constant
from qeval.typeql.ir.functions import Concepts
from qeval.typeql.ir.patterns import Not, Or, Try
from qeval.typeql.ir.variables import Var
from qeval.typeql.plan import steps as s
from qeval.typeql.plan.estimate import selectivity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qeval.typeql.ir.patterns import Conjunction, Nested
    from qeval.typeql.ir.variables import Registry
    from qeval.typeql.plan.estimate import Estimator
    from qeval.typeql.schema import Schema, Type

_IMPLIED_BY_TYPES = (c.RoleName, c.HasLabel, c.IsKind, c.HasValueType)
_TYPE_CONSTRAINTS = (c.Sub, c.Owns, c.Plays, c.Relates)
_TYPE_FAN = 3.0  # types a type leads to, on average
_CALL_FAN = 2.0
_INDEXED_PLAYERS = 5  # TypeDB's RELATION_INDEX_THRESHOLD
_NO_GROWTH = 1.1
_WORK = 0.05  # the cost of looking at something, against that of a row that results


@dataclass(frozen=True, slots=True)
class _Option:
    """A step that could come next. ``covers`` are the constraints it fulfils."""

    score: float
    step: s.Step
    binds: tuple[Var, ...]
    covers: tuple[object, ...]
    multiplies: bool = False  # may yield equal rows


@dataclass(frozen=True, slots=True)
class Settings:
    """What all conjunctions of a block share.

    ``as_set`` allows to stop at the first witness of an anonymous variable: right for the ``match``
    of a query, whose answers are a set, wrong in function bodies, where every binding counts.
    """

    schema: Schema
    estimator: Estimator
    registry: Registry
    as_set: bool


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
        self._settings = settings
        self._estimator = settings.estimator
        self._schema = settings.schema
        self._conjunction = conjunction
        self._types = conjunction.types
        self._bound = dict(bound)
        self._wanted = wanted
        everything = [*conjunction.constraints, *self._indexed_pairs()]
        self._constraints = {k: None for k in everything if self._matters(k)}
        self._of_var = self._index()
        self._to_test = dict(self._constraints)
        self._nested: list[Nested] = list(conjunction.nested)
        self._uses = self._count_uses()
        self._only_typed = self._find_only_typed()
        self._branchings: dict[tuple[Or, frozenset[Var]], _Option] = {}
        self._rows = 1.0
        self._steps: list[s.Step] = []
        self._binds: list[Var] = []
        self._unique = True

    def run(self) -> s.Plan:
        self._check_inputs()
        while True:
            while self._take_tests():
                work(1)
            if not (self._constraints or self._open_nested() or self._unbound()):
                break
            self._take(self._best_option() or self._scan_for_stuck())
        self._take_optionals()
        return s.Plan(tuple(self._steps), tuple(self._binds), self._unique, self._rows)

    def _indexed_pairs(self) -> Iterator[c.DifferentEdges]:
        """Yield pairs of edges that the server reads from its index of relations.

        Where a relation variable has exactly two ``links`` in a conjunction, is not pinned down
        by an iid or an attribute's value, and its types admit few players, the server walks pairs
        of different edges, even if the two were written apart.
        """
        edges: dict[Var, list[c.Links]] = {}
        for constraint in self._conjunction.constraints:
            if isinstance(constraint, c.Links):
                edges.setdefault(constraint.relation, []).append(constraint)
        for relation, links in edges.items():
            types = self._schema.members(self._types[relation])
            few = all(_most_players(type_) <= _INDEXED_PLAYERS for type_ in types)
            if len(links) == 2 and few and not self._pinned(relation):  # noqa: PLR2004
                yield c.DifferentEdges(links[0].span, links[0], links[1])

    def _pinned(self, relation: Var) -> bool:
        constraints = self._conjunction.constraints
        if any(isinstance(k, c.Iid) and k.thing is relation for k in constraints):
            return True
        owned = {k.attribute for k in constraints if isinstance(k, c.Has) and k.owner is relation}
        return any(
            isinstance(k, c.Compare) and k.op == "==" and not owned.isdisjoint(k.needs())
            for k in constraints
        )

    def _index(self) -> dict[Var, list[c.Constraint]]:
        """List the constraints of every variable."""
        index: dict[Var, list[c.Constraint]] = {}
        for constraint in self._constraints:
            for var in _mentioned(constraint):
                index.setdefault(var, []).append(constraint)
        return index

    def _matters(self, constraint: c.Constraint) -> bool:
        """Leave out what the sets of types already say."""
        if isinstance(constraint, _IMPLIED_BY_TYPES):
            return False
        if isinstance(constraint, c.Isa):
            return isinstance(constraint.type, Var)
        if isinstance(constraint, c.DifferentEdges):
            one, other = constraint.one, constraint.other
            same_role = self._types[one.role] & self._types[other.role]
            return bool(same_role and self._types[one.player] & self._types[other.player])
        return True

    def _count_uses(self) -> Counter[Var]:
        uses: Counter[Var] = Counter()
        for constraint in self._constraints:
            uses.update(_mentioned(constraint))
        for nested in self._nested:
            uses.update(nested.visible if isinstance(nested, Or) else nested.body.visible)
        return uses

    def _scan_for_stuck(self) -> _Option:
        """Bind by a scan what only something binds that needs it itself: ``let $x in f($x)``."""
        waiting = (var for constraint in self._constraints for var in constraint.needs())
        scans = [option for var in waiting for option in self._starts(var)]
        if not scans:
            raise Fault("REP55", "no order of evaluation exists", self._conjunction.span)
        return min(scans, key=lambda option: option.score)

    def _find_only_typed(self) -> list[Var]:
        """Find variables that nothing but dropped constraints would bind: they are scanned."""
        binders = {var for constraint in self._constraints for var in constraint.binds()}
        for nested in self._nested:
            if isinstance(nested, Or):
                binders |= nested.visible - nested.needed
        mentioned = (var for k in self._conjunction.constraints for var in k.binds())
        return [var for var in dict.fromkeys(mentioned) if var not in binders]

    def _needed_later(self, var: Var, inside: c.Constraint) -> Var | None:
        """Return the variable, or None if only this constraint cares and one witness will do."""
        own = sum(other is var for other in inside.variables())
        idle = var.anonymous and var not in self._wanted and self._uses[var] == own
        return None if idle and self._settings.as_set else var

    def _role(self, links: c.Links) -> Var | None:
        """Return the role variable if its value matters."""
        role = links.role
        return role if role in self._wanted or self._uses[role] > 1 else None

    def _check_inputs(self) -> None:
        """Test what comes from outside: not empty, and of the types inferred here."""
        own = {var for k in self._conjunction.constraints for var in k.variables()}
        optional = self._settings.registry.optional
        present = tuple(var for var in self._bound if var in own and var in optional)
        if present:
            self._steps.append(s.CheckPresent(present))
        for var, before in self._bound.items():
            here = self._types.get(var)
            if here is not None and before & ~here:
                if not (var in own or self._is_visible(var)):
                    continue
                self._steps.append(s.CheckTypes(var, here))
                self._bound[var] = here

    def _is_visible(self, var: Var) -> bool:
        return var in self._conjunction.visible

    def _unbound(self) -> list[Var]:
        """Return variables that no remaining constraint binds but that must have a value."""
        return [var for var in self._only_typed if var not in self._bound]

    # Tests ------------------------------------------------------------------------------------

    def _take_tests(self) -> bool:
        """Take what the last bindings made possible: tests, else one ``let`` or ``not``."""
        lets: list[c.Let] = []
        while self._to_test:
            constraint = next(iter(self._to_test))
            del self._to_test[constraint]
            if constraint not in self._constraints:
                continue
            if isinstance(constraint, c.Let):
                lets.append(constraint)
                continue
            step = self._test(constraint)
            if step is not None:
                self._steps.append(step)
                del self._constraints[constraint]
        for let in lets:
            if self._all_bound(let.needs()):
                self._to_test.update(dict.fromkeys(lets))
                self._take(_Option(1.0, s.Assigning(let), (let.target,), (let,)))
                return True
        for nested in self._nested:
            if isinstance(nested, Not) and self._ready(nested):
                self._take_negation(nested)
                return True
        return False

    def _test(self, constraint: c.Constraint) -> s.Step | None:  # noqa: PLR0911 - one a kind
        """Return the step that tests a constraint whose variables are all bound."""
        if isinstance(constraint, c.DifferentEdges):
            return s.Differing(constraint) if self._all_bound(_mentioned(constraint)) else None
        if isinstance(constraint, c.Iid | c.Call) or not self._all_bound(constraint.variables()):
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
                roles = self._types[constraint.role]
                relation, player, role = constraint.relation, constraint.player, constraint.role
                return s.EdgesBetween(relation, player, role, roles, role_bound=True)
            case c.Sub() | c.Owns() | c.Plays() | c.Relates():
                left, right, forward, _ = self._type_ends(constraint)
                return s.TypesAlong(left, right, forward, 0, end_bound=True)
        return None

    def _test_edge(self, links: c.Links) -> s.Step | None:
        """Test an edge whose role does not matter."""
        if self._role(links) is None and self._all_bound((links.relation, links.player)):
            roles = self._types[links.role]
            return s.EdgesBetween(links.relation, links.player, None, roles)
        return None

    def _all_bound(self, variables: Iterable[Var]) -> bool:
        return all(var in self._bound for var in variables)

    def _ready(self, nested: Not | Try) -> bool:
        return self._all_bound(nested.body.needed)

    # Nested patterns --------------------------------------------------------------------------

    def _open_nested(self) -> bool:
        return any(not isinstance(nested, Try) for nested in self._nested)

    def _take_negation(self, nested: Not) -> None:
        self._nested.remove(nested)
        outer = {var: self._bound[var] for var in self._bound}
        plan = plan_conjunction(self._settings, nested.body, outer, ())
        inputs = tuple(var for var in self._bound if var in nested.body.visible)
        self._steps.append(s.Rejecting(plan, inputs))

    def _take_optionals(self) -> None:
        for nested in self._nested:
            assert isinstance(nested, Try)
            visible = nested.body.visible
            plan = plan_conjunction(self._settings, nested.body, self._bound, visible)
            targets = tuple(var for var in plan.binds if var in visible)
            self._steps.append(s.Attempting(plan, targets))
            self._unique &= plan.unique and len(targets) == len(plan.binds)
            self._bind(targets, nested.body.types)

    def _branching(self, nested: Or) -> _Option:
        key = (nested, frozenset(self._bound.keys() & nested.visible))
        known = self._branchings.get(key)
        if known is not None:
            return known
        bound, wanted = self._bound, nested.visible
        plans = tuple(
            plan_conjunction(self._settings, branch, bound, wanted) for branch in nested.branches
        )
        targets = tuple(var for var in plans[0].binds if var in wanted)
        rows = sum(plan.rows for plan in plans)
        option = _Option(rows, s.Branching(plans, targets), targets, (nested,), multiplies=True)
        self._branchings[key] = option
        return option

    # Choosing the next expansion --------------------------------------------------------------

    def _take(self, option: _Option) -> None:
        self._steps.append(option.step)
        self._unique &= not option.multiplies
        self._rows *= max(option.score, 0.01)
        for covered in option.covers:
            if isinstance(covered, c.Constraint):
                del self._constraints[covered]
            else:
                self._nested.remove(covered)  # type: ignore[arg-type]
        self._bind(option.binds, self._types)
        if isinstance(option.step, s.Calling):
            self._check_results(option.step.call, option.binds)

    def _check_results(self, call: c.Call, fresh: tuple[Var, ...]) -> None:
        """Test results of a function that may be of more types than the pattern admits."""
        for var, result in zip(call.targets, call.function.results, strict=True):
            if var in fresh and isinstance(result, Concepts) and result.types & ~self._types[var]:
                self._steps.append(s.CheckTypes(var, self._types[var]))

    def _bind(self, variables: Iterable[Var], types: dict[Var | Type, int]) -> None:
        for var in variables:
            self._bound[var] = types.get(var, 0)
            self._binds.append(var)
            self._to_test.update(dict.fromkeys(self._of_var.get(var, ())))

    def _best_option(self) -> _Option | None:
        """Return the cheapest option; one that adds no rows is good enough to stop looking."""
        best: _Option | None = None
        for option in self._options():
            work(1)
            if best is None or option.score < best.score:
                best = option
                if option.score <= _NO_GROWTH and not isinstance(option.step, s.Calling):
                    break
        return best

    def _options(self) -> Iterator[_Option]:
        for constraint in self._constraints:
            yield from self._expansions(constraint)
        for nested in self._nested:
            if isinstance(nested, Or) and self._all_bound(nested.needed):
                yield self._branching(nested)
        for var in self._unbound():
            yield from self._starts(var)

    def _expansions(self, constraint: c.Constraint) -> Iterator[_Option]:
        match constraint:
            case c.Has():
                yield from self._has_options(constraint)
            case c.Links():
                yield from self._links_options(constraint)
            case c.Isa():
                yield from self._isa_options(constraint)
            case c.Iid():
                if constraint.thing in self._bound:
                    step = s.FindByIid(constraint.thing, 0, constraint.iid)
                    yield _Option(0.0, step, (), (constraint,))
                else:
                    types = self._types[constraint.thing]
                    step = s.FindByIid(constraint.thing, types, constraint.iid)
                    yield _Option(0.5, step, (constraint.thing,), (constraint,))
            case c.Is():
                yield from self._is_options(constraint)
            case c.Call():
                if self._all_bound(constraint.arguments):
                    yield self._calling(constraint)
            case c.Sub() | c.Owns() | c.Plays() | c.Relates():
                yield from self._type_options(constraint)

    def _tests_on(self, var: Var) -> tuple[list[c.Compare], tuple[s.ValueTest, ...]]:
        """Return the comparisons of a variable with constants, as constraints and as tests."""
        found: list[c.Compare] = []
        tests: list[s.ValueTest] = []
        for constraint in self._of_var.get(var, ()):
            if not isinstance(constraint, c.Compare) or constraint.left is not var:
                continue
            if constraint in self._constraints and isinstance(constraint.right, Constant):
                found.append(constraint)
                tests.append(s.ValueTest(constraint.op, constraint.right))
        return found, tuple(tests)

    def _has_options(self, has: c.Has) -> Iterator[_Option]:
        owner, attribute = has.owner, has.attribute
        owners, attributes = self._types[owner], self._types[attribute]
        edges = self._estimator.ownerships(owners, attributes)
        if owner in self._bound:
            compares, tests = self._tests_on(attribute)
            fan = self._estimator.per(edges, owners)
            bare = self._uses[attribute] - len(compares)
            idle = self._settings.as_set and attribute.anonymous and bare == 1
            target = None if idle and attribute not in self._wanted else attribute
            step = s.AttributesOf(owner, target, attributes, tests)
            score = fan * selectivity(tests) + _WORK * fan
            yield _Option(score, step, _some(target), (has, *compares))
        elif attribute in self._bound:
            target = self._needed_later(owner, has)
            fan = self._estimator.per(edges, attributes)
            step_back = s.OwnersOf(attribute, target, owners)
            yield _Option(fan + _WORK * fan, step_back, _some(target), (has,))
        else:
            yield from self._starts(owner)
            yield from self._starts(attribute)

    def _links_options(self, links: c.Links) -> Iterator[_Option]:
        relation, player = links.relation, links.player
        relations, players = self._types[relation], self._types[player]
        roles = self._types[links.role]
        role_known = links.role in self._bound
        fresh_role = None if role_known else self._role(links)
        needs_end = role_known or fresh_role is not None
        if relation in self._bound and player in self._bound:
            step: s.Step = s.EdgesBetween(relation, player, fresh_role, roles)
            yield _Option(1.0, step, _some(fresh_role), (links,))
        elif relation in self._bound:
            target = player if needs_end else self._needed_later(player, links)
            fan = self._estimator.per(self._estimator.players(relations, roles), relations)
            step = s.PlayersOf(relation, target, fresh_role, roles, players)
            yield self._edge_option(fan, step, links, target, fresh_role)
        elif player in self._bound:
            target = relation if needs_end else self._needed_later(relation, links)
            fan = self._estimator.per(self._estimator.playings(players, roles), players)
            step = s.RelationsOf(player, target, fresh_role, roles, relations)
            yield self._edge_option(fan, step, links, target, fresh_role)
        else:
            yield from self._starts(relation)
            yield from self._starts(player)

    def _edge_option(
        self, fan: float, step: s.Step, links: c.Links, target: Var | None, role: Var | None
    ) -> _Option:
        several_roles = self._types[links.role] & (self._types[links.role] - 1)
        repeats = role is None and target is not None and bool(several_roles)
        binds = (*_some(target), *_some(role))
        covers: tuple[object, ...] = (links,)
        if links.role in self._bound:
            covers = ()  # the role is tested once both ends are bound
        return _Option(fan + _WORK * fan, step, binds, covers, repeats)

    def _isa_options(self, isa: c.Isa) -> Iterator[_Option]:
        thing, type_ = isa.thing, isa.type
        assert isinstance(type_, Var)
        if thing in self._bound:
            step = s.TypesOf(thing, type_, self._types[type_], isa.exact)
            yield _Option(1.0 if isa.exact else _TYPE_FAN / 2, step, (type_,), (isa,))
        elif type_ in self._bound:
            count = self._estimator.things(self._types[thing])
            fan = count / max(1, self._types[type_].bit_count())
            back = s.InstancesOf(type_, thing, self._types[thing], isa.exact)
            yield _Option(fan, back, (thing,), (isa,))
        else:
            yield from self._starts(thing)
            yield from self._starts(type_)

    def _is_options(self, constraint: c.Is) -> Iterator[_Option]:
        for known, new in (
            (constraint.left, constraint.right),
            (constraint.right, constraint.left),
        ):
            if known in self._bound:
                step = s.Identifying(constraint, new, self._types.get(new))
                yield _Option(0.5, step, (new,), (constraint,))
                return
        yield from self._starts(constraint.left)

    def _calling(self, call: c.Call) -> _Option:
        known = frozenset(var for var in call.targets if var in self._bound)
        fresh = tuple(dict.fromkeys(var for var in call.targets if var not in self._bound))
        fan = _CALL_FAN if fresh else 1.0
        score = 1.5 if not call.function.stream else fan * 1.2
        step = s.Calling(call, known)
        return _Option(score, step, fresh, (call,), multiplies=call.function.stream)

    def _type_ends(self, constraint: c.Constraint) -> tuple[s.TypeEnd, s.TypeEnd, str, str]:
        match constraint:
            case c.Sub():
                exact = ("direct_super", "direct_subs")
                names = exact if constraint.exact else ("supers", "subs")
                ends = (constraint.subtype, constraint.supertype)
            case c.Owns():
                names, ends = ("owned", "owners"), (constraint.owner, constraint.attribute)
            case c.Plays():
                names, ends = ("played", "players"), (constraint.player, constraint.role)
            case c.Relates():
                names, ends = ("related", "relations"), (constraint.relation, constraint.role)
            case _:
                raise AssertionError(constraint)
        left, right = (self._type_end(end) for end in ends)
        return left, right, *names

    def _type_end(self, term: c.TypeTerm) -> s.TypeEnd:
        if isinstance(term, Var):
            return term
        found = self._schema.find(term.label)
        assert found is not None
        return found

    def _type_options(self, constraint: c.Constraint) -> Iterator[_Option]:
        left, right, forward, backward = self._type_ends(constraint)
        starts = []
        for start, end, field in ((left, right, forward), (right, left, backward)):
            if isinstance(start, Var) and start not in self._bound:
                starts.append(start)
                continue
            if isinstance(end, Var) and end not in self._bound:
                step = s.TypesAlong(start, end, field, self._types[end], end_bound=False)
                yield _Option(_TYPE_FAN, step, (end,), (constraint,))
            else:
                step = s.TypesAlong(start, end, field, 0, end_bound=True)
                yield _Option(0.0, step, (), (constraint,))
        for start in starts:
            yield from self._starts(start)

    def _starts(self, var: Var) -> Iterator[_Option]:
        """Yield the ways to bind a variable from nothing."""
        if var in self._bound or var not in self._types:
            return
        types = self._types[var]
        if self._settings.registry.categories[var].is_type:
            yield _Option(float(types.bit_count()), s.ScanTypes(var, types), (var,), ())
            return
        compares, tests = self._tests_on(var)
        count = self._estimator.things(types)
        score = count * selectivity(tests) + _WORK * count + 1
        yield _Option(score, s.ScanThings(var, types, tests), (var,), tuple(compares))
        yield from self._lookups(var, types)

    def _lookups(self, var: Var, types: int) -> Iterator[_Option]:
        for constraint in self._of_var.get(var, ()):
            if not isinstance(constraint, c.Compare) or constraint.op != "==":
                continue
            if constraint not in self._constraints:
                continue
            sides = (constraint.left, constraint.right)
            for side, other in (sides, sides[::-1]):
                if side is not var or not (isinstance(other, Constant) or other in self._bound):
                    continue
                compares, tests = self._tests_on(var)
                if constraint in compares:
                    position = compares.index(constraint)
                    tests = (*tests[:position], *tests[position + 1 :])
                covers = tuple(dict.fromkeys((constraint, *compares)))
                step = s.FindByValue(var, types, other, tests)
                yield _Option(0.9 * types.bit_count(), step, (var,), covers)


def _mentioned(constraint: c.Constraint) -> tuple[Var, ...]:
    """Return the variables a constraint is about, those of two edges that must differ included."""
    if isinstance(constraint, c.DifferentEdges):
        one, other = constraint.one, constraint.other
        return one.player, one.role, other.player, other.role
    return constraint.variables()


def _most_players(relation: Type) -> float:
    """Return how many players a relation of exactly this type can have."""
    total = 0.0
    for relating in relation.relates.values():
        if not relating.hidden:
            total += inf if relating.card.high is None else relating.card.high
    return total


def _some(var: Var | None) -> tuple[Var, ...]:
    return () if var is None else (var,)
