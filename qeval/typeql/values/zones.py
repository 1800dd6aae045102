"""Time zones: fixed offsets and the IANA data base, at any year."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

_NANOS_PER_SECOND = 1_000_000_000
_DAY_SECONDS = 86_400
_FIXED = re.compile(r"([+-])(\d\d):(\d\d)(?::(\d\d))?")
# Outside these instants zone rules are the ones of the nearest year Python's tables can hold.
_FIRST_SECOND, _LAST_SECOND = -62_000_000_000, 250_000_000_000
_GAP_PROBE = 72 * 3_600 * _NANOS_PER_SECOND  # no zone changes its clock twice within this


def is_zone(zone: str) -> bool:
    """Tell a named zone from a fixed offset."""
    return zone[0] not in "+-"


def known_zone(name: str) -> bool:
    """Tell whether the IANA data base holds a zone of this name."""
    try:
        _load(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


def utc_offset(utc_nanos: int, zone: str) -> int:
    """Return the offset from UTC, in seconds, at an instant."""
    fixed = _fixed_seconds(zone)
    if fixed is not None:
        return fixed
    moment = _as_datetime(utc_nanos // _NANOS_PER_SECOND)
    offset = moment.astimezone(_load(zone)).utcoffset()
    return int(offset.total_seconds()) if offset is not None else 0


def local_to_utc(local_nanos: int, zone: str) -> int:
    """Return the instant at which the clock of a zone shows a time.

    A time shown twice (clocks set back) is the earlier instant; a time never shown (clocks set
    forward) moves on by the length of the gap.
    """
    instants = instants_of(local_nanos, zone)
    if instants:
        return instants[0]
    before = utc_offset(local_nanos - _GAP_PROBE, zone)
    return local_nanos - before * _NANOS_PER_SECOND


def instants_of(local_nanos: int, zone: str) -> list[int]:
    """Return the instants at which the clock of a zone shows a time: none, one or two, in order."""
    offsets = {
        utc_offset(local_nanos - _GAP_PROBE, zone),
        utc_offset(local_nanos + _GAP_PROBE, zone),
    }
    candidates = (local_nanos - offset * _NANOS_PER_SECOND for offset in offsets)
    return sorted(
        instant
        for instant in candidates
        if instant + utc_offset(instant, zone) * _NANOS_PER_SECOND == local_nanos
    )


@lru_cache(maxsize=256)
def _fixed_seconds(zone: str) -> int | None:
    match = _FIXED.fullmatch(zone)
    if match is None:
        return None
    sign, hours, minutes, seconds = match.groups()
    total = int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)
    return -total if sign == "-" else total


@lru_cache(maxsize=256)
def _load(name: str) -> ZoneInfo:
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def _as_datetime(utc_seconds: int) -> datetime:
    from datetime import UTC, datetime, timedelta

    clamped = min(max(utc_seconds, _FIRST_SECOND), _LAST_SECOND)
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=clamped)
