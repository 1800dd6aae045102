"""Which variables a pattern binds, which it needs, and whether some order can serve them all."""

from __future__ import annotations

from enum import Enum
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

from qeval.typeql.budget import work
from qeval.typeql.faults import Fault
from qeval.typeql.ir.constraints import Call, Is
from qeval.typeql.ir.patterns import Block, Conjunction, Nested, Not, Or, Try
from qeval.typeql.ir.variables import Category, Var, narrowest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qeval.typeql.ir.constraints import Constraint
    from qeval.typeql.ir.variables import Registry
    from qeval.typeql.translate.blocks import BlockBuilder


class Mode(Enum):
    """How a pattern treats a variable."""

    ABSENT = "absent"
    BINDS = "binds"
    NEEDS = "needs"
    LOCAL = "binds inside only"
    MAYBE = "binds or leaves empty"


Modes: TypeAlias = dict[Var, Mode]


def finish_block(builder: BlockBuilder) -> Block:
    """Check a translated block and fill in what its patterns share with each other.

    Raises, in the server's order: REP53 (``try`` inside ``not``), REP44 (a variable used before
    it has a value), REP25 (a variable that nothing binds), REP28 (``is`` between unlike
    variables), REP55 (no order of evaluation exists).
    """
    root, scope = builder.root, builder.scope
    _refuse_optional_in_negation(root)
    modes = _ModesOf()
    root_modes = modes.of(root)
    block_modes = {**root_modes, **dict.fromkeys(builder.inputs, Mode.BINDS)}
    _check_needs(block_modes)
    _check_categories(builder.declared, scope.registry)
    _check_is(root, scope.registry)
    scope.registry.optional |= {v for v, mode in block_modes.items() if mode is Mode.MAYBE}
    scope.names = {
        name: var for name, var in scope.names.items() if block_modes.get(var) is not Mode.LOCAL
    }
    _settle(root, block_modes, modes)
    _check_order(root, builder.inputs)
    return Block(root, builder.inputs)


def _both(one: Mode, other: Mode) -> Mode:
    """Combine two patterns that must both hold."""
    if one is Mode.ABSENT:
        return other
    if other is Mode.ABSENT:
        return one
    # A variable local to two siblings, or optional in two, would mean two different things.
    return Mode.BINDS if Mode.BINDS in (one, other) else Mode.NEEDS


def _either(one: Mode, other: Mode) -> Mode:
    """Combine two branches of a disjunction."""
    if one is other and one in (Mode.BINDS, Mode.MAYBE, Mode.ABSENT):
        return one
    if Mode.NEEDS in (one, other) or Mode.MAYBE in (one, other):
        return Mode.NEEDS
    return Mode.LOCAL


class _ModesOf:
    """The modes of every pattern of a block, computed once each."""

    def __init__(self) -> None:
        self._known: dict[Conjunction, Modes] = {}

    def of(self, conjunction: Conjunction) -> Modes:
        work(1)
        found = self._known.get(conjunction)
        if found is None:
            found = self._compute(conjunction)
            self._known[conjunction] = found
        return found

    def of_nested(self, nested: Nested) -> Modes:
        match nested:
            case Or():
                return self._of_disjunction(nested)
            case Not():
                return _replace(self.of(nested.body), Mode.LOCAL)
            case Try():
                return _replace(self.of(nested.body), Mode.MAYBE)

    def _compute(self, conjunction: Conjunction) -> Modes:
        modes: Modes = {}
        for constraint in conjunction.constraints:
            for var in constraint.binds():
                optional = isinstance(constraint, Call) and var in constraint.optional
                _combine(modes, var, Mode.MAYBE if optional else Mode.BINDS)
            for var in constraint.needs():
                _combine(modes, var, Mode.NEEDS)
        for nested in conjunction.nested:
            for var, mode in self.of_nested(nested).items():
                _combine(modes, var, mode)
        return modes

    def _of_disjunction(self, disjunction: Or) -> Modes:
        branches = [self.of(branch) for branch in disjunction.branches]
        modes: Modes = {}
        for var in {var: None for branch in branches for var in branch}:
            mode = reduce(_either, (branch.get(var, Mode.ABSENT) for branch in branches))
            if mode is Mode.LOCAL and sum(var in branch for branch in branches) > 1:
                mode = Mode.NEEDS  # in several branches, but not bound by all
            modes[var] = mode
        return modes


def _combine(modes: Modes, var: Var, mode: Mode) -> None:
    modes[var] = _both(modes.get(var, Mode.ABSENT), mode)


def _replace(modes: Modes, binds: Mode) -> Modes:
    return {var: binds if mode is Mode.BINDS else mode for var, mode in modes.items()}


def _settle(conjunction: Conjunction, outer: Modes, modes: _ModesOf) -> None:
    """Record for each pattern what it shares with its surroundings and what it needs of them."""
    own = _within(modes.of(conjunction), outer)
    conjunction.visible, conjunction.needed = _shared(own)
    for nested in conjunction.nested:
        inner = _within(modes.of_nested(nested), own)
        if isinstance(nested, Or):
            nested.visible, nested.needed = _shared(inner)
            for branch in nested.branches:
                _settle(branch, inner, modes)
        else:
            _settle(nested.body, inner, modes)


def _within(own: Modes, outer: Modes) -> Modes:
    settled: Modes = {}
    for var, mode in own.items():
        around = outer.get(var, Mode.ABSENT)
        needs = around is Mode.NEEDS or (around is Mode.BINDS and mode in (Mode.LOCAL, Mode.MAYBE))
        settled[var] = Mode.NEEDS if needs else mode
    return settled


def _shared(modes: Modes) -> tuple[frozenset[Var], frozenset[Var]]:
    shared = (Mode.BINDS, Mode.NEEDS, Mode.MAYBE)
    visible = frozenset(var for var, mode in modes.items() if mode in shared)
    return visible, frozenset(var for var, mode in modes.items() if mode is Mode.NEEDS)


def _refuse_optional_in_negation(root: Conjunction) -> None:
    waiting = [(root, False)]
    while waiting:
        conjunction, negated = waiting.pop()
        for nested in conjunction.nested:
            if negated and isinstance(nested, Try):
                raise Fault("REP53", "'try' inside 'not' can never mean anything")
            waiting += [(body, negated or isinstance(nested, Not)) for body in nested.bodies]


def _check_needs(modes: Modes) -> None:
    unbound = [var for var, mode in modes.items() if mode is Mode.NEEDS]
    if unbound:
        first = min(unbound, key=lambda var: var.span)
        raise Fault("REP44", f"{first} must have a value before it is used", first.span)


def _check_categories(declared: Iterable[Var], registry: Registry) -> None:
    for var in declared:
        category = registry.categories.get(var)
        if category is None or category is Category.ATTRIBUTE_OR_VALUE:
            raise Fault("REP25", f"nothing says what {var} is", var.span)


def _check_is(root: Conjunction, registry: Registry) -> None:
    for conjunction in root.walk():
        for constraint in conjunction.constraints:
            if isinstance(constraint, Is):
                left = registry.categories[constraint.left]
                right = registry.categories[constraint.right]
                if narrowest(left, right) is None:
                    pair = f"{constraint.left} and {constraint.right}"
                    raise Fault("REP28", f"{pair} can never be the same", constraint.span)


def _check_order(conjunction: Conjunction, bound: frozenset[Var]) -> None:
    """Check that the constraints can be put in an order that serves each one's needs."""
    known = set(bound)
    waiting: list[Constraint | Or] = [
        *conjunction.constraints,
        *(nested for nested in conjunction.nested if isinstance(nested, Or)),
    ]
    progress = True
    while progress:
        work(len(waiting) + 1)
        ready = [item for item in waiting if known.issuperset(_needs(item))]
        waiting = [item for item in waiting if not known.issuperset(_needs(item))]
        for item in ready:
            known.update(item.visible if isinstance(item, Or) else item.variables())
        progress = bool(ready)
    late = [n for n in conjunction.nested if not isinstance(n, Or) and not n.body.needed <= known]
    if waiting or late:
        raise Fault("REP55", "no order of evaluation exists: assignments depend on each other")
    for nested in conjunction.nested:
        for body in nested.bodies:
            _check_order(body, nested.needed if isinstance(nested, Or) else body.needed)


def _needs(item: Constraint | Or) -> Iterable[Var]:
    return item.needed if isinstance(item, Or) else item.needs()
