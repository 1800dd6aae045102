"""What values an attribute type or an ownership admits: ``@regex``, ``@values``, ``@range``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qeval.typeql.values import order_key
from qeval.typeql.values.regex import compile_regex

if TYPE_CHECKING:
    from qeval.typeql.values import Value


@dataclass(frozen=True, slots=True)
class ValueLimits:
    """The admitted values; None where nothing is asked."""

    regex: str | None = None
    values: tuple[Value, ...] | None = None
    low: Value | None = None
    high: Value | None = None

    def reason_against(self, value: Value) -> str | None:
        """Say which annotation a value breaks, None if it keeps them all; raises REP51."""
        if self.regex is not None and not compile_regex(self.regex)(str(value)):
            return f'@regex("{self.regex}")'
        if self.values is not None and value not in self.values:
            return "@values"
        if self.low is not None and order_key(value) < order_key(self.low):
            return "@range"
        if self.high is not None and order_key(value) > order_key(self.high):
            return "@range"
        return None


NO_LIMITS = ValueLimits()
