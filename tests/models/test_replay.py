"""Predictions from files as people have them."""

import json
from pathlib import Path
from typing import Any

import pytest

import qeval as package
from qeval.errors import InputError
from qeval.models.base import ModelError
from tests.models.ask import model, request


def replay(path: Path, *more: str) -> Any:
    return model("replay", f"file='{path}'", *more)


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_query_column_needs_no_extraction(tmp_path: Path) -> None:
    file = written(tmp_path / "p.jsonl", {"case_id": "easy-01", "query": "SELECT 1"})
    answer = replay(file).generate(request())
    assert (answer.text, answer.is_query, answer.finish_reason) == ("SELECT 1", True, "stop")
    assert answer.usage.cost_usd is None


@pytest.mark.parametrize("column", ["raw", "answer"])
def test_a_raw_answer_is_to_be_extracted(tmp_path: Path, column: str) -> None:
    row = {
        "case_id": "easy-01",
        column: "Sure: ```sql\nSELECT 1\n```",
        "finish_reason": "length",
        "prompt_tokens": 12,
        "cost_usd": 0.5,
    }
    answer = replay(written(tmp_path / "p.jsonl", row)).generate(request())
    assert (answer.text, answer.is_query) == (row[column], False)
    assert answer.finish_reason == "length"
    assert (answer.usage.prompt_tokens, answer.usage.cost_usd) == (12, 0.5)


def test_the_most_specific_row_answers(tmp_path: Path) -> None:
    file = written(
        tmp_path / "p.jsonl",
        {"case_id": "easy-01", "query": "any"},
        {"case_id": "easy-01", "language": "cypher", "query": "cypher"},
        {"case_id": "easy-01", "language": "cypher", "repeat": 2, "query": "cypher 2"},
    )
    asked = replay(file)
    assert asked.generate(request(language="sql", repeat=2)).text == "any"
    assert asked.generate(request(language="cypher")).text == "cypher"
    assert asked.generate(request(language="cypher", repeat=2)).text == "cypher 2"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("p.csv", b'case_id,query\neasy-01,"SELECT a,\n b FROM t"\n'),
        ("p.csv", '\ufeffcase_id;query\r\neasy-01;"SELECT a,\n b FROM t"\r\n'.encode()),
        ("p.tsv", 'case_id\tquery\neasy-01\t"SELECT a,\n b FROM t"\n'.encode("utf-16")),
        ("p.jsonl", b'\xef\xbb\xbf{"case_id": "easy-01", "query": "SELECT a,\\n b FROM t"}\n\n'),
        ("p.json", b'[{"id": "easy-01", "query": "SELECT a,\\n b FROM t"}]'),
    ],
    ids=["csv", "csv of a spreadsheet", "tsv in utf-16", "json lines with a mark", "json array"],
)
def test_files_of_many_programs_are_read(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert replay(tmp_path / name).generate(request()).text == "SELECT a,\n b FROM t"


def test_another_encoding_is_named(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_bytes("case_id,query\neasy-01,SELECT 'é'\n".encode("cp1252"))
    with pytest.raises(InputError, match=r"not utf-8 text .*model\.encoding=cp1252"):
        replay(file).preflight()
    assert replay(file, "encoding=cp1252").generate(request()).text == "SELECT 'é'"


def test_an_answer_without_text_is_an_answer(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_text("case_id,query\neasy-01,\n", encoding="utf-8")
    answer = replay(file).generate(request())
    assert (answer.text, answer.is_query) == ("", False)


def test_two_rows_for_one_request_are_refused_with_their_lines(tmp_path: Path) -> None:
    rows = [{"case_id": name, "query": "q"} for name in ("a", "b", "a")]
    with pytest.raises(InputError, match=r"lines 1 and 3 both answer a, any language"):
        replay(written(tmp_path / "p.jsonl", *rows)).preflight()


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("p.jsonl", '{"case_id": "a", "query": "q"}\n{"case_id": ', r"p\.jsonl:2: not a JSON"),
        ("p.jsonl", '{"query": "q"}\n', r"p\.jsonl:1: no case_id; it has: query"),
        ("p.jsonl", '{"case_id": "a", "qury": "q"}\n', r"p\.jsonl:1: .*Did you mean 'query'"),
        ("p.jsonl", '{"case_id": "a", "query": 3}\n', r"p\.jsonl:1: query must be text"),
        ("p.jsonl", "3\n", r"p\.jsonl:1: expected a JSON object, found int"),
        ("p.jsonl", "\n", "has no predictions"),
        ("p.csv", "case_id,text\na,q\n", r"p\.csv:1: no column query, raw or answer"),
        ("p.csv", "case,query\na,q,r\n", r"p\.csv:2: more fields than the header's 2"),
        ("p.csv", "case_id,query,repeat\na,q,x\n", r"p\.csv:2: repeat must be a number"),
        ("p.csv", "case_id,query,cost_usd\na,q,nan\n", r"p\.csv:2: cost_usd must be a number"),
        ("p.csv", "case_id,query,seconds\na,q,-1\n", r"p\.csv:2: seconds must be .* below 0"),
        (
            "p.jsonl",
            '{"id": "a", "query": "q", "repeat": 0.5}\n',
            r"repeat must be a number, whole",
        ),
        ("p.jsonl", '{"id": "a", "query": "q", "repeat": true}\n', r"repeat must be a number"),
        ("p.txt", "a q\n", r"expected a file named \.jsonl"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(
    tmp_path: Path, name: str, text: str, complaint: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        replay(tmp_path / name).preflight()


def test_a_misspelt_file_is_guessed(tmp_path: Path) -> None:
    written(tmp_path / "predictions.jsonl", {"case_id": "a", "query": "q"})
    with pytest.raises(InputError, match=r"Did you mean 'predictions\.jsonl'"):
        replay(tmp_path / "prediction.jsonl").preflight()
    (tmp_path / "answers.csv").mkdir()
    with pytest.raises(InputError, match=r"answers\.csv\. A relative path"):
        replay(tmp_path / "answers.csv").preflight()


def test_what_the_file_has_instead_is_told(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_text("case_id,language,query\nb,postgres,q\n", encoding="utf-8")
    told = r"other cases: b\. Its other languages are postgres\. Add them"
    with pytest.raises(InputError, match=told):
        replay(file).preflight_cases(["a"], "sql", 1)


def test_missing_cases_are_named_before_work(tmp_path: Path) -> None:
    file = written(tmp_path / "p.jsonl", {"case_id": "easy-01", "query": "q"})
    asked = replay(file)
    asked.preflight_cases(["easy-01"], "sql", 1)
    with pytest.raises(InputError, match=r"no sql prediction for 2 of 3 cases: easy-02, easy-03\."):
        asked.preflight_cases(["easy-01", "easy-02", "easy-03"], "sql", 1)
    with pytest.raises(ModelError) as failed:
        asked.generate(request("easy-02"))
    assert not failed.value.retryable


def test_missing_cases_may_count_as_empty_answers(tmp_path: Path) -> None:
    file = written(tmp_path / "p.jsonl", {"case_id": "easy-01", "query": "q"})
    asked = replay(file, "missing=empty")
    asked.preflight_cases(["easy-02"], "sql", 1)
    answer = asked.generate(request("easy-02"))
    assert (answer.text, answer.is_query) == ("", False)


def test_the_content_is_the_identity_and_not_the_place(tmp_path: Path) -> None:
    one = written(tmp_path / "a.jsonl", {"case_id": "a", "query": "q"})
    same = written(tmp_path / "b.jsonl", {"case_id": "a", "query": "q"})
    other = written(tmp_path / "c.jsonl", {"case_id": "a", "query": "r"})
    assert replay(one).identity() == replay(same).identity()
    assert replay(one).identity() != replay(other).identity()


def test_read_as_another_encoding_it_is_another_model(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_text("case_id,query\neasy-01,SELECT 'é'\n", encoding="utf-8")
    wrong, right = replay(file, "encoding=latin-1"), replay(file)
    assert wrong.generate(request()).text != right.generate(request()).text
    assert wrong.identity() != right.identity()
    assert replay(file, "encoding=UTF8").identity() == right.identity()


def test_numbers_and_empty_fields_are_read_as_programs_write_them(tmp_path: Path) -> None:
    row = {"case_id": "easy-01", "query": "q", "language": "", "repeat": "", "cost_usd": "0.5"}
    file = tmp_path / "p.json"
    file.write_text("\n" + json.dumps([{**row, "prompt_tokens": 12.0}]), encoding="utf-8")
    usage = replay(file).generate(request()).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cost_usd) == (12, None, 0.5)


def test_a_thousand_long_predictions_are_read_whole(tmp_path: Path) -> None:
    rows = [{"case_id": f"c{n}", "raw": "x" * 200_000 if n == 7 else "y"} for n in range(1000)]
    asked = replay(written(tmp_path / "p.jsonl", *rows))
    assert len(asked.generate(request("c7")).text) == 200_000
    asked.preflight_cases([f"c{n}" for n in range(1000)], "sql", 1)


def test_ids_that_no_case_has_are_told(tmp_path: Path) -> None:
    file = written(
        tmp_path / "p.jsonl",
        *({"case_id": f"ec-e{n:02}", "query": "SELECT 1"} for n in (1, 2)),
        {"case_id": "ec-e3", "query": "SELECT 1"},
    )
    words = ["model=replay", f"model.file={file}", "difficulty.ids=[ec-e01]", "tracking=none"]
    result = package.run([*words, f"runs_dir={tmp_path / 'runs'}"])
    (told,) = [note for note in result.notes if "no such cases" in note]
    assert "the suite has no such cases: ec-e3; passed over. Did you mean 'ec-e" in told
