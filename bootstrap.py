#!/usr/bin/env python3
"""Set qeval up in `.venv` and do one job: needs nothing but this Python with pip.

python3 bootstrap.py [qeval's arguments …]   run qeval (without arguments: the main job)
python3 bootstrap.py test [pytest's arguments …]
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
MAIN_JOB = ["-m", "lang=sql,cypher,typeql"]
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = SCRIPTS / ("python.exe" if os.name == "nt" else "python")


def main(words: list[str]) -> NoReturn:
    """Install what is asked for, unless it already is, and hand over."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        found = ".".join(map(str, sys.version_info[:2]))
        sys.exit(f"qeval needs Python 3.11, 3.12 or 3.13; this is {found} ({sys.executable})")
    if words[:1] == ["test"]:
        install("dev")
        os.chdir(ROOT)
        hand_over([str(PYTHON), "-m", "pytest", *words[1:]])
    install("")
    hand_over([str(SCRIPTS / "qeval"), *(words or MAIN_JOB)])


def hand_over(command: list[str]) -> NoReturn:
    """Become the command: who stops this process stops the work. Windows can only wait for it."""
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)  # noqa: S606 - a fixed program, and no shell


def install(extra: str) -> None:
    """Bring `.venv` to what pyproject.toml and constraints.txt say; quick when it is there."""
    files = [ROOT / "pyproject.toml", ROOT / "constraints.txt"]
    state = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    mark = VENV / f"installed-{extra or 'run'}"
    if mark.is_file() and mark.read_text(encoding="utf-8") == state and PYTHON.exists():
        return
    if not PYTHON.exists():
        print("Making a virtual environment in .venv …", flush=True)
        venv.create(VENV, with_pip=False, symlinks=os.name != "nt")
    print("Installing qeval and its packages into .venv (once; a few minutes) …", flush=True)
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    command = [sys.executable, "-m", "pip", "--python", str(PYTHON), "install", "--quiet"]
    command += ["--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt")]
    done = subprocess.run([*command, "--editable", target], check=False)
    if done.returncode:
        sys.exit(
            "The installation failed; pip's own message is above. It needs a package index (or a "
            "mirror configured for pip) and about 2 GB of disk. The same command tries again."
        )
    mark.write_text(state, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
