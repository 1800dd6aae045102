"""`qeval models`, `cache`, `doctor` and `mock-server` as a person runs them."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from qeval.commands import cache, status
from qeval.errors import InputError
from qeval.models.base import Generation
from qeval.models.cache import ResponseCache

QEVAL = str(Path(sys.executable).with_name("qeval"))
SECRET = "sk-very-secret-value-123"


def qeval(*words: str, cache: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OPENAI_API_KEY": SECRET, "COLUMNS": "120", **more}
    if cache is not None:
        environment["QEVAL_CACHE"] = str(cache)
    return subprocess.run(
        [QEVAL, *words],
        check=False, capture_output=True, text=True, timeout=120, env=environment,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_models_are_listed_with_their_keys_set_or_not() -> None:
    done = qeval("models", "list", "--format", "json", ANTHROPIC_API_KEY="")
    models = {model["name"]: model for model in lines(done.stdout)}
    assert done.returncode == 0
    assert {"gpt4", "gpt35", "claude2", "llama2_70b", "smollm2", "gold", "mock"} <= models.keys()
    assert models["gpt4"] == {
        "name": "gpt4",
        "provider": "openai",
        "id": "openai/gpt-4",
        "key": "OPENAI_API_KEY",
        "ready": True,
        "end_of_life": "2026-10-23",
        "notes": models["gpt4"]["notes"],
    }
    assert models["claude_opus_5_5"]["ready"] is False
    assert models["gold"]["key"] == ""
    shown = qeval("models")
    assert "claude_sonnet_5_5" in shown.stdout
    assert SECRET not in done.stdout + shown.stdout


def test_the_doctor_never_tells_a_value() -> None:
    done = qeval("doctor", "--json")
    findings = {finding["about"]: finding for finding in lines(done.stdout)}
    assert findings["OPENAI_API_KEY"]["state"] == "ok"
    assert findings["OPENAI_API_KEY"]["text"].startswith("set: ")
    assert {"python", "litellm", "postgres", "java", "local model", "cache"} <= findings.keys()
    lacking = [f for f in findings.values() if f["state"] == "missing"]
    assert done.returncode == (1 if lacking else 0)
    assert SECRET not in done.stdout + done.stderr


def test_the_cache_is_shown_and_cleared(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "responses" / "responses.sqlite")
    cache.path.parent.mkdir()
    for n, name in enumerate(("one", "one", "two")):
        cache.put(f"key-{n}", name, Generation("x"))
    cache.close()

    def counts() -> dict[str, int]:
        shown = qeval("cache", "ls", "--format", "json", cache=tmp_path).stdout
        return {row["item"].strip(): row["count"] for row in lines(shown)}

    assert counts() == {"answers of models": 3, "model one": 2, "model two": 1}
    asked = qeval("cache", "rm", "responses", cache=tmp_path)
    assert asked.returncode == 2
    assert "--yes" in asked.stderr
    old = qeval("cache", "rm", "responses", "--older-than", "1h", "--yes", cache=tmp_path)
    assert old.stdout == "removed 0 answers\n"
    gone = qeval("cache", "rm", "responses", "--model", "one", "--yes", cache=tmp_path)
    assert gone.stdout == "removed 2 answers\n"
    assert counts() == {"answers of models": 1, "model two": 1}
    assert qeval("cache", "rm", "all", "--yes", cache=tmp_path).returncode == 0
    assert counts() == {}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("cache", "rm", "responces", "--yes"), "Did you mean 'responses'"),
        (("cache", "rm", "models", "--model", "x", "--yes"), "choose answers"),
        (("cache", "rm", "responses", "--older-than", "soon", "--yes"), "e.g. 30d"),
        (("models", "fetch", "gold"), "has no file to fetch"),
        (("models", "fetch", "smolm2"), "Did you mean 'smollm2'"),
        (("models", "fetch", "--from", "none.whl"), "there is no file none.whl"),
        (("mock-server", "--script", "none.yaml"), "none.yaml"),
    ],
)
def test_mistakes_are_explained(words: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    done = qeval(*words, cache=tmp_path)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cache_that_can_not_be_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QEVAL_CACHE", "/dev/null/cache")
    for command, words in ((cache, ["ls"]), (cache, ["rm", "all", "--yes"]), (status, [])):
        with pytest.raises(InputError, match=r"Not a directory\. Set QEVAL_CACHE to a folder"):
            command.main(words)


def test_the_mock_server_answers_by_script_and_counts(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(
        "model: tiny\nrules:\n- {match: twice, times: 1, status: 503, message: busy}\n"
        "- {match: 'twice', answer: SELECT 2}\n",
        encoding="utf-8",
    )
    command = [QEVAL, "mock-server", "--port", "0"]
    with subprocess.Popen(
        [*command, "--suite", "none", "--script", str(script)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().removeprefix("listening on ").strip()
        try:
            assert url.startswith("http://127.0.0.1:")
            with pytest.raises(urllib.error.HTTPError, match="503") as failed:
                ask(url, "twice")
            failed.value.close()
            assert ask(url, "twice")["choices"][0]["message"]["content"] == "SELECT 2"
            assert ask(url, "other")["model"] == "tiny"
            calls = fetched(url.removesuffix("/v1") + "/calls")
            assert calls["total"] == 3
            assert sorted(calls["by_prompt"].values()) == [1, 2]
            assert fetched(f"{url}/models")["data"][0]["id"] == "tiny"
        finally:
            server.terminate()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rulez: []", "Did you mean 'rules'"),
        ("rules: [{mach: x}]", "rule 1: unknown key 'mach'. Did you mean 'match'"),
        ("rules: [{match: '('}]", "not a regular expression"),
        ("- 1", "expected a mapping"),
    ],
)
def test_a_wrong_script_is_explained(tmp_path: Path, text: str, complaint: str) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(text, encoding="utf-8")
    done = qeval("mock-server", "--suite", "none", "--script", str(script))
    assert done.returncode == 2
    assert complaint in done.stderr


def ask(url: str, text: str) -> Any:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    headers = {"Content-Type": "application/json"}
    return fetched(urllib.request.Request(f"{url}/chat/completions", body, headers))


def fetched(request: str | urllib.request.Request) -> Any:
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.loads(response.read())
