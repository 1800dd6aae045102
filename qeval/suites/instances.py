"""The instances of a suite: content keys, and rows generated only when an engine needs them."""

import hashlib
import importlib
import importlib.util
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

from qeval.data.model import Dataset
from qeval.errors import InputError, did_you_mean
from qeval.suite import Instance

_LONGEST_KEY = 60


@dataclass(frozen=True, slots=True)
class Instances:
    """Callable as `Suite.instance`; a plain value, so it can be sent to another process."""

    suite: str
    folder: Path
    data: Mapping[str, Any]
    options: Mapping[str, Mapping[str, Any]]
    schemas: Mapping[str, str]
    mappings: Mapping[str, Any]
    reference_date: str

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
        )

    def content_hash(self, language: str, name: str) -> str:
        """SHA-256 of all that decides the instance's content: data source, schema, mapping."""
        parts = [
            self._source_hash(name),
            self.data,
            self.options[name],
            self.schemas[language],
            self.mappings[language],
        ]
        text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def generate(self, name: str) -> Dataset:
        """The rows of instance `name`. Raises `InputError` where options or files are wrong."""
        if "generator" not in self.data:
            from qeval.data.csv import read_csv_dataset

            today = date.fromisoformat(self.reference_date)
            return read_csv_dataset(self._csv_folder(name), self.data, today)
        function = _generator(self.data["generator"], self.folder)
        try:
            dataset = function(**self.options[name])
        except TypeError as error:
            raise InputError(
                f"{self.folder / 'suite.yaml'}: instances.{name}: {self.data['generator']} refuses"
                f" these options: {error}"
            ) from error
        if dataset.reference_date.isoformat() != self.reference_date:
            raise InputError(
                f"{self.folder / 'suite.yaml'}: reference_date is {self.reference_date}, but the"
                f" data of instance {name} ends on {dataset.reference_date.isoformat()}"
            )
        return dataset

    def _source_hash(self, name: str) -> str:
        if "generator" in self.data:
            return _code_hash(self.data["generator"].partition(":")[0])
        digest = hashlib.sha256()
        for table in self.data["tables"]:
            file = self._csv_folder(name) / f"{table['name']}.csv"
            try:
                digest.update(file.read_bytes())
            except OSError as error:
                raise InputError(f"{file}: can't be read: {error.strerror}") from error
            digest.update(b"\0")
        return digest.hexdigest()

    def _csv_folder(self, name: str) -> Path:
        return self.folder / str(self.options[name].get("folder", "."))


def _generator(target: str, folder: Path) -> Callable[..., Dataset]:
    module_name, _, function_name = target.partition(":")
    try:
        function: Callable[..., Dataset] = getattr(
            importlib.import_module(module_name), function_name
        )
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"{folder / 'suite.yaml'}: data.generator: {target!r} can't be imported: {error}"
        ) from error
    return function


@cache
def _code_hash(module_name: str) -> str:
    """SHA-256 of the source of a module, or of all modules of a package, without importing it."""
    try:
        spec = importlib.util.find_spec(module_name)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        raise InputError(f"data.generator: there is no module {module_name!r}")
    origin = Path(spec.origin)
    files = sorted(origin.parent.glob("*.py")) if spec.submodule_search_locations else [origin]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()
