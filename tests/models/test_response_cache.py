"""Nothing is asked twice: not by threads, not by processes, not after a kill."""

import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from qeval.models.base import Generation, ModelError, NeedsCases, Request, Usage
from qeval.models.cache import CachedModel, ResponseCache, cached, request_key
from tests.models.ask import model, request


class Counting:
    """A model that counts; fails as long as `broken`."""

    name = "counting"

    def __init__(self, **params: object) -> None:
        self.params = params
        self.calls = 0
        self.broken = False
        self.wait = 0.0
        self._lock = threading.Lock()

    def identity(self) -> dict[str, object]:
        return {"id": "counting", **self.params}

    def preflight(self) -> None:
        """Nothing."""

    def generate(self, request: Request) -> Generation:
        time.sleep(self.wait)
        with self._lock:
            self.calls += 1
        if self.broken:
            raise ModelError("no")
        return Generation(
            f"answer {self.calls} {request.repeat} \ud83d",
            finish_reason="length",
            reasoning="why",
            usage=Usage(3, None, 0.25),
            seconds=1.5,
            served_by="s",
            sent={"temperature": 0, "refused": ["seed"]},
        )

    def close(self) -> None:
        """Nothing."""


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ResponseCache]:
    opened = ResponseCache(tmp_path / "responses.sqlite")
    yield opened
    opened.close()


def test_a_kept_answer_comes_back_whole(cache: ResponseCache) -> None:
    asked = Counting()
    front = CachedModel(asked, cache)
    first = front.generate(request())
    again = front.generate(request())
    assert asked.calls == 1
    assert not first.cached
    assert again.cached
    fields = ("text", "finish_reason", "reasoning", "usage", "seconds", "served_by", "sent")
    assert [getattr(again, f) for f in fields] == [getattr(first, f) for f in fields]


def test_whatever_can_change_an_answer_is_in_the_key() -> None:
    base = request_key(Counting(), request())
    assert (
        request_key(Counting(), request("other-case", text=request().prompt.messages[-1].content))
        == base
    )
    assert request_key(Counting(temperature=1), request()) != base
    assert request_key(Counting(), request(repeat=1)) != base
    assert request_key(Counting(), request(text="x")) != base
    assert request_key(Counting(), request(system="x")) != base


def test_models_that_look_at_the_case_are_keyed_by_it() -> None:
    mock = model("mock")
    one, two = request("a", text="same"), request("b", text="same")
    assert request_key(mock, one) != request_key(mock, two)


def test_errors_are_not_kept(cache: ResponseCache) -> None:
    asked = Counting()
    front = CachedModel(asked, cache)
    asked.broken = True
    with pytest.raises(ModelError):
        front.generate(request())
    asked.broken = False
    assert not front.generate(request()).cached


def test_equal_requests_of_many_threads_are_asked_once(cache: ResponseCache) -> None:
    asked = Counting()
    asked.wait = 0.05
    front = CachedModel(asked, cache)
    with ThreadPoolExecutor(16) as pool:
        texts = list(pool.map(front.generate, [request(f"c{n % 4}") for n in range(64)]))
    assert asked.calls == 4
    assert len({answer.text for answer in texts}) == 4


def test_after_a_failed_leader_the_next_thread_asks(cache: ResponseCache) -> None:
    asked = Counting()
    asked.wait = 0.05
    asked.broken = True
    front = CachedModel(asked, cache)

    def attempt(_: int) -> str:
        try:
            return front.generate(request()).text
        except ModelError:
            asked.broken = False
            return "failed"

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(attempt, range(4)))
    assert results.count("failed") == 1
    assert asked.calls == 2


WRITER = """
import sys
from pathlib import Path
from qeval.models.base import Generation
from qeval.models.cache import ResponseCache
cache = ResponseCache(Path(sys.argv[1]))
for n in range(int(sys.argv[2]), int(sys.argv[3])):
    cache.put(f"key-{n}", "m", Generation(f"text {n}"))
    print(n, flush=True)
"""


def writer(path: Path, begin: int, end: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(begin), str(end)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_several_processes_write_at_once(cache: ResponseCache) -> None:
    writers = [writer(cache.path, begin, begin + 150) for begin in (0, 100, 200)]
    for process in writers:
        process.communicate(timeout=60)
        assert process.returncode == 0
    texts = [cache.get(f"key-{n}") for n in range(350)]
    assert [t.text if t else None for t in texts] == [f"text {n}" for n in range(350)]


def test_a_kill_loses_nothing_that_was_kept(cache: ResponseCache) -> None:
    process = writer(cache.path, 0, 1_000_000)
    assert process.stdout is not None
    last = -1
    for line in process.stdout:
        last = int(line)
        if last >= 50:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert all(cache.get(f"key-{n}") is not None for n in range(last + 1))
    cache.put("after", "m", Generation("still works"))
    assert cache.get("after") is not None


@pytest.mark.parametrize("damage", ["not a database", "torn pages"])
def test_a_damaged_file_is_moved_aside_with_a_warning(
    cache: ResponseCache, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    for n in range(200):
        cache.put(f"key-{n}", "m", Generation("x" * 500))
    cache.close()
    if damage == "not a database":
        cache.path.write_bytes(b"hello" * 1000)
    else:
        data = bytearray(cache.path.read_bytes())
        data[4096:] = b"\xff" * (len(data) - 4096)
        cache.path.write_bytes(bytes(data))
    with caplog.at_level(logging.WARNING):
        assert cache.get("key-1") is None
        cache.put("new", "m", Generation("fresh"))
    kept = cache.get("new")
    assert kept is not None
    assert kept.text == "fresh"
    assert "damaged" in caplog.text
    assert list(cache.path.parent.glob("*.damaged-*"))


def test_a_folder_that_can_not_be_written_costs_a_warning_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    front = CachedModel(Counting(), ResponseCache(tmp_path / "file" / "responses.sqlite"))
    with caplog.at_level(logging.WARNING):
        assert front.generate(request()).text
        assert front.generate(request()).text
    assert caplog.text.count("going on without storing") == 1


def test_a_full_disk_costs_a_warning_only(
    cache: ResponseCache, caplog: pytest.LogCaptureFixture
) -> None:
    cache.put("small", "m", Generation("kept"))
    connection = cache._open()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with caplog.at_level(logging.WARNING):
        cache.put("big", "m", Generation("x" * 1_000_000))
    assert "full" in caplog.text
    kept = cache.get("small")
    assert kept is not None
    assert kept.text == "kept"


def test_removing_by_model_and_age(cache: ResponseCache) -> None:
    for n, name in enumerate(("a", "a", "b")):
        cache.put(f"key-{n}", name, Generation("x"))
    assert [(k.model, k.answers) for k in cache.kept()] == [("a", 2), ("b", 1)]
    assert cache.remove("a", before=time.time() - 3600) == 0
    assert cache.remove("a") == 2
    assert [k.model for k in cache.kept()] == ["b"]
    assert cache.remove() == 1


def test_an_answer_of_an_older_layout_is_asked_again(cache: ResponseCache) -> None:
    cache.put("key", "m", Generation("x"))
    with sqlite3.connect(cache.path) as connection:
        connection.execute("UPDATE responses SET generation = '{\"was\": 1}'")
    connection.close()
    assert cache.get("key") is None


def test_the_yaml_decides_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path))
    assert not isinstance(cached(model("gold")), CachedModel)
    assert isinstance(cached(model("mock", "cache=true")), CachedModel)
    front = cached(model("gpt4"))
    assert isinstance(front, CachedModel)
    assert front.window == 8192
    assert isinstance(front, NeedsCases)
