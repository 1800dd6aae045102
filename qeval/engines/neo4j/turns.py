"""Who may use a server: many queries at once on one data set, or one change alone."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Turns:
    """Queries share the server as long as they ask for the data set that is in; a switch (or a
    restart) waits until the last of them is done and holds the others back meanwhile.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._active = 0
        self._alone = False
        self.current: str | None = None

    @contextmanager
    def sharing(self, key: str, switch: Callable[[], None]) -> Iterator[None]:
        """Use the server while `key` is in; `switch` is called, alone, where it is not."""
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: not self._alone and (self.current == key or not self._active)
                )
                if self.current == key:
                    self._active += 1
                    break
                self._alone = True
            try:
                switch()
                self.current = key
            except BaseException:
                self.current = None
                raise
            finally:
                self._leave_alone()
        try:
            yield
        finally:
            with self._changed:
                self._active -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Use the server with nobody else, whatever is in."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone and not self._active)
            self._alone = True
        try:
            yield
        finally:
            self._leave_alone()

    def _leave_alone(self) -> None:
        with self._changed:
            self._alone = False
            self._changed.notify_all()
