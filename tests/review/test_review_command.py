"""`qeval review` from a sweep's end to changed metrics, with a real engine."""

import csv
import json
import re
import shutil
import signal
import subprocess
import urllib.request
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from qeval.recorded import recorded_cell
from qeval.results import close_cell, write_summary
from qeval.review.evidence import Laboratory
from qeval.review.items import collect
from qeval.review.session import Session
from qeval.suites import load_suite
from qeval.suites.starter import write_starter
from tests.conftest import Run, command


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cell of 40 cases: all right but three, of which one is refuted by a variant only."""
    folder = tmp_path_factory.mktemp("sweep")
    rows = []
    for case in load_suite("ecommerce").cases:
        if case.difficulty == "easy":
            query = case.gold["sql"]
            if case.id == "ec-e01":
                query = query.replace(">=", ">")
            elif case.id in ("ec-e03", "ec-e04"):
                query = query.replace("placed_at >=", "placed_at >")
            rows.append(json.dumps({"case_id": case.id, "query": query}))
    (folder / "p.jsonl").write_text("\n".join(rows), encoding="utf-8")
    words = ("model=replay", "model.file=p.jsonl", "difficulty=easy", "tracking=none")
    subprocess.run(command(*words), cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def swept(sweep: Path, tmp_path: Path) -> Path:
    """A copy of it, to be reviewed."""
    return shutil.copytree(sweep, tmp_path, dirs_exist_ok=True)


def summary(folder: Path) -> dict[str, Any]:
    (path,) = folder.glob("runs/*/summary.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["metrics"]
    return found


def test_decisions_by_csv_reach_the_metrics_and_can_be_taken_back(swept: Path, qeval: Run) -> None:
    before = summary(swept)
    assert before["verdicts"]["wrong_result"] == 3
    assert "semantic_equivalence" not in before["overall"]
    out = qeval("review", "--export", "q.csv", "--reviewer", "ann", "--all")
    assert (out.returncode, "3 of 3" in out.stdout) == (0, True), out.stderr
    path = swept / "q.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for choices, verdicts in (
        (("equivalent", "different", ""), (1, 2)),
        (("withdrawn", "different", ""), (0, 3)),
    ):
        for row, choice in zip(rows, choices, strict=True):
            row["choice"] = choice
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
        taken = qeval("review", "--import", "q.csv", "tracking=none")
        assert taken.returncode == 0, taken.stderr
        after = summary(swept)
        found = after["verdicts"]["equivalent"], after["verdicts"]["wrong_result"]
        assert found == verdicts
        assert after["overall"]["execution_accuracy"] == before["overall"]["execution_accuracy"]
    report = qeval("review", "--report")
    assert "1 of 3 disputed predictions are reviewed" in report.stdout


def test_the_page_shows_fresh_results_and_survives_a_kill(swept: Path, qeval: Run) -> None:
    words = command("review", "--reviewer", "ann", "--all", "tracking=none")
    with subprocess.Popen(words, cwd=swept, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        served.stdout.readline()
        found = re.search(r"(http://[\d.:]+)/#(\S+)", served.stdout.readline())
        assert found is not None
        address, secret = found.groups()

        def ask(path: str, body: object = None) -> Any:
            request = urllib.request.Request(
                address + path,
                data=None if body is None else json.dumps(body).encode(),
                headers={"X-Review-Secret": secret},
            )
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.loads(reply.read())

        first = ask("/api/queue")["items"][0]
        view = ask(f"/api/item?key={first['key']}")
        evidence = view["evidence"]
        assert evidence["note"] == ""
        assert evidence["gold"]["total"] - evidence["predicted"]["total"] == 7
        assert [row for row, common in evidence["gold"]["rows"] if not common] == [
            row for row, _ in evidence["gold"]["rows"][:7]]  # fmt: skip
        ask("/api/decide", {"key": first["key"], "choice": "equivalent", "reviewer": "ann"})
        served.send_signal(signal.SIGKILL)
        served.wait(timeout=30)
    assert summary(swept)["verdicts"]["equivalent"] == 0, "it had no time to count"
    again = qeval("review", "--export", "q.csv", "tracking=none")
    assert "metrics of 1 cell computed again" in again.stdout
    assert summary(swept)["verdicts"]["equivalent"] == 1


def test_a_decision_made_while_a_cell_was_being_closed_counts(swept: Path, qeval: Run) -> None:
    (folder,) = swept.glob("runs/*/")
    closing = close_cell(folder, recorded_cell(folder)[0])
    wrong = next(item for item in collect([folder]) if item.verdict == "wrong_result")
    Session(folder.parent, [wrong], Laboratory()).decide(wrong.key, "equivalent", "ann")
    write_summary(closing)
    assert summary(swept)["verdicts"]["equivalent"] == 0
    again = ("review", "--export", "q.csv", "tracking=none")

    assert "metrics of 1 cell computed again" in qeval(*again).stdout

    assert summary(swept)["verdicts"]["equivalent"] == 1
    assert "computed again" not in qeval(*again).stdout


@pytest.mark.parametrize(("words", "message"), [
    (("nowhere",), "there is no folder nowhere"),
    ((), "there is no folder runs"),
])  # fmt: skip
def test_nothing_to_review_is_said(qeval: Run, words: tuple[str, ...], message: str) -> None:
    done = qeval("review", *words)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_a_cell_whose_suite_is_gone_stops_no_other(tmp_path: Path, qeval: Run) -> None:
    wrong = {"case_id": "", "query": "SELECT 'nobody' AS name"}
    for name in ("first", "second"):
        write_starter(tmp_path / name, ("sql",), "csv")
        cases = load_suite(tmp_path / name).cases
        rows = [json.dumps(wrong | {"case_id": case.id}) for case in cases]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows), encoding="utf-8")
        done = qeval(f"suite.path={name}", "model=replay", f"model.file={name}.jsonl", "lang=sql",
                     "tracking=none", "scoring.variants=0")  # fmt: skip
        assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "first")
    assert qeval("review", "--export", "q.csv", "--all").returncode == 0
    text = (tmp_path / "q.csv").read_text(encoding="utf-8-sig")
    with (tmp_path / "q.csv").open("w", encoding="utf-8", newline="") as file:
        rows_of = csv.DictReader(StringIO(text, newline=""))
        writer = csv.DictWriter(file, rows_of.fieldnames or ())
        writer.writeheader()
        writer.writerows(row | {"choice": "equivalent"} for row in rows_of)

    taken = qeval("review", "runs", "--import", "q.csv", "tracking=none")

    assert taken.returncode == 2
    assert f"keeps its numbers without the reviews: no suite '{tmp_path / 'first'}'" in taken.stderr
    verdicts = {
        path.parent.name.partition("-")[0]: json.loads(path.read_text(encoding="utf-8"))["metrics"]
        for path in tmp_path.glob("runs/*/summary.json")
    }
    assert "semantic_equivalence" not in verdicts["first"]["overall"]
    assert verdicts["second"]["overall"]["semantic_equivalence"]["value"] > 0
