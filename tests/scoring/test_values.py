"""What every driver's values become."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from ipaddress import ip_address
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import neo4j.graph
import neo4j.spatial
import neo4j.time
import numpy as np
import pandas as pd
import pytest
import pytz  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from psycopg.types.range import Range
from typedb.common.datetime import Datetime
from typedb.common.duration import Duration as TypeDBDuration

from qeval.scoring.values import (
    Canonical,
    Clock,
    Day,
    Duration,
    Instant,
    Map,
    Node,
    Path,
    canonical,
    parse_duration,
)
from qeval.scoring.values.temporal import day, epoch_days, epoch_nanos, instant, parse_instant
from qeval.typeql.values.temporal import Date, DateTime, DateTimeTz
from qeval.typeql.values.temporal import Duration as EmbeddedDuration

NOON = datetime(2024, 2, 29, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (5, 5),
        (Decimal("6.90"), Decimal("6.90")),
        ("x", "x"),
        (Colour.RED, "red"),
        (Level.LOW, 1),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (ip_address("10.0.0.1"), "10.0.0.1"),
        (memoryview(b"ab"), b"ab"),
        (bytearray(b"ab"), b"ab"),
        ([1, [2, None]], (1, (2, None))),
        ({"b": [1], "a": None}, Map((("a", None), ("b", (1,))))),
        (date(2024, 2, 29), date(2024, 2, 29)),
        (datetime(2024, 2, 29, 12), NOON),  # noqa: DTZ001 - naive is UTC
        (datetime(2024, 2, 29, 13, tzinfo=timezone(timedelta(hours=1))), NOON),
        (datetime(2024, 2, 29, 13, tzinfo=BERLIN), NOON),
        (timedelta(days=1, seconds=2, microseconds=3), Duration.of(0, 1, 2, 3000)),
        (time(1, 2, 3, 4), Clock(3_723_000_004_000)),
        (Range(1, 5), "[1,5)"),
        (Range(date(2024, 1, 1), None, "[)"), "[2024-01-01,)"),
        (Range(empty=True), "empty"),
    ],
)
def test_python_and_psycopg(value: Any, expected: Any) -> None:
    found = canonical(value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (neo4j.time.Date(2024, 2, 29), date(2024, 2, 29)),
        (neo4j.time.DateTime(2024, 2, 29, 12, 0, 0, 0), NOON),
        (neo4j.time.DateTime(2024, 2, 29, 13, 0, 0, 0, tzinfo=BERLIN), NOON),
        (
            neo4j.time.DateTime(2024, 2, 29, 12, 0, 0, 1),
            Instant(epoch_nanos(NOON) + 1),
        ),
        (
            pytz.timezone("Europe/Berlin").localize(
                neo4j.time.DateTime(2024, 7, 1, 14, 0, 0, 1000)
            ),
            datetime(2024, 7, 1, 12, 0, 0, 1, tzinfo=UTC),
        ),
        (pytz.FixedOffset(60).localize(neo4j.time.DateTime(2024, 2, 29, 13)), NOON),
        (
            neo4j.time.Time(1, 0, 0, 0, tzinfo=timezone(timedelta(minutes=90))),
            Clock(3600 * 10**9, 5400),
        ),
        (neo4j.time.Time(1, 2, 3, 4), Clock(3_723_000_000_004)),
        (neo4j.time.Duration(months=1, days=2, seconds=3, nanoseconds=4), Duration.of(1, 2, 3, 4)),
        (neo4j.time.Duration(months=12), Duration.of(12)),
        (
            neo4j.spatial.WGS84Point((1.5, 2.5)),
            Map((("coordinates", (1.5, 2.5)), ("srid", 4326))),
        ),
        (TypeDBDuration(1, 2, 3), Duration.of(1, 2, nanos=3)),
        (Datetime.utcfromtimestamp(1_709_208_000, 0), NOON),
        (Datetime.utcfromtimestamp(1_709_208_000, 1000), NOON + timedelta(microseconds=1)),
        (Datetime.utcfromtimestamp(1_709_208_000, 7), Instant(epoch_nanos(NOON) + 7)),
        (Datetime.fromtimestamp(1_709_208_000, 0, offset_seconds=3600), NOON),
        (Date.of(2024, 2, 29), date(2024, 2, 29)),
        (Date.of(12024, 2, 29), Day(epoch_days(12024, 2, 29))),
        (DateTime(epoch_nanos(NOON)), NOON),
        (DateTimeTz(epoch_nanos(NOON), "Europe/Berlin"), NOON),
        (EmbeddedDuration(1, 2, 3), Duration.of(1, 2, nanos=3)),
        (np.int64(5), 5),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),  # noqa: FBT003
        (np.array([1, 2]), (1, 2)),
        (pd.NaT, None),
        (pd.NA, None),
        (pd.Timestamp("2024-02-29 12:00"), NOON),
        (pd.Timestamp("2024-02-29 12:00:00.000000001"), Instant(epoch_nanos(NOON) + 1)),
    ],
)
def test_other_drivers(value: Any, expected: Any) -> None:
    found = canonical(value)
    assert found == expected
    assert type(found) is type(expected)


def graph() -> neo4j.graph.Graph:
    return neo4j.graph.Graph()


def user(number: int, **properties: Any) -> neo4j.graph.Node:
    return neo4j.graph.Node(graph(), f"4:x:{number}", number, ("User", "Premium"), properties)


def test_graph_node_by_its_key_property_or_else_its_id() -> None:
    node = user(3, user_id=7, name="Ada")
    found = canonical(node)
    assert found == Node(("Premium", "User"), "4:x:3")
    assert found.properties == (("name", "Ada"), ("user_id", 7))
    assert Canonical({"User": "user_id"})(node) == Node(("Premium", "User"), 7)
    assert Canonical({"Product": "id"})(node) == Node(("Premium", "User"), "4:x:3")
    assert Canonical(key_of=lambda value: value["name"])(node) == Node(("Premium", "User"), "Ada")


def test_graph_relationship_and_path() -> None:
    one = graph()
    first = neo4j.graph.Node(one, "4:x:1", 1, ("User",), {})
    second = neo4j.graph.Node(one, "4:x:2", 2, ("User",), {})
    kind = one.relationship_type("FOLLOWS")
    follows = kind(one, "5:x:9", 9, {"since": neo4j.time.Date(2024, 1, 1)})
    follows._start_node, follows._end_node = first, second
    found = canonical(follows)
    assert found == Node(("FOLLOWS",), "5:x:9")
    assert found.properties == (("since", date(2024, 1, 1)),)
    path = neo4j.graph.Path(first, follows)
    assert canonical(path) == Path((canonical(first), found, canonical(second)))


class Concept:
    """A TypeQL concept with the methods that both engines' concepts have."""

    def __init__(self, kind: str, label: str, value: Any = None) -> None:
        self.kind, self.label, self.value = kind, label, value

    def is_entity(self) -> bool:
        return self.kind == "entity"

    def is_relation(self) -> bool:
        return self.kind == "relation"

    def is_attribute(self) -> bool:
        return self.kind == "attribute"

    def is_value(self) -> bool:
        return self.kind == "value"

    def get_label(self) -> str:
        return self.label

    def get_iid(self) -> str:
        return "0x1e"

    def get_value(self) -> Any:
        return self.value

    get = get_value


def test_typeql_concepts() -> None:
    assert canonical(Concept("entity", "user")) == Node(("user",), "0x1e")
    assert canonical(Concept("relation", "follows")) == Node(("follows",), "0x1e")
    assert canonical(Concept("attribute", "price", Decimal("1.5"))) == Decimal("1.5")
    assert canonical(Concept("value", "duration", TypeDBDuration(0, 1, 0))) == Duration.of(days=1)
    assert canonical(Concept("type", "user")) == "user"


def test_tables_that_are_canonical_are_left_alone() -> None:
    rows = [(1, "a"), (2, None)]
    table = canonical.table(["n", "s"], rows)
    assert table.rows == tuple(rows)
    mixed = canonical.table(["n"], [([1],), (None,)])
    assert mixed.rows == (((1,),), (None,))


def test_durations_print_and_parse() -> None:
    for text, months, nanos in (
        ("PT0S", 0, 0),
        ("P14M", 14, 0),
        ("P1DT3661.5S", 0, (86_400 + 3661) * 10**9 + 500_000_000),
        ("-P1M", -1, 0),
        ("-PT0.000000001S", 0, -1),
    ):
        assert str(Duration(months, nanos)) == text
        assert parse_duration(text) == Duration(months, nanos)
    assert parse_duration("P1Y2M3DT4H5M6.789S") == Duration.of(14, 3, 14_706, 789_000_000)
    assert parse_duration("P2W") == Duration.of(days=14)
    assert parse_duration("P1Y-2MT-4H-0.5S") == Duration.of(10, 0, -14_400, -500_000_000)
    for text in ("", "P", "PT", "1D", "P1", "P1DT", "PT1.5H"):
        assert parse_duration(text) is None


@given(st.integers(-(10**15), 10**15), st.integers(-(10**22), 10**22))
def test_durations_survive_their_text(months: int, nanos: int) -> None:
    assert parse_duration(str(Duration(months, nanos))) == Duration(months, nanos)


@given(st.datetimes(timezones=st.just(UTC)))
def test_instants_survive_their_count_and_text(moment: datetime) -> None:
    assert instant(epoch_nanos(moment)) == moment
    assert parse_instant(moment.isoformat()) == moment
    assert parse_instant(str(Instant(epoch_nanos(moment) + 1))) == Instant(epoch_nanos(moment) + 1)


@given(st.dates())
def test_days_survive_their_count(value: date) -> None:
    assert epoch_days(value.year, value.month, value.day) == (value - date(1970, 1, 1)).days
    assert day(epoch_days(value.year, value.month, value.day)) == value


def test_infinities_print() -> None:
    assert str(Instant(float("inf"))) == "infinity"
    assert str(Day(float("-inf"))) == "-infinity"
    assert day(float("inf")) == Day(float("inf"))
    assert instant(10**30) == Instant(10**30)
