"""Opening an MLflow store: where it is, its first migration, its experiment."""

import re
import sqlite3
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from qeval.errors import InputError
from qeval.paths import cache_dir
from qeval.tracking.view import VIEW_TAG, saved_view

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from mlflow import MlflowClient

LOCK_PATIENCE_S = 120
"""How long another process may hold the store's lock: one migration takes some 3 s."""

_DESCRIPTION = (
    "How well language models write queries: every generated query was executed. One parent run "
    "is one command, the runs below it are its cells (model × language × prompt strategy × "
    "difficulty). Start with the parent's **overview.html**, then a cell's "
    "**failed_queries.html**."
)


@dataclass(frozen=True, slots=True)
class Location:
    """A tracking URI and, for sqlite, its file. `artifacts` is where a new experiment keeps
    artifacts (None: the server decides). `ours`: the default store, which qeval may tune.
    """

    uri: str
    database: Path | None = None
    artifacts: Path | None = None
    ours: bool = False

    @property
    def lock(self) -> "AbstractContextManager[Any]":
        """Held by one process at a time around migrations and look-up-then-create."""
        if self.database is None:
            return nullcontext()
        from filelock import FileLock

        return FileLock(self.database.with_name(f".{self.database.name}.lock"), LOCK_PATIENCE_S)


def locate(uri: str | None, directory: str | Path) -> Location:
    """The store that `conf/tracking` names. Raises `InputError` for a URI MLflow would refuse."""
    folder = Path(directory).absolute()
    if not uri:
        database = folder / "mlflow.db"
        return Location(f"sqlite:///{database}", database, folder, ours=True)
    if uri.startswith("sqlite:"):
        path = Path(unquote(uri.removeprefix("sqlite:///").partition("?")[0]))
        return Location(uri, path.absolute(), path.absolute().parent)
    if "://" not in uri and uri != "databricks":
        raise InputError(
            f"tracking.uri={uri!r} is not a tracking URI; expected sqlite:///file.db, http://host "
            "or https://host, or postgresql://…, or null for a store in tracking.directory"
        )
    return Location(uri)


def without_password(uri: str) -> str:
    """The URI as it may be shown: user and password blanked."""
    return re.sub(r"(?<=://)[^/\s]+@", "***@", uri)


def open_store(location: Location) -> "MlflowClient":
    """A client on the store, created and migrated if it is new. MLflow's errors pass through."""
    import mlflow
    from mlflow import MlflowClient

    _tune_sqlite(location)
    with location.lock:
        _refuse_damaged(location)
        fresh = location.database is not None and not location.database.exists()
        template = _template(mlflow.__version__) if location.ours else None
        if fresh and location.database is not None:
            location.database.parent.mkdir(parents=True, exist_ok=True)
            # A journal left by a deleted database would be replayed into the new one.
            for suffix in ("-wal", "-shm", "-journal"):
                location.database.with_name(location.database.name + suffix).unlink(missing_ok=True)
            if template is not None and template.is_file():
                location.database.write_bytes(template.read_bytes())
        # Not mlflow.set_tracking_uri: it is state of the process, and the client needs it not.
        client = MlflowClient(tracking_uri=location.uri)
        if location.database is not None:
            client.search_experiments(max_results=1)  # the store is opened on first use
        if fresh and template is not None and location.database and not template.is_file():
            _keep_template(location.database, template)
    return client


def _refuse_damaged(location: Location) -> None:
    """Say at once that a file is no database: MLflow would try again for minutes."""
    if location.database is None or not location.database.is_file():
        return
    try:
        with closing(sqlite3.connect(location.database)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.DatabaseError as error:
        raise InputError(
            f"{location.database} can't be read ({error}). Move it away; `qeval track` makes a new "
            "one from the journals"
        ) from None


def experiment_id(client: "MlflowClient", location: Location, name: str) -> str:
    """The experiment's id, made on first use. Raises `InputError` when it is in the trash."""
    from mlflow.exceptions import MlflowException

    with location.lock:
        found = client.get_experiment_by_name(name)
        if found is None:
            folder = None
            if location.artifacts is not None:
                folder = (location.artifacts / re.sub(r"[^\w.-]+", "_", name)).as_uri()
            tags = {
                "mlflow.note.content": _DESCRIPTION,
                # Spares people the question whether this is about agents or models.
                "mlflow.experimentKind": "custom_model_development",
                VIEW_TAG: saved_view(),
            }
            try:
                return str(client.create_experiment(name, artifact_location=folder, tags=tags))
            except MlflowException:
                found = client.get_experiment_by_name(name)  # another process was quicker
                if found is None:
                    raise
    if found.lifecycle_stage != "active":
        raise InputError(
            f"the MLflow experiment {name!r} is in the trash; restore it "
            f"(mlflow experiments restore -x {found.experiment_id}) or choose another with "
            "tracking.experiment=…"
        )
    if VIEW_TAG not in found.tags:
        client.set_experiment_tag(found.experiment_id, VIEW_TAG, saved_view())
    return str(found.experiment_id)


def _tune_sqlite(location: Location) -> None:
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    def configure(connection: Any, _record: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("PRAGMA busy_timeout=30000")
            if location.ours:
                # Our own store can always be made again from the journals, so it needn't wait
                # for the disk at every commit (some ten a cell).
                connection.execute("PRAGMA synchronous=OFF")

    event.listen(Engine, "connect", configure)


def _template(version: str) -> Path | None:
    """Where a migrated, empty store of this MLflow is kept: copying it saves 1.5 s."""
    try:
        return cache_dir("mlflow") / f"empty-{version}.db"
    except OSError:
        return None


def _keep_template(database: Path, template: Path) -> None:
    half = template.with_name(f"{template.name}.{id(template)}.part")
    try:
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(half)) as copy:
            source.backup(copy)
            # The default experiment carries the path of the store it was made for.
            copy.execute("DELETE FROM experiments")
            copy.commit()
        half.replace(template)
    except (OSError, sqlite3.Error):
        half.unlink(missing_ok=True)
