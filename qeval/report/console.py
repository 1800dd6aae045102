"""The console that commands print their tables on."""

import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 10_000  # columns; more than any table of ours needs


def output(
    *, whole_lines: bool = True, file: TextIO | None = None, width: int | None = None
) -> "Console":
    """Standard output (or `file`) for tables: a terminal's width there, whole lines in a pipe.

    `whole_lines=False` keeps to the usual width in pipes, too: for what lays itself out. A bracket
    in a text is a bracket, no markup: queries and engines' messages are full of them. `width`
    overrides all this, in columns.

    Raises `BrokenPipeError` on writing when the reader is gone.
    """
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            # Rich would end the process with status 1, which here means a missed threshold.
            raise BrokenPipeError

    stream = sys.stdout if file is None else file
    if width is None and whole_lines and not stream.isatty() and not os.environ.get("COLUMNS"):
        width = PIPE_WIDTH
    return Output(file=file, width=width, markup=False, highlight=False)


def never_fail_on_a_character() -> None:
    """Let a terminal that can't show a character show another, instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and "utf" not in stream.encoding.lower():
            stream.reconfigure(errors="replace")


def data_in_utf8() -> None:
    """JSON and CSV are UTF-8 whatever the locale says: a replaced character would be wrong data."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
