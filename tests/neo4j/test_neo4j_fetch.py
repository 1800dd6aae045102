"""Fetching the server's parts: only what the lock names, whole, once, whoever else is at it."""

import hashlib
import multiprocessing
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from qeval.engines.neo4j import fetch
from qeval.engines.neo4j.java import find_java
from qeval.errors import EngineUnavailableError

PARTS = {"org.example:one:1.0": b"one" * 1000, "org.example:two:2.0:linux": b"two" * 1000}


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A local Maven repository with two parts, and a lock that names them."""
    repository = tmp_path / "m2"
    lines = ["# a comment"]
    for coordinate, content in PARTS.items():
        group, name, version, *classifier = coordinate.split(":")
        folder = repository / group.replace(".", "/") / name / version
        folder.mkdir(parents=True)
        suffix = f"-{classifier[0]}" if classifier else ""
        (folder / f"{name}-{version}{suffix}.jar").write_bytes(content)
        lines.append(f"{coordinate} {hashlib.sha256(content).hexdigest()} {len(content)}")
    lock = tmp_path / "lock"
    lock.write_text("\n".join(lines))
    monkeypatch.setenv("M2_REPO", str(repository))
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "_LOCK_FILE", lock)
    # No part of these tests may leave the machine.
    monkeypatch.setattr(fetch, "_download", lambda *_: "unreachable")
    fetch.locked.cache_clear()
    yield repository
    fetch.locked.cache_clear()


def contents() -> list[bytes]:
    return [path.read_bytes() for path in fetch.parts()]


def test_parts_come_from_the_local_repository_and_are_told(
    maven: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert maven.is_dir()
    assert contents() == list(PARTS.values())
    said = " ".join(capsys.readouterr().err.split())
    assert "fetching 2 parts" in said
    assert "real Neo4j" in said
    assert contents() == list(PARTS.values())
    assert capsys.readouterr().err == ""


def test_a_half_part_of_an_interrupted_fetch_is_not_trusted(maven: Path) -> None:
    assert maven.is_dir()
    first, _ = fetch.parts()
    (first.parent / "complete").unlink()
    first.write_bytes(first.read_bytes()[:-1])
    (first.parent / "partial").mkdir()
    (first.parent / "partial" / first.name).write_bytes(b"half")
    assert contents() == list(PARTS.values())
    first.unlink()
    assert contents() == list(PARTS.values())


def test_what_does_not_match_the_lock_is_refused_with_the_ways_out(maven: Path) -> None:
    part = next(maven.rglob("one-1.0.jar"))
    part.write_bytes(b"evil" * 750)
    with pytest.raises(EngineUnavailableError) as caught:
        fetch.parts()
    for way in ("Maven Central", "QEVAL_NEO4J_URI", "docker compose"):
        assert way in str(caught.value)
    part.write_bytes(PARTS["org.example:one:1.0"])
    assert contents() == list(PARTS.values())


def _length(_: int) -> int:
    return len(contents())


def test_two_processes_at_once_fetch_once(maven: Path) -> None:
    assert maven.is_dir()
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map(_length, range(3)) == [2, 2, 2]


class Mirror:
    """A Maven repository on this machine that breaks off each answer after some bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.breaks_after: int | None = None
        self.pause_s = 0.0
        self.ranges: list[str | None] = []
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers["Range"]
                mirror.ranges.append(wanted)
                content = mirror.folder.joinpath(self.path[1:]).read_bytes()
                start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
                self.send_response(206 if wanted else 200)
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                part = content[start:]
                if mirror.breaks_after is not None:
                    part = part[: mirror.breaks_after]
                self.wfile.write(part)
                self.wfile.flush()
                time.sleep(mirror.pause_s)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A mirror of the user's own (in jgo's settings) with one part, and a lock that names it."""
    content = bytes(range(256)) * 400
    folder = tmp_path / "mirror" / "org/example/big/1.0"
    folder.mkdir(parents=True)
    folder.joinpath("big-1.0.jar").write_bytes(content)
    served = Mirror(tmp_path / "mirror")
    settings = tmp_path / "home" / ".config" / "jgo.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[repositories]\nmine = http://127.0.0.1:{served.server.server_port}\n")
    lock = tmp_path / "lock"
    digest = hashlib.sha256(content).hexdigest()
    lock.write_text(f"org.example:big:1.0 {digest} {len(content)}\n")
    monkeypatch.setattr("jgo.maven._core.DEFAULT_REMOTE_REPOS", {})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("M2_REPO", str(tmp_path / "m2"))
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "_LOCK_FILE", lock)
    fetch.locked.cache_clear()
    yield served
    served.server.shutdown()
    served.server.server_close()
    fetch.locked.cache_clear()


def test_a_broken_connection_is_taken_up_where_it_broke(mirror: Mirror) -> None:
    mirror.breaks_after = 40_000
    (path,) = fetch.parts()
    assert path.read_bytes() == bytes(range(256)) * 400
    first, *others = mirror.ranges
    assert first is None
    starts = [int((one or "").removeprefix("bytes=").removesuffix("-")) for one in others]
    assert len(starts) >= 2
    assert starts == sorted(set(starts))
    assert starts[0] > 0
    assert not (path.parent / "partial").exists()


def test_a_killed_fetch_is_taken_up_by_the_next_process(mirror: Mirror) -> None:
    mirror.breaks_after, mirror.pause_s = 60_000, 30.0
    child = multiprocessing.get_context("fork").Process(target=fetch.parts)
    child.start()
    half = fetch.home() / "jars" / "partial" / "org.example_big_1.0.jar"
    deadline = time.monotonic() + 30
    while not (half.is_file() and half.stat().st_size):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    child.kill()
    child.join()
    arrived = half.stat().st_size
    mirror.breaks_after, mirror.pause_s = None, 0.0
    (path,) = fetch.parts()
    assert path.read_bytes() == bytes(range(256)) * 400
    assert mirror.ranges == [None, f"bytes={arrived}-"]


def test_a_half_that_is_none_of_it_is_fetched_anew(mirror: Mirror) -> None:
    half = fetch.home() / "jars" / "partial" / "org.example_big_1.0.jar"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"something else")
    (path,) = fetch.parts()
    assert path.read_bytes() == bytes(range(256)) * 400
    assert mirror.ranges == ["bytes=14-", None]


def test_the_lock_names_neo4j_and_no_address() -> None:
    names = [artifact.coordinate for artifact in fetch.locked()]
    assert f"org.neo4j:neo4j:{fetch.VERSION}" in names
    assert len(set(names)) == len(names) > 200
    text = fetch._LOCK_FILE.read_text()
    assert "://" not in text
    assert all(len(artifact.sha256) == 64 and artifact.size for artifact in fetch.locked())


def test_java_home_comes_first_and_an_unfit_java_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find_java()
    for version, expected in (("17.0.1", "JAVA_HOME"), ("11.0.1", found.origin)):
        home = tmp_path / version
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "java").write_text("#!/bin/sh\n")
        (home / "bin" / "java").chmod(0o755)
        (home / "release").write_text(f'JAVA_VERSION="{version}"\n')
        monkeypatch.setenv("JAVA_HOME", str(home))
        if expected == "JAVA_HOME" or found.origin != "JAVA_HOME":
            assert find_java().origin == expected
