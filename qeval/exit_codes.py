"""The exit codes are a contract; this is the one place that decides and explains them."""

import sys
from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit status means."""

    DONE = 0
    MISSED = 1  # a threshold the user asked for was missed, or a check failed
    BAD_INPUT = 2  # configuration or input is wrong; nothing was run
    INCOMPLETE = 3  # errors, budget or a lost engine left work undone
    INTERRUPTED = 130


def finish(code: ExitCode, message: str = "") -> int:
    """Print `message` to stderr (if any) and return the status for `sys.exit`."""
    if message:
        sys.stderr.write(message.rstrip() + "\n")
    return int(code)


def explain(error: BaseException) -> int:
    """Print a user's error without a traceback and return its exit status.

    Raises the error again when it is not one a user can cause.
    """
    from qeval.errors import EngineUnavailableError, InputError, QevalError

    if isinstance(error, KeyboardInterrupt):
        return finish(ExitCode.INTERRUPTED, "interrupted")
    if isinstance(error, InputError | EngineUnavailableError):
        return finish(ExitCode.BAD_INPUT, f"qeval: {error}")
    if isinstance(error, QevalError):
        return finish(ExitCode.INCOMPLETE, f"qeval: {error}")
    raise error
