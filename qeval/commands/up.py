"""`qeval up`: start engines that stay, so that other commands need not wait for them."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from qeval.exit_codes import ExitCode

if TYPE_CHECKING:
    from qeval.cells import Cell


def main(argv: Sequence[str]) -> int:
    """Start the engine of each language and load the suite's base data."""
    options = parse(
        argv,
        prog="qeval up",
        description="Start engines and keep them warm; qeval down stops them.",
    )
    for language in options.languages or ["sql"]:
        _up(cell_of(language, options.overrides), load=not options.empty)
    return ExitCode.DONE


def parse(argv: Sequence[str], *, prog: str, description: str) -> argparse.Namespace:
    """Split the words into flags, languages and Hydra overrides (`key=value`)."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("words", nargs="*", metavar="language|key=value")
    if prog == "qeval up":
        parser.add_argument("--empty", action="store_true", help="load no data yet")
    options = parser.parse_intermixed_args(argv)
    options.overrides = [word for word in options.words if "=" in word]
    options.languages = [word for word in options.words if "=" not in word]
    return options


def cell_of(language: str, overrides: Sequence[str]) -> "Cell":
    """The validated cell that a run in `language` would have. Raises `InputError`."""
    from qeval.cells import build_cell, compose

    # Golds as the model: it is always here, and nothing is going to be asked.
    return build_cell(compose(["model=gold", f"language={language}", *overrides]))


def _up(cell: "Cell", *, load: bool) -> None:
    from qeval.cells import build_engine
    from qeval.engines.warm import KeepsWarm
    from qeval.errors import InputError
    from qeval.report.console import output

    engine = build_engine(cell.engine_config)
    if not isinstance(engine, KeepsWarm):
        raise InputError(
            f"{cell.language.title} runs inside qeval itself: there is no server to keep warm"
        )
    server = engine.up()
    if load:
        try:
            engine.start()
            engine.load(cell.suite.instance(cell.language.name, "base"))
        finally:
            engine.stop()
    output().print(
        f"{server.engine} {server.version} is up for {cell.language.title} (pid {server.pid}). "
        "Stop it with: qeval down"
    )
