"""What schema linking keeps and cuts; a grid of mock models; the same grid after kill -9.

python benchmarks/bench_strategies.py linking
python benchmarks/bench_strategies.py copying
python benchmarks/bench_strategies.py grid [lang=sql,cypher,typeql]
python benchmarks/bench_strategies.py resume [lang=sql,cypher,typeql]
"""

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

GRID = [
    "-m",
    "model=mock",
    "model.seed=0,1,2,3",
    "prompt_strategy=zero_shot,few_shot,schema_few_shot",
]


def linking() -> None:
    """Share of declared tables, labels and types kept; share of the schema's tokens cut."""
    from qeval.models.tokens import _counting
    from qeval.prompts.schema import document
    from qeval.prompts.schema.linking import LinkingSettings
    from qeval.prompts.template import linker
    from qeval.suites import load_suite

    suite = load_suite("ecommerce")
    count = _counting("cl100k_base")
    settings = LinkingSettings(least=2, share=0.1)
    print("language  asked  declared  kept     cut: easy  medium    hard  (tokens, long form)")
    for language in suite.languages:
        schema = document(language, suite.schema_text[language])
        whole = count(schema.text(0))
        for asked in suite.question_languages:
            find = linker(suite, language, asked)
            declared = kept = 0
            left: dict[str, list[float]] = defaultdict(list)
            for case in suite.cases:
                if language not in case.scope:
                    continue
                names = find.link(case.question[asked], settings)
                declared += len(case.scope[language])
                kept += sum(name in names for name in case.scope[language])
                left[case.difficulty].append(count(schema.text(0, names)) / whole)
            cut = [1 - sum(left[lv]) / len(left[lv]) for lv in ("easy", "medium", "hard")]
            share = kept / declared
            print(
                f"{language:<9} {asked:<6} {declared:>8}  {share:>6.1%}  "
                + "  ".join(f"{part:>8.1%}" for part in cut)
            )


def copying() -> None:
    """How often right answers are marked as copies, and copies are not.

    Right answers: rewrites of the golds, and golds with a rewrite as the reference. Copies: an
    example's query handed in whole, and a gold with one literal or condition out of an example.
    """
    from qeval.scoring.copying import copied
    from qeval.suites import load_suite

    suite = load_suite("ecommerce")
    print("language  shots  right answers  marked      whole copies  found   spliced  found")
    for language in suite.languages:
        rewritten = _rewrites(language)
        for shots in (3, 10):
            right, whole, spliced = [0, 0], [0, 0], [0, 0]
            for case in suite.cases:
                gold, question = case.gold[language], case.question["en"]
                for shown in _shown(suite, case, language, shots):
                    for other in rewritten.get(case.id, ()):
                        for answer, reference in ((other, gold), (gold, other)):
                            right[0] += 1
                            right[1] += bool(copied(answer, question, reference, shown))
                    for example in shown:
                        whole[0] += 1
                        whole[1] += bool(copied(example, question, gold, shown))
                        for answer in _spliced(gold, example, question):
                            spliced[0] += 1
                            spliced[1] += bool(copied(answer, question, gold, shown))
            print(
                f"{language:<9} {shots:>5}  {right[0]:>13,}  {_share(right):>7}  {whole[0]:>16,}"
                f"  {_share(whole):>6}  {spliced[0]:>7,}  {_share(spliced):>6}"
            )


def _share(counts: list[int]) -> str:
    return f"{counts[1] / counts[0]:.2%}" if counts[0] else "-"


def _rewrites(language: str) -> dict[str, list[str]]:
    import yaml

    from qeval.paths import shipped

    found: dict[str, list[str]] = defaultdict(list)
    file = shipped("cases") / "ecommerce" / "rewrites" / f"{language}.yaml"
    if file.is_file():
        for entry in yaml.safe_load(file.read_text(encoding="utf-8"))["rewrites"]:
            found[entry["case"]].append(entry["query"])
    return found


def _shown(suite: Any, case: Any, language: str, shots: int) -> list[list[str]]:
    from qeval.prompts.selection import SELECTIONS, select_examples

    return [
        [
            example.gold[language]
            for example in select_examples(
                suite,
                case,
                language=language,
                question_language="en",
                shots=shots,
                selection=selection,
                seed=0,
                largest_overlap=0.75,
            )
        ]
        for selection in SELECTIONS
    ]


def _spliced(gold: str, example: str, question: str) -> list[str]:
    """The gold with each of its literals replaced by one of the example's, of the same form.

    Single digits are left out: by themselves they tell nothing, and the detector passes over them.
    """
    shapes = (
        r"'[A-Za-z][^'\n]*'",
        r"\"[A-Za-z][^\"\n]*\"",
        r"\d{4}-\d\d-\d\d",
        r"(?<![\w.:'\"-])\d{2,}(?![\w.:'\"-])",
    )
    answers = []
    for shape in shapes:
        theirs = [text for text in re.findall(shape, example) if text not in gold]
        theirs = [text for text in theirs if text.strip("'\"").lower() not in question.lower()]
        for found in re.finditer(shape, gold):
            answers += [gold[: found.start()] + text + gold[found.end() :] for text in theirs[:1]]
    return answers


def grid(words: list[str], folder: Path) -> None:
    """4 models × languages × 3 strategies × all cases, with MLflow on."""
    started = time.perf_counter()
    process = _start(words, folder)
    process.wait()
    seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = _records(folder)
    print(f"{len(found):,} generations in {seconds:.1f} s wall, exit status {process.returncode}")
    print(
        f"{used.ru_utime + used.ru_stime:.1f} s of processor time by qeval and MLflow's process "
        f"(servers apart); load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    print(f"{_runs(folder)} cell runs in MLflow")


def resume(words: list[str], folder: Path) -> None:
    """Kill the grid in the middle, run it again, compare with an undisturbed one."""
    plain = folder / "plain"
    killed = folder / "killed"
    for place in (plain, killed):
        place.mkdir()
    _start(words, plain).wait()
    wanted = _records(plain)
    process = _start(words, killed)
    while len(_records(killed)) < len(wanted) // 3 and process.poll() is None:
        time.sleep(0.5)
    process.kill()
    process.wait()
    survived = len(_records(killed))
    code = _start(words, killed).wait()
    found = _records(killed)
    print(f"killed after {survived:,} of {len(wanted):,} records; resumed: exit status {code}")
    print("records identical (but for times):", found == wanted)
    print(f"  missing {len(wanted.keys() - found.keys())}")
    for where in wanted.keys() & found.keys():
        fields = [key for key in wanted[where] if wanted[where][key] != found[where].get(key)]
        if fields:
            print(f"  differs: {where}: {fields}")


def _start(words: list[str], folder: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "qeval.app", *GRID, *words]
    with (folder / "output.txt").open("ab") as output:
        return subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)


def _records(folder: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    from qeval.journal import read_lines
    from qeval.record import Record

    found = {}
    for journal in sorted(folder.glob("runs/*/journal.jsonl")):
        for _, line in read_lines(journal):
            if line.pop("type") == "record":
                record = Record.from_json(line)
                place = (journal.parent.name, record.case_id, record.repeat)
                found[place] = record.without_times().to_json()
    return found


def _runs(folder: Path) -> int:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder}/mlruns/mlflow.db")
    experiments = [experiment.experiment_id for experiment in client.search_experiments()]
    return len(client.search_runs(experiments, "tags.`qeval.kind` = 'cell'", max_results=1000))


def main() -> None:
    """Run what the first word says; the others are overrides."""
    what, words = sys.argv[1], sys.argv[2:]
    if not any(word.startswith("lang") for word in words):
        words.append("lang=sql,cypher,typeql")
    with tempfile.TemporaryDirectory() as folder:
        if what == "linking":
            linking()
        elif what == "copying":
            copying()
        elif what == "grid":
            grid(words, Path(folder))
        else:
            resume(words, Path(folder))


if __name__ == "__main__":
    main()
