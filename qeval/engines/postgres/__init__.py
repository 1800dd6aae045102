"""Real PostgreSQL, embedded or a server of the user's own."""

from qeval.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
