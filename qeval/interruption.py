"""An interruption: the first one ends a sweep in good order, the second at once."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Stop:
    """Set by the first Ctrl-C or SIGTERM: begin nothing new, let what is in flight finish."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take over SIGINT and SIGTERM; a second signal ends at once (main thread only)."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def ask(_number: int, _frame: object) -> None:
            if self.asked.is_set():
                raise KeyboardInterrupt
            self.asked.set()

        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
