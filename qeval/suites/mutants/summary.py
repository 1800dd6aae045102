"""The committed summary of mutation strength: shares by operator, and the golds they belong to."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from qeval.suite import Suite
from qeval.suites.documents import read_yaml
from qeval.suites.mutants.declared import FOLDER
from qeval.suites.mutants.strength import Strength


def golds_digest(suite: Suite, language: str) -> str:
    """SHA-256 of all that decides which mutants live: golds, answers, and the instances' content.

    The key of an instance stands for its content.
    """
    parts = [
        [
            [case.id, case.gold[language], asdict(case.answer)]
            for case in suite.cases
            if language in case.gold
        ],
        [suite.instance(language, name).key for name in suite.instances],
    ]
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def summary_of(suite: Suite, strength: Strength, instances: tuple[str, ...]) -> dict[str, Any]:
    """The summary as it is written: digest, instances, counts and share by operator and in all."""
    total = strength.share()
    return {
        "golds": golds_digest(suite, strength.language),
        "instances": list(instances),
        "cases": sum(strength.language in case.gold for case in suite.cases),
        "share": None if total is None else round(total, 4),
        "all": dict(strength.counts()),
        "operators": {name: dict(strength.counts(name)) for name in strength.operators},
        "survivors": [
            f"{outcome.case} {outcome.mutant.operator}: {outcome.mutant.change}"
            for outcome in strength.outcomes
            if outcome.fate == "survived"
        ],
    }


def write_summary(folder: Path, language: str, summary: Mapping[str, Any]) -> Path:
    """Write `<suite folder>/mutants/<language>.yaml` and return its path."""
    import yaml

    file = folder / FOLDER / f"{language}.yaml"
    file.parent.mkdir(exist_ok=True)
    head = "# Written by: qeval check --mutants --record. Mutants of the golds, by their fate.\n"
    body = yaml.safe_dump(dict(summary), sort_keys=False, allow_unicode=True, width=100)
    file.write_text(head + body, encoding="utf-8")
    return file


def read_summary(folder: Path, language: str) -> Mapping[str, Any] | None:
    """The committed summary of a language, None where there is none yet."""
    file = folder / FOLDER / f"{language}.yaml"
    if not file.exists():
        return None
    content: Mapping[str, Any] = read_yaml(file)
    return content
