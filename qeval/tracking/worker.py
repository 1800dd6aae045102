"""The loop of the tracking process: commands come in on stdin, events go out on stdout.

Commands: `store`, `open`, `cell`, `close`; end of file without `close` means that the sweep's
process is gone, and what was told before is still logged. Events: `ready`, `cell`, `closed`,
`problem`.
"""

import json
import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from qeval.errors import InputError

if TYPE_CHECKING:
    from qeval.tracking.runs import Runs

GIVE_UP = 2  # failures in a row after which the store is taken for unreachable


class _Session:
    """The open store and sweep of one process."""

    def __init__(self, events: IO[str]) -> None:
        self._events = events
        self._runs: Runs | None = None
        self._sweep: tuple[str, str, str] = ("", "", "")  # id, started at, parent run
        self._failures = 0

    def emit(self, event: str, **facts: object) -> None:
        try:
            self._events.write(json.dumps({"event": event, **facts}) + "\n")
            self._events.flush()
        except OSError:
            pass  # the sweep's process is gone; go on with what it told us

    def obey(self, command: dict[str, Any]) -> None:
        """Carry one command out; whatever fails becomes a `problem`."""
        if self._failures >= GIVE_UP:
            return
        subject = Path(command["folder"]).name if "folder" in command else ""
        try:
            getattr(self, f"_{command.pop('op')}")(**command)
            self._failures = 0
        except InputError as error:
            self.emit("problem", message=str(error))
        except Exception as error:  # noqa: BLE001 - a sink reports and goes on
            self._failures = GIVE_UP if self._runs is None else self._failures + 1
            self.emit("problem", message=": ".join(filter(None, [subject, brief(error)])))

    def end(self) -> None:
        """The sweep's process went away without `close`: say so in the parent run."""
        if self._runs is not None and self._sweep[2] and self._failures < GIVE_UP:
            self.obey({"op": "close", "status": "KILLED"})

    def _store(self, uri: str | None, directory: str, experiment: str) -> None:
        from qeval.tracking.runs import Runs
        from qeval.tracking.store import experiment_id, locate, open_store

        location = locate(uri, directory)
        client = open_store(location)
        self._runs = Runs(client, location, experiment_id(client, location, experiment))
        _settle_memory()
        self.emit("ready")

    def _open(self, sweep: str, started_at: str) -> None:
        self._sweep = ("", "", "")
        if self._runs is not None:
            self._sweep = (sweep, started_at, self._runs.open_sweep(sweep, started_at))

    def _cell(self, folder: str) -> None:
        sweep, _, parent = self._sweep
        if self._runs is None or not parent:  # said when it was opened
            return
        logged = self._runs.log_cell(Path(folder), sweep, parent)
        self.emit("cell", folder=folder, run_id=logged.run_id, state=logged.state)

    def _close(self, status: str = "FINISHED") -> None:
        sweep, _, parent = self._sweep
        if self._runs is None or not parent:
            return
        self._sweep = (sweep, "", "")
        self._runs.close_sweep(sweep, parent, status)
        self.emit("closed", run_id=parent, where=self._runs.where(parent))


def brief(error: BaseException) -> str:
    """The first line of an error without passwords, naming its class where it says little."""
    from qeval.tracking.store import without_password

    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = without_password(lines[0] if lines else "")
    return (text if len(text) > 20 else f"{type(error).__name__}: {text}")[:300]  # noqa: PLR2004


def main() -> int:
    """Serve one sweep (or several after each other) until end of file."""
    # MLflow and its libraries print: fd 1 is theirs from now on, and goes to the log.
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.nice(5)  # the evaluation goes first
    session = _Session(events)
    for line in sys.stdin:
        session.obey(json.loads(line))
    session.end()
    return 0


def _settle_memory() -> None:
    """Keep the many objects of the imports out of every later garbage collection (20 % of it)."""
    import gc

    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
