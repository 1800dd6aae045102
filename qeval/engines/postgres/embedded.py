"""The embedded server of one engine object: a warm one that is found, or its own in a slot."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from qeval.engines import warm
from qeval.engines.postgres.account import Site, find_site
from qeval.engines.postgres.launch import (
    CorruptDataError,
    ServerSettings,
    prepare,
    socket_folder,
    start,
    start_detached,
)
from qeval.engines.postgres.server import Server, answers
from qeval.engines.process import Supervised
from qeval.engines.slots import Slot, take
from qeval.errors import EngineUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "postgres"
_T = TypeVar("_T")


class EmbeddedServer:
    """Starts, finds, restarts and stops; not thread-safe (the engine holds a lock)."""

    def __init__(self, chosen: str | None, settings: ServerSettings) -> None:
        self._chosen = chosen
        self._settings = settings
        self._slot: Slot | None = None
        self._process: Supervised | None = None
        self._socket: Path | None = None

    def start(self) -> Server:
        """A warm server of the same version if there is one, else our own, supervised.

        Raises `EngineUnavailableError`.
        """
        site = find_site(self._chosen)
        found = warm.find(NAME, site.version)
        if found is not None:
            server = Server.embedded(found.address, site.version)
            if answers(server):
                return server
        if self._slot is None:
            self._slot = take(site.pool)
        try:
            server, self._process = self._start_in(site, self._slot)
        except BaseException:
            self.stop()
            raise
        return server

    def stop(self) -> None:
        """Stop our own server and free its slot; a warm one stays."""
        if self._process is not None:
            self._process.stop()
            self._process = None
        if self._slot is not None:
            if self._socket is not None:
                with suppress(OSError):  # not empty: a server is still there
                    self._socket.rmdir()
            self._slot.free()
            self._slot = None

    def lost(self) -> None:
        """Make sure nothing of a server that stopped answering is left."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def up(self) -> warm.WarmServer:
        """Start a detached server, or return the one that is up.

        Raises `EngineUnavailableError`.
        """
        site = find_site(self._chosen)
        with warm.one_at_a_time():
            return warm.find(NAME, site.version) or self._detach(site)

    def _detach(self, site: Site) -> warm.WarmServer:
        slot = take(site.pool)
        try:
            server = Server.embedded(str(socket_folder(site, slot)), site.version)
            pid = _from_template_if_corrupt(
                site,
                slot,
                lambda: start_detached(site, slot, self._settings, partial(answers, server)),
            )
            return warm.record(
                engine=NAME,
                version=site.version,
                pid=pid,
                address=str(socket_folder(site, slot)),
                log=slot.folder / "log",
                stop_signal="INT",
            )
        finally:
            slot.free()  # the server holds it now

    def _start_in(self, site: Site, slot: Slot) -> tuple[Server, Supervised]:
        self._socket = socket_folder(site, slot)
        server = Server.embedded(str(self._socket), site.version)
        process = _from_template_if_corrupt(
            site, slot, lambda: start(site, slot, self._settings, partial(answers, server))
        )
        return server, process


def _from_template_if_corrupt(site: Site, slot: Slot, begin: Callable[[], _T]) -> _T:
    """Run `begin`; where the data can't be started, once more with new data, then new template."""
    for spoilt in (slot.folder / "data", site.pool / "template", None):
        prepare(site, slot)
        try:
            return begin()
        except CorruptDataError as error:
            if spoilt is None:
                raise EngineUnavailableError(
                    f"{error}\nNew data did not help. Ways out: another install "
                    "(QEVAL_POSTGRES_BIN) or a server of your own (QEVAL_POSTGRES_URI)."
                ) from error
            shutil.rmtree(slot.folder / "data", ignore_errors=True)
            shutil.rmtree(spoilt, ignore_errors=True)
    raise AssertionError  # pragma: no cover - the last round returns or raises
