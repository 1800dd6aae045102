"""The steps that could come next, each with what it would cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qeval.typeql.ir import constraints as c
from qeval.typeql.ir.expressions import Constant
from qeval.typeql.ir.variables import Var
from qeval.typeql.plan import steps as s
from qeval.typeql.plan.estimate import selectivity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qeval.typeql.ir.patterns import Or
    from qeval.typeql.plan.state import State

_TYPE_FAN = 3.0  # types a type leads to, on average
_CALL_FAN = 2.0
_WORK = 0.05  # the cost of looking at something, against that of a row that results


@dataclass(frozen=True, slots=True)
class Option:
    """A step that could come next. ``covers`` are the constraints it fulfils."""

    score: float
    step: s.Step
    binds: tuple[Var, ...]
    covers: tuple[c.Constraint | Or, ...]
    multiplies: bool = False  # may yield equal rows


class Options:
    """Looks for steps that meet a constraint, or bind a variable, given what is bound."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._estimator = state.settings.estimator
        self._schema = state.settings.schema
        self._types = state.types

    def meeting(self, constraint: c.Constraint) -> Iterator[Option]:
        """Yield the steps that meet a constraint, or begin to, by binding one of its variables."""
        match constraint:
            case c.Has():
                yield from self._has_options(constraint)
            case c.Links():
                yield from self._links_options(constraint)
            case c.Isa():
                yield from self._isa_options(constraint)
            case c.Iid():
                if constraint.thing in self._state.bound:
                    step = s.FindByIid(constraint.thing, 0, constraint.iid)
                    yield Option(0.0, step, (), (constraint,))
                else:
                    types = self._types[constraint.thing]
                    step = s.FindByIid(constraint.thing, types, constraint.iid)
                    yield Option(0.5, step, (constraint.thing,), (constraint,))
            case c.Is():
                yield from self._is_options(constraint)
            case c.Call():
                if self._state.all_bound(constraint.arguments):
                    yield self._calling(constraint)
            case c.Sub() | c.Owns() | c.Plays() | c.Relates():
                yield from self._type_options(constraint)

    def _has_options(self, has: c.Has) -> Iterator[Option]:
        owner, attribute = has.owner, has.attribute
        owners, attributes = self._types[owner], self._types[attribute]
        edges = self._estimator.ownerships(owners, attributes)
        if owner in self._state.bound:
            compares, tests = self._state.tests_on(attribute)
            fan = self._estimator.per(edges, owners)
            bare = self._state.uses[attribute] - len(compares)
            idle = self._state.settings.as_set and attribute.anonymous and bare == 1
            target = None if idle and attribute not in self._state.wanted else attribute
            step = s.AttributesOf(owner, target, attributes, tests)
            score = fan * selectivity(tests) + _WORK * fan
            yield Option(score, step, _some(target), (has, *compares))
        elif attribute in self._state.bound:
            target = self._state.needed_later(owner, has)
            fan = self._estimator.per(edges, attributes)
            step_back = s.OwnersOf(attribute, target, owners)
            yield Option(fan + _WORK * fan, step_back, _some(target), (has,))
        else:
            yield from self.binding(owner)
            yield from self.binding(attribute)

    def _links_options(self, links: c.Links) -> Iterator[Option]:
        relation, player = links.relation, links.player
        relations, players = self._types[relation], self._types[player]
        roles = self._types[links.role]
        role_known = links.role in self._state.bound
        fresh_role = None if role_known else self._state.role(links)
        needs_end = role_known or fresh_role is not None
        if relation in self._state.bound and player in self._state.bound:
            step: s.Step = s.EdgesBetween(relation, player, fresh_role, roles)
            yield Option(1.0, step, _some(fresh_role), (links,))
        elif relation in self._state.bound:
            target = player if needs_end else self._state.needed_later(player, links)
            fan = self._estimator.per(self._estimator.players(relations, roles), relations)
            step = s.PlayersOf(relation, target, fresh_role, roles, players)
            yield self._edge_option(fan, step, links, target, fresh_role)
        elif player in self._state.bound:
            target = relation if needs_end else self._state.needed_later(relation, links)
            fan = self._estimator.per(self._estimator.playings(players, roles), players)
            step = s.RelationsOf(player, target, fresh_role, roles, relations)
            yield self._edge_option(fan, step, links, target, fresh_role)
        else:
            yield from self.binding(relation)
            yield from self.binding(player)

    def _edge_option(
        self, fan: float, step: s.Step, links: c.Links, target: Var | None, role: Var | None
    ) -> Option:
        several_roles = self._types[links.role] & (self._types[links.role] - 1)
        repeats = role is None and target is not None and bool(several_roles)
        binds = (*_some(target), *_some(role))
        covers: tuple[c.Constraint, ...] = (links,)
        if links.role in self._state.bound:
            covers = ()  # the role is tested once both ends are bound
        return Option(fan + _WORK * fan, step, binds, covers, repeats)

    def _isa_options(self, isa: c.Isa) -> Iterator[Option]:
        thing, type_ = isa.thing, isa.type
        assert isinstance(type_, Var)
        if thing in self._state.bound:
            step = s.TypesOf(thing, type_, self._types[type_], isa.exact)
            yield Option(1.0 if isa.exact else _TYPE_FAN / 2, step, (type_,), (isa,))
        elif type_ in self._state.bound:
            count = self._estimator.things(self._types[thing])
            fan = count / max(1, self._types[type_].bit_count())
            back = s.InstancesOf(type_, thing, self._types[thing], isa.exact)
            yield Option(fan, back, (thing,), (isa,))
        else:
            yield from self.binding(thing)
            yield from self.binding(type_)

    def _is_options(self, constraint: c.Is) -> Iterator[Option]:
        for known, new in (
            (constraint.left, constraint.right),
            (constraint.right, constraint.left),
        ):
            if known in self._state.bound:
                step = s.Identifying(constraint, new, self._types.get(new))
                yield Option(0.5, step, (new,), (constraint,))
                return
        yield from self.binding(constraint.left)

    def _calling(self, call: c.Call) -> Option:
        known = frozenset(var for var in call.targets if var in self._state.bound)
        fresh = tuple(dict.fromkeys(var for var in call.targets if var not in self._state.bound))
        fan = _CALL_FAN if fresh else 1.0
        score = 1.5 if not call.function.stream else fan * 1.2
        step = s.Calling(call, known)
        return Option(score, step, fresh, (call,), multiplies=call.function.stream)

    def type_ends(self, constraint: c.TypeConstraint) -> tuple[s.TypeEnd, s.TypeEnd, str, str]:
        """Return both ends of a constraint on types, and the fields leading right and left."""
        ends = constraint.between_types()
        return self._type_end(ends.left), self._type_end(ends.right), ends.forward, ends.backward

    def _type_end(self, term: c.TypeTerm) -> s.TypeEnd:
        if isinstance(term, Var):
            return term
        found = self._schema.find(term.label)
        assert found is not None
        return found

    def _type_options(self, constraint: c.TypeConstraint) -> Iterator[Option]:
        left, right, forward, backward = self.type_ends(constraint)
        starts = []
        for start, end, field in ((left, right, forward), (right, left, backward)):
            if isinstance(start, Var) and start not in self._state.bound:
                starts.append(start)
                continue
            if isinstance(end, Var) and end not in self._state.bound:
                step = s.TypesAlong(start, end, field, self._types[end], end_bound=False)
                yield Option(_TYPE_FAN, step, (end,), (constraint,))
            else:
                step = s.TypesAlong(start, end, field, 0, end_bound=True)
                yield Option(0.0, step, (), (constraint,))
        for start in starts:
            yield from self.binding(start)

    def binding(self, var: Var) -> Iterator[Option]:
        """Yield the ways to bind a variable from nothing."""
        if var in self._state.bound or var not in self._types:
            return
        types = self._types[var]
        if self._state.settings.registry.categories[var].is_type:
            yield Option(float(types.bit_count()), s.ScanTypes(var, types), (var,), ())
            return
        compares, tests = self._state.tests_on(var)
        count = self._estimator.things(types)
        score = count * selectivity(tests) + _WORK * count + 1
        yield Option(score, s.ScanThings(var, types, tests), (var,), tuple(compares))
        yield from self._lookups(var, types)

    def _lookups(self, var: Var, types: int) -> Iterator[Option]:
        for constraint in self._state.of_var.get(var, ()):
            if not isinstance(constraint, c.Compare) or constraint.op != "==":
                continue
            if constraint not in self._state.constraints:
                continue
            sides = (constraint.left, constraint.right)
            for side, other in (sides, sides[::-1]):
                if side is not var or not (
                    isinstance(other, Constant) or other in self._state.bound
                ):
                    continue
                compares, tests = self._state.tests_on(var)
                if constraint in compares:
                    position = compares.index(constraint)
                    tests = (*tests[:position], *tests[position + 1 :])
                covers = tuple(dict.fromkeys((constraint, *compares)))
                step = s.FindByValue(var, types, other, tests)
                yield Option(0.9 * types.bit_count(), step, (var,), covers)


def _some(var: Var | None) -> tuple[Var, ...]:
    return () if var is None else (var,)
