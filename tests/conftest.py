"""What all tests share: one cache for engines, and the command as a user runs it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how loaded the machine is, nothing about the code.
settings.register_profile("any-load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-load")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def command(*words: str) -> list[str]:
    """The argument list that runs qeval with this Python."""
    return [sys.executable, "-m", "qeval.app", *words]


@pytest.fixture
def qeval(tmp_path: Path) -> Run:
    """Run `qeval …` in an empty folder; returns the finished process with its text output."""

    def run(
        *words: str, timeout: float = 120, **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command(*words),
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120", **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run
