"""What a sweep tells its tracker, and the MLflow tracker: a pipe to a process of its own.

`import mlflow` costs 1.6 s and more memory than all of qeval, so it happens in a child that is
told which cell folders are finished and logs them from the journals on disk. Nothing the child
does, or fails to do, can stop or delay the evaluation.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any, Protocol, runtime_checkable

from qeval.paths import PACKAGE
from qeval.tracking.sweeps import Sweep, remember


@dataclass(frozen=True, slots=True)
class TrackingResult:
    """What became of a sweep's tracking.

    `where` is for people ("" when nothing is tracked), `warning` says what was not logged and
    what to do about it ("" when all is well). `run_id` is the sweep's parent run.
    """

    where: str = ""
    warning: str = ""
    run_id: str = ""
    logged: int = 0
    unchanged: int = 0


@runtime_checkable
class Tracker(Protocol):
    """Built by Hydra from `conf/tracking/<name>.yaml`. No method raises for trouble of the sink."""

    def warm_up(self) -> None:
        """Begin what takes time, so that it overlaps the start of the engines."""
        ...

    def open(self, sweep: str, folders: Sequence[Path]) -> None:
        """A sweep begins (or goes on): its id and the folders of all its cells."""
        ...

    def cell_closed(self, folder: Path) -> None:
        """The folder's `summary.json` is written; returns at once."""
        ...

    def abandon(self) -> None:
        """Let go without waiting, whatever the state. Safe after `close` and to call twice."""
        ...

    def close(self) -> TrackingResult:
        """Wait until everything told so far is logged, or has failed."""
        ...


class NoTracker:
    """`tracking=none`: journals only; `qeval track` can log them later."""

    def __init__(self, name: str = "none") -> None:
        self.name = name

    def warm_up(self) -> None:
        """Nothing to do."""

    def open(self, sweep: str, folders: Sequence[Path]) -> None:
        """Remember which cells belong together, for a later `qeval track`."""
        remember(sweep, folders)

    def cell_closed(self, folder: Path) -> None:
        """Nothing to do."""

    def abandon(self) -> None:
        """Nothing to do."""

    def close(self) -> TrackingResult:
        """Nothing was tracked."""
        return TrackingResult()


class MlflowTracker:
    """Logs to any MLflow tracking URI through a child process.

    `uri` None: an sqlite store `<directory>/mlflow.db` with artifacts beside it. `patience_s`
    bounds how long `close` waits without hearing from the child; `http_timeout_s` and
    `http_retries` are for a tracking server.
    """

    def __init__(
        self,
        *,
        uri: str | None = None,
        directory: str = "mlruns",
        experiment: str = "qeval",
        patience_s: float = 120.0,
        http_timeout_s: int = 30,
        http_retries: int = 2,
        name: str = "mlflow",
    ) -> None:
        self.name = name
        self._options = {
            "uri": uri,
            "directory": str(Path(directory).absolute()),
            "experiment": experiment,
        }
        self._environment = {
            "MLFLOW_HTTP_REQUEST_TIMEOUT": str(http_timeout_s),
            "MLFLOW_HTTP_REQUEST_MAX_RETRIES": str(http_retries),
        }
        self._patience_s = patience_s
        self._child: _Child | None = None
        self._told: list[str] = []
        self._start_error = ""

    def warm_up(self) -> None:
        """Start the child now, so that its slow imports run beside the engine's start."""
        if self._child is None and not self._start_error:
            try:
                self._child = _Child(self._environment)
                self._child.tell(op="store", **self._options)
            except OSError as error:
                self._start_error = f"its process can't be started: {error}"

    def open(self, sweep: str, folders: Sequence[Path]) -> None:
        """Start the child if need be and name the sweep's parent run."""
        self.reopen(remember(sweep, folders))

    def reopen(self, sweep: Sweep) -> None:
        """`open` for a sweep that is already remembered on disk."""
        self.warm_up()
        if self._child is not None:
            self._child.tell(op="open", sweep=sweep.id, started_at=sweep.started_at)

    def cell_closed(self, folder: Path) -> None:
        """Have the folder logged, whenever the child comes to it."""
        path = str(Path(folder).absolute())
        self._told.append(path)
        if self._child is not None:
            self._child.tell(op="cell", folder=path)

    def sweep_done(self) -> None:
        """The current sweep is complete; another may be opened in the same process."""
        if self._child is not None:
            self._child.tell(op="close")

    def abandon(self) -> None:
        """Close the pipe: the child finishes what it was told and ends by itself."""
        if self._child is not None:
            self._child.let_go()
            self._child = None

    def close(self) -> TrackingResult:
        """Wait for the child; returns a warning instead of raising."""
        child, self._child = self._child, None
        told, self._told = list(dict.fromkeys(self._told)), []
        if child is None:
            return TrackingResult(warning=_warning(told, [], [self._start_error], 0))
        child.tell(op="close")  # does nothing after `sweep_done`
        events, problems = child.finish(self._patience_s)
        cells = [event for event in events if event["event"] == "cell"]
        logged = [event["folder"] for event in cells]
        closed: dict[str, Any] = next((e for e in events[::-1] if e["event"] == "closed"), {})
        return TrackingResult(
            where=str(closed.get("where", "")),
            warning=_warning(told, logged, problems, child.status),
            run_id=str(closed.get("run_id", "")),
            logged=sum(event["state"] != "unchanged" for event in cells),
            unchanged=sum(event["state"] == "unchanged" for event in cells),
        )


class _Child:
    """The process and its two pipes. Threads carry the lines, so a slow child never blocks us."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "qeval.tracking"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            encoding="utf-8",
            env=_child_environment(environment),
            # Ctrl-C is for the sweep; what is finished still has to be logged.
            start_new_session=True,
        )
        self._events: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._writer.start()
        self._reader.start()

    @property
    def status(self) -> int:
        """The exit status; negative for a signal, 0 while it runs."""
        return self._process.poll() or 0

    def tell(self, **message: object) -> None:
        self._lines.put(json.dumps(message) + "\n")

    def let_go(self) -> None:
        self._lines.put(None)
        self._writer.join(timeout=1.0)
        self._stderr.close()

    def finish(self, patience_s: float) -> tuple[list[dict[str, Any]], list[str]]:
        """Wait for the end of the child, as long as it shows signs of life.

        Returns its events and what went wrong.
        """
        self._lines.put(None)
        events: list[dict[str, Any]] = []
        problems: list[str] = []
        try:
            while (event := self._events.get(timeout=patience_s)) is not None:
                events.append(event)
        except Empty:
            problems.append(f"no sign of life for {patience_s:g} s")
            self._process.kill()
        except KeyboardInterrupt:
            self.let_go()
            raise
        status = self._process.wait()
        self._writer.join(timeout=1.0)
        problems = [str(e["message"]) for e in events if e["event"] == "problem"] + problems
        if status != 0 and not problems:
            problems.append(self._last_words() or f"its process ended with status {status}")
        self._stderr.close()
        return events, problems

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        # Broken pipe: the child is gone; `finish` says so.
        with suppress(OSError):
            while (line := self._lines.get()) is not None:
                pipe.write(line)
                pipe.flush()
        with suppress(OSError):
            pipe.close()

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        with pipe:
            for line in pipe:
                self._events.put(json.loads(line))
        self._process.wait()  # also reaps a child that was abandoned
        self._events.put(None)

    def _last_words(self) -> str:
        self._stderr.seek(0)
        text = self._stderr.read().decode("utf-8", "replace").strip()
        return text.splitlines()[-1] if text else ""


def _child_environment(extra: dict[str, str]) -> dict[str, str]:
    environment = {**extra, **os.environ}
    # A run or experiment that the user's shell points to is not the place for this sweep.
    for name in ("MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_ID", "MLFLOW_EXPERIMENT_NAME"):
        environment.pop(name, None)
    environment.update(
        MLFLOW_DISABLE_TELEMETRY="true",
        DO_NOT_TRACK="true",
        MLFLOW_ENABLE_ASYNC_LOGGING="false",
        PYTHONUTF8="1",
    )
    root = PACKAGE.parent
    if root.name not in ("site-packages", "dist-packages"):
        environment["PYTHONPATH"] = os.pathsep.join(
            [str(root), *filter(None, [environment.get("PYTHONPATH")])]
        )
    return environment


def _warning(told: list[str], logged: list[str], problems: list[str], status: int) -> str:
    missing = [folder for folder in told if folder not in set(logged)]
    reasons = list(dict.fromkeys(problem for problem in problems if problem))
    if not missing and not reasons and status == 0:
        return ""
    reason = "; ".join(reasons[:2]) or f"its process ended with status {status}"
    what = f"{len(missing)} of {len(told)} cells are" if missing else "the sweep's overview is"
    return (
        f"MLflow: {what} not logged ({reason}). The results on disk are complete; "
        "`qeval track` logs them once MLflow can be reached."
    )
