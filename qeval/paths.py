"""Where qeval's own files and the user's caches are.

`conf/`, `cases/` and `schemas/` stand at the top of the repository and travel in the wheel as
`qeval/_files/…`, so that an installed qeval works from any directory.
"""

import os
from functools import cache
from pathlib import Path

from qeval.errors import InputError

PACKAGE = Path(__file__).parent


@cache
def shipped(name: str) -> Path:
    """The folder `conf`, `cases` or `schemas` that came with this qeval."""
    packaged = PACKAGE / "_files" / name
    return packaged if packaged.is_dir() else PACKAGE.parent / name


class NoCacheError(InputError, OSError):
    """There can be no such folder. Who can do without a cache catches the `OSError`."""


def cache_dir(*parts: str) -> Path:
    """A folder below the user's cache (`$QEVAL_CACHE`, else the platform's); made on demand.

    Raises `NoCacheError`.
    """
    root = os.environ.get("QEVAL_CACHE")
    if root is None:
        from platformdirs import user_cache_dir

        root = user_cache_dir("qeval")
    folder = Path(root, *parts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NoCacheError(
            f"can't make the folder {folder}: {error.strerror or error}. Set QEVAL_CACHE to a "
            "folder of your own"
        ) from error
    return folder
