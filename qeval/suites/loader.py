"""From a suite's folder to a `Suite`."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qeval.errors import InputError, did_you_mean
from qeval.paths import shipped
from qeval.scoring.spec import AnswerSpec, Column, OrderKey
from qeval.suite import Case, Example, Suite
from qeval.suites.crosschecks import Entry, check_entries, check_suite
from qeval.suites.documents import line_of, read_document, read_mapping, read_yaml
from qeval.suites.instances import Instances
from qeval.suites.mappings import check_mapping


def available() -> tuple[str, ...]:
    """Names of the built-in suites."""
    return tuple(sorted(file.parent.name for file in shipped("cases").glob("*/suite.yaml")))


def load_suite(which: str | Path | Mapping[str, Any], *, fresh: bool = False) -> Suite:
    """Load the built-in suite of that name, or the suite in that folder.

    `which` may be the configuration group `suite`: its `path` if there is one, else its `name`.
    Files already known to be valid aren't validated again unless `fresh`. Raises `InputError`
    naming file, line and key of what is wrong.
    """
    folder = suite_folder(which)
    file = folder / "suite.yaml"
    head = read_document(file, "suite", fresh=fresh)
    check_suite(file, head)
    languages: Mapping[str, Any] = head["languages"]
    schemas = {lang: _text(file, lang, spec["schema"]) for lang, spec in languages.items()}
    mappings = {
        lang: read_mapping(folder / spec["mapping"], lang, fresh=fresh) if "mapping" in spec else {}
        for lang, spec in languages.items()
    }
    prompt_schemas = {
        lang: _text(file, lang, spec["prompt_schema"]) if "prompt_schema" in spec else schemas[lang]
        for lang, spec in languages.items()
    }
    for lang, spec in languages.items():
        if "mapping" in spec:
            check_mapping(folder / spec["mapping"], lang, mappings[lang], head["data"])
    glossary = {
        asked: _glossary(folder / name, fresh=fresh)
        for asked, name in head.get("glossary", {}).items()
    }
    cases, examples = _entries(folder, head, fresh=fresh)
    check_entries(cases, examples, head, prompt_schemas)
    instances = Instances(
        suite=head["name"],
        folder=folder,
        data=head["data"],
        options=head["instances"],
        schemas=schemas,
        mappings=mappings,
        reference_date=head["reference_date"],
        files={lang: spec["schema"] for lang, spec in languages.items()},
    )
    content = [
        head["reference_date"],
        [{**entry.data, "notes": ""} for entry in (*cases, *examples)],
        [schemas, mappings, prompt_schemas],
        [[lang, name, instances.content_hash(lang, name)] for lang in languages
         for name in head["instances"]],
        glossary,
    ]  # fmt: skip
    return Suite(
        name=head["name"],
        version=head["version"],
        content_hash=_digest(content),
        reference_date=head["reference_date"],
        cases=tuple(_case(entry.data) for entry in cases),
        examples=tuple(_example(entry.data) for entry in examples),
        languages=tuple(languages),
        instance=instances,
        schema_text=prompt_schemas,
        instances=tuple(head["instances"]),
        question_languages=tuple(head.get("question_languages", ("en",))),
        check_difficulty=head.get("check_difficulty", False),
        glossary=glossary,
    )


def suite_folder(which: str | Path | Mapping[str, Any]) -> Path:
    """The folder with the suite's suite.yaml; `which` as in `load_suite`. Raises `InputError`."""
    name = str(which.get("path") or which["name"]) if isinstance(which, Mapping) else str(which)
    for folder in (Path(name), shipped("cases") / name):
        if (folder / "suite.yaml").is_file():
            return folder
    if Path(name).is_dir():
        raise InputError(f"{name}: no suite.yaml in this folder")
    names = available()
    raise InputError(
        f"no suite {name!r}: it is neither a built-in suite ({', '.join(names)}) nor a folder with"
        f" a suite.yaml.{did_you_mean(name, names)}"
    )


def _text(file: Path, language: str, name: str) -> str:
    try:
        return (file.parent / name).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        line = line_of(file, ("languages", language))
        raise InputError(
            f"{file}:{line}: languages.{language}: {file.parent / name} can't be read: {error}"
        ) from error


def _glossary(file: Path, *, fresh: bool) -> dict[str, tuple[str, ...]]:
    content = read_yaml(file, fresh=fresh)
    for name, terms in content.items() if isinstance(content, Mapping) else [("", None)]:
        if not isinstance(terms, list) or not all(isinstance(t, str) and t for t in terms):
            raise InputError(f"{file}: {name or 'the file'}: expected `identifier: [term, …]`")
    return {str(name): tuple(terms) for name, terms in content.items()}


def _entries(
    folder: Path, head: Mapping[str, Any], *, fresh: bool
) -> tuple[list[Entry], list[Entry]]:
    found: dict[str, list[Entry]] = {"cases": [], "examples": []}
    for wanted, entries in found.items():
        for name in head.get(wanted, ()):
            document = read_document(folder / name, "cases", fresh=fresh)
            if set(document) != {wanted}:
                other = ", ".join(sorted(set(document) - {wanted})) or "nothing"
                raise InputError(f"{folder / name}: found {other}, expected only {wanted!r}")
            entries += [
                Entry(folder / name, (wanted, index), data)
                for index, data in enumerate(document[wanted])
            ]
    return found["cases"], found["examples"]


def _answer(data: Mapping[str, Any]) -> AnswerSpec:
    return AnswerSpec(
        columns=tuple(Column(**column) for column in data["columns"]),
        order_by=tuple(OrderKey(**key) for key in data.get("order_by", ())),
        top_k=data.get("top_k"),
        all_ties=data.get("all_ties", "top_k" in data),
    )


def _stripped(texts: Mapping[str, str]) -> dict[str, str]:
    return {language: text.strip() for language, text in texts.items()}


def _case(data: Mapping[str, Any]) -> Case:
    return Case(
        id=data["id"],
        difficulty=data["difficulty"],
        question=_stripped(data["question"]),
        gold=_stripped(data["gold"]),
        answer=_answer(data["answer"]),
        tags=tuple(data.get("tags", ())),
        source=data.get("source", ""),
        pattern=data.get("pattern", ""),
        empty_ok=data.get("empty_ok", False),
        scope={language: tuple(names) for language, names in data.get("scope", {}).items()},
        notes=data.get("notes", ""),
        gold_level=data.get("gold_level", {}),
    )


def _example(data: Mapping[str, Any]) -> Example:
    return Example(
        id=data["id"],
        question=_stripped(data["question"]),
        gold=_stripped(data["gold"]),
        answer=_answer(data["answer"]),
        tags=tuple(data.get("tags", ())),
    )


def _digest(content: Any) -> str:
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
