"""Neo4j's parts, fetched once: by `artifacts.lock`, in parallel, each verified before it counts.

The lock names every artifact with its SHA-256, so no dependency is resolved on a user's machine
and nothing that differs from what was tested is ever run. `python -m qeval.engines.neo4j.relock`
makes a new lock when the version is raised.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from qeval.errors import EngineUnavailableError
from qeval.paths import cache_dir

VERSION = "5.26.30"
COMPILER = "org.eclipse.jdt:ecj:"
_LOCK_FILE = Path(__file__).with_name("artifacts.lock")
_AT_ONCE = 6
_TRIES = 3  # without a byte more than before
_CHUNK = 1 << 14  # bytes; less than this is lost where a connection breaks
WAYS_OUT = (
    "Ways out: (1) run qeval once on a machine that reaches Maven Central and copy its cache "
    "folder (QEVAL_CACHE), or put the parts into the local Maven repository (M2_REPO); "
    "(2) set QEVAL_NEO4J_URI (and QEVAL_NEO4J_USER, QEVAL_NEO4J_PASSWORD) to a Neo4j 5 server of "
    "your own; (3) docker compose up -d neo4j, and its URI as in (2)."
)


@dataclass(frozen=True, slots=True)
class Artifact:
    """A locked part. `coordinate` is group:artifact:version[:classifier]; `size` in bytes."""

    coordinate: str
    sha256: str
    size: int

    @property
    def file_name(self) -> str:
        """Its name in our cache: unlike Maven's, unique without the group's folders."""
        return self.coordinate.replace(":", "_") + ".jar"


@cache
def locked() -> tuple[Artifact, ...]:
    """All parts in the order of the class path."""
    lines = _LOCK_FILE.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return tuple(Artifact(coordinate, sha256, int(size)) for coordinate, sha256, size in rows)


def home() -> Path:
    """Where everything of this version is cached."""
    return cache_dir("neo4j", VERSION)


def jars() -> tuple[list[Path], Path]:
    """The server's class path and the jar of the compiler, which is not on it.

    Fetched where missing. Raises `EngineUnavailableError`.
    """
    paths = dict(zip(locked(), parts(), strict=True))
    compiler = next(part for part in paths if part.coordinate.startswith(COMPILER))
    return [path for part, path in paths.items() if part is not compiler], paths[compiler]


def parts() -> list[Path]:
    """All parts in the order of the lock, fetched where missing, each verified.

    Raises `EngineUnavailableError`.
    """
    folder = home() / "jars"
    stamp = folder / "complete"
    content = hashlib.sha256(_LOCK_FILE.read_bytes()).hexdigest()
    paths = [folder / artifact.file_name for artifact in locked()]
    if stamp.is_file() and stamp.read_text() == content and all(map(Path.is_file, paths)):
        return paths
    from filelock import FileLock

    folder.mkdir(exist_ok=True)
    with FileLock(home() / "fetch.lock"):
        if not (stamp.is_file() and stamp.read_text() == content):
            stamp.unlink(missing_ok=True)
            _fetch_missing(folder)
            partial = folder / f"complete.{os.getpid()}"
            partial.write_text(content)
            partial.replace(stamp)
        elif not all(map(Path.is_file, paths)):
            _fetch_missing(folder)
    return paths


def _fetch_missing(folder: Path) -> None:
    missing = []
    for artifact in locked():
        path = folder / artifact.file_name
        if not _is_whole(path, artifact):
            path.unlink(missing_ok=True)
            missing.append(artifact)
    if not missing:
        return
    partial = folder / "partial"
    partial.mkdir(exist_ok=True)  # halves of an interrupted fetch: it goes on from there
    total = sum(artifact.size for artifact in missing)
    try:
        with _progress(total, len(missing), folder) as advance:
            _fetch_all(missing, folder, partial, advance)
    except OSError as error:
        raise EngineUnavailableError(
            f"can't fetch Neo4j {VERSION} into {folder}: {error}. What has arrived is kept; the "
            f"next start goes on from there.\n{WAYS_OUT}"
        ) from error
    shutil.rmtree(partial)


def _fetch_all(missing: list[Artifact], folder: Path, partial: Path, advance: Any) -> None:
    context = _maven()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        waiting = {
            pool.submit(_fetch_one, context, artifact, partial): artifact for artifact in missing
        }
        try:
            for done in as_completed(waiting):
                artifact = waiting[done]
                done.result().replace(folder / artifact.file_name)
                advance(artifact.size)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _maven() -> Any:
    """The user's local repository and mirrors as jgo knows them, then Maven Central.

    The download is ours: jgo's starts a connection per file and writes to the final name.
    """
    from jgo.config import GlobalSettings
    from jgo.maven import MavenContext

    settings = GlobalSettings.load()
    central = MavenContext().remote_repos
    return MavenContext(
        repo_cache=settings.repo_cache, remote_repos={**settings.repositories, **central}
    )


def _fetch_one(context: Any, artifact: Artifact, partial: Path) -> Path:
    """Put one part into `partial`, from the local Maven repository if it is there."""
    group, name, version, *classifier = artifact.coordinate.split(":")
    component = context.project(group, name).at_version(version)
    part = component.artifact(*classifier) if classifier else component.artifact()
    target = partial / artifact.file_name
    if _is_whole(part.cached_path, artifact):
        shutil.copyfile(part.cached_path, target)
        return target
    failures = []
    for base in context.remote_repos.values():
        url = f"{base}/{component.path_prefix.as_posix()}/{part.filename}"
        failure = _download(url, target, artifact)
        if failure is None:
            return target
        failures.append(failure)
    raise OSError(f"{artifact.coordinate}: {'; '.join(failures)}")


def _download(url: str, target: Path, artifact: Artifact) -> str | None:
    """Fetch `url`, or what `target` lacks of it; why it failed, or None."""
    import requests

    failure, best, fruitless = None, -1, 0
    while fruitless < _TRIES:
        arrived = target.stat().st_size if target.is_file() else 0
        fruitless = fruitless + 1 if arrived <= best else 0
        best = max(best, arrived)
        if arrived < artifact.size:
            wanted = {"Range": f"bytes={arrived}-"} if arrived else {}
            try:
                with _session().get(url, headers=wanted, stream=True, timeout=30) as response:
                    response.raise_for_status()
                    goes_on = response.status_code == requests.codes.partial_content
                    with target.open("ab" if goes_on else "wb") as file:
                        for chunk in response.iter_content(_CHUNK):
                            file.write(chunk)
            except requests.RequestException as error:
                failure = str(error)
                continue
        if _is_whole(target, artifact):
            return None
        with target.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        target.unlink()
        failure = f"its SHA-256 is {found}, expected {artifact.sha256}"
    return failure


@cache
def _session() -> Any:
    import requests
    from requests.adapters import HTTPAdapter

    session = requests.Session()
    session.mount("https://", HTTPAdapter(pool_connections=1, pool_maxsize=_AT_ONCE))
    return session


def _is_whole(path: Path | None, artifact: Artifact) -> bool:
    if path is None or not path.is_file() or path.stat().st_size != artifact.size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == artifact.sha256


@contextmanager
def _progress(total: int, count: int, folder: Path) -> Iterator[Any]:
    """Say what is fetched and why, and show how far it is (on standard error)."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    console.print(
        f"Cypher is executed by a real Neo4j {VERSION} Community (GPL-3.0, not part of qeval): "
        f"fetching {count} parts, {total / 1e6:.0f} MB, from Maven Central into {folder}. "
        "This happens once.",
        highlight=False,
    )
    columns = (TextColumn("Neo4j"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("fetch", total=total)
        yield lambda size: bar.advance(task, size)
