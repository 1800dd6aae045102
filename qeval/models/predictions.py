"""Reading a file of predictions: JSON lines or a table, from whichever program wrote it."""

import codecs
import csv
import hashlib
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from qeval.errors import InputError, did_you_mean

_ID = ("case_id", "id", "case")
_TEXT = ("query", "raw", "answer")
_NUMBERS = ("prompt_tokens", "completion_tokens", "cost_usd", "seconds")
_KNOWN = (*_ID, *_TEXT, *_NUMBERS, "language", "repeat", "finish_reason", "served_by")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FIELD_BYTES = 64 * 1024 * 1024  # csv's own limit of 128 KB is less than some models answer
_N = TypeVar("_N", int, float)
Key = tuple[str, str | None, int | None]


@dataclass(frozen=True, slots=True)
class Prediction:
    """One row: the text of an answer and what else the file told of it. Times in seconds."""

    text: str
    is_query: bool
    line: int
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    served_by: str = ""


@dataclass(frozen=True, slots=True)
class Predictions:
    """All rows of a file by case, language and repeat (None: any), and the file's digest.

    `encoding` is what it was read as; what its own byte-order mark says counts as utf-8.
    """

    sha256: str
    encoding: str
    rows: Mapping[Key, Prediction] = field(repr=False)

    def find(self, case_id: str, language: str, repeat: int) -> Prediction | None:
        """The most specific row for a request, or None."""
        for key in (
            (case_id, language, repeat),
            (case_id, language, None),
            (case_id, None, repeat),
            (case_id, None, None),
        ):
            if key in self.rows:
                return self.rows[key]
        return None

    def case_ids(self) -> set[str]:
        """The cases that the file answers in any language."""
        return {case_id for case_id, _, _ in self.rows}


def read_predictions(path: Path, encoding: str = "utf-8") -> Predictions:
    """Read a file of predictions whole.

    A byte-order mark decides the encoding, else `encoding` does. Raises `InputError` naming file
    and line for unreadable text, rows without id or answer, and two rows for one request.
    """
    if not path.is_file():
        near = [p.name for p in path.parent.glob("*") if p.is_file()]
        raise InputError(
            f"model.file: there is no file {path}.{did_you_mean(path.name, near)} "
            "A relative path counts from the current directory."
        )
    digest = hashlib.sha256()
    with path.open("rb") as file:
        head = file.read(4)
        digest.update(head)
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    mark = next((name for mark, name in _BOMS if head.startswith(mark)), None)
    marked = mark or encoding
    rows: dict[Key, Prediction] = {}
    try:
        with path.open(encoding=marked, newline="") as text:
            for line, values in _values(path, text):
                key, row = _row(path, line, values)
                if key in rows:
                    raise InputError(
                        f"{path}: lines {rows[key].line} and {line} both answer {_named(key)}; "
                        "keep one, or tell them apart by a repeat column (0, 1, …)"
                    )
                rows[key] = row
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not {marked} text (byte {error.object[error.start : error.start + 1]!r}). "
            "Save it as UTF-8 or say what it is, e.g. model.encoding=cp1252"
        ) from None
    except LookupError:
        raise InputError(f"model.encoding={encoding!r} is not an encoding known here") from None
    if not rows:
        raise InputError(f"{path}: the file has no predictions")
    return Predictions(digest.hexdigest(), "utf-8" if mark else codecs.lookup(encoding).name, rows)


def _values(path: Path, text: io.TextIOBase) -> Iterator[tuple[int, Mapping[str, Any]]]:
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv", ".tab"):
        return _table(path, text)
    if suffix in (".jsonl", ".ndjson", ".json"):
        return _json(path, text)
    raise InputError(
        f"{path}: expected a file named .jsonl, .ndjson, .json, .csv or .tsv, found {suffix!r}"
    )


def _json(path: Path, text: io.TextIOBase) -> Iterator[tuple[int, Mapping[str, Any]]]:
    first = True
    for number, line in enumerate(text, start=1):
        if not line.strip():
            continue
        if first and line.lstrip().startswith("["):
            yield from enumerate(_array(path, line + text.read()), start=1)
            return
        first = False
        try:
            values = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(
                f"{path}:{number}: not a JSON object on one line ({error.msg} at column "
                f"{error.colno})"
            ) from None
        if not isinstance(values, dict):
            raise InputError(
                f"{path}:{number}: expected a JSON object, found {type(values).__name__}"
            )
        yield number, values


def _array(path: Path, text: str) -> list[dict[str, Any]]:
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON ({error.msg})") from None
    if not all(isinstance(value, dict) for value in values):
        raise InputError(f"{path}: expected an array of JSON objects")
    return list(values)


def _table(path: Path, text: io.TextIOBase) -> Iterator[tuple[int, Mapping[str, Any]]]:
    csv.field_size_limit(_FIELD_BYTES)
    header = text.readline()
    delimiter = max("\t;,", key=header.count)
    text.seek(0)
    reader = csv.DictReader(text, delimiter=delimiter, strict=True)
    try:
        names = list(reader.fieldnames or [])
        for needed, choices in (("case_id", _ID), ("query, raw or answer", _TEXT)):
            if not set(choices) & set(names):
                raise InputError(
                    f"{path}:1: no column {needed}; the header has: {', '.join(names)}."
                    + did_you_mean(choices[0], names)
                )
        for values in reader:
            if None in values:
                raise InputError(
                    f"{path}:{reader.line_num}: more fields than the header's {len(names)}; quote "
                    f"texts that hold {delimiter!r}"
                )
            yield reader.line_num, {k: v for k, v in values.items() if v not in (None, "")}
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: {error}") from None


def _row(path: Path, line: int, values: Mapping[str, Any]) -> tuple[Key, Prediction]:
    where = f"{path}:{line}"
    case_id = next((values[name] for name in _ID if values.get(name) not in (None, "")), None)
    if case_id is None:
        raise InputError(f"{where}: no case_id; it has: {', '.join(map(str, values)) or 'nothing'}")
    given = [name for name in _TEXT if name in values]
    column = next((name for name in given if values[name] is not None), next(iter(given), None))
    if column is None and path.suffix.lower() not in (".csv", ".tsv", ".tab"):
        raise InputError(
            f"{where}: expected query, raw or answer; it has: {', '.join(values)}."
            + did_you_mean(next((n for n in values if n not in _KNOWN), ""), _TEXT)
        )
    # An empty table cell and a JSON null are an answer too: the model said nothing.
    text = "" if column is None or values[column] is None else values[column]
    if not isinstance(text, str):
        raise InputError(f"{where}: {column} must be text, not {type(text).__name__}")
    language = values.get("language") or None
    repeat = _number(where, "repeat", values.get("repeat"), int)
    row = Prediction(
        text=text,
        is_query=column == "query" and text.strip() != "",
        line=line,
        finish_reason=str(values.get("finish_reason") or "stop"),
        prompt_tokens=_number(where, "prompt_tokens", values.get("prompt_tokens"), int),
        completion_tokens=_number(where, "completion_tokens", values.get("completion_tokens"), int),
        cost_usd=_number(where, "cost_usd", values.get("cost_usd"), float),
        seconds=_number(where, "seconds", values.get("seconds"), float) or 0.0,
        served_by=str(values.get("served_by") or ""),
    )
    return (str(case_id), None if language is None else str(language).lower(), repeat), row


def _number(where: str, name: str, value: Any, kind: type[_N]) -> _N | None:
    if value in (None, ""):
        return None
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number < 0 or (kind is int and number % 1):
        whole = "whole and " if kind is int else ""
        raise InputError(f"{where}: {name} must be a number, {whole}not below 0, found {value!r}")
    return kind(number)


def _named(key: Key) -> str:
    case_id, language, repeat = key
    parts = [case_id, language or "any language"]
    return ", ".join([*parts, *([] if repeat is None else [f"repeat {repeat}"])])
