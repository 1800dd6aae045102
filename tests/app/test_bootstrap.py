"""`bootstrap.py` hands the work over: who stops the script stops the work."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WAITING = """#!{python}
import os, signal, sys
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda *_: sys.exit(7))
print(os.getpid(), os.getcwd(), *sys.argv[1:], flush=True)
signal.pause()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The script beside an environment that is installed already; its programs wait."""
    folder = tmp_path / "project"
    scripts = folder / ".venv" / "bin"
    scripts.mkdir(parents=True)
    files = ["pyproject.toml", "constraints.txt"]
    for name in ["bootstrap.py", *files]:
        shutil.copy(ROOT / name, folder)
    content = b"".join((folder / name).read_bytes() for name in files)
    for name, mark in (("qeval", "installed-run"), ("python", "installed-dev")):
        (scripts / name).write_text(WAITING.format(python=sys.executable), encoding="utf-8")
        (scripts / name).chmod(0o755)
        (folder / ".venv" / mark).write_text(hashlib.sha256(content).hexdigest(), "utf-8")
    return folder


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("words", [["model=gold"], ["test", "-x"]])
def test_a_signal_to_the_script_reaches_the_work(
    project: Path, words: list[str], number: signal.Signals
) -> None:
    with subprocess.Popen(
        [sys.executable, str(project / "bootstrap.py"), *words],
        cwd=project.parent,
        stdout=subprocess.PIPE,
        text=True,
    ) as script:
        assert script.stdout is not None
        pid, *told = script.stdout.readline().split()
        try:
            tests = words[0] == "test"
            where = [str(project), "-m", "pytest", "-x"] if tests else [str(project.parent), *words]
            assert told == where
            script.send_signal(number)
            assert script.wait(timeout=20) == 7
            with pytest.raises(ProcessLookupError):
                os.kill(int(pid), 0)
        finally:
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
