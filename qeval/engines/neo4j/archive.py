"""What a start of the server needs: Java, class path, and a class-data archive made on first use.

With the archive the JVM maps 15,000 classes that are parsed and verified already, which halves
the time to the first answer. It belongs to one Java and one set of parts. Classes of signed jars
can't be archived, so signed jars (already verified by `fetch`) are copied without signatures.
"""

import hashlib
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from qeval.engines.neo4j import fetch
from qeval.engines.neo4j.java import Java, find_java

LAUNCHER = Path(__file__).with_name("launcher.js")
_SIGNATURES = (".SF", ".RSA", ".DSA", ".EC")
_LONGEST_LINE = 3500  # the JVM refuses class lists with longer lines (huge lambda signatures)
_DUMP_LIMIT_S = 300


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything before the settings of a particular start; `archive` None: start without."""

    java: Java
    class_path: str
    archive: Path | None

    def command(self, options: list[str], slot: Path) -> list[str]:
        """The command line of a server in `slot`."""
        shared = ["-Xshare:auto", f"-XX:SharedArchiveFile={self.archive}"] if self.archive else []
        return [
            str(self.java.path), *shared, *options, "-cp", self.class_path,
            "org.mozilla.javascript.tools.shell.Main", "-opt", "-1", str(LAUNCHER), str(slot),
        ]  # fmt: skip


def find_runtime(*, archived: bool, train: Callable[[Runtime, list[str]], None]) -> Runtime:
    """Fetch and prepare what is missing. Raises `EngineUnavailableError`.

    `train(runtime, options)` must run a server through typical work with these JVM options added.
    """
    java = find_java()
    # Real paths: the archive is bound to them, and a cache may be reached by several.
    class_path = os.pathsep.join(os.path.realpath(jar) for jar in _unsigned(fetch.jars()))
    plain = Runtime(java, class_path, None)
    if not archived:
        return plain
    archive = fetch.home() / "archives" / f"{_identity(plain)}.jsa"
    useless = archive.with_suffix(".useless")
    if not archive.is_file() and not useless.is_file():
        from filelock import FileLock

        archive.parent.mkdir(exist_ok=True)
        with FileLock(archive.with_suffix(".lock")):
            if not archive.is_file() and not useless.is_file():
                _make(plain, archive, useless, train)
    return Runtime(java, class_path, archive if archive.is_file() else None)


def _identity(plain: Runtime) -> str:
    real = plain.java.path.resolve()
    facts = [str(real), str(real.stat().st_mtime_ns), plain.java.version, plain.class_path]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _make(
    plain: Runtime, archive: Path, useless: Path, train: Callable[[Runtime, list[str]], None]
) -> None:
    from rich.console import Console

    Console(stderr=True).print(
        "Preparing faster starts of Neo4j (a class-data archive, once, about 20 s).",
        highlight=False,
    )
    classes = archive.with_suffix(f".{os.getpid()}.classes")
    partial = archive.with_suffix(f".{os.getpid()}.partial")
    try:
        train(plain, [f"-XX:DumpLoadedClassList={classes}"])
        lines = classes.read_text().splitlines(keepends=True)
        kept = [line for line in lines if len(line) < _LONGEST_LINE and "$Proxy" not in line]
        classes.write_text("".join(kept))
        done = subprocess.run(
            [
                str(plain.java.path), "-Xshare:dump", f"-XX:SharedClassListFile={classes}",
                f"-XX:SharedArchiveFile={partial}", "-XX:+UseSerialGC", "-Xmx512m",
                "-cp", plain.class_path,
            ],
            capture_output=True, text=True, timeout=_DUMP_LIMIT_S, check=False,
        )  # fmt: skip
        if done.returncode == 0 and partial.is_file():
            partial.replace(archive)
        else:
            useless.write_text(done.stdout[-4000:] + done.stderr[-4000:])
    except (OSError, subprocess.SubprocessError) as error:
        useless.write_text(str(error))
    finally:
        classes.unlink(missing_ok=True)
        partial.unlink(missing_ok=True)


def _unsigned(jars: list[Path]) -> list[Path]:
    folder = fetch.home() / "unsigned"
    listing = folder / "signed.txt"
    if not listing.is_file():
        from filelock import FileLock

        folder.mkdir(exist_ok=True)
        with FileLock(fetch.home() / "unsigned.lock"):
            if not listing.is_file():
                signed = [jar for jar in jars if _strip(jar, folder / jar.name)]
                partial = folder / "signed.partial"
                partial.write_text("\n".join(jar.name for jar in signed))
                partial.replace(listing)
    copied = set(listing.read_text().splitlines())
    return [folder / jar.name if jar.name in copied else jar for jar in jars]


def _strip(jar: Path, target: Path) -> bool:
    """Copy a signed jar without its signatures; False for one that has none."""
    with zipfile.ZipFile(jar) as source:
        entries = source.infolist()
        signatures = {
            entry.filename
            for entry in entries
            if entry.filename.upper().startswith("META-INF/")
            and entry.filename.upper().endswith(_SIGNATURES)
        }
        if not signatures:
            return False
        partial = target.with_suffix(".partial")
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as copy:
            for entry in entries:
                if entry.filename not in signatures:
                    copy.writestr(entry.filename, source.read(entry))
        shutil.move(partial, target)
    return True
