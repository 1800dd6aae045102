"""Files that are replaced in one step: a reader sees the old or the new one, never half of it."""

import os
from contextlib import suppress
from pathlib import Path

from qeval.errors import IncompleteError


def write_atomically(path: Path, text: str) -> None:
    """Write a file as UTF-8. Raises `IncompleteError` where it can't be written."""
    half = path.with_name(path.name + ".part")
    try:
        half.write_text(text, encoding="utf-8", errors="backslashreplace")
        os.replace(half, path)  # noqa: PTH105
    except OSError as error:
        with suppress(OSError):
            half.unlink(missing_ok=True)
        raise IncompleteError(
            f"can't write {path}: {error.strerror or error}. What was finished before is kept; "
            "when this is repaired, run the same command again"
        ) from error
