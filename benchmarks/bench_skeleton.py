"""What running qeval costs: start-up, self-test, memory, planning, PostgreSQL; with ratios.

    python benchmarks/bench_skeleton.py

Each figure stands beside its bar as a ratio (below 1.00 is within). CPU seconds are those of
qeval's own process unless said otherwise; the machine should be quiet.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

RUN = """
import json, resource, sys, time
from qeval.app import main
before = time.perf_counter()
code = main(sys.argv[1:])
use = resource.getrusage(resource.RUSAGE_SELF)
facts = {"code": code, "wall": time.perf_counter() - before,
         "cpu": use.ru_utime + use.ru_stime, "rss": use.ru_maxrss / 1024}
print("\\n" + json.dumps(facts), file=sys.stderr)
"""


def qeval(folder: Path, *words: str) -> dict[str, Any]:
    """Run qeval in `folder`; its exit code, wall and CPU seconds and peak megabytes."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    facts: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    if facts["code"] != 0:
        raise SystemExit(done.stdout + done.stderr)
    return facts


def show(what: str, value: float, bar: float, unit: str) -> None:
    """Print one line: the figure, its bar and their ratio."""
    print(f"{what:<58} {value:>9.3f} {unit:<7} bar {bar:>7.2f}   ratio {value / bar:5.2f}")


@contextmanager
def fresh() -> Iterator[Path]:
    """An empty folder to run in."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def start_up() -> None:
    """CPU of `qeval --help` and of an empty interpreter, medians of seven."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def cpu(*words: str) -> float:
        costs = []
        for _ in range(8):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [sys.executable, *words], env=environment, capture_output=True, check=True
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return median(costs[1:])

    help_s, nothing_s = cpu("-m", "qeval.app", "--help"), cpu("-c", "pass")
    show("qeval --help", help_s, 0.35, "CPU s")
    print(f"{'':<58} {help_s / nothing_s:>9.1f} times an empty interpreter")


def self_test() -> None:
    """Golds as predictions over at least 120 cases with MLflow, and the CPU a case."""
    with fresh() as folder:
        qeval(folder, "model=gold", "difficulty=easy", "difficulty.limit=1")  # engine, MLflow store
        few = qeval(folder, "model=gold", "difficulty.limit=30", "repeats=4")
        show("model=gold, 120 cases, MLflow on", few["wall"], 5, "s")
        one = qeval(folder, "model=gold", "difficulty.limit=30", "repeats=1", "runs_dir=a")
        many = qeval(folder, "model=gold", "difficulty.limit=30", "repeats=40", "runs_dir=b")
        show("own CPU a case", (many["cpu"] - one["cpu"]) / (39 * 30) * 1000, 2, "ms")


def replay() -> None:
    """1,000 and 4,000 replayed cases: peak memory, and whether a case's cost stays flat."""
    from qeval.suites import load_suite

    golds = [(case.id, case.gold["sql"]) for case in load_suite("ecommerce").cases[:30]]
    with fresh() as folder:
        costs = {}
        for cases in (1000, 4000):
            repeats = -(-cases // len(golds))
            lines = [
                json.dumps({"case_id": name, "repeat": repeat, "query": query})
                for repeat in range(repeats)
                for name, query in golds
            ]
            file = folder / f"{cases}.jsonl"
            file.write_text("\n".join(lines), encoding="utf-8")
            facts = qeval(
                folder,
                "model=replay",
                f"model.file={file}",
                "difficulty.limit=30",
                f"repeats={repeats}",
                f"runs_dir=r{cases}",
            )
            costs[cases] = facts["cpu"] / (repeats * len(golds))
            show(f"{cases} cases from replay, MLflow on: memory", facts["rss"], 120, "MB")
        show("cost a case at 4,000 against 1,000", costs[4000] / costs[1000], 1.1, "times")


def planning() -> None:
    """CPU of planning (composing, validating, opening) a sweep of 100 cells, all done before."""
    with fresh() as folder:
        words = ["-m", "model=gold", "difficulty=easy", "difficulty.limit=1", "tracking=none"]
        words += ["prompt_strategy=zero_shot,few_shot,schema_few_shot,schema_zero_shot"]
        words += ["limits.timeout_s=" + ",".join(str(n) for n in range(10, 35))]
        qeval(folder, *words)
        again = qeval(folder, *words)
        show("planning 100 cells", again["cpu"], 5, "CPU s")


def postgres() -> None:
    """Starting PostgreSQL cold and warm, and loading the data."""
    from omegaconf import OmegaConf

    from qeval.cells import build_engine, compose
    from qeval.suites import load_suite

    instance = load_suite("ecommerce").instance("sql", "base")
    with fresh() as folder:
        os.environ["QEVAL_CACHE"] = str(folder)
        config = OmegaConf.to_container(compose([]).language.engine, resolve=True)
        assert isinstance(config, dict)
        for label, bars in (("cold", (3.0, 2.0)), ("kept", (0.3, 0.3))):
            engine = build_engine({str(key): value for key, value in config.items()})
            times = [time.perf_counter()]
            engine.start()
            times.append(time.perf_counter())
            engine.load(instance)
            times.append(time.perf_counter())
            engine.stop()
            show(f"PostgreSQL {label}: start", times[1] - times[0], bars[0], "s")
            show(f"PostgreSQL {label}: data ready", times[2] - times[1], bars[1], "s")
        del os.environ["QEVAL_CACHE"]


if __name__ == "__main__":
    version, load = sys.version.split()[0], os.getloadavg()[0]
    print(f"Python {version}, {os.cpu_count()} processors, load {load:.1f}")
    start_up()
    self_test()
    replay()
    planning()
    postgres()
