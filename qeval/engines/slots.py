"""Data folders of embedded servers, kept between runs and used by one server at a time.

The lock is `flock` on an inherited descriptor rather than `filelock`: it must live as long as the
*server*, not as long as the process that took it, and `filelock` unlocks for all holders.
"""

import os
import shutil
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from qeval.errors import EngineUnavailableError


@dataclass(frozen=True, slots=True)
class Slot:
    """A data folder held by us. `lock_fd` goes to the server as well (`Launch.lock_fd`)."""

    folder: Path
    lock_fd: int

    def free(self) -> None:
        """Give up our hold; a server that inherited the lock keeps the slot taken."""
        os.close(self.lock_fd)


def take(pool: Path) -> Slot:
    """The first slot of `pool` that no process and no server holds; made where all are taken.

    Raises `EngineUnavailableError` on a file system without locks, and `OSError`.
    """
    import fcntl

    for number in count(1):
        folder = pool / f"slot-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        lock_fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock_fd)
            continue
        except OSError as error:
            os.close(lock_fd)
            raise EngineUnavailableError(
                f"the file system of {folder} has no file locks ({error.strerror}); "
                "set QEVAL_CACHE to a folder on a local disk"
            ) from error
        return Slot(folder, lock_fd)
    raise AssertionError  # pragma: no cover - count() never ends


def forget_after_reboot(slot: Slot, *contents: str) -> None:
    """Remove `contents` of a slot that was written before the machine last booted.

    Embedded servers run without fsync: after a power cut their files may be silently wrong, and
    rebuilding costs seconds. Also stamps the slot with the present boot.
    """
    stamp = slot.folder / "boot"
    now = boot_id()
    if not stamp.is_file() or stamp.read_text() != now:
        for name in contents:
            shutil.rmtree(slot.folder / name, ignore_errors=True)
        stamp.write_text(now)


def boot_id() -> str:
    """A text that changes when the machine boots."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        import psutil

        return str(int(psutil.boot_time()))
