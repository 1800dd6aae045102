"""What a start of the server needs: Java, class path, and a class-data archive made on first use.

The server's main class is compiled from `launcher/*.java` on first use, by the Eclipse compiler.
With the archive the JVM maps 15,000 classes that are parsed and verified already, which halves
the time to the first answer. It belongs to one Java and one set of parts. Classes of signed jars
can't be archived, so signed jars (already verified by `fetch`) are copied without signatures.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from qeval.engines.neo4j import fetch
from qeval.engines.neo4j.java import Java, find_java
from qeval.errors import EngineUnavailableError

_LAUNCHER = Path(__file__).with_name("launcher")
_COMPILE_LIMIT_S = 120
_SIGNATURES = (".SF", ".RSA", ".DSA", ".EC")
_LANGUAGE_LEVEL = 17  # the oldest Java that Neo4j 5 runs on
_LONGEST_LINE = 3500  # the JVM refuses class lists with longer lines (huge lambda signatures)
_DUMP_LIMIT_S = 300


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything before the settings of a particular start; `archive` None: start without.

    The archive is of the classes of `parts`. It stays valid when our own `launcher` changes, since
    that comes last on the class path.
    """

    java: Java
    parts: str
    launcher: Path
    archive: Path | None

    def command(self, options: list[str], slot: Path) -> list[str]:
        """The command line of a server in `slot`."""
        shared = ["-Xshare:auto", f"-XX:SharedArchiveFile={self.archive}"] if self.archive else []
        return [
            str(self.java.path), *shared, *options,
            "-cp", f"{self.parts}{os.pathsep}{self.launcher}", "Launcher", str(slot),
        ]  # fmt: skip


def find_runtime(*, archived: bool, train: Callable[[Runtime, list[str]], None]) -> Runtime:
    """Fetch and prepare what is missing. Raises `EngineUnavailableError`.

    `train(runtime, options)` must run a server through typical work with these JVM options added.
    """
    java = find_java()
    # Real paths: the archive is bound to them, and a cache may be reached by several.
    jars, compiler = fetch.jars()
    parts = os.pathsep.join(os.path.realpath(jar) for jar in _unsigned(jars))
    plain = Runtime(java, parts, _compiled(java, compiler, parts), None)
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
    return replace(plain, archive=archive if archive.is_file() else None)


def _compiled(java: Java, compiler: Path, class_path: str) -> Path:
    """The jar with our main class. Raises `EngineUnavailableError`."""
    sources = sorted(_LAUNCHER.glob("*.java"))
    digest = hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()
    jar = fetch.home() / "launcher" / f"{digest[:16]}.jar"
    if jar.is_file():
        return jar
    from filelock import FileLock

    jar.parent.mkdir(exist_ok=True)
    with FileLock(jar.with_suffix(".lock")), tempfile.TemporaryDirectory() as name:
        if jar.is_file():
            return jar
        done = subprocess.run(
            [
                str(java.path), "-jar", str(compiler), f"-{_LANGUAGE_LEVEL}", "-nowarn",
                "-proc:none", "-encoding", "UTF-8", "-cp", class_path, "-d", name,
                *map(str, sources),
            ],
            capture_output=True, text=True, timeout=_COMPILE_LIMIT_S, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise EngineUnavailableError(
                f"the launcher of Neo4j can't be compiled by {java.path} ({java.origin}): "
                f"{(done.stderr or done.stdout).strip()[:2000]}"
            )
        partial = jar.with_suffix(f".{os.getpid()}")
        with zipfile.ZipFile(partial, "w") as archive:
            for compiled in sorted(Path(name).rglob("*.class")):
                archive.write(compiled, compiled.relative_to(name))
        partial.replace(jar)
    return jar


def _identity(plain: Runtime) -> str:
    real = plain.java.path.resolve()
    facts = [str(real), str(real.stat().st_mtime_ns), plain.java.version, plain.parts]
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
                "-cp", plain.parts,
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
