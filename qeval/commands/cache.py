"""`qeval cache ls|rm`: what qeval keeps on this machine outside the project, and forgetting it."""

import argparse
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from qeval.errors import InputError, QevalError, did_you_mean
from qeval.exit_codes import ExitCode

_KINDS = {
    "responses": "answers of models",
    "models": "files of local models",
    "postgres": "PostgreSQL data folders",
    "neo4j": "Neo4j program and data",
    "suites": "parsed suites",
    "golds": "tables of golds",
    "mlflow": "templates of empty MLflow stores",
}
_ENGINES = ("postgres", "neo4j")
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Holding:
    """One line of `qeval cache ls`: bytes on disk, and a count with what is counted."""

    kind: str
    item: str
    count: int
    bytes: int


def main(argv: Sequence[str]) -> int:
    """Show or remove what is cached."""
    parser = argparse.ArgumentParser(prog="qeval cache", description="What qeval keeps for later.")
    actions = parser.add_subparsers(dest="action", metavar="ls|rm")
    listing = actions.add_parser("ls", help="kinds, sizes, counts")
    listing.add_argument("--format", choices=("table", "json"), default="table")
    removing = actions.add_parser("rm", help="remove a kind, or answers of a model")
    removing.add_argument("kind", help=f"{', '.join(_KINDS)}, or all")
    removing.add_argument("--model", help="only the answers of this model (its name)")
    removing.add_argument("--older-than", metavar="AGE", help="only older answers: 30d, 12h, 2w")
    removing.add_argument("--yes", action="store_true", help="don't ask")
    options = parser.parse_args([*argv] or ["ls"])
    if options.action == "rm":
        return _remove(options)
    return _list(options.format)


def _list(form: str) -> int:
    from qeval.paths import cache_dir

    root = cache_dir()
    holdings = _holdings(root)
    if form == "json":
        import json

        sys.stdout.writelines(json.dumps(asdict(holding)) + "\n" for holding in holdings)
        return ExitCode.DONE
    from rich.table import Table

    from qeval.report.console import output

    table = Table("kind", "what", "count", "size", title=str(root), title_justify="left")
    for holding in holdings:
        table.add_row(holding.kind, holding.item, f"{holding.count:,}", _size(holding.bytes))
    output().print(table if holdings else f"nothing is kept in {root}")
    return ExitCode.DONE


def _holdings(root: Path) -> list[Holding]:
    from qeval.models.cache import ResponseCache

    found = []
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
        size = sum(_bytes(path) for path in files)
        what = _KINDS.get(folder.name, "")
        if files and folder.name == "responses":
            cache = ResponseCache()
            kept = cache.kept()
            cache.close()
            total = sum(entry.answers for entry in kept)
            found.append(Holding("responses", what, total, size))
            found += [
                Holding("responses", f"  model {entry.model}", entry.answers, entry.bytes)
                for entry in kept
            ]
        elif files:
            found.append(Holding(folder.name, what, len(files), size))
    return found


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_blocks * 512  # sparse and compressed files take less than they say
    except OSError:  # gone meanwhile
        return 0


def _remove(options: argparse.Namespace) -> int:
    from qeval.paths import cache_dir

    kinds = list(_KINDS) if options.kind == "all" else [options.kind]
    for kind in kinds:
        if kind not in _KINDS:
            raise InputError(
                f"qeval cache rm: unknown kind {kind!r}.{did_you_mean(kind, [*_KINDS, 'all'])} "
                f"There are: {', '.join(_KINDS)}, all"
            )
    narrowed = options.model is not None or options.older_than is not None
    if narrowed and options.kind != "responses":
        raise InputError("--model and --older-than choose answers: qeval cache rm responses …")
    _refuse_while_running(kinds)
    if not options.yes and not _confirmed(options):
        return ExitCode.BAD_INPUT
    if narrowed:
        return _forget(options.model, options.older_than)
    for folder in (cache_dir() / kind for kind in kinds):
        if folder.is_dir():
            try:
                shutil.rmtree(folder)
            except OSError as error:
                raise QevalError(f"{folder} is not removed, or in part: {error}") from error
            sys.stdout.write(f"removed {folder}\n")
    return ExitCode.DONE


def _forget(model: str | None, older_than: str | None) -> int:
    import time

    from qeval.models.cache import ResponseCache

    before = None if older_than is None else time.time() - _age(older_than)
    cache = ResponseCache()
    names = [entry.model for entry in cache.kept()]
    if model is not None and model not in names:
        raise InputError(
            f"no answers of model {model!r} are kept.{did_you_mean(model, names)} "
            f"There are answers of: {', '.join(names) or 'no model'}"
        )
    gone = cache.remove(model, before)
    cache.close()
    sys.stdout.write(f"removed {gone:,} answers\n")
    return ExitCode.DONE


def _refuse_while_running(kinds: Sequence[str]) -> None:
    from qeval.engines.warm import running

    used = [server for server in running() if server.engine in kinds and server.engine in _ENGINES]
    if used:
        names = ", ".join(f"{server.engine} (pid {server.pid})" for server in used)
        raise InputError(f"in use by warm engines: {names}. Stop them first: qeval down")


def _confirmed(options: argparse.Namespace) -> bool:
    if not sys.stdin.isatty():
        raise InputError("qeval cache rm asks before it removes; say --yes where nobody can answer")
    question = f"Remove {options.kind} from the cache? [y/N] "
    return input(question).strip().lower() in ("y", "yes")


def _age(text: str) -> float:
    """Seconds of an age like `30d`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([mhdw])", text.strip())
    if found is None:
        raise InputError(f"--older-than {text!r}: expected a number with m, h, d or w, e.g. 30d")
    return float(found[1]) * _UNITS[found[2]]


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "KB", "MB"):
        if size < 1024:  # noqa: PLR2004
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"
