"""Tables of golds kept in the user's cache, so that the next sweep need not run them again.

A kept table is used only where nothing that could change it has changed: the gold's text, the
engine and its version, the fingerprint of the data as it was taken in this very sweep, the limits,
and every file of the code that executes queries and reads values. Only engines that qeval itself
runs take part: a server of the user's own may be set up in ways that no key can tell.
"""

import hashlib
import os
import pickle
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from qeval.engines.base import EngineInfo, QueryLimits
from qeval.paths import PACKAGE, cache_dir
from qeval.scoring.table import Table

KIND = "golds"
_MOST_FILES = 60
_CODE = ("engines", "typeql", "scoring", "data")
_DRIVERS = ("psycopg", "neo4j")
_Plain = tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]


class GoldTables:
    """Kept tables of one engine, by data and gold. Thread-safe; what is damaged is as if absent."""

    def __init__(self, info: EngineInfo) -> None:
        self._label = str(info)
        self._used = info.origin == "embedded"
        try:
            self._folder = cache_dir(KIND)
        except OSError:  # a home that can't be written costs time only
            self._used = False
        self._lock = threading.Lock()
        self._paths: dict[tuple[str, QueryLimits], Path] = {}
        self._files: dict[Path, dict[str, _Plain]] = {}
        self._new: dict[Path, dict[str, _Plain]] = {}

    def find(self, gold: str, fingerprint: str, limits: QueryLimits) -> Table | None:
        """The kept table of a gold on the data with that fingerprint, if there is one."""
        if not self._used:
            return None
        path = self._path(fingerprint, limits)
        with self._lock:
            if path not in self._files:
                self._files[path] = _read(path)
            found = self._files[path].get(gold)
        return None if found is None else Table(*found)

    def add(self, gold: str, fingerprint: str, limits: QueryLimits, table: Table) -> None:
        """Keep a table when `save` is called."""
        if self._used:
            with self._lock:
                self._new.setdefault(self._path(fingerprint, limits), {})[gold] = (
                    table.columns,
                    table.rows,
                )

    def save(self) -> None:
        """Write what was added; trouble costs time in the next sweep, nothing else."""
        with self._lock:
            new, self._new = self._new, {}
        for path, tables in new.items():
            with suppress(OSError):
                half = path.with_name(f"{path.name}.{os.getpid()}")
                half.write_bytes(pickle.dumps({**_read(path), **tables}))
                half.replace(path)
        if new:
            with suppress(OSError):
                files = sorted(self._folder.iterdir(), key=lambda file: -file.stat().st_mtime)
                for file in files[_MOST_FILES:]:
                    file.unlink(missing_ok=True)

    def _path(self, fingerprint: str, limits: QueryLimits) -> Path:
        key = fingerprint, limits
        if key not in self._paths:
            text = repr((self._label, fingerprint, limits, _code()))
            name = hashlib.sha256(text.encode()).hexdigest()[:32]
            self._paths[key] = self._folder / f"{name}.pickle"
        return self._paths[key]


def _read(path: Path) -> dict[str, _Plain]:
    try:
        # Our own file in the user's own cache folder, beside the programs that we run from there.
        found = pickle.loads(path.read_bytes())  # noqa: S301
    except Exception:  # noqa: BLE001 - whatever a damaged file raises
        return {}
    return found if isinstance(found, dict) else {}


@cache
def _code() -> tuple[tuple[str, int, int], ...]:
    """Path, size and time of change of every file whose code makes tables."""
    return tuple(_stats())


def _stats() -> Iterator[tuple[str, int, int]]:
    from importlib.util import find_spec

    roots = [PACKAGE / name for name in _CODE]
    for name in _DRIVERS:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            roots.append(Path(spec.origin))
    for root in roots:
        for file in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            found = file.stat()
            yield str(file), found.st_size, found.st_mtime_ns
