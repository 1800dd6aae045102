"""An interruption: the first one ends a sweep in good order, the second at once."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from qeval.exit_codes import ExitCode


class Stop:
    """Set by the first Ctrl-C or SIGTERM: begin nothing new, let what is in flight finish."""

    leaves_process = False
    """Whether the second may end the process: a command's own, never that of a caller's program."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take over SIGINT and SIGTERM (main thread only). A second signal ends at once: threads
        that wait for a model can't be ended, and nothing is lost that a journal holds.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def ask(_number: int, _frame: object) -> None:
            if not self.asked.is_set():
                self.asked.set()
                _tell("interrupted: what is in flight is awaited; once more ends at once")
            elif self.leaves_process:
                _tell("interrupted")
                os._exit(ExitCode.INTERRUPTED)
            else:
                raise KeyboardInterrupt

        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _tell(line: str) -> None:
    os.write(2, f"\n{line}\n".encode())  # safe in a signal handler, where printing is not
