"""Answers kept on disk, so that nothing is asked (or paid) twice.

One sqlite file for all models, keyed by a hash of the whole request: model identity, messages and
repeat number. An answer is stored the moment it arrives; errors never are.
"""

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from qeval.models.base import Generation, Model, NeedsCases, Request, Usage
from qeval.paths import cache_dir

log = logging.getLogger(__name__)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS responses (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, created REAL NOT NULL, generation TEXT NOT NULL
) WITHOUT ROWID
"""
_BUSY_S = 30.0  # waiting for another process's write
_MAGIC = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class Kept:
    """What the cache holds of one model: answers, bytes of text, and when the first/last came.

    Times are seconds since the epoch.
    """

    model: str
    answers: int
    bytes: int
    oldest: float
    newest: float


class ResponseCache:
    """The file of answers. Safe for threads and for several processes; cheap until first used.

    A damaged file is moved aside, a full disk or a read-only folder switches storing off: the
    cache may cost time, never an evaluation.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else cache_dir("responses") / "responses.sqlite"
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._storing = True

    def get(self, key: str) -> Generation | None:
        """The answer kept under `key`, marked as cached, or None."""

        def read(connection: sqlite3.Connection) -> Any:
            found = connection.execute("SELECT generation FROM responses WHERE key = ?", (key,))
            return found.fetchone()

        row = self._try(read)
        if row is None:
            return None
        try:
            return _unpack(row[0])
        except (ValueError, TypeError, KeyError):  # written by a version that knew other fields
            return None

    def put(self, key: str, model: str, generation: Generation) -> None:
        """Keep an answer; the first one stored under a key stays."""
        if not self._storing:
            return
        row = (key, model, time.time(), _pack(generation))

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR IGNORE INTO responses VALUES (?, ?, ?, ?)", row)

        self._try(write)

    def kept(self) -> list[Kept]:
        """What is held, by model."""

        def read(connection: sqlite3.Connection) -> list[Kept]:
            rows = connection.execute(
                "SELECT model, count(*), sum(length(generation)), min(created), max(created) "
                "FROM responses GROUP BY model ORDER BY model"
            )
            return [Kept(*row) for row in rows]

        return (self._try(read) or []) if self.path.exists() else []

    def remove(self, model: str | None = None, before: float | None = None) -> int:
        """Forget answers of a model (None: all) made before a time; returns how many."""
        conditions = [
            *(["model = ?"] if model is not None else []),
            *(["created < ?"] if before is not None else []),
        ]
        values = [value for value in (model, before) if value is not None]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""

        def delete(connection: sqlite3.Connection) -> int:
            gone = connection.execute(f"DELETE FROM responses{where}", values).rowcount  # noqa: S608
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("VACUUM")
            return gone

        return (self._try(delete) or 0) if self.path.exists() else 0

    def close(self) -> None:
        """Close the file. Safe to call twice; the next use opens it again."""
        with self._lock:
            self._disconnect()

    def _try(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """Run `work` on the open file; None where the file can't serve."""
        with self._lock:
            for once_more in (True, False):
                try:
                    return work(self._open())
                except sqlite3.OperationalError as error:
                    self._give_up_storing(error)
                    return None
                except sqlite3.DatabaseError as error:
                    self._disconnect()
                    if once_more:
                        self._move_aside(error)
                    else:
                        self._give_up_storing(error)
        return None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._pid == os.getpid():
            return self._connection
        # A connection inherited by fork belongs to the parent: leave it alone, open our own.
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        self._connection, self._pid = connection, os.getpid()
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None and self._pid == os.getpid():
            self._connection.close()
        self._connection = None

    def _give_up_storing(self, error: sqlite3.Error) -> None:
        if self._storing:
            self._storing = False
            log.warning(
                "The cache of answers can't be used (%s: %s); going on without storing. Free some "
                "space (qeval cache rm) or set QEVAL_CACHE to another folder.",
                self.path,
                error,
            )

    def _move_aside(self, error: sqlite3.Error) -> None:
        from filelock import FileLock

        with suppress(OSError), FileLock(f"{self.path}.lock"):
            if self._sound():
                return  # another process has moved it and begun a new one
            aside = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
            self.path.replace(aside)
            for suffix in ("-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
            log.warning(
                "The cache of answers was damaged (%s); it is kept as %s, a new one begins.",
                error,
                aside,
            )

    def _sound(self) -> bool:
        if not self.path.exists():
            return True
        with self.path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return False
        connection = sqlite3.connect(self.path, timeout=_BUSY_S)
        try:
            return bool(connection.execute("PRAGMA quick_check").fetchone() == ("ok",))
        except sqlite3.DatabaseError:
            return False
        finally:
            connection.close()


def request_key(model: Model, request: Request) -> str:
    """The hash (64 hex digits) of all that can change an answer to `request`.

    Models that look at the case itself (gold, replay, mock) get its id and the language as well.
    """
    facts: dict[str, Any] = {
        "model": model.identity(),
        "messages": [[m.role, m.content] for m in request.prompt.messages],
        "repeat": request.repeat,
    }
    if getattr(model, "reads_case", False):
        facts["case"] = [request.case.id, request.language]
        if request.round:
            facts["round"] = request.round
    text = json.dumps(facts, sort_keys=True, ensure_ascii=False, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class CachedModel:
    """A model that looks into the cache first. Equal requests at one time are asked once."""

    def __init__(self, model: Model, cache: ResponseCache) -> None:
        self.model = model
        self.name = model.name
        self.responses = cache
        self._flights: dict[str, tuple[threading.Lock, int]] = {}
        self._lock = threading.Lock()

    def identity(self) -> dict[str, object]:
        """The model's own: a cached answer is the same answer."""
        return self.model.identity()

    def preflight(self) -> None:
        """The model's own."""
        self.model.preflight()

    def preflight_cases(self, case_ids: Sequence[str], language: str, repeats: int) -> None:
        """The model's own, where it has one."""
        if isinstance(self.model, NeedsCases):
            self.model.preflight_cases(case_ids, language, repeats)

    def generate(self, request: Request) -> Generation:
        """The kept answer, else the model's, which is then kept. Raises `ModelError`."""
        key = request_key(self.model, request)
        kept = self.responses.get(key)
        if kept is not None:
            return kept
        with self._alone(key):
            kept = self.responses.get(key)
            if kept is not None:
                return kept
            generation = self.model.generate(request)
            self.responses.put(key, self.name, generation)
            return generation

    def close(self) -> None:
        """Release the model. The file of answers stays open for the other models that share it."""
        self.model.close()

    def __getattr__(self, name: str) -> Any:
        """Whatever else the model offers (price, window, count_tokens …)."""
        if name == "model":  # asked for before __init__ ran (copy, pickle)
            raise AttributeError(name)
        return getattr(self.model, name)

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        with self._lock:
            lock, users = self._flights.get(key, (threading.Lock(), 0))
            self._flights[key] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, users = self._flights[key]
                if users == 1:
                    del self._flights[key]
                else:
                    self._flights[key] = (lock, users - 1)


_shared: dict[Path, ResponseCache] = {}


def cached(model: Model) -> Model:
    """The model behind the user's cache where its YAML says `cache: true`, else as it is."""
    if not getattr(model, "cache", False):
        return model
    path = cache_dir("responses") / "responses.sqlite"
    return CachedModel(model, _shared.setdefault(path, ResponseCache(path)))


def _pack(generation: Generation) -> str:
    return json.dumps(asdict(replace(generation, cached=False)), default=str)


def _unpack(text: str) -> Generation:
    values = json.loads(text)
    return Generation(**{**values, "usage": Usage(**values["usage"]), "cached": True})
