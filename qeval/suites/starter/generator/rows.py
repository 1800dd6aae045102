"""The rows of this suite, made by a function: the same options give the same rows."""

from datetime import date, timedelta
from typing import Any

from qeval.data.model import Dataset, Field, TableModel

TABLES = (
    TableModel("teams", (Field("id", "int"), Field("name", "string")), key=("id",)),
    TableModel(
        "people",
        (
            Field("id", "int"),
            Field("name", "string"),
            Field("team_id", "int", nullable=True, references="teams.id"),
            Field("joined_on", "date"),
            Field("hours", "int", nullable=True),
        ),
        key=("id",),
    ),
)


def generate(people: int, *, adversarial: bool = False) -> Dataset:
    """`people` of them in three teams; `adversarial` leaves more of their hours unknown."""
    teams = [(1, "Blue"), (2, "Green"), (3, "Green"), (4, "Empty")]
    gap = 2 if adversarial else 5
    rows: list[tuple[Any, ...]] = [
        (
            number,
            f"Person {number}",
            None if number % 7 == 0 else number % 3 + 1,
            date(2023, 12, 31) + timedelta(days=number - 2),
            None if number % gap == 0 else 20 + number * 3,
        )
        for number in range(1, people + 1)
    ]
    return Dataset(TABLES, {"teams": teams, "people": rows}, reference_date=date(2024, 12, 31))
