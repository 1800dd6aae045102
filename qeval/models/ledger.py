"""What calls were paid for: a small file that outlives the process and is shared by many.

A call is written down with the most it can cost *before* it is made, and with what it did cost
after it. Whatever ends the process, a call that was in flight stays in the file at its most.
"""

import os
import socket
import sqlite3
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from qeval.errors import IncompleteError

FILE = "spending.sqlite"
_BUSY_S = 30.0  # waiting for another process's write
_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY, session TEXT NOT NULL, account TEXT NOT NULL, case_id TEXT NOT NULL,
    repeat INTEGER NOT NULL, process TEXT NOT NULL, bound_usd REAL NOT NULL, cost_usd REAL
);
CREATE INDEX IF NOT EXISTS of_account ON calls (account);
CREATE INDEX IF NOT EXISTS in_flight ON calls (session) WHERE cost_usd IS NULL;
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, settled_usd REAL NOT NULL, reserved_usd REAL NOT NULL
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Which question a call was for. `account` is the cell's key, or the sweep's name."""

    account: str = ""
    case_id: str = ""
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Balance:
    """US dollars of one session: settled, and set aside for calls in flight."""

    settled_usd: float
    reserved_usd: float
    in_flight: int


class Ledger:
    """The file at `path` (None: in memory, for one process). Safe for threads and processes.

    A session is one run of a sweep, in however many processes. Raises `IncompleteError` where the
    file can't be used: without it a cap can't be kept.
    """

    def __init__(self, path: Path | None = None, session: str = "") -> None:
        self.path = path
        self.session = session or uuid.uuid4().hex
        self._process = f"{socket.gethostname()} {os.getpid()}"
        self._lock = threading.Lock()
        self._connection = self._open()
        with self._changing() as connection:
            connection.execute("INSERT OR IGNORE INTO sessions VALUES (?, 0, 0)", (self.session,))

    def reserve(self, usd: float, most_usd: float, place: Place) -> int | None:
        """Set `usd` aside if the session's total stays within `most_usd`; the call's number.

        None: it does not fit.
        """
        with self._changing() as connection:
            found = connection.execute(
                "UPDATE sessions SET reserved_usd = reserved_usd + ?1 WHERE id = ?2 "
                "AND settled_usd + reserved_usd + ?1 <= ?3",
                (usd, self.session, most_usd),
            )
            if not found.rowcount:
                return None
            values = (
                self.session, place.account, place.case_id, place.repeat, self._process, usd,
            )  # fmt: skip
            row = connection.execute(
                "INSERT INTO calls VALUES (NULL, ?, ?, ?, ?, ?, ?, NULL)", values
            )
            return row.lastrowid

    def settle(self, call: int, usd: float) -> None:
        """Write down what a call did cost."""
        with self._changing() as connection:
            self._settle(connection, call, usd)

    def balance(self) -> Balance:
        """What the session has spent and set aside."""
        with self._changing() as connection:
            settled, reserved = connection.execute(
                "SELECT settled_usd, reserved_usd FROM sessions WHERE id = ?", (self.session,)
            ).fetchone()
            (flying,) = connection.execute(
                "SELECT count(*) FROM calls WHERE session = ? AND cost_usd IS NULL",
                (self.session,),
            ).fetchone()
        return Balance(settled, reserved if flying else 0.0, flying)

    def bury(self) -> None:
        """Count calls of processes of this machine that have died as paid in full."""
        import psutil

        with self._changing() as connection:
            flying = connection.execute(
                "SELECT id, process, bound_usd FROM calls WHERE session = ? AND cost_usd IS NULL",
                (self.session,),
            ).fetchall()
            for call, process, bound in flying:
                host, _, number = process.rpartition(" ")
                if host == socket.gethostname() and not psutil.pid_exists(int(number)):
                    self._settle(connection, call, bound)

    def before(self) -> Mapping[Place, float]:
        """What other sessions paid by question; calls that never came back at their most."""
        with self._changing() as connection:
            rows = connection.execute(
                "SELECT account, case_id, repeat, total(coalesce(cost_usd, bound_usd)) FROM calls "
                "WHERE session <> ? GROUP BY account, case_id, repeat",
                (self.session,),
            ).fetchall()
        found: dict[Place, float] = defaultdict(float)
        for account, case_id, repeat, usd in rows:
            found[Place(account, case_id, repeat)] = usd
        return found

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        with self._lock:
            self._connection.close()

    def _settle(self, connection: sqlite3.Connection, call: int, usd: float) -> None:
        connection.execute(
            "UPDATE sessions SET settled_usd = settled_usd + ?1, reserved_usd = reserved_usd - "
            "(SELECT bound_usd FROM calls WHERE id = ?2) WHERE id = ?3",
            (usd, call, self.session),
        )
        connection.execute("UPDATE calls SET cost_usd = ? WHERE id = ?", (usd, call))

    def _open(self) -> sqlite3.Connection:
        try:
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self.path or ":memory:",
                timeout=_BUSY_S,
                isolation_level=None,
                check_same_thread=False,
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        return connection

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> IncompleteError:
        return IncompleteError(
            f"limits.budget_usd: {self.path} can't be used ({error}), and without it nobody knows "
            "what was spent. Make room or, if it is damaged, move it away: what the journals say "
            "was spent still counts"
        )
