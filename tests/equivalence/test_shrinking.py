"""Data sets cut down: references stay whole, the difference stays, nothing can be left out."""

from collections.abc import Callable
from datetime import date
from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from qeval.data.model import Dataset, Field, TableModel
from qeval.data.references import References
from qeval.equivalence import shrink
from qeval.suites import load_suite

TABLES = (
    TableModel("places", (Field("id", "int"),), ("id",)),
    TableModel(
        "people",
        (
            Field("id", "int"),
            Field("place", "int", nullable=True, references="places.id"),
            Field("friend", "int", nullable=True, references="people.id"),
        ),
        ("id",),
    ),
    TableModel(
        "gifts",
        (Field("giver", "int", references="people.id"), Field("worth", "int")),
        (),
    ),
)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Some places, people who live there or nowhere and have friends, and gifts."""
    places = list(range(draw(st.integers(0, 4))))
    people = list(range(draw(st.integers(0, 6))))
    somewhere = st.sampled_from([None, *places])
    somebody = st.sampled_from([None, *people])
    rows: dict[str, list[tuple[Any, ...]]] = {
        "places": [(number,) for number in places],
        "people": [(number, draw(somewhere), draw(somebody)) for number in people],
        "gifts": [],
    }
    if people:
        gift = st.tuples(st.sampled_from(people), st.integers(0, 9))
        rows["gifts"] = draw(st.lists(gift, max_size=8))
    return Dataset(TABLES, rows, date(2025, 6, 30))


def whole(dataset: Dataset) -> bool:
    """Whether every reference finds its row."""
    for table in dataset.tables:
        for index, field in enumerate(table.fields):
            if field.references is not None:
                target, _, _ = field.references.partition(".")
                known = {row[0] for row in dataset.rows[target]}
                if {row[index] for row in dataset.rows[table.name]} - known - {None}:
                    return False
    return True


def size(dataset: Dataset) -> int:
    return sum(map(len, dataset.rows.values()))


def is_part(part: Dataset, dataset: Dataset) -> bool:
    """Whether the part's rows are rows of the whole, in their order."""

    def within(few: Any, many: Any) -> bool:
        rest = iter(many)
        return all(any(row == other for other in rest) for row in few)

    return all(within(part.rows[t.name], dataset.rows[t.name]) for t in dataset.tables)


def worth(limit: int) -> Callable[[Dataset], bool]:
    return lambda dataset: sum(row[1] for row in dataset.rows["gifts"]) >= limit


def friends_abroad(dataset: Dataset) -> bool:
    """Whether somebody lives elsewhere than the friend: it takes two people and their places."""
    homes = {person: place for person, place, _ in dataset.rows["people"]}
    return any(
        friend is not None and None not in (place, homes[friend]) and place != homes[friend]
        for _, place, friend in dataset.rows["people"]
    )


@given(datasets(), st.sampled_from([friends_abroad, worth(0), worth(5), worth(12)]))
def test_what_is_left_differs_and_no_row_can_go(
    dataset: Dataset, differs: Callable[[Dataset], bool]
) -> None:
    if not differs(dataset):
        return
    found = shrink(dataset, differs, seconds=3600)
    assert found.minimal
    assert whole(found.dataset)
    assert is_part(found.dataset, dataset)
    assert differs(found.dataset)
    assert found.rows == size(found.dataset)
    references = References(found.dataset)
    everything = set(range(found.rows))
    for row in everything:
        rest = references.part(everything - references.with_dependents([row]))
        assert whole(rest)
        assert not differs(rest)
    assert shrink(dataset, differs, seconds=3600) == found


@given(datasets(), st.integers(0, 12))
def test_when_the_time_is_up_the_best_so_far_is_kept(dataset: Dataset, trials: int) -> None:
    """The clock of the test moves by one with each trial, so it ends after some of them."""
    differs = worth(3)
    if not differs(dataset):
        return
    clock = count()
    found = shrink(dataset, differs, seconds=trials, clock=lambda: float(next(clock)))
    assert differs(found.dataset)
    assert whole(found.dataset)
    assert found.trials <= trials
    whole_search = shrink(dataset, differs, seconds=3600)
    assert found.rows >= whole_search.rows
    assert found.minimal <= (found == whole_search)


def test_a_row_that_refers_to_itself_stands_alone() -> None:
    dataset = Dataset(
        TABLES, {"places": [], "people": [(1, None, 1), (2, None, 1)], "gifts": []}, date.min
    )
    references = References(dataset)
    assert references.with_dependents([1]) == {1}
    assert references.with_dependents([0]) == {0, 1}


def test_what_refers_to_a_row_of_the_shop_goes_with_it() -> None:
    """Trees, subtypes, relations: without users no orders, without a category none below it."""
    dataset = load_suite("ecommerce").instance("sql", "variant-2").dataset()
    references = References(dataset)
    everything = set(range(len(references.table_of)))
    gone = [references.numbers["categories"][1], *references.numbers["users"]]
    part = references.part(everything - references.with_dependents(gone))
    assert not part.rows["orders"]
    assert not part.rows["premium_users"]
    assert 0 < len(part.rows["categories"]) < len(dataset.rows["categories"]) - 1
    keys = {table.name: {row[0] for row in part.rows[table.name]} for table in part.tables}
    for table in part.tables:
        for index, field in enumerate(table.fields):
            if field.references:
                found = {row[index] for row in part.rows[table.name]} - {None}
                assert found <= keys[field.references.partition(".")[0]]
