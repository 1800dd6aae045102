"""Counterexamples of a sweep, sought beside it by one thread, kept in each cell's own file.

A search begins when its record is in the journal. What ends the process costs the search under way;
the next run of the same command finds the record without its counterexample and seeks it then.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.equivalence.counterexample import Counterexample, CounterexampleFile, deciding
from qeval.errors import QevalError

if TYPE_CHECKING:
    from qeval.bench import Bench
    from qeval.cells import Cell
    from qeval.record import Record


class Search:
    """The counterexamples of all cells of a sweep. Its methods are the main thread's."""

    def __init__(self, ending: Callable[[], bool]) -> None:
        self._ending = ending
        self._pool: ThreadPoolExecutor | None = None
        self._files: dict[Path, CounterexampleFile] = {}
        self._found: dict[str, Counterexample] = {}
        self._waiting: dict[Path, list[Future[None]]] = {}
        self._asked: set[tuple[Path, str]] = set()
        self._lock = threading.Lock()
        self.trouble: list[str] = []

    def seek(self, cell: "Cell", bench: "Bench", folder: Path, record: "Record") -> None:
        """Seek the counterexample that the record points at, unless the cell's file has it."""
        telling = deciding(record, cell.counterexamples)
        if telling is None or not record.counterexample:
            return
        file = self._files.get(folder)
        if file is None:
            file = self._files[folder] = CounterexampleFile(folder)
        if record.counterexample in file.known or (folder, record.counterexample) in self._asked:
            return
        self._asked.add((folder, record.counterexample))
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="counterexamples")
        future = self._pool.submit(self._one, cell, bench, file, record)
        self._waiting.setdefault(folder, []).append(future)

    def pending(self, folder: Path) -> bool:
        """Whether something is still sought for the cell in this folder."""
        waiting = self._waiting.get(folder, [])
        self._waiting[folder] = [future for future in waiting if not future.done()]
        return bool(self._waiting[folder])

    def finish(self, folder: Path) -> None:
        """Wait for the cell's searches (what is not begun is left when the sweep ends early)."""
        for future in self._waiting.pop(folder, []):
            if self._ending():
                future.cancel()
            if not future.cancelled():
                future.result()
        file = self._files.pop(folder, None)
        if file is not None:
            file.close()

    def close(self) -> None:
        """Leave what is not begun, wait for what is."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        for file in self._files.values():
            file.close()

    def _one(
        self, cell: "Cell", bench: "Bench", file: CounterexampleFile, record: "Record"
    ) -> None:
        from qeval.equivalence.finding import AbandonedError, Duel, find_counterexample

        telling = deciding(record, cell.counterexamples)
        if self._ending() or telling is None or record.query is None:
            return
        case = next(case for case in cell.cases if case.id == record.case_id)
        key = record.counterexample
        try:
            found = self._found.get(key)
            if found is None:
                duel = Duel(cell, case, record.query, bench.engine, self._ending)
                found = bench.lasting(
                    lambda: find_counterexample(duel, telling, key, cell.counterexample_s)
                )
                self._found[key] = found
            file.append(found)
        except AbandonedError:
            return
        except QevalError as error:
            # The verdict stands without it; the next run of the command seeks it again.
            with self._lock:
                message = f"a counterexample of {record.case_id} could not be sought: {error}"
                self.trouble.append(message)
