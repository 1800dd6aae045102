"""The declared shape of an answer: what a case promises about its gold's result table."""

from dataclasses import dataclass
from typing import Literal

ColumnType = Literal[
    "any", "bool", "int", "decimal", "float", "string", "date", "datetime", "duration", "list",
    "node",
]  # fmt: skip
"""`any` infers the type from the gold's own values; `node` is an entity compared by its key."""


@dataclass(frozen=True, slots=True)
class Column:
    """One answer column.

    `scale` is the number of decimals that count (`decimal` only); `items` the element type of a
    `list`; `tolerance` overrides the policy's relative tolerance (`float` only).
    """

    name: str
    type: ColumnType = "any"
    scale: int | None = None
    items: ColumnType | None = None
    tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class OrderKey:
    """A sort key: the name of an answer column and its direction."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """How a gold's table is to be compared.

    `columns` empty: one `any` column per gold column. `order_by` empty: rows are a bag.
    `top_k`: the question asks for the first k rows by `order_by`; the gold then returns *all* rows
    tied with the k-th, and any valid choice of exactly k of them is accepted.
    """

    columns: tuple[Column, ...] = ()
    order_by: tuple[OrderKey, ...] = ()
    top_k: int | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """Settings of the comparison that are decided once for an evaluation (`conf/scoring`)."""

    relative_tolerance: float = 1e-9
    absolute_tolerance: float = 0.0
    normalize_unicode: bool = True  # NFC before strings are compared
    trim_strings: bool = False
    ignore_case: bool = False
    bool_equals_int: bool = False  # only where the gold's column is bool
