"""`qeval rescore`: recorded answers judged again by today's code, and told where they changed."""

import json
from pathlib import Path

import pytest

import qeval
from qeval.commands import rescore
from qeval.errors import InputError
from qeval.exit_codes import ExitCode
from qeval.journal import JOURNAL
from qeval.review.decisions import Decision, append, now, read
from qeval.review.standing import item_of, read_reviewed

FEW = ["language=sql", "difficulty=easy", "difficulty.limit=1", "workers=1", "tracking=none"]


def test_a_changed_verdict_is_told_with_what_the_engine_says_letter_by_letter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answers = tmp_path / "answers.jsonl"
    broken = {"case_id": "ec-e01", "query": 'SELECT "[/b]" FROM users'}
    answers.write_text(json.dumps(broken) + "\n", encoding="utf-8")
    words = ["model=replay", f"model.file={answers}", "scoring.variants=0"]
    ran = qeval.run([*FEW, *words])
    journal = ran.cells[0].folder / JOURNAL
    text = journal.read_text(encoding="utf-8")
    assert '"verdict":"schema_error"' in text
    assert rescore.main([str(journal.parent)]) == ExitCode.DONE
    assert "1 of 1 verdicts reproduced, 0 changed" in capsys.readouterr().out

    forged = text.replace('"verdict":"schema_error"', '"verdict":"correct"', 1)
    journal.write_text(forged, encoding="utf-8")
    into = ["--into", str(tmp_path / "again")]
    assert rescore.main([str(journal.parent), *into]) == ExitCode.MISSED
    told = capsys.readouterr().out
    assert "0 of 1 verdicts reproduced, 1 changed" in told
    assert 'column "[/b]" does not exist' in told
    changed = ["--set", "limits.timeout_s=9", "--into", str(tmp_path / "other")]
    assert rescore.main([str(journal.parent), *changed]) == ExitCode.DONE


def test_what_was_paid_for_and_answered_in_processes_is_rescored_for_nothing_in_this_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["model=mock", "model.usd_per_call=1", "suite=flights", "language=typeql", "workers=2",
             "difficulty.limit=2", "scoring.variants=0", "tracking=none", "limits.budget_usd=2",
             f"runs_dir={tmp_path}"]  # fmt: skip
    journal = qeval.run(words).cells[0].folder / JOURNAL
    text = journal.read_text(encoding="utf-8")
    journal.write_text(text.replace('"backend":"threading"', '"backend":"loky"'), encoding="utf-8")
    assert rescore.main([str(journal.parent)]) == ExitCode.DONE
    assert "2 of 2 verdicts reproduced, 0 changed" in capsys.readouterr().out


def test_a_configuration_that_todays_code_does_not_take_is_told_as_such(tmp_path: Path) -> None:
    journal = qeval.run([*FEW, "model=gold", f"runs_dir={tmp_path}"]).cells[0].folder / JOURNAL
    head, *records = journal.read_text(encoding="utf-8").splitlines()
    header = json.loads(head)
    del header["config"]["prompt_strategy"]["template"]
    journal.write_text("\n".join([json.dumps(header), *records, ""]), encoding="utf-8")
    with pytest.raises(InputError, match=r"missing .*'template'.* another version"):
        rescore.main([str(journal.parent)])


def test_what_people_decided_goes_along(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"case_id": "ec-e01", "query": "SELECT 1"}) + "\n", "utf-8")
    words = [*FEW, "model=replay", f"model.file={answers}", "scoring.variants=0"]
    done = qeval.run([*words, f"runs_dir={tmp_path / 'runs'}"]).cells[0]
    item = item_of(done.records[0])
    decided = Decision(item, "ecommerce", "ec-e01", "sql", "equivalent", "ann", now())
    append(tmp_path / "runs", [decided])
    for _ in range(2):
        rescore.main([str(done.folder), "--into", str(tmp_path / "again")])
    assert read(tmp_path / "again") == [decided]
    (folder,) = tmp_path.glob("again/*/")
    assert [record.review for record in read_reviewed(folder)[1]] == ["equivalent"]
