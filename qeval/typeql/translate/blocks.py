"""The block under construction: one stage's pattern, growing constraint by constraint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qeval.typeql.budget import work
from qeval.typeql.faults import Fault
from qeval.typeql.ir import constraints as c
from qeval.typeql.ir.expressions import Constant
from qeval.typeql.ir.patterns import Conjunction
from qeval.typeql.ir.variables import Category, Var
from qeval.typeql.values.regex import compile_regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qeval.typeql.ir.expressions import Expression
    from qeval.typeql.syntax.ast import Kind, Span, Variable
    from qeval.typeql.translate.scope import Scope


class BlockBuilder:
    """Collects the constraints of a stage and narrows the categories of its variables.

    ``conjunction`` is where constraints go; :meth:`inside` moves it into a nested pattern.
    Every ``add_*`` raises REP1 or REP35 when a variable is used as two things at once.
    """

    def __init__(self, scope: Scope, span: Span) -> None:
        self.scope = scope
        self.root = Conjunction(span)
        self.conjunction = self.root
        self.inputs = frozenset(scope.names.values())
        self.declared: list[Var] = list(self.inputs)

    def variable(self, variable: Variable) -> Var:
        """Return the variable of a name, new if the name is; always new for ``$_``."""
        if variable.name is None:
            return self.anonymous(variable.span)
        var = self.scope.names.get(variable.name)
        if var is None:
            var = self.scope.new(variable.name, variable.span)
            self.scope.names[variable.name] = var
            self.declared.append(var)
        return var

    def anonymous(self, span: Span) -> Var:
        """Create a variable that the query does not name."""
        var = self.scope.new(None, span)
        self.declared.append(var)
        return var

    def inside(self, span: Span) -> _Inside:
        """Return a context manager within which constraints go into a new conjunction."""
        return _Inside(self, Conjunction(span))

    def add_isa(self, thing: Var, type_: c.TypeTerm, span: Span, *, exact: bool = False) -> None:
        """Add ``thing isa type``."""
        self._narrow(thing, Category.THING)
        self._narrow(type_, Category.THING_TYPE)
        self._add(c.Isa(span, thing, type_, exact))

    def add_iid(self, thing: Var, iid: str, span: Span) -> None:
        """Add ``thing iid …``."""
        self._narrow(thing, Category.THING)
        self._add(c.Iid(span, thing, iid))

    def add_has(self, owner: Var, attribute: Var, span: Span) -> None:
        """Add ``owner has attribute``."""
        self._narrow(owner, Category.OBJECT)
        self._narrow(attribute, Category.ATTRIBUTE)
        self._add(c.Has(span, owner, attribute))

    def add_links(self, relation: Var, player: Var, role: Var, span: Span) -> c.Links:
        """Add one edge of a relation, and return it."""
        self._narrow(relation, Category.OBJECT)
        self._narrow(player, Category.OBJECT)
        self._narrow(role, Category.ROLE_TYPE)
        links = c.Links(span, relation, player, role)
        self._add(links)
        return links

    def add_different_edges(self, one: c.Links, other: c.Links) -> None:
        """Add that two edges of a relation are not the same one."""
        self._add(c.DifferentEdges(one.span, one, other))

    def add_is(self, left: Var, right: Var, span: Span) -> None:
        """Add ``left is right``."""
        self._add(c.Is(span, left, right))

    def add_comparison(self, op: str, left: c.ValueTerm, right: c.ValueTerm, span: Span) -> None:
        """Add ``left op right``; raises REP50 and REP51 for what ``like`` cannot take."""
        if op == "like":
            _check_regex(right, span)
        self._narrow(left, Category.ATTRIBUTE_OR_VALUE)
        self._narrow(right, Category.ATTRIBUTE_OR_VALUE)
        self._add(c.Compare(span, op, left, right))

    def add_let(self, target: Var, expression: Expression, span: Span) -> None:
        """Add ``let target = expression``; raises REP21 for a target from an earlier stage."""
        self._refuse_input(target, span)
        self._narrow(target, Category.VALUE)
        self._add(c.Let(span, target, expression))

    def add_call(
        self,
        name: str,
        targets: Sequence[Var],
        arguments: Sequence[Var],
        optional: frozenset[Var],
        span: Span,
    ) -> None:
        """Add a function call; raises REP4, REP21, REP2 and REP3."""
        function = self.scope.functions.get(name)
        if function is None:
            raise Fault("REP4", f"there is no function '{name}'", span)
        for target in targets:
            self._refuse_input(target, span)
        if len(targets) != len(function.result_categories):
            expected = len(function.result_categories)
            raise Fault("REP2", f"{name} returns {expected} values, not {len(targets)}", span)
        if len(arguments) != len(function.argument_categories):
            expected = len(function.argument_categories)
            message = f"{name} takes {expected} arguments, not {len(arguments)}"
            raise Fault("REP3", message, span)
        for target, category in zip(targets, function.result_categories, strict=True):
            self._narrow(target, category)
        self.scope.registry.optional |= optional
        for argument, category in zip(arguments, function.argument_categories, strict=True):
            self._narrow(argument, category)
        self._add(c.Call(span, tuple(targets), function, tuple(arguments), optional))

    def add_kind(self, kind: Kind, type_: Var, span: Span) -> None:
        """Add ``entity $t`` and its like."""
        self._narrow(type_, Category.THING_TYPE)
        self._add(c.IsKind(span, kind, type_))

    def add_label(self, type_: Var, label: c.LabelRef, span: Span) -> None:
        """Add ``type label …``."""
        self._narrow(type_, Category.TYPE)
        self._add(c.HasLabel(span, type_, label))

    def add_role_name(self, role: Var, name: str, span: Span) -> None:
        """Add that a role has a bare name."""
        self._narrow(role, Category.ROLE_TYPE)
        self._add(c.RoleName(span, role, name))

    def add_value_type(self, type_: c.TypeTerm, value_type: str, span: Span) -> None:
        """Add ``type value …``."""
        self._narrow(type_, Category.ATTRIBUTE_TYPE)
        self._add(c.HasValueType(span, type_, value_type))

    def add_sub(
        self, subtype: c.TypeTerm, supertype: c.TypeTerm, span: Span, *, exact: bool = False
    ) -> None:
        """Add ``subtype sub supertype``."""
        self._narrow(subtype, Category.TYPE)
        self._narrow(supertype, Category.TYPE)
        self._add(c.Sub(span, subtype, supertype, exact))

    def add_owns(self, owner: c.TypeTerm, attribute: c.TypeTerm, span: Span) -> None:
        """Add ``owner owns attribute``."""
        self._narrow(owner, Category.THING_TYPE)
        self._narrow(attribute, Category.ATTRIBUTE_TYPE)
        self._add(c.Owns(span, owner, attribute))

    def add_plays(self, player: c.TypeTerm, role: c.TypeTerm, span: Span) -> None:
        """Add ``player plays role``."""
        self._narrow(player, Category.THING_TYPE)
        self._narrow(role, Category.ROLE_TYPE)
        self._add(c.Plays(span, player, role))

    def add_relates(self, relation: c.TypeTerm, role: c.TypeTerm, span: Span) -> None:
        """Add ``relation relates role``."""
        self._narrow(relation, Category.THING_TYPE)
        self._narrow(role, Category.ROLE_TYPE)
        self._add(c.Relates(span, relation, role))

    def _add(self, constraint: c.Constraint) -> None:
        work(1)
        self.conjunction.constraints.append(constraint)

    def _narrow(self, term: Any, category: Category) -> None:
        if isinstance(term, Var):
            self.scope.registry.narrow(term, category)

    def _refuse_input(self, target: Var, span: Span) -> None:
        if target in self.inputs:
            raise Fault("REP21", f"{target} already has a value from an earlier stage", span)


class _Inside:
    """Directs a builder's constraints into a nested conjunction for a while."""

    def __init__(self, builder: BlockBuilder, inner: Conjunction) -> None:
        self._builder = builder
        self._inner = inner
        self._outer = builder.conjunction

    def __enter__(self) -> Conjunction:
        self._builder.conjunction = self._inner
        return self._inner

    def __exit__(self, *_: object) -> None:
        self._builder.conjunction = self._outer


def _check_regex(pattern: c.ValueTerm, span: Span) -> None:
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        raise Fault("REP50", "the pattern of 'like' must be a string literal", span)
    try:
        compile_regex(pattern.value)
    except Fault as fault:
        fault.span = span
        raise
