"""The errors a user can meet, and the *did you mean* that goes with a misspelt name.

Every error that a person can cause or repair is a `QevalError`: it is printed as one message
without a traceback. Anything else that escapes is a fault of qeval and keeps its traceback.
"""

from collections.abc import Iterable


class QevalError(Exception):
    """What was expected, what was found, where, and what to do about it."""


class InputError(QevalError):
    """Configuration, suite or input is wrong; found before any work (exit code 2)."""


class EngineUnavailableError(QevalError):
    """A database engine can't be started or reached at all (exit code 2 before work began)."""


class IncompleteError(QevalError):
    """Work began and could not be finished: engine lost, budget, disk (exit code 3)."""


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the nearest of `options`, or an empty string.

    The leading space lets it be appended to a sentence.
    """
    from difflib import get_close_matches

    spelt = {option.casefold(): option for option in options}
    near = get_close_matches(word.casefold(), spelt, n=1, cutoff=0.6)
    return f" Did you mean {spelt[near[0]]!r}?" if near else ""
