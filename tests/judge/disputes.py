"""What the judge tests share: disputes, and judges built from their YAML."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from qeval.cells import build_cell, compose, construct
from qeval.configuration import plain
from qeval.data.model import Field, TableModel
from qeval.judge.base import Dispute, Shown
from qeval.scoring.spec import AnswerSpec
from qeval.suite import Case

GOLD = "SELECT name FROM users WHERE age > 18"
PREDICTED = "SELECT name FROM users WHERE age >= 18"
USERS = TableModel(
    "users",
    (Field("id", "int"), Field("name", "string"), Field("age", "int", nullable=True)),
    ("id",),
)


@cache
def language(name: str = "sql") -> Any:
    """A language of `conf/language`."""
    return build_cell(compose(["model=gold", f"language={name}"])).language


def judge(*overrides: str) -> Any:
    """The judge of a command line, `mock` by default."""
    chosen = any(word.startswith("judge=") for word in overrides)
    words = overrides if chosen else ("judge=mock", *overrides)
    return construct(plain(compose(words))["judge"], "judge")


def dispute(
    gold: str = GOLD,
    predicted: str = PREDICTED,
    *,
    question: str = "Which users are older than 18?",
    difference: Mapping[str, Any] | None = None,
    differing: str = "base",
    query_language: str = "sql",
    shown: bool = True,
) -> Dispute:
    """A dispute of two queries on one table."""
    asked = Case("easy-01", "easy", {"en": question}, {query_language: gold}, AnswerSpec())
    return Dispute(
        case=asked,
        question=question,
        reference_date="2025-06-30",
        language=language(query_language),
        schema="CREATE TABLE users (id integer PRIMARY KEY, name text NOT NULL, age integer);",
        gold=gold,
        predicted=predicted,
        tables=(USERS,),
        gold_result=Shown(("name",), (("Ann",),), 1) if shown else None,
        predicted_result=Shown(("name",), (("Ann",), ("Bob",)), 2) if shown else None,
        difference=difference or {"kind": "superset", "extra": [["Bob"]], "extra_count": 1},
        differing=differing,
    )
