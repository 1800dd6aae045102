"""The schema: types, what they own, play and relate, and the closures the engine needs of them."""

from qeval.typeql.schema.model import Schema
from qeval.typeql.schema.types import Card, Kind, Ownership, Playing, Relating, Type

__all__ = ["Card", "Kind", "Ownership", "Playing", "Relating", "Schema", "Type"]
