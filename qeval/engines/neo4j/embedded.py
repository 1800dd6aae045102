"""The embedded server of one engine object: a warm one that is found, or its own in a slot."""

import contextlib
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

from qeval.engines import warm
from qeval.engines.neo4j import fetch
from qeval.engines.neo4j.archive import Runtime, find_runtime
from qeval.engines.neo4j.launch import (
    Control,
    RefusedError,
    ServerSettings,
    await_first,
    prepare,
    start,
    start_detached,
)
from qeval.engines.neo4j.stores import kept
from qeval.engines.process import Supervised
from qeval.engines.slots import Slot, take
from qeval.errors import EngineUnavailableError

NAME = "neo4j"
PROBE = "probe"


class EmbeddedServer:
    """Starts, finds, restarts and stops; not thread-safe (the engine holds a lock)."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._slot: Slot | None = None
        self._process: Supervised | None = None

    def start(self) -> Control:
        """A warm server if there is one, else our own, supervised."""
        found = warm.find(NAME, fetch.VERSION)
        if found is not None:
            return Control(Path(found.address), found.alive)
        runtime = self.prepared()
        if self._slot is None:
            self._slot = take(_pool())
        control, self._process = start(runtime, self._slot, self._settings)
        import neo4j  # noqa: F401 - costs 0.4 s, which the JVM needs to begin as well

        try:
            _open_any(control, self._settings.start_timeout_s)
        except BaseException:
            self.lost()
            raise
        return control

    def stop(self) -> None:
        """Stop our own server and free its slot; a warm one stays."""
        if self._process is not None:
            self._process.kill()
            self._process = None
        if self._slot is not None:
            self._slot.free()
            self._slot = None

    def lost(self) -> None:
        """Make sure nothing of a server that stopped answering is left."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def renew(self) -> None:
        """Put an end to a server that is stuck; one that was warm starts again at once."""
        if self._process is not None:
            self.lost()
            return
        found = warm.find(NAME, fetch.VERSION)
        if found is not None:
            warm.stop(found)
            self.up()

    def up(self) -> warm.WarmServer:
        """Start a detached server, or return the one that is up."""
        found = warm.find(NAME, fetch.VERSION)
        if found is not None:
            return found
        runtime = self.prepared()
        slot = take(_pool())
        try:
            pid = start_detached(runtime, slot, self._settings)
            server = warm.record(
                engine=NAME,
                version=fetch.VERSION,
                pid=pid,
                address=str(slot.folder),
                log=slot.folder / "log",
                stop_signal="KILL",
            )
            try:
                _open_any(Control(slot.folder, server.alive), self._settings.start_timeout_s)
            except BaseException:
                warm.stop(server)
                raise
            return server
        finally:
            slot.free()  # the server holds it now

    def prepared(self) -> Runtime:
        """Java, parts and archive, fetched and made where missing."""
        return find_runtime(
            archived=self._settings.class_data_archive, train=partial(_train, self._settings)
        )


def _open_any(control: Control, timeout_s: float) -> None:
    """Open the data set that is most likely wanted next, or else an empty one."""
    recent = sorted(kept(control.folder), key=lambda key: "_base_" not in key)
    for key in (*recent[:1], PROBE):
        try:
            await_first(control, key, timeout_s)
        except RefusedError as error:
            if key == PROBE:
                raise EngineUnavailableError(str(error)) from error
        else:
            return


def _pool() -> Path:
    folder = fetch.home() / "slots"
    folder.mkdir(exist_ok=True)
    return folder


def _train(settings: ServerSettings, plain: Runtime, options: list[str]) -> None:
    """Run a throw-away server through typical work, so that its classes get known."""
    from qeval.engines.neo4j.server import connect
    from qeval.engines.neo4j.training import QUERIES

    with tempfile.TemporaryDirectory(prefix="qeval-neo4j-") as name:
        folder = Path(name)
        slot = Slot(folder, os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600))
        launch = prepare(plain, slot, settings, tuple(options))
        process = Supervised(launch)
        control = Control(folder, lambda: process.exit_code is None)
        try:
            port = await_first(control, PROBE, 4 * settings.start_timeout_s)
            driver = connect(port, 1)
            with driver.session() as session:
                for query in QUERIES:
                    session.run(query).consume()
            driver.close()
            control.ask("close", PROBE)
        finally:
            process.kill()
            slot.free()
            with contextlib.suppress(OSError):
                shutil.rmtree(folder / "instances")
