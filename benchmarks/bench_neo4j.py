"""What running Neo4j costs: start, load, golds, memory, small data sets; with ratios.

    python benchmarks/bench_neo4j.py

Each figure stands beside its bar as a ratio (below 1.00 is within). Wall seconds are for a quiet
machine; the server's own CPU seconds stand beside them, which other work disturbs less.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from qeval.data.model import Dataset
from qeval.engines import warm
from qeval.engines.base import QueryLimits
from qeval.engines.neo4j import Neo4jEngine, fetch
from qeval.suite import Instance, Suite

LIMITS = QueryLimits()
SESSIONS = 8
SAMPLE = 4  # rows of each table in an ad hoc instance


def show(what: str, value: float, bar: float, unit: str, note: str = "") -> None:
    """Print one line: the figure, its bar and their ratio."""
    print(f"{what:<52} {value:>8.2f} {unit:<3} bar {bar:>6.1f}   ratio {value / bar:5.2f}  {note}")


@contextmanager
def slots_of_our_own() -> Iterator[None]:
    """A cache that has the parts, the launcher and the archive, but no data set."""
    parts = fetch.home()
    with tempfile.TemporaryDirectory(prefix="qeval-bench-") as name:
        home = Path(name) / "neo4j" / fetch.VERSION
        home.mkdir(parents=True)
        for kept in ("jars", "unsigned", "launcher", "archives"):
            (home / kept).symlink_to(parts / kept)
        before = os.environ.get("QEVAL_CACHE")
        os.environ["QEVAL_CACHE"] = name
        try:
            yield
        finally:
            os.environ.pop("QEVAL_CACHE")
            if before is not None:
                os.environ["QEVAL_CACHE"] = before


def make() -> Neo4jEngine:
    """The engine as `conf/` has it."""
    from omegaconf import OmegaConf

    from qeval.cells import build_engine, compose

    config = OmegaConf.to_container(compose(["language=cypher"]).language.engine, resolve=True)
    assert isinstance(config, dict)
    engine = build_engine({str(key): value for key, value in config.items()})
    assert isinstance(engine, Neo4jEngine)
    return engine


def server() -> Any:
    """The server's process (psutil): the only one in our cache."""
    import psutil

    slots = str(fetch.home() / "slots")
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or [""]
        if words[0].endswith("java") and words[-1].startswith(slots):
            return process
    raise SystemExit("the server is gone")


def timed(work: Callable[[], object]) -> tuple[float, str]:
    """Wall seconds of `work`, and the server's CPU seconds meanwhile as a note."""
    process = server()
    before, started = process.cpu_times(), time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    after = process.cpu_times()
    cpu = after.user + after.system - before.user - before.system
    return seconds, f"server CPU {cpu:.2f} s"


def golds(engine: Neo4jEngine, suite: Suite, instance: Instance, sessions: int) -> None:
    """Check and execute all golds."""

    def one(query: str) -> None:
        engine.check(query, instance)
        engine.execute(query, instance, LIMITS)

    with ThreadPoolExecutor(sessions) as pool:
        list(pool.map(one, [case.gold["cypher"] for case in suite.cases]))


def memory() -> float:
    """Megabytes of the server, shared pages by share (PSS)."""
    return float(server().memory_full_info().pss) / 1e6


def starting(suite: Suite) -> None:
    """Start to first answer: with nothing kept, with data kept, and on a warm server."""
    base = suite.instance("cypher", "base")
    for label, bar in (("nothing kept", 10.0), ("data kept", 4.0)):
        engine = make()
        started = time.perf_counter()
        engine.start()
        engine.execute("MATCH (n:User) RETURN count(n)", base, LIMITS)
        show(f"start to first answer, {label}", time.perf_counter() - started, bar, "s")
        started = time.perf_counter()
        engine.stop()
    show("stopping", time.perf_counter() - started, 1.0, "s")


def warm_server(suite: Suite) -> None:
    """First answer on a server that `qeval up` left running, and its first golds."""
    base = suite.instance("cypher", "base")
    engine = make()
    up = engine.up()
    try:
        started = time.perf_counter()
        engine.start()
        engine.execute("MATCH (n:User) RETURN count(n)", base, LIMITS)
        show("first answer on a warm server", time.perf_counter() - started, 4.0, "s")
        seconds, note = timed(lambda: golds(engine, suite, base, SESSIONS))
        show(f"{len(suite.cases)} golds, first pass on a warm server", seconds, 3.0, "s", note)
        engine.stop()
    finally:
        warm.stop(up)


def loading_and_golds(suite: Suite) -> None:
    """Loads on a fresh and a warm JVM, golds cold and warm, memory with 1 and 9 instances."""
    base, *variants = (suite.instance("cypher", name) for name in suite.instances)
    engine = make()
    engine.start()
    seconds, note = timed(lambda: engine.load(base))
    show("load the full data, fresh JVM", seconds, 3.0, "s", note)
    engine.drop(base)
    seconds, note = timed(lambda: engine.load(base))
    show("load the full data, warm JVM", seconds, 3.0, "s", note)
    for label, sessions in (("first pass", SESSIONS), ("again", SESSIONS), ("one session", 1)):
        seconds, note = timed(partial(golds, engine, suite, base, sessions))
        show(f"{len(suite.cases)} golds, {label}", seconds, 3.0, "s", note)
    show("memory, 1 instance (PSS)", memory(), 400, "MB")
    for variant in variants:
        engine.load(variant)
        golds(engine, suite, variant, SESSIONS)
    show(f"memory, {1 + len(variants)} instances (PSS)", memory(), 400, "MB")
    ad_hoc(engine, base)
    engine.stop()


def ad_hoc(engine: Neo4jEngine, base: Instance) -> None:
    """Load, ask and drop small instances."""
    data = sample(base.dataset())
    loads, drops = [], []
    for number in range(30):
        small = replace(base, key=f"bench_{number}", ad_hoc=True, dataset=lambda: data)
        times = [time.perf_counter()]
        engine.load(small)
        times.append(time.perf_counter())
        engine.execute("MATCH (n:User) RETURN count(n)", small, LIMITS)
        times.append(time.perf_counter())
        engine.drop(small)
        times.append(time.perf_counter())
        loads.append(times[1] - times[0])
        drops.append(times[3] - times[2])
    rows = sum(map(len, data.rows.values()))
    show(f"load an ad hoc instance of {rows} rows (median)", median(loads), 0.3, "s")
    show("the same, the first one", loads[0], 3.0, "s")
    show("drop it (median)", median(drops), 0.3, "s")


def sample(data: Dataset) -> Dataset:
    """A few rows of each table whose references are there."""
    there: set[tuple[str, Any]] = set()
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for table in data.tables:
        kept: list[tuple[Any, ...]] = []
        for row in data.rows[table.name]:
            refers = [
                ((field.references or "").partition(".")[0], value)
                for field, value in zip(table.fields, row, strict=True)
                if field.references and value is not None
            ]
            if len(kept) < SAMPLE and all(one in there for one in refers):
                kept.append(row)
                there.add((table.name, row[0]))
        rows[table.name] = kept
    return replace(data, rows=rows)


if __name__ == "__main__":
    from qeval.suites import load_suite

    version, load = sys.version.split()[0], os.getloadavg()[0]
    print(f"Python {version}, {os.cpu_count()} processors, load {load:.1f}")
    ecommerce = load_suite("ecommerce")
    prepared = make()
    prepared.start()  # fetches, compiles and archives what is missing
    prepared.stop()
    with slots_of_our_own():
        starting(ecommerce)
    with slots_of_our_own():
        loading_and_golds(ecommerce)
    with slots_of_our_own():
        warm_server(ecommerce)
