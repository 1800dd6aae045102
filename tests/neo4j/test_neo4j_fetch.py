"""Fetching the server's parts: only what the lock names, whole, once, whoever else is at it."""

import hashlib
import multiprocessing
from collections.abc import Iterator
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
