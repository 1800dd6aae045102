"""TypeQL from the command line: nothing to install, nothing to start."""

import json
from pathlib import Path

import pytest

from tests.conftest import Run


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QEVAL_TYPEDB_URI", raising=False)


def test_a_query_is_answered_at_once(qeval: Run) -> None:
    done = qeval(
        "query", "typeql", "match $c isa country, has code $code, has name $name; sort $code; "
        "limit 2; select $code, $name;", "--instance", "variant-2", "--format", "json",
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert answer["columns"] == ["code", "name"]
    assert [len(code) for code, _ in answer["rows"]] == [2, 2]
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("match $p isa prodct;", "schema_error [INF2]: there is no type 'prodct'\nline 1: "),
        ("match $p isa product; get $p;", "syntax_error [TQL03]: "),
        ("match $p isa product; delete $p;", "unsafe: 'delete' changes data\n"),
    ],
)
def test_a_query_that_fails_is_told_with_its_verdict(qeval: Run, query: str, said: str) -> None:
    done = qeval("query", "typeql", query, "--instance", "variant-2")
    assert done.stderr.startswith(said)
    assert done.returncode == 1


def test_there_is_nothing_to_keep_warm(qeval: Run) -> None:
    done = qeval("up", "typeql")
    assert "runs inside qeval itself: there is no server to keep warm" in done.stderr
    assert done.returncode == 2


def test_a_server_that_is_not_there_is_named(qeval: Run) -> None:
    done = qeval("query", "typeql", "match $p isa product;",
                 QEVAL_TYPEDB_URI="typedb://ann:s3cret@127.0.0.1:1")  # fmt: skip
    assert "no TypeDB server answers at 127.0.0.1:1 as user 'ann'" in done.stderr
    assert "s3cret" not in done.stderr + done.stdout
    assert done.returncode == 2


def test_golds_are_right_and_the_report_names_the_engine(qeval: Run, tmp_path: Path) -> None:
    done = qeval("model=gold", "lang=typeql", "difficulty=medium", "tracking=none")
    assert done.returncode == 0
    assert "40 correct" in done.stderr + done.stdout
    assert "typeql-embedded 3.12 semantics (embedded)" in " ".join(done.stdout.split())
    (summary,) = tmp_path.glob("runs/*/summary.json")
    written = json.loads(summary.read_text())
    assert written["engine"] == "typeql-embedded 3.12 semantics (embedded)"
    (journal,) = tmp_path.glob("runs/*/journal.jsonl")
    assert "s3cret" not in journal.read_text()


@pytest.mark.parametrize("strategy", ["zero_shot", "few_shot", "schema_few_shot"])
def test_prompts_speak_typeql(qeval: Run, tmp_path: Path, strategy: str) -> None:
    qeval("model=gold", "lang=typeql", "difficulty.ids=[ec-m03]", "tracking=none",
          f"prompt_strategy={strategy}")  # fmt: skip
    (prompts,) = tmp_path.glob("runs/*/prompts.jsonl")
    text = prompts.read_text()
    assert "TypeQL 3 (TypeDB 3.12)" in text
    assert ("relation order-line, relates order @card(1)" in text) == ("schema" in strategy)
    assert ("isa premium-user" in text or "isa product" in text) == ("few" in strategy)
