"""Tables of a suite for its documentation, and writing them into Markdown files.

    python -m qeval.suites.overview docs/suite.md docs/mutants.md docs/rewrites.md

replaces what stands between `<!-- NAME -->` and `<!-- end -->` by the table of that name.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from qeval.judge.calibration_set import load_pairs
from qeval.suite import Suite
from qeval.suites.difficulty import LEVELS
from qeval.suites.loader import load_suite, suite_folder
from qeval.suites.mutants import OPERATORS, read_summary
from qeval.suites.rewrites import read_rewrites

_NAMED = 6  # rules of rewriting that a table names
_BLOCK = re.compile(r"(<!-- (?P<name>[a-z -]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def pattern_table(suite: Suite) -> str:
    """Cases by pattern and difficulty."""
    return _counts(suite, "pattern", [(case.pattern, case.difficulty) for case in suite.cases])


def source_table(suite: Suite) -> str:
    """Cases by source and difficulty."""
    return _counts(suite, "source", [(case.source, case.difficulty) for case in suite.cases])


def mutant_table(folder: Path, language: str) -> str:
    """Mutants by operator and fate, from the committed summary."""
    summary = read_summary(folder, language)
    if summary is None:
        return "Not measured yet.\n"
    rows = []
    counts: Mapping[str, int]
    for name, counts in (*summary["operators"].items(), ("all", summary["all"])):
        valid = counts["killed"] + counts["survived"]
        share = f"{counts['killed'] / valid:.1%}" if valid else ""
        fates = [str(counts[fate]) for fate in ("killed", "survived", "equivalent", "invalid")]
        rows.append([name, OPERATORS.get(name, ""), *fates, share])
    heads = ("operator", "what it does", "killed", "survived", "equivalent", "invalid", "share")
    survivors = "".join(f"* `{name}`\n" for name in summary["survivors"])
    return _markdown(heads, rows) + (f"\nSurvivors:\n\n{survivors}" if survivors else "")


def rewrite_table(suite: Suite, folder: Path) -> str:
    """How many rewrites each language has, of how many golds and by how many rules."""
    rows = []
    for language in suite.languages:
        kit = read_rewrites(folder, suite, language)
        golds = sum(language in case.gold for case in suite.cases)
        kinds = Counter(rewrite.kind for rewrite in kit)
        common = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common(_NAMED))
        rows.append([language, str(golds), str(len(kit)), str(len(kinds)), common])
    return _markdown(("language", "golds", "rewrites", "rules", "the most frequent ones"), rows)


def calibration_table(suite: Suite, folder: Path) -> str:
    """The labelled pairs of each language by label, origin and what decides them."""
    rows = []
    for language in suite.languages:
        pairs = load_pairs(folder, language)
        origins = Counter((pair.label, pair.origin) for pair in pairs)
        different = [pair for pair in pairs if pair.label == "different"]
        rows.append(
            [
                language,
                str(len(pairs)),
                str(origins["equivalent", "rewrite"]),
                str(origins["equivalent", "mutant"]),
                str(len(different)),
                str(sum(pair.lucky for pair in different)),
                str(sum(pair.decided_by is None for pair in different)),
            ]
        )
    heads = ("language", "pairs", "rewrites", "equivalent mutants", "different mutants",
             "of them right on base", "of them told by no instance")  # fmt: skip
    return _markdown(heads, rows)


def filled(text: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """`text` with every marked block replaced by its table. Raises `KeyError` for a wrong name."""
    return _BLOCK.sub(lambda block: block[1] + tables[block["name"]]() + block[3], text)


def tables_of(which: str) -> dict[str, Callable[[], str]]:
    """The tables of a suite by the name that a document asks for."""
    suite, folder = load_suite(which), suite_folder(which)
    tables: dict[str, Callable[[], str]] = {
        "patterns": partial(pattern_table, suite),
        "sources": partial(source_table, suite),
        "rewrites": partial(rewrite_table, suite, folder),
        "calibration": partial(calibration_table, suite, folder),
    }
    for language in suite.languages:
        tables[f"mutants {language}"] = partial(mutant_table, folder, language)
    return tables


def _counts(suite: Suite, head: str, pairs: Sequence[tuple[str, str]]) -> str:
    found = Counter(pairs)
    names = list(dict.fromkeys(name for name, _ in pairs))
    rows = [
        [
            name,
            *(str(found[name, level]) for level in LEVELS),
            str(total := sum(found[name, level] for level in LEVELS)),
            f"{total / len(suite.cases):.1%}",
        ]
        for name in sorted(names)
    ]
    sums = [str(sum(found[name, level] for name in names)) for level in LEVELS]
    rows.append(["all", *sums, str(len(suite.cases)), "100.0%"])
    return _markdown((head, *LEVELS, "all", "share"), rows)


def _markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(map(_cell, line)) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(files: Sequence[str]) -> None:
    """Fill the tables of the built-in suite into Markdown files."""
    tables = tables_of("ecommerce")
    for name in files:
        file = Path(name)
        file.write_text(filled(file.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
