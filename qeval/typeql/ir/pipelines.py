"""Stages, and what stands at the end of them: rows, documents or the result of a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from qeval.typeql.ir.fetches import FetchObject
    from qeval.typeql.ir.patterns import Block
    from qeval.typeql.ir.variables import Registry, Var
    from qeval.typeql.syntax.ast import ReducerName, Span


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """``match``. ``outputs`` are the named variables visible after it."""

    block: Block
    outputs: tuple[Var, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Select:
    """``select``."""

    variables: tuple[Var, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Sort:
    """``sort``: each variable with True for descending."""

    keys: tuple[tuple[Var, bool], ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Offset:
    """``offset``."""

    count: int
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Limit:
    """``limit``."""

    count: int
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Require:
    """``require``."""

    variables: tuple[Var, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """``distinct``."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Reducer:
    """``sum($x)``, ``count``."""

    name: ReducerName
    variable: Var | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Reduce:
    """``reduce $target = reducer, … groupby …``."""

    reductions: tuple[tuple[Var, Reducer], ...]
    groupby: tuple[Var, ...]
    span: Span


Stage: TypeAlias = Match | Select | Sort | Offset | Limit | Require | Distinct | Reduce


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """Stages, the variables visible at their end, and the documents to make of the rows."""

    stages: tuple[Stage, ...]
    outputs: tuple[Var, ...]
    registry: Registry
    fetch: FetchObject | None = None
