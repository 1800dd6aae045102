"""How long MLflow takes a cell: a sweep of 100 cells of 120 records, on a new sqlite store.

    python benchmarks/bench_tracking.py [cells]

Prints ms a cell of the tracking process (the bar is 40), what a new store and a second sweep cost,
and what qeval's own process spends on it.
"""

import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from qeval.record import InstanceOutcome, Record
from qeval.scoring.verdict import Verdict
from qeval.tracking import MlflowTracker

LEVELS = ("easy", "medium", "hard")
TAGS = [f"pattern-{number}" for number in range(20)]
MEASURES = (
    "syntax_pass",
    "valid",
    "execution_accuracy",
    "execution_accuracy_relaxed",
    "robust_accuracy",
    "semantic_equivalence",
    "composite",
)
BAR_MS = 40.0


def make_cell(folder: Path, number: int) -> Path:
    """A finished cell of 120 records, about a third of them failed."""
    folder.mkdir(parents=True)
    dice = random.Random(number)
    records = []
    for case in range(120):
        verdict = dice.choice([Verdict.CORRECT] * 4 + [Verdict.WRONG_RESULT, Verdict.SYNTAX_ERROR])
        rows = {"missing": [[1, "a"]] * 5, "extra": [[2, "b"]] * 5}
        records.append(
            Record(
                case_id=f"case-{case}",
                repeat=0,
                difficulty=LEVELS[case % 3],
                tags=tuple(dice.sample(TAGS, 3)),
                question="How many orders did each user of the last 30 days place?",
                gold="SELECT user_id, count(*) FROM orders GROUP BY user_id " * 3,
                verdict=verdict,
                outcomes=(InstanceOutcome("base", verdict, difference=rows),),
                raw="SELECT user_id, count(*) FROM orders " * 3,
                query="SELECT user_id, count(*) FROM orders " * 3,
                prompt_tokens=900,
                completion_tokens=60,
                generation_s=1.0,
                execution_s=0.01,
                finished_at="2026-01-02T03:04:05+00:00",
            )
        )
    numbers = {"value": 0.5, "numerator": 60, "denominator": 120, "low": 0.4, "high": 0.6}
    group = dict.fromkeys(MEASURES, numbers)
    config = {
        "model": {"name": f"model-{number}", **{f"setting_{i}": i for i in range(15)}},
        **{name: {"name": name, "a": 1, "b": 2} for name in ("language", "prompt_strategy")},
        **{name: {"name": name, "c": 3, "d": 4} for name in ("suite", "limits", "scoring")},
    }
    header = {
        "type": "cell",
        "key": f"{number:016x}",
        "name": folder.name,
        "config": config,
        "engine": "postgres 18.6 (embedded)",
        "hashes": {"suite": "0" * 16},
    }
    lines = [header, *({"type": "record", **record.to_json()} for record in records)]
    (folder / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    prompt = {"digest": "d" * 64, "messages": [["user", "x" * 4000]]}
    (folder / "prompts.jsonl").write_text((json.dumps(prompt) + "\n") * 120)
    (folder / "config.yaml").write_text(json.dumps(config))
    summary = {
        "complete": True,
        "metrics": {
            "overall": group,
            "by_difficulty": dict.fromkeys(LEVELS, group),
            "by_tag": dict.fromkeys(TAGS, group),
        },
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def sweep(directory: Path, folders: list[Path]) -> tuple[float, float]:
    """Seconds of wall time and of the child's CPU to track `folders`."""
    began = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    tracker = MlflowTracker(directory=str(directory))
    tracker.open("bench", folders)
    for folder in folders:
        tracker.cell_closed(folder)
    result = tracker.close()
    assert not result.warning, result.warning
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory(prefix="qeval-bench-") as place:
        root = Path(place)
        folders = [make_cell(root / "runs" / f"cell-{n}", n) for n in range(count)]
        import os

        os.environ["QEVAL_CACHE"] = str(root / "cache")
        cold, _ = sweep(root / "a", folders[:1])
        copied, _ = sweep(root / "b", folders[:1])
        opened, opened_cpu = sweep(root / "b", folders[:1])
        own = time.process_time()
        wall, cpu = sweep(root / "c", folders)
        own = time.process_time() - own
        again, _ = sweep(root / "c", folders)
        resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    each, each_cpu = (1000 * (w - o) / count for w, o in ((wall, copied), (cpu, opened_cpu)))
    print(f"a cell                    {each:7.1f} ms wall, {each_cpu:.1f} ms CPU")
    print(f"                          {each / BAR_MS:7.2f} of the bar of {BAR_MS:g} ms")
    print(f"first store of all        {cold:7.2f} s (start, migration, one cell)")
    print(f"new store from template   {copied:7.2f} s")
    print(f"known store               {opened:7.2f} s")
    print(f"{count} cells                 {wall:7.2f} s; again, unchanged: {again:.2f} s")
    print(f"qeval's own process       {1000 * own / count:7.2f} ms CPU a cell")
    print(f"the tracking process      {resident:7.0f} MB")


if __name__ == "__main__":
    main()
