"""Sessions that wait for their next query, so that not each one connects anew."""

from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, LifoQueue
from threading import BoundedSemaphore
from typing import TYPE_CHECKING

from qeval.engines.postgres.server import Server

if TYPE_CHECKING:
    from qeval.engines.postgres.session import Session


class Sessions:
    """A small pool of reader sessions; at most `size` queries run at once, the rest wait.

    At most `idle` sessions wait for their next query: a session is of one instance, and a case is
    run on all of them in turn, so connecting anew for each would cost more than the queries.
    """

    def __init__(self, server: Server, size: int, idle: int) -> None:
        self._server = server
        self._free: dict[str, LifoQueue[Session]] = {}
        self._slots = BoundedSemaphore(size)
        self._idle = idle
        self._closed = False

    @contextmanager
    def lease(self, key: str, *, fresh: bool = False) -> Iterator["Session"]:
        """A session on the instance `key` for one query. Raises `EngineLostError`."""
        from qeval.engines.postgres.session import Session

        queue = self._free.setdefault(key, LifoQueue())
        with self._slots:
            session = None if fresh else _pop(queue)
            if session is None:
                self._make_room()
                session = Session(self._server.connect_reader(key))
            try:
                yield session
            except BaseException as error:
                # Interrupted between request and answer: who knows what would be read next.
                if not isinstance(error, Exception):
                    session.close()
                raise
            finally:
                if session.usable:
                    queue.put(session)
                else:
                    session.close()
                if self._closed:
                    self.close()

    def close(self) -> None:
        """Close all idle sessions; those in use are closed when they come back."""
        self._closed = True
        for queue in list(self._free.values()):
            while (session := _pop(queue)) is not None:
                session.close()

    def _make_room(self) -> None:
        """Close idle sessions of the instances that have most, so that there are never too many."""
        queues = list(self._free.values())
        while sum(queue.qsize() for queue in queues) >= self._idle:
            session = _pop(max(queues, key=lambda queue: queue.qsize()))
            if session is None:
                return
            session.close()


def _pop(queue: "LifoQueue[Session]") -> "Session | None":
    try:
        return queue.get_nowait()
    except Empty:
        return None
