# ruff: noqa: T201
"""Print how many recorded answers the engine gives, by family.

Run with ``python -m tests.typeql.score_goldens [-v] [text in the id or query]``.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict

from tests.typeql.golden_cases import DATASETS, compared, judge, load_cases, load_database


def main() -> None:
    verbose = "-v" in sys.argv
    wanted = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    databases = {dataset: load_database(dataset) for dataset in DATASETS}
    tally: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    started = time.perf_counter()
    errors = 0
    for case in load_cases():
        if wanted and not any(text in case["id"] + case["query"] for text in wanted):
            continue
        if not compared(case):
            continue
        try:
            verdict = judge(databases[case["dataset"]], case, timeout_s=5.0)
        except Exception as failure:  # noqa: BLE001
            from tests.typeql.golden_cases import Verdict

            verdict = Verdict(answer=False, code=False, detail=f"CRASH {failure!r}")
        count = tally[case["family"]]
        count[0] += 1
        count[1] += verdict.answer
        if case["outcome"] == "error":
            errors += 1
            count[2] += verdict.code and verdict.answer
        if not (verdict.answer and verdict.code) and verbose:
            expected = case.get("error_code") or len(case.get("rows", case.get("docs", ())))
            print(f"{case['id']} want {expected}\n    {case['query']}\n    {verdict.detail}")
    total, right, coded = (sum(column) for column in zip(*tally.values(), strict=True))
    for family, (number, answers, _) in sorted(tally.items()):
        if answers < number:
            print(f"{family:24} {answers}/{number}")
    seconds = time.perf_counter() - started
    print(f"answers {right}/{total} = {right / total:.2%}   in {seconds:.1f} s")
    if errors:
        print(f"error codes {coded}/{errors} = {coded / errors:.2%}")


if __name__ == "__main__":
    main()
