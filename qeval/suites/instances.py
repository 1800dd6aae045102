"""The instances of a suite: content keys, and rows generated only when an engine needs them."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from qeval.data.model import Dataset
from qeval.errors import InputError, did_you_mean
from qeval.suite import Existing, Instance, Script
from qeval.suites.generators import call, code_hash

_LONGEST_KEY = 60


@dataclass(frozen=True, slots=True)
class Instances:
    """Callable as `Suite.instance`; a plain value, so it can be sent to another process.

    `data` is that part of suite.yaml, `options` its `instances`, `files` the schema files' names.
    """

    suite: str
    folder: Path
    data: Mapping[str, Any]
    options: Mapping[str, Mapping[str, Any]]
    schemas: Mapping[str, str]
    mappings: Mapping[str, Any]
    reference_date: str
    files: Mapping[str, str]

    def __call__(self, language: str, name: str) -> Instance:
        """The instance `name` for `language`. Raises `InputError` for an unknown one."""
        if language not in self.schemas:
            raise InputError(
                f"suite {self.suite!r} has no language {language!r}, only"
                f" {', '.join(self.schemas)}.{did_you_mean(language, self.schemas)}"
            )
        if name not in self.options:
            raise InputError(
                f"suite {self.suite!r} has no instance {name!r}, only"
                f" {', '.join(self.options)}.{did_you_mean(name, self.options)}"
            )
        stem = re.sub(r"[^a-z0-9]+", "_", f"{self.suite}_{name}".lower())
        digest = self.content_hash(language, name)[:16]
        return Instance(
            key=f"{stem[: _LONGEST_KEY - len(digest) - 1]}_{digest}",
            name=name,
            schema=self.schemas[language],
            mapping=self.mappings[language],
            dataset=partial(self.generate, name),
            script=self._script(language, name),
            existing=self._existing(language, name),
            schema_file=str(self.folder / self.files[language]),
        )

    def content_hash(self, language: str, name: str) -> str:
        """SHA-256 of all that decides the instance's content: data source, schema, mapping."""
        parts = [
            self._source_hash(language, name),
            self.data,
            self.options[name],
            self.schemas[language],
            self.mappings[language],
        ]
        text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def generate(self, name: str) -> Dataset:
        """The rows of instance `name`. Raises `InputError` where options or files are wrong."""
        if "generator" in self.data:
            return call(self.data["generator"], self.folder, name, self.options[name], self._today)
        if "tables" not in self.data:
            raise InputError(
                f"suite {self.suite!r}: the rows of instance {name!r} are in the database alone; "
                "only suites with CSV files or a generator tell them apart from it"
            )
        from qeval.data.csv import read_csv_dataset

        return read_csv_dataset(self._instance_folder(name), self.data, self._today)

    @property
    def _today(self) -> date:
        return date.fromisoformat(self.reference_date)

    def _script(self, language: str, name: str) -> Script | None:
        if "scripts" not in self.data:
            return None
        file = self._instance_folder(name) / self.data["scripts"][language]
        try:
            return Script(str(file), _read(file).decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: expected UTF-8 text: {error}") from None

    def _existing(self, language: str, name: str) -> Existing | None:
        if "existing" not in self.data:
            return None
        declared = dict(self.options[name][language])
        if "schemas" in declared:
            declared["schemas"] = tuple(declared["schemas"])
        return Existing(**declared)

    def _source_hash(self, language: str, name: str) -> str:
        if "generator" in self.data:
            return code_hash(self.data["generator"], self.folder)
        digest = hashlib.sha256()
        files = [f"{table['name']}.csv" for table in self.data.get("tables", ())]
        if "scripts" in self.data:
            files = [self.data["scripts"][language]]
        for file in files:
            digest.update(_read(self._instance_folder(name) / file) + b"\0")
        return digest.hexdigest()

    def _instance_folder(self, name: str) -> Path:
        return self.folder / str(self.options[name].get("folder", "."))


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: can't be read: {error.strerror}") from error
