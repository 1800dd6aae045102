"""Completing words in a shell: Hydra knows the configuration, this adds what qeval adds to it."""

import io
import os
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout

from qeval.commands import COMMANDS

_ALIAS, _SPELT_OUT = "lang=", "language="


def complete(words: Sequence[str], shell: str, by_hydra: Callable[[list[str]], int]) -> int:
    """Print how the line in `COMP_LINE` can go on; returns `by_hydra`'s exit status.

    `shell` is bash, zsh or fish.
    After a sub-command its overrides are completed; the first word may be a sub-command itself;
    `lang=` is completed as `language=`.
    """
    line = os.environ.get("COMP_LINE", "")
    before, _, last = line.rpartition(" ")
    done = before.split()
    added = [word for word in COMMANDS if len(done) == 1 and word.startswith(last)]
    if last != _ALIAS and _ALIAS.startswith(last):
        added.append(_ALIAS)
    if len(done) > 1 and done[1] in COMMANDS:
        del done[1]
    spelt = _SPELT_OUT + last.removeprefix(_ALIAS) if last.startswith(_ALIAS) else last
    os.environ["COMP_LINE"] = " ".join([*done, spelt])
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            status = by_hydra(list(words))
    finally:
        os.environ["COMP_LINE"] = line
    found = printed.getvalue().split()
    if spelt != last:
        found = [re.sub(rf"^{_SPELT_OUT}", _ALIAS, word) for word in found]
    print(("\n" if shell == "fish" else " ").join([*added, *found]))
    return status
