"""Seeded choices whose sequence is the same on every machine and Python version.

Only `random.Random.random()` with an integer seed is guaranteed to be stable across versions of
Python, so every choice is made from it with integer arithmetic on its result.
"""

import random
from collections.abc import Sequence
from datetime import date, timedelta
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")


class Draw:
    """One independent stream of choices per `topic`: adding one leaves the others unchanged."""

    __slots__ = ("unit",)

    def __init__(self, seed: int, topic: str) -> None:
        self.unit = random.Random((seed << 32) | crc32(topic.encode())).random  # noqa: S311

    def below(self, stop: int) -> int:
        """An integer in [0, stop)."""
        return int(self.unit() * stop)

    def between(self, first: int, last: int) -> int:
        """An integer in [first, last]."""
        return first + int(self.unit() * (last - first + 1))

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.unit() < probability

    def pick(self, options: Sequence[T]) -> T:
        """One of `options`, all equally likely."""
        return options[int(self.unit() * len(options))]

    def skewed(self, stop: int) -> int:
        """An integer in [0, stop), small ones far likelier (density falls as 1/sqrt(x))."""
        unit = self.unit()
        return int(unit * unit * stop)

    def day(self, first: date, last: date) -> date:
        """A day in [first, last]."""
        return first + timedelta(days=self.between(0, (last - first).days))
