"""Functions: what they take and return, and their body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from qeval.typeql.ir.pipelines import Reducer, Stage
    from qeval.typeql.ir.variables import Category, Registry, Var
    from qeval.typeql.syntax.ast import NamedType, Output, Span
    from qeval.typeql.values import ValueType


@dataclass(frozen=True, slots=True)
class Concepts:
    """An argument or result that is a concept of one of a set of types."""

    types: int


@dataclass(frozen=True, slots=True)
class AnyConcept:
    """An argument of a built-in that takes every concept."""


Parameter: TypeAlias = "Concepts | ValueType | AnyConcept"


@dataclass(slots=True, eq=False)
class Signature:
    """What a call needs to know of a function. ``body`` is None for the built-ins on concepts.

    ``parameters`` and ``results`` are filled in by type inference.
    """

    name: str
    argument_categories: tuple[Category, ...]
    result_categories: tuple[Category, ...]
    stream: bool
    parameters: tuple[Parameter, ...] = ()
    results: tuple[Parameter, ...] = ()
    body: Body | None = None


@dataclass(frozen=True, slots=True, eq=False)
class StreamOf:
    """``return { … }``."""

    variables: tuple[Var, ...]


@dataclass(frozen=True, slots=True, eq=False)
class OneOf:
    """``return first …`` or ``return last …``."""

    variables: tuple[Var, ...]
    last: bool


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """``return sum($x), count``."""

    reducers: tuple[Reducer, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """``return check``."""


Result: TypeAlias = StreamOf | OneOf | Reduced | Checked


@dataclass(slots=True, eq=False)
class Body:
    """Stages and what is returned; also the form of the anonymous functions inside ``fetch``.

    ``argument_types`` and ``output`` are None for those. Functions that call each other
    recursively share a ``component``; others have None.
    """

    arguments: tuple[Var, ...]
    stages: tuple[Stage, ...]
    result: Result
    registry: Registry
    span: Span
    argument_types: tuple[NamedType, ...] | None = None
    output: Output | None = None
    component: int | None = None
