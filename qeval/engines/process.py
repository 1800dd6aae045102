"""Server processes that never outlive their purpose.

A *supervised* server dies with the process that started it, however that ends (return, Ctrl-C,
`kill -9`): a small shell script holds the read end of a pipe whose only write end is in the owner;
when the pipe closes, the script stops the server politely, then by force. It runs in its own
session, so a terminal's Ctrl-C never reaches the server. A *detached* server outlives its starter.

Both inherit the descriptor of the lock on their data folder (`qeval.engines.slots`): the folder is
free exactly when the last process that could write to it is gone.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Descriptor 1 arrives as the lock, 0 as the pipe. The watcher gives the lock up at once: only the
# server itself may keep the folder taken. Arguments: stop signal, grace in s, memory in kB (0: no
# limit), command.
_SUPERVISOR = r"""
stop=$1; grace=$2; memory=$3; shift 3
exec 3<&0 4>&1 1>&2
[ "$memory" = 0 ] || ulimit -v "$memory" || :
"$@" </dev/null 3<&- &
server=$!
(
  exec 4>&-
  while read -r _ <&3; do :; done
  kill -s "$stop" "$server"
  n=0
  while [ "$n" -lt "$grace" ] && kill -0 "$server"; do sleep 1; n=$((n + 1)); done
  kill -s KILL "$server"
) 2>/dev/null &
watcher=$!
exec 3<&-
trap 'kill -s "$stop" "$server"' TERM
wait "$server"
code=$?
while kill -0 "$server" 2>/dev/null; do
  wait "$server"
  code=$?
done
kill "$watcher" 2>/dev/null
exit "$code"
"""

_DETACHER = r"""
memory=$1; shift
[ "$memory" = 0 ] || ulimit -v "$memory" 2>/dev/null || :
exec 5>&1 1>&2
"$@" </dev/null 5>&- &
echo "$!" >&5
"""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to run a server: the command and everything around it.

    `user` is (uid, gid) to run as, or None for our own; `memory_mb` bounds each of its processes'
    address space (0: unbounded); `grace_s` is how long a polite stop may take.
    """

    command: Sequence[str]
    log: Path
    folder: Path
    environment: Mapping[str, str]
    lock_fd: int
    user: tuple[int, int] | None = None
    memory_mb: int = 0
    stop_signal: str = "INT"
    grace_s: int = 10


class Supervised:
    """A running server that dies with this process."""

    def __init__(self, launch: Launch) -> None:
        """Start it. Raises `OSError` where the shell itself can't be started."""
        self._grace_s = launch.grace_s
        with launch.log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    "/bin/sh", "-c", _SUPERVISOR, "qeval-server", launch.stop_signal,
                    str(launch.grace_s), str(launch.memory_mb * 1024), *launch.command,
                ],
                stdin=subprocess.PIPE,
                stdout=launch.lock_fd,
                stderr=log,
                cwd=launch.folder,
                env=dict(launch.environment),
                start_new_session=True,
                **as_user(launch.user),
            )  # fmt: skip

    @property
    def exit_code(self) -> int | None:
        """The server's exit code (128 + n for signal n), or None while it runs."""
        return self._process.poll()

    def stop(self) -> None:
        """Stop politely, by force after the grace time; returns when it is gone."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        # Forked children of ours may hold the pipe open, so the supervisor is also told.
        self._process.terminate()
        try:
            self._process.wait(self._grace_s + 2)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill the server and its supervisor at once."""
        import contextlib

        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


def detach(launch: Launch) -> int:
    """Start a server that outlives this process; returns its process id.

    Raises `OSError` or `subprocess.SubprocessError` where the shell itself can't start it.
    """
    with launch.log.open("ab") as log:
        done = subprocess.run(
            [
                "/bin/sh", "-c", _DETACHER, "qeval-server",
                str(launch.memory_mb * 1024), *launch.command,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=launch.folder,
            env=dict(launch.environment),
            pass_fds=(launch.lock_fd,),
            start_new_session=True,
            check=True,
            **as_user(launch.user),
        )  # fmt: skip
    return int(done.stdout)


def as_user(user: tuple[int, int] | None) -> dict[str, Any]:
    """Arguments that make `subprocess` run something as (uid, gid); none for ourselves."""
    if user is None:
        return {}
    return {"user": user[0], "group": user[1], "extra_groups": []}
