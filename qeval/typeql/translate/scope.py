"""Which variables a name means while a pipeline is translated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qeval.typeql.faults import Fault
from qeval.typeql.ir.variables import Registry, Var
from qeval.typeql.syntax import RESERVED
from qeval.typeql.syntax.ast import Label, ScopedLabel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qeval.typeql.ir.functions import Signature
    from qeval.typeql.ir.variables import Category
    from qeval.typeql.syntax.ast import Span, Variable

MAX_VARIABLES = 65_535


class Scope:
    """The names visible at one point of a pipeline, and what is known of their variables."""

    def __init__(self, functions: Mapping[str, Signature]) -> None:
        self.functions = functions
        self.names: dict[str, Var] = {}
        self.registry = Registry()
        self.created = 0

    def nested(self) -> Scope:
        """Return a scope that starts from this one and leaves it untouched."""
        inner = Scope(self.functions)
        inner.names = self.names.copy()
        inner.registry = self.registry.copy()
        inner.created = self.created
        return inner

    def introduce(self, name: str, span: Span, category: Category) -> Var:
        """Make a new variable visible: an argument, or the target of a reduction."""
        var = self.new(name, span)
        self.registry.narrow(var, category)
        self.names[name] = var
        return var

    def find(self, variable: Variable, code: str) -> Var:
        """Return a variable that must be visible; otherwise raises the given code."""
        if variable.name is None:
            raise Fault("REP41", "a variable with a name is needed here", variable.span)
        var = self.names.get(variable.name)
        if var is None:
            raise Fault(code, f"${variable.name} is not available here", variable.span)
        return var

    def new(self, name: str | None, span: Span) -> Var:
        """Create a variable; raises REP52 when a query uses too many."""
        self.created += 1
        if self.created > MAX_VARIABLES:
            raise Fault("REP52", f"more than {MAX_VARIABLES} variables in one query", span)
        return Var(name, span)


def label_text(label: Label | ScopedLabel) -> str:
    """Return a label as the schema spells it; raises REP27 for a reserved word."""
    parts = (label.scope, label.name) if isinstance(label, ScopedLabel) else (label.name,)
    for part in parts:
        if part in RESERVED:
            raise Fault("REP27", f"the reserved word '{part}' cannot be a label", label.span)
    return ":".join(parts)
