"""Connecting to Neo4j: one driver per database management system, quiet and without telemetry."""

import logging
from typing import Any

_ACQUIRE_S = 60.0
_CONNECT_S = 5.0


def connect(target: int | str, size: int, auth: tuple[str, str] | None = None) -> Any:
    """A driver for a local port or a URI, with at most `size` connections.

    Opens nothing yet. Raises `ValueError` or the driver's `ConfigurationError` for a bad URI.
    """
    from neo4j import GraphDatabase

    # The driver logs the server's notifications, with the query, as warnings.
    logging.getLogger("neo4j").addHandler(logging.NullHandler())
    logging.getLogger("neo4j.notifications").setLevel(logging.CRITICAL)
    uri = f"bolt://127.0.0.1:{target}" if isinstance(target, int) else target
    return GraphDatabase.driver(
        uri,
        auth=auth,
        max_connection_pool_size=size,
        connection_acquisition_timeout=_ACQUIRE_S,
        connection_timeout=_CONNECT_S,
        max_transaction_retry_time=0,
        telemetry_disabled=True,
        user_agent="qeval",
    )
