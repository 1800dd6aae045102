"""Starting the embedded server in a slot: template, settings, waiting, and what went wrong."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from qeval.engines.postgres.account import Site
from qeval.engines.postgres.lockdown import BOOTSTRAP_SQL, OWNER
from qeval.engines.process import Launch, Supervised, as_user, detach
from qeval.engines.slots import Slot, forget_after_reboot
from qeval.errors import EngineUnavailableError

SOCKET = ".s.PGSQL.5432"
_SOCKET_PATH_MAX = 107 if sys.platform == "linux" else 103  # sun_path without its NUL


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Tunable settings of the embedded server (`conf/engine/postgres.yaml`); sizes in MB."""

    start_timeout_s: float
    max_connections: int
    shared_buffers_mb: int
    work_mem_mb: int
    temp_file_limit_mb: int
    process_memory_mb: int


class CorruptDataError(Exception):
    """The data folder can't be started; a new one from the template can."""


def prepare(site: Site, slot: Slot) -> None:
    """Give the slot a data folder, made from the template where it has none.

    Raises `EngineUnavailableError` saying which tool failed and what to do.
    """
    forget_after_reboot(slot, "data")
    data = slot.folder / "data"
    if data.is_dir():
        return
    partial = slot.folder / "data.partial"
    with _explained(site, slot.folder / "log"):
        _open_folder(site, slot.folder)
        shutil.rmtree(partial, ignore_errors=True)
        # `cp -a` keeps owner and modes, and clones blocks where the file system can.
        subprocess.run(
            ["cp", "-a", str(_template(site)), str(partial)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        partial.rename(data)


def start(
    site: Site, slot: Slot, settings: ServerSettings, ready: Callable[[], bool]
) -> Supervised:
    """Start a supervised server in a prepared slot and wait until `ready()`.

    Raises `CorruptDataError` or `EngineUnavailableError`.
    """
    launch = _launch(site, slot, settings)
    with _explained(site, launch.log):
        server = Supervised(launch)
    try:
        _await(launch, settings, ready, lambda: server.exit_code is None)
    except BaseException:
        server.kill()
        raise
    return server


def start_detached(
    site: Site, slot: Slot, settings: ServerSettings, ready: Callable[[], bool]
) -> int:
    """Like `start`, but the server outlives this process. Returns its process id."""
    launch = _launch(site, slot, settings)
    with _explained(site, launch.log):
        pid = detach(launch)

    def alive() -> bool:
        import psutil

        return psutil.pid_exists(pid)

    try:
        _await(launch, settings, ready, alive)
    except BaseException:
        import signal

        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGQUIT)
        raise
    return pid


def socket_folder(site: Site, slot: Slot) -> Path:
    """Where the slot's socket is: inside it, or in a short private folder if its path is long."""
    folder = slot.folder / "socket"
    if len(os.fsencode(folder / SOCKET)) <= _SOCKET_PATH_MAX:
        return folder
    import tempfile

    digest = hashlib.sha256(os.fsencode(slot.folder)).hexdigest()[:12]
    runtime = None if site.user else os.environ.get("XDG_RUNTIME_DIR")  # ours alone
    for parent in (runtime, tempfile.gettempdir(), "/tmp"):  # noqa: S108 - private below
        if not parent:
            continue
        short = Path(parent, f"qeval-{os.geteuid()}-{digest}")
        if len(os.fsencode(short / SOCKET)) <= _SOCKET_PATH_MAX and short.parent.is_dir():
            return short
    raise EngineUnavailableError(
        f"the path of PostgreSQL's socket would be longer than {_SOCKET_PATH_MAX} bytes in "
        f"{slot.folder}; set QEVAL_CACHE or TMPDIR to a folder with a shorter path"
    )


def log_tail(log: Path, lines: int = 8) -> str:
    """The last lines of a server's log, indented; empty where there is none."""
    try:
        text = log.read_text(errors="replace")
    except OSError:
        return ""
    return "\n".join("  " + line for line in text.splitlines()[-lines:])


def _template(site: Site) -> Path:
    """The folder that new slots are copied from; made once per version and account."""
    from filelock import FileLock

    template = site.pool / "template"
    _open_folder(site, site.pool)
    with FileLock(site.pool / "template.lock"):
        if template.is_dir():
            return template
        partial = site.pool / "template.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700)
        if site.user is not None:
            os.chown(partial, *site.user)
        _initdb(site, partial)
        _run(site, "postgres", "--single", "-j", "-D", str(partial), "template1",
             text=BOOTSTRAP_SQL)  # fmt: skip
        partial.rename(template)
    return template


def _initdb(site: Site, folder: Path) -> None:
    common = (
        "-D", str(folder), "-A", "trust", "-U", OWNER, "-E", "UTF8", "--no-sync",
        "--wal-segsize=4",  # MB: a slot is half as large, and made in half the time
    )  # fmt: skip
    if site.major >= 17:  # noqa: PLR2004 - the release that brought the builtin provider
        locales: list[tuple[str, ...]] = [
            ("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C")
        ]
    else:
        locales = [("--locale=C.UTF-8",), ("--locale=C",)]
    for index, locale in enumerate(locales):
        try:
            _run(site, "initdb", *common, *locale)
        except subprocess.CalledProcessError:
            if index == len(locales) - 1:
                raise
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        else:
            return


def _run(site: Site, program: str, *arguments: str, text: str = "") -> None:
    done: subprocess.CompletedProcess[str] = subprocess.run(
        site.command(program, *arguments), input=text, capture_output=True, text=True,
        errors="replace", check=True, cwd=site.pool, env=_environment(), **as_user(site.user),
    )  # fmt: skip
    # A statement that fails in single-user mode is only logged.
    if program == "postgres" and ("ERROR:" in done.stderr or "FATAL:" in done.stderr):
        raise subprocess.CalledProcessError(1, done.args, done.stdout, done.stderr)


def _environment() -> dict[str, str]:
    """Nothing of ours reaches the server: no PG* variables, no foreign locale, no secrets."""
    keep = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
    return {name: os.environ[name] for name in keep if name in os.environ} | {
        "LC_ALL": "C",
        "TZ": "UTC",
    }


def _launch(site: Site, slot: Slot, settings: ServerSettings) -> Launch:
    data = slot.folder / "data"
    socket = socket_folder(site, slot)
    with _explained(site, slot.folder / "log"):
        socket.mkdir(mode=0o700, exist_ok=True)
        owner = os.geteuid() if site.user is None else site.user[0]
        if socket.is_symlink() or socket.stat().st_uid not in {owner, os.geteuid()}:
            raise PermissionError(f"{socket} belongs to somebody else; remove it or set TMPDIR")
        socket.chmod(0o700)
        if site.user is not None:
            os.chown(socket, *site.user)
        # We hold the slot's lock, which every server of this slot inherits: none is running, so
        # these are left-overs of one that was killed.
        for stale in (data / "postmaster.pid", socket / SOCKET, socket / f"{SOCKET}.lock"):
            stale.unlink(missing_ok=True)
        log = slot.folder / "log"
        log.write_bytes(b"")
    return Launch(
        command=site.command("postgres", "-D", str(data), *_options(site, socket, settings)),
        log=log,
        folder=slot.folder,
        environment=_environment(),
        lock_fd=slot.lock_fd,
        user=site.user,
        memory_mb=settings.process_memory_mb,
    )


def _options(site: Site, socket: Path, settings: ServerSettings) -> list[str]:
    options = {
        "unix_socket_directories": str(socket),
        "listen_addresses": "",
        "max_connections": settings.max_connections,
        "shared_buffers": f"{settings.shared_buffers_mb}MB",
        "work_mem": f"{settings.work_mem_mb}MB",
        "temp_file_limit": f"{settings.temp_file_limit_mb}MB",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "lc_messages": "C",
        # The log is for starting and crashing; hostile queries must not fill the disk with it.
        "log_min_messages": "log",
        "log_min_error_statement": "panic",
        "log_checkpoints": "off",
        # Rebuilding takes seconds, so nothing is written for durability's sake.
        "fsync": "off",
        "full_page_writes": "off",
        "synchronous_commit": "off",
        "wal_level": "minimal",
        "max_wal_senders": 0,
        "min_wal_size": "8MB",
        "max_wal_size": "128MB",
        # One process per query: bounded, and sums of floats come in one order.
        "max_parallel_workers_per_gather": 0,
        "max_logical_replication_workers": 0,
        "autovacuum": "off",
        "jit": "off",
        "huge_pages": "off",  # reserved by others in containers: a crash at the first touch
        "track_activities": "off",  # nobody reads other sessions' queries
        "restart_after_crash": "off",  # the engine notices and restarts deliberately
    }
    if site.major >= 18:  # noqa: PLR2004 - the release that brought I/O workers
        options["io_method"] = "sync"
    return [word for name, value in options.items() for word in ("-c", f"{name}={value}")]


def _await(
    launch: Launch, settings: ServerSettings, ready: Callable[[], bool], alive: Callable[[], bool]
) -> None:
    deadline = time.monotonic() + settings.start_timeout_s
    while not ready():
        if not alive():
            raise _failure(launch.log)
        if time.monotonic() > deadline:
            raise EngineUnavailableError(
                f"PostgreSQL did not answer within {settings.start_timeout_s:g} s "
                f"(engine.start_timeout_s). Log: {launch.log}\n{log_tail(launch.log)}"
            )
        time.sleep(0.01)


# What the log says -> what to do. Reasons of the machine; anything else is put down to the data.
_REASONS = {
    "No space left on device": "the disk is full; free some space or set QEVAL_CACHE elsewhere",
    "could not resize shared memory": "the folder for shared memory is too small; give "
    "the container a larger one (docker run --shm-size=256m)",
    "could not map anonymous shared memory": "too little memory; lower engine.shared_buffers_mb",
    "could not create shared memory segment": "the system allows no more shared memory; raise "
    "kernel.shmmax/shmall or stop other servers",
    "could not create semaphores": "the system allows no more semaphores; raise kernel.sem",
    "Cannot allocate memory": "too little memory; free some or lower engine.shared_buffers_mb "
    "(engine.process_memory_mb may be too low as well)",
    "out of memory": "engine.process_memory_mb is too low for the server to start",
    "Permission denied": "a folder is not accessible to the server; set QEVAL_CACHE to a folder "
    "of your own",
    "Address already in use": "another server uses this socket; stop it",
    "Too many open files": "raise the limit of open files (ulimit -n)",
    "error while loading shared libraries": "a system library is missing; install it, or use "
    "QEVAL_POSTGRES_BIN or QEVAL_POSTGRES_URI",
    "unrecognized configuration parameter": "the install is no usual PostgreSQL; use "
    "QEVAL_POSTGRES_BIN or QEVAL_POSTGRES_URI",
    "invalid value for parameter": "a setting of conf/engine/postgres.yaml is out of bounds",
    "outside the valid range": "a setting of conf/engine/postgres.yaml is out of bounds",
    "unshare": "user namespaces are shut off; run qeval as a normal user",
}


def _failure(log: Path) -> Exception:
    text = log_tail(log, 40)
    for sign, advice in _REASONS.items():
        if sign in text:
            return EngineUnavailableError(
                f"PostgreSQL could not start: {advice}. Log: {log}\n{log_tail(log)}"
            )
    return CorruptDataError(f"PostgreSQL could not start. Log: {log}\n{log_tail(log)}")


@contextlib.contextmanager
def _explained(site: Site, log: Path) -> Iterator[None]:
    """Turn failures of the file system and of the tools into one clear message."""
    try:
        yield
    except subprocess.CalledProcessError as error:
        said = ((error.stderr or "") + (error.stdout or "")).strip()
        words = [str(word) for word in error.cmd]
        ours = tuple(words[: len(site.prefix)]) == site.prefix
        program = Path(words[len(site.prefix) if ours else 0]).name
        advice = next((a for sign, a in _REASONS.items() if sign in said), "see what it said")
        raise EngineUnavailableError(
            f"{program} of {site.origin} PostgreSQL {site.version} failed "
            f"in {site.pool}: {advice}.\n  " + said[-2000:].replace("\n", "\n  ")
        ) from error
    except OSError as error:
        said = error.strerror or str(error)
        advice = next((a for sign, a in _REASONS.items() if sign in said), "look into it")
        raise EngineUnavailableError(
            f"can't prepare PostgreSQL's folder {error.filename or site.pool}: {said}; {advice}. "
            f"Log: {log}"
        ) from error


def _open_folder(site: Site, folder: Path) -> None:
    """Let the server's account reach the folder, whatever our umask is."""
    if site.user is not None:
        folder.chmod(0o755)
