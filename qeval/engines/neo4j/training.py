"""Queries that touch the classes which generated queries usually need."""

QUERIES = (
    "CREATE CONSTRAINT training IF NOT EXISTS FOR (u:User) REQUIRE u.id IS UNIQUE",
    (
        "UNWIND range(1, 100) AS i CREATE (u:User) SET u = {id: i, name: 'n' + i, since: "
        "date('2024-01-01') + duration({days: i}), at: datetime('2024-01-01T00:00:00Z'), "
        "price: i * 1.5, tags: ['a', 'b']}"
    ),
    (
        "UNWIND range(1, 99) AS i MATCH (a:User {id: i}) MATCH (b:User {id: i + 1}) "
        "CREATE (a)-[r:FOLLOWS]->(b) SET r = {since: a.since}"
    ),
    "EXPLAIN MATCH (a:User)-[:FOLLOWS]->(b:Nobody) WHERE a.nothing = 1 RETURN a",
    (
        "MATCH (a:User)-[r:FOLLOWS*1..3]->(b) WHERE a.name STARTS WITH 'n' WITH a, "
        "collect(DISTINCT b.name) AS names, count(*) AS c ORDER BY c DESC, a.id LIMIT 3 "
        "RETURN a.name, names, c, duration.between(a.since, date('2025-01-01')).months"
    ),
    (
        "MATCH p = shortestPath((a:User {id: 1})-[:FOLLOWS*]->(b:User {id: 30})) RETURN "
        "p, length(p), [x IN nodes(p) | x.id], reduce(s = 0, x IN nodes(p) | s + x.id)"
    ),
    (
        "MATCH (a:User) OPTIONAL MATCH (a)<-[:FOLLOWS]-(b) WITH a, CASE WHEN b IS NULL "
        "THEN 0 ELSE 1 END AS f RETURN avg(f), percentileCont(f, 0.5), stDev(f), "
        "round(sum(a.price), 2), min(a.at), max(a.since)"
    ),
    (
        "MATCH (a:User) WHERE EXISTS {(a)-[:FOLLOWS]->()} AND NOT a.name CONTAINS '7' AND "
        "a.id > 3 RETURN COUNT {(a)<-[:FOLLOWS]-()} AS x UNION ALL CALL { RETURN 1 AS x } "
        "RETURN x"
    ),
    (
        "MATCH (a:User) WHERE NOT (a)-[:FOLLOWS]->(:User {id: 5}) AND a.since >= "
        "date('2024-02-01') AND all(t IN a.tags WHERE t <> 'z') RETURN DISTINCT a.id "
        "ORDER BY a.id SKIP 1 LIMIT 5"
    ),
    "MATCH (n) RETURN labels(n) AS l, properties(n) AS p",
    "MATCH ()-[r]->() RETURN type(r) AS t, properties(r) AS p",
)
