"""Times the embedded TypeQL engine against the recorded times of a real TypeDB 3.12.3 server.

Run with ``python benchmarks/typeql_timing.py``. The data and the server's times are described in
``tests/typeql/goldens/README.md``; each query is timed with parsing and checking included.
"""

from __future__ import annotations

import json
import resource
import runpy
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from qeval.typeql import Database

GOLDENS = Path(__file__).parent.parent / "tests" / "typeql" / "goldens"
RUNS = 5


def load() -> Database:
    """Return the big shop."""
    database = Database()
    database.define((GOLDENS / "shop.schema.tql").read_text(encoding="utf-8"))
    parts = runpy.run_path(str(GOLDENS / "gen_big.py"))["parts"]
    started = time.perf_counter()
    database.load(parts())
    print(f"load as text: {time.perf_counter() - started:.1f} s (server: 454.6 s)")
    return database


def measure(database: Database, query: dict[str, Any]) -> tuple[float, int]:
    """Return the median time in milliseconds and the number of rows or documents."""
    times, rows = [], 0
    for _ in range(RUNS):
        started = time.perf_counter()
        answer = database.query(query["query"], timeout_s=60.0)
        times.append((time.perf_counter() - started) * 1000)
        rows = len(answer.rows) or len(answer.documents)
    return statistics.median(times), rows


def main() -> None:
    """Print a line a query and the ratios."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    database = load()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"memory: {(after - before) / 1024:.0f} MB more than before")
    ratios = []
    wanted = sys.argv[1:]
    for query in json.loads((GOLDENS / "timing.json").read_text(encoding="utf-8"))["queries"]:
        if wanted and query["name"] not in wanted:
            continue
        median, rows = measure(database, query)
        if "error" in query:
            print(f"{query['name']:18} {median:9.2f} ms  {rows} rows (the server gave up)")
            continue
        ratio = median / query["median_ms"]
        ratios.append(ratio)
        note = "" if rows == query["rows"] else f"  WRONG: {query['rows']} rows expected"
        print(f"{query['name']:18} {median:9.2f} ms  {ratio:6.2f}x  {rows} rows{note}")
    if ratios:
        print(f"median ratio {statistics.median(ratios):.2f}x, worst {max(ratios):.2f}x")


if __name__ == "__main__":
    main()
