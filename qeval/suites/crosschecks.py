"""What JSON Schema can't say about a suite: ids, order keys, scales, languages, references."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from qeval.errors import InputError, did_you_mean
from qeval.suites.documents import KeyPath, line_of

Fault = tuple[KeyPath, str]
Misplaced = tuple[Path, KeyPath, str]
"""A fault and the file that it is in."""

_COMMENT = re.compile(r"(?:--|//|#)[^\n]*")  # of SQL, Cypher and TypeQL


@dataclass(frozen=True, slots=True)
class Entry:
    """A case or an example as read, and where it stands."""

    file: Path
    keys: tuple[str | int, ...]
    data: Mapping[str, Any]


def check_suite(file: Path, head: Mapping[str, Any]) -> None:
    """Check the parts of suite.yaml against each other. Raises `InputError`."""
    refuse([(file, keys, message) for keys, message in _suite_faults(head)])


def check_entries(
    cases: Sequence[Entry],
    examples: Sequence[Entry],
    head: Mapping[str, Any],
    schemas: Mapping[str, str],
) -> None:
    """Check cases and examples against each other and the suite. Raises `InputError`."""
    vocabularies = {
        language: frozenset(re.findall(r"[\w-]+", _COMMENT.sub("", schema)))
        for language, schema in schemas.items()
    }
    faults: list[Misplaced] = []
    seen: dict[str, Entry] = {}
    questions: dict[tuple[str, str], str] = {}
    for entry in (*cases, *examples):
        name = entry.data["id"]
        if name in seen:
            first = seen[name]
            place = f"{first.file.name}:{line_of(first.file, (*first.keys, 'id'))}"
            faults.append((entry.file, (*entry.keys, "id"), f"{name!r} is already used at {place}"))
        seen[name] = entry
        for language, text in entry.data["question"].items():
            other = questions.setdefault((language, text.strip()), name)
            if other != name:
                keys = (*entry.keys, "question", language)
                faults.append((entry.file, keys, f"same question as {other!r}"))
        found = _entry_faults(entry.data, head, vocabularies)
        faults += [(entry.file, (*entry.keys, *keys), message) for keys, message in found]
    refuse(faults)


def refuse(faults: Sequence[Misplaced]) -> None:
    """Raise one `InputError` that names file, line and key of every fault, if there is any."""
    if not faults:
        return
    from qeval.suites.validation import key_name

    lines = [
        f"{file}:{line_of(file, keys)}: {key_name(keys)}: {message}"
        for file, keys, message in faults
    ]
    raise InputError("\n".join(lines))


def _suite_faults(head: Mapping[str, Any]) -> Iterator[Fault]:
    try:
        date.fromisoformat(head["reference_date"])
    except ValueError:
        yield ("reference_date",), f"{head['reference_date']!r} is not a calendar date"
    yield from _source_faults(head)
    yield from _secret_faults(head)
    known: dict[str, list[str]] = {}
    for index, table in enumerate(head["data"].get("tables", ())):
        keys: KeyPath = ("data", "tables", index)
        fields = [field["name"] for field in table["fields"]]
        if table["name"] in known:
            yield (*keys, "name"), f"table {table['name']!r} is declared twice"
        known[table["name"]] = fields
        for name in table.get("key", ()):
            if name not in fields:
                yield (*keys, "key"), f"no field {name!r}.{did_you_mean(name, fields)}"
        for place, field in enumerate(table["fields"]):
            where = (*keys, "fields", place)
            if fields.index(field["name"]) != place:
                yield (*where, "name"), f"field {field['name']!r} is declared twice"
            if ("scale" in field) != (field["type"] == "decimal"):
                yield where, "`scale` goes with type decimal, and every decimal needs it"
            target, _, column = field.get("references", "").partition(".")
            if target and column not in known.get(target, ()):
                options = [f"{name}.{c}" for name, cs in known.items() for c in cs]
                near = did_you_mean(field["references"], options)
                yield (
                    (*where, "references"),
                    f"no field {field['references']!r} in this or an earlier table.{near}",
                )


def _source_faults(head: Mapping[str, Any]) -> Iterator[Fault]:
    """Scripts and existing databases are declared for each language, and for no other."""
    languages = head["languages"]
    declared: list[tuple[KeyPath, Mapping[str, Any]]] = []
    if "scripts" in head["data"]:
        declared = [(("data", "scripts"), head["data"]["scripts"])]
    elif "existing" in head["data"]:
        declared = [(("instances", name), given) for name, given in head["instances"].items()]
    for keys, given in declared:
        for language in given:
            if language not in languages:
                near = did_you_mean(language, languages)
                yield (*keys, language), f"the suite has no language {language!r}.{near}"
        for language in languages:
            if language not in given:
                yield keys, f"missing {language!r}, one of the suite's languages"


def _secret_faults(head: Mapping[str, Any]) -> Iterator[Fault]:
    """No password stands in a file that people share."""
    if "existing" not in head["data"]:
        return
    for name, given in head["instances"].items():
        for language, database in given.items():
            keys = ("instances", name, language)
            if not database.get("password", "$").startswith("$"):
                yield (*keys, "password"), "expected $NAME of an environment variable"
            if re.match(r"[^$/]*://[^/@:]*:[^/@]*@", database["uri"]):
                yield (*keys, "uri"), "holds a password; write $NAME of an environment variable"


def _entry_faults(
    data: Mapping[str, Any],
    head: Mapping[str, Any],
    vocabularies: Mapping[str, Collection[str]],
) -> Iterator[Fault]:
    yield from _question_faults(data, head.get("question_languages", ("en",)))
    for part in ("gold", "scope"):
        for language in data.get(part, ()):
            if language not in vocabularies:
                yield (part, language), f"the suite has no language {language!r}"
    yield from _answer_faults(data["answer"])
    for language, names in data.get("scope", {}).items():
        words = vocabularies.get(language, names)
        for name in names:
            if name not in words:
                yield (
                    ("scope", language),
                    f"{name!r} isn't in the {language} schema.{did_you_mean(name, words)}",
                )


def _question_faults(data: Mapping[str, Any], asked: Sequence[str]) -> Iterator[Fault]:
    for language in asked:
        if language not in data["question"]:
            yield ("question",), f"no question in {language!r}; the suite declares {list(asked)}"
    for language in data["question"]:
        if language not in asked:
            yield ("question", language), f"the suite declares only {list(asked)}"


def _answer_faults(answer: Mapping[str, Any]) -> Iterator[Fault]:
    names = [column["name"] for column in answer["columns"]]
    for index, column in enumerate(answer["columns"]):
        keys: KeyPath = ("answer", "columns", index)
        if names.index(column["name"]) != index:
            yield keys, f"two columns are named {column['name']!r}"
        inner = column.get("items", "any") if column["type"] == "list" else column["type"]
        if inner == "decimal" and "scale" not in column:
            yield keys, "a decimal column needs its scale"
        for option, given, kinds in (
            ("scale", inner, ("decimal",)),
            ("tolerance", inner, ("float", "any")),
            ("items", column["type"], ("list",)),
            ("ordered", column["type"], ("list",)),
        ):
            if option in column and given not in kinds:
                yield (*keys, option), f"goes only with type {' or '.join(kinds)}, not {given}"
    for index, key in enumerate(answer.get("order_by", ())):
        if key["column"] not in names:
            near = did_you_mean(key["column"], names)
            yield ("answer", "order_by", index), f"no answer column {key['column']!r}.{near}"
    if "top_k" in answer and "order_by" not in answer:
        yield ("answer", "top_k"), "needs order_by: the first k of what order?"
