"""The labelled pairs that judges are calibrated on: gold against query, equivalent or different.

A suite's folder may hold `calibration/<language>.yaml`; its labels are proven on the suite's
instances (`qeval.judge.calibration_build`). Users add pairs of their own in files of the same form.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from qeval.errors import InputError, did_you_mean
from qeval.suite import Suite
from qeval.suites.crosschecks import Misplaced, refuse
from qeval.suites.documents import read_document

FOLDER = "calibration"

Label = Literal["equivalent", "different"]
Origin = Literal["rewrite", "mutant", "user"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A query held against the gold of its case in the same language.

    `kind`: kind of the rewrite or operator of the mutant. `decided_by`: the smallest instance that
    tells the query from the gold, None where none does (so for every equivalent pair). `lucky`: a
    different query that answers as the gold does on base.
    """

    id: str
    case: str
    language: str
    query: str
    label: Label
    origin: Origin = "user"
    kind: str = ""
    decided_by: str | None = None
    lucky: bool = False


@dataclass(frozen=True, slots=True)
class CalibrationSet:
    """A suite's own pairs in one language, and what their labels were proven on.

    `golds` is the digest of `qeval.suites.mutants.golds_digest` at that time.
    """

    language: str
    golds: str
    instances: tuple[str, ...]
    seed: int
    pairs: tuple[Pair, ...]


def set_file(folder: Path, language: str) -> Path:
    """Where the suite in `folder` keeps its pairs in `language`."""
    return folder / FOLDER / f"{language}.yaml"


def load_pairs(
    folder: Path, language: str, *, extra: Sequence[Path] = (), suite: Suite | None = None
) -> tuple[Pair, ...]:
    """The pairs of the suite in `folder` and those of the `extra` files, in this order.

    With `suite` every case is looked up in it. Raises `InputError` naming file, line and key of
    every fault: an id that comes twice, a case that the suite does not have in the language.
    """
    own = set_file(folder, language)
    files = [own, *extra] if own.exists() else list(extra)
    golds = None if suite is None else [case.id for case in suite.cases if language in case.gold]
    seen: dict[str, Path] = {}
    pairs: list[Pair] = []
    faults: list[Misplaced] = []
    for file in files:
        for index, entry in enumerate(read_document(file, "calibration")["pairs"]):
            pair = Pair(language=language, **{**entry, "query": entry["query"].strip()})
            where = ("pairs", index)
            if pair.id in seen:
                message = f"{pair.id!r} is already used in {seen[pair.id].name}"
                faults.append((file, (*where, "id"), message))
            if golds is not None and pair.case not in golds:
                near = did_you_mean(pair.case, golds)
                message = f"the suite has no {language} gold of a case {pair.case!r}.{near}"
                faults.append((file, (*where, "case"), message))
            seen[pair.id] = file
            pairs.append(pair)
    refuse(faults)
    return tuple(pairs)


def sample_of(pairs: Sequence[Pair], size: int) -> list[Pair]:
    """`size` of the pairs, every kind of label (and luck) in its share; the same ones each time.

    A larger sample holds every smaller one.
    """
    strata: dict[tuple[str, bool], list[Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: hashlib.sha256(pair.id.encode()).digest()):
        strata.setdefault((pair.label, pair.lucky), []).append(pair)
    ranked = [
        ((place + 0.5) / len(own), pair)
        for own in strata.values()
        for place, pair in enumerate(own)
    ]
    chosen = {pair.id for _, pair in sorted(ranked, key=lambda entry: entry[0])[:size]}
    return [pair for pair in pairs if pair.id in chosen]


def read_set(folder: Path, language: str) -> CalibrationSet | None:
    """The suite's own set with its head, None where there is none. Raises `InputError`."""
    file = set_file(folder, language)
    if not file.exists():
        return None
    document = read_document(file, "calibration")
    missing = [key for key in ("golds", "instances", "seed") if key not in document]
    if missing:
        raise InputError(
            f"{file}: missing {', '.join(missing)}: a suite's own set is written by"
            " `qeval check --calibration --record`; give your own pairs as an extra file"
        )
    return CalibrationSet(
        language,
        document["golds"],
        tuple(document["instances"]),
        document["seed"],
        load_pairs(folder, language),
    )


def write_set(folder: Path, found: CalibrationSet) -> Path:
    """Write a suite's own set and return the file's path."""
    import yaml

    file = set_file(folder, found.language)
    file.parent.mkdir(exist_ok=True)
    document = {
        "golds": found.golds,
        "instances": list(found.instances),
        "seed": found.seed,
        "pairs": [_entry(pair) for pair in found.pairs],
    }
    head = (
        "# Written by: qeval check --calibration --record. Queries held against the gold of their\n"
        "# case; labels are proven on the instances.\n"
    )
    body = yaml.dump(
        document, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=100
    )  # fmt: skip
    file.write_text(head + body, encoding="utf-8")
    return file


def _entry(pair: Pair) -> dict[str, object]:
    entry: dict[str, object] = {
        "id": pair.id,
        "case": pair.case,
        "label": pair.label,
        "origin": pair.origin,
        "kind": pair.kind,
        "decided_by": pair.decided_by,
    }
    if pair.lucky:
        entry["lucky"] = True
    return {**entry, "query": pair.query}


def _dumper() -> type:
    """A dumper that writes text of several lines as a literal block, as a person would."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return Dumper
