"""A moment written without a zone is the moment that is stored."""

from qeval.cells import build_cell, build_engine
from qeval.configuration import compose
from qeval.suites import load_suite


def test_moments_without_a_zone_equal_stored_ones() -> None:
    """Neo4j tells 00:00Z[UTC] from 00:00Z: `datetime('2025-06-28')` must mean the latter."""
    cell = build_cell(compose(["model=gold", "language=cypher"]))
    engine = build_engine(cell.engine_config)
    instance = load_suite("ecommerce").instance("cypher", "variant-2")
    engine.start()
    try:
        engine.load(instance)
        query = (
            "MATCH (o:Order) WITH o.placedAt AS at, datetime(left(toString(o.placedAt), 19)) AS own"
            " RETURN count(*) > 0 AND min(CASE WHEN at = own AND at >= own THEN 1 ELSE 0 END) = 1"
            " AS same"
        )
        assert engine.execute(query, instance, cell.limits).table.rows == ((True,),)
    finally:
        engine.stop()
