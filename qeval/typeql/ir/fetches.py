"""What ``fetch`` makes of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from qeval.typeql.ir.functions import Body
    from qeval.typeql.ir.pipelines import Pipeline
    from qeval.typeql.ir.variables import Var
    from qeval.typeql.syntax.ast import Span


@dataclass(frozen=True, slots=True, eq=False)
class FetchVariable:
    """``$x``."""

    variable: Var


@dataclass(frozen=True, slots=True, eq=False)
class FetchAttribute:
    """``$x.name``, or ``[ $x.name ]`` if ``many``."""

    variable: Var
    attribute: str
    many: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class FetchAll:
    """``{ $x.* }``."""

    variable: Var


@dataclass(frozen=True, slots=True, eq=False)
class FetchType:
    """A label used as a value."""

    label: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class FetchFunction:
    """An expression, a call or a body with ``return``: one value, or all values if ``many``."""

    body: Body
    many: bool


@dataclass(frozen=True, slots=True, eq=False)
class FetchPipeline:
    """``[ match …; fetch {…}; ]``."""

    pipeline: Pipeline


@dataclass(frozen=True, slots=True, eq=False)
class FetchEntries:
    """``{ "key": …, … }``; the span of an entry is where its faults are reported."""

    entries: tuple[tuple[str, FetchValue, Span], ...]


FetchObject: TypeAlias = "FetchEntries | FetchAll"
FetchValue: TypeAlias = (
    "FetchEntries | FetchAll | FetchVariable | FetchAttribute | FetchType | FetchFunction"
    " | FetchPipeline"
)
