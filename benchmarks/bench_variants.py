"""What running right predictions on all variants costs on top of the base run, and shrinking.

    python benchmarks/bench_variants.py [sql typeql cypher] [--latency S] [--rounds N]

Every case is answered with an equivalent of its gold, so that none is refuted and every variant is
run: that is the dearest sweep there is. Ratios are of one process on one machine: (all variants −
base alone) / base alone, the quickest of the rounds each, engine and data warm. "answers at once"
has no model to wait for; "answers in S seconds" waits for each as for an API (8 in flight), which
is what a sweep is like. Load of the machine is printed, for the figures depend on it.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from qeval.cells import Cell, build_cell, compose
from qeval.suites import load_suite
from qeval.sweep import evaluate

COMMENT = {"sql": "-- as well", "cypher": "// as well", "typeql": "# as well"}


class Waiting:
    """A model whose answers take a while, else the one given."""

    def __init__(self, model: Any, seconds: float) -> None:
        self._model = model
        self._seconds = seconds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def identity(self) -> dict[str, Any]:
        """Not one of those that nobody waits for."""
        return {**self._model.identity(), "adapter": "waiting"}

    def generate(self, request: Any) -> Any:
        """The answer, later."""
        time.sleep(self._seconds)
        return self._model.generate(request)


def predictions(language: str, folder: Path) -> Path:
    """An equivalent of each gold: its first rewrite, or itself with a comment."""
    from qeval.paths import shipped
    from qeval.suites.rewrites import read_rewrites

    suite = load_suite("ecommerce")
    rewrites = read_rewrites(shipped("cases") / "ecommerce", suite, language)
    first = {rewrite.case: rewrite.query for rewrite in reversed(rewrites)}
    file = folder / f"{language}.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for case in suite.cases:
            query = first.get(case.id, f"{case.gold[language]}\n{COMMENT[language]}")
            lines.write(json.dumps({"case_id": case.id, "repeat": 0, "query": query}) + "\n")
    return file


def seconds(language: str, file: Path, variants: str, latency: float) -> tuple[float, float]:
    """Wall and own CPU seconds of one sweep over all cases."""
    with tempfile.TemporaryDirectory() as runs:
        words = [f"lang={language}", "model=replay", f"model.file={file}", "tracking=none"]
        cell: Cell = build_cell(
            compose([*words, f"scoring.variants={variants}", f"runs_dir={runs}"])
        )
        if latency:
            cell = replace(cell, model=Waiting(cell.model, latency))
        before = time.perf_counter(), time.process_time()
        result = evaluate([cell], quiet=True)
        spent = time.perf_counter() - before[0], time.process_time() - before[1]
        wrong = [record for record in result.cells[0].records if record.verdict != "correct"]
        if wrong:
            raise SystemExit(f"{wrong[0].case_id} is {wrong[0].verdict}: {wrong[0].message}")
        return spent


def overhead(language: str, file: Path, latency: float, rounds: int) -> None:
    """Print the quickest base run, the quickest with all variants, and the ratio."""
    runs: dict[str, list[tuple[float, float]]] = {"0": [], "all": []}
    for _ in range(rounds):
        for variants, found in runs.items():
            found.append(seconds(language, file, variants, latency))
    what = f"{language}, answers in {latency:g} s" if latency else f"{language}, answers at once"
    for part, name in enumerate(("wall", "own CPU")):
        base, all_ = (min(run[part] for run in runs[variants]) for variants in ("0", "all"))
        ratio = f"on top {(all_ - base) / base:6.1%}"
        print(f"{what:<30} {name:<8} base {base:7.2f} s  with variants {all_:7.2f} s  {ratio}")


def shrinking(language: str) -> None:
    """Time and size of counterexamples of golds whose limit is one too large."""
    from qeval.cells import build_engine
    from qeval.equivalence.finding import Duel, find_counterexample

    cell = build_cell(compose([f"lang={language}", "model=gold", "tracking=none"]))
    engine = build_engine(cell.engine_config)
    engine.start()
    sizes, times = [], []
    for case in cell.cases:
        gold = case.gold[language]
        changed = [(f"FIRST {n} ", f"FIRST {n + 1} ") for n in range(1, 9)]
        changed += [(f"LIMIT {n}", f"LIMIT {n + 1}") for n in range(1, 9)]
        changed += [(f"limit {n};", f"limit {n + 1};") for n in range(1, 9)]
        query = next((gold.replace(a, b) for a, b in changed if a in gold), None)
        if query is None:
            continue
        duel = Duel(cell, case, query, engine)
        instance = cell.suite.instance(language, "variant-2")
        engine.load(instance)
        telling = duel.on(instance)
        if telling is not None and telling.verdict == "wrong_result":
            found = find_counterexample(duel, telling, "", 60)
            sizes.append(found.rows)
            times.append(found.seconds)
    engine.stop()
    if times:
        middle = len(times) // 2
        print(
            f"{language}: {len(times)} counterexamples, median {sorted(sizes)[middle]} rows in "
            f"{sorted(times)[middle]:.2f} s, worst {max(times):.2f} s"
        )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the overhead for each language."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("languages", nargs="*", default=["sql", "typeql"])
    parser.add_argument("--latency", type=float, default=1.0, help="seconds an answer takes")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(argv)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        for language in options.languages:
            file = predictions(language, Path(folder))
            seconds(language, file, "all", 0)  # warms engine, data and caches
            overhead(language, file, 0, options.rounds)
            overhead(language, file, options.latency, 1)
            shrinking(language)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
