"""A real TypeDB server of the user's own, through its official driver."""

from qeval.engines.typedb.engine import TypedbEngine

__all__ = ["TypedbEngine"]
