"""Real Neo4j, embedded or a server of the user's own."""

from qeval.engines.neo4j.engine import Neo4jEngine

__all__ = ["Neo4jEngine"]
