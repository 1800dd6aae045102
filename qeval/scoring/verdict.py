"""The classes a case can end in (shared words of the whole project)."""

from enum import StrEnum
from typing import Literal


class Verdict(StrEnum):
    """Outcome of one case in one cell; exactly one of these."""

    CORRECT = "correct"
    EQUIVALENT = "equivalent"
    REFUTED = "refuted"
    WRONG_RESULT = "wrong_result"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    SCHEMA_ERROR = "schema_error"
    SYNTAX_ERROR = "syntax_error"
    UNSAFE = "unsafe"
    NO_QUERY = "no_query"
    INFRA_ERROR = "infra_error"
    GOLD_ERROR = "gold_error"

    @property
    def right(self) -> bool:
        """Whether the prediction stands: right on all data, or another right answer."""
        return self in (Verdict.CORRECT, Verdict.EQUIVALENT)

    @property
    def counted(self) -> bool:
        """Whether the case is in the denominator of every metric."""
        return self not in (Verdict.INFRA_ERROR, Verdict.GOLD_ERROR)


Which = Literal["refuted", "all", "none"]
"""For which predictions a counterexample is looked for; `all`: also for those wrong on base."""
