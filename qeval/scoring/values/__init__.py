"""Canonical values: the one set of types that tables, comparison and reports work with."""

from qeval.scoring.values.drivers import Canonical, canonical
from qeval.scoring.values.kinds import Map, Node, Path
from qeval.scoring.values.temporal import Clock, Day, Duration, Instant, parse_duration

__all__ = [
    "Canonical",
    "Clock",
    "Day",
    "Duration",
    "Instant",
    "Map",
    "Node",
    "Path",
    "canonical",
    "parse_duration",
]
