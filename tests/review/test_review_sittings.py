"""A sitting: the page's server, the terminal and CSV give the same decisions."""

import csv
import json
import re
import socket
import struct
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from qeval.equivalence import Counterexample
from qeval.errors import InputError
from qeval.review import exchange, terminal
from qeval.review.decisions import read
from qeval.review.evidence import Evidence, Laboratory, Side, recorded, side_by_side
from qeval.review.items import Item, collect
from qeval.review.server import ReviewServer
from qeval.review.session import Session
from qeval.scoring.spec import AnswerSpec, Policy
from qeval.scoring.table import Table
from qeval.scoring.verdict import Verdict

from .disputes import DIFFERENCE, cell, judgement, record

HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J=cmd()"


class AsRecorded(Laboratory):
    """Shows what records keep; these cells belong to no real suite."""

    def evidence(self, item: Item) -> Evidence:
        return recorded(item)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    disputed = [
        record(1, judgement=judgement("different")),
        record(2, query="=1+1 " + HOSTILE),
        record(4),
    ]
    return Session(tmp_path, collect([cell(tmp_path / "a", *disputed)]), AsRecorded())


@pytest.fixture
def server(session: Session) -> Iterator[ReviewServer]:
    with ReviewServer(session, "ann") as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def ask(server: ReviewServer, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
    """Status and JSON (or text) of a request that carries the secret unless told otherwise."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.server_port}{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"X-Review-Secret": server.secret, **headers},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            text = reply.read().decode()
            is_json = reply.headers["Content-Type"] == "application/json"
            return reply.status, json.loads(text) if is_json else text
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_a_reviewer_decides_over_http_and_takes_it_back(
    server: ReviewServer, session: Session
) -> None:
    status, found = ask(server, "/api/queue")
    assert (status, found["reviewer"]) == (200, "ann")
    assert [line["case"] for line in found["items"]] == ["c1", "c2", "c4"]
    key = found["items"][0]["key"]
    said = {"key": key, "choice": "equivalent", "reason": " 同样 ", "reviewer": "ann",
            "saw_judge": True}  # fmt: skip
    status, view = ask(server, "/api/decide", said)
    assert status == 200
    assert (view["mine"]["choice"], view["agreed"]) == ("equivalent", "equivalent")
    (kept,) = read(session.folder)
    assert (kept.case_id, kept.reason, kept.judge, kept.saw_judge, kept.reviewer) == (
        "c1", "同样", "different", True, "ann")  # fmt: skip
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", kept.at)
    ask(server, "/api/decide", said | {"choice": "withdrawn", "reason": ""})
    assert ask(server, "/api/queue")[1]["items"][0]["mine"] is None
    assert not session.said()


def test_others_decisions_show_only_after_ones_own(server: ReviewServer, session: Session) -> None:
    key = session.items[0].key
    session.decide(key, "different", "bob", reason="no")
    view = ask(server, f"/api/item?key={key}&reviewer=ann")[1]
    assert (view["others"], view["agreed"], view["mine"]) == ([], None, None)
    session.decide(key, "equivalent", "ann")
    view = ask(server, f"/api/item?key={key}&reviewer=ann")[1]
    assert view["others"] == [{"reviewer": "bob", "choice": "different", "reason": "no"}]
    assert view["agreed"] is None
    assert ask(server, "/api/queue")[1]["items"][0]["disputed"]


@pytest.mark.parametrize(("request_", "status"), [
    (("/api/queue", None, {"X-Review-Secret": ""}), 403),
    (("/api/queue", None, {"X-Review-Secret": "guess"}), 403),
    (("/api/queue", None, {"Host": "evil.example:80"}), 403),
    (("/api/decide", {"choice": "equivalent"}, {}), 400),
    (("/api/decide", ["no object"], {}), 400),
    (("/api/item?key=nonsense", None, {}), 400),
    (("/../../etc/passwd", None, {}), 404),
    (("/page/index.html", None, {}), 404),
])  # fmt: skip
def test_wrong_requests_are_refused_with_a_reason(
    server: ReviewServer,
    session: Session,
    request_: tuple[str, object, dict[str, str]],
    status: int,
) -> None:
    path, body, headers = request_
    got, answer = ask(server, path, body, **headers)
    assert got == status
    assert answer["error"]
    assert read(session.folder) == []


@pytest.mark.parametrize("changes", [
    {"choice": "maybe"}, {"reviewer": ""}, {"reviewer": "a\x1b[1m"}, {"reviewer": "x" * 81},
    {"key": "ffff"},
])  # fmt: skip
def test_a_wrong_decision_is_not_kept(
    server: ReviewServer, session: Session, changes: dict[str, str]
) -> None:
    said = {"key": session.items[0].key, "choice": "equivalent", "reviewer": "ann"}
    assert ask(server, "/api/decide", said | changes)[0] == 400
    assert read(session.folder) == []


def test_the_page_may_run_nothing_but_its_own_files(server: ReviewServer) -> None:
    address = f"http://127.0.0.1:{server.server_port}"
    with urllib.request.urlopen(f"{address}/", timeout=30) as reply:
        page = reply.read().decode()
        policy = reply.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|style=|https?://", page)
    for name in re.findall(r'(?:src|href)="(/[^"]+)"', page):
        with urllib.request.urlopen(address + name, timeout=30) as reply:
            text = reply.read().decode()
            assert reply.status == 200
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(",
                                 text), name  # fmt: skip


def typed(session: Session, text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a terminal shows while somebody types `text`."""
    monkeypatch.setattr("sys.stdin", StringIO(text))
    console = Console(file=StringIO(), width=100, highlight=False)
    terminal.review(session, "ann", console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_the_terminal_asks_one_after_the_other(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = typed(session, "j\ne counts the same\nwhat?\nn\nd\n", monkeypatch)
    assert "j: different" in shown
    assert "because of this" in shown
    kept = read(session.folder)
    assert [(d.case_id, d.choice, d.reason, d.saw_judge) for d in kept] == [
        ("c1", "equivalent", "counts the same", True), ("c4", "different", "", False)]  # fmt: skip
    again = typed(session, "p\nu\nq\n", monkeypatch)
    assert "c2" in again.split("─")[1] or "2/3" in again, "the first one that is still open"
    assert "c1" not in session.said()


def test_nothing_a_model_wrote_steers_the_terminal(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b[2J" not in typed(session, "n\nn\nq\n", monkeypatch)


def test_csv_goes_out_and_comes_back(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "queue.csv"
    assert exchange.write(session, path, "ann") == 3
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["case"] for row in rows] == ["c1", "c2", "c4"]
    assert rows[1]["prediction"].startswith("'=1+1"), "a spreadsheet must not run it"
    rows[0]["choice"] = "Equivalent"
    rows[1] |= {"choice": "different", "reason": "doubles", "reviewer": "bob"}
    for delimiter, new in ((",", 2), (";", 0)):
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)
        assert exchange.read(session, path, "ann") == new
    assert [(d.case_id, d.choice, d.reviewer, d.reason) for d in read(session.folder)] == [
        ("c1", "equivalent", "ann", ""), ("c2", "different", "bob", "doubles")]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), [
    ("item,choice\n{key},equivalent\n{key},perhaps\n", r"q\.csv:3: choice 'perhaps'"),
    ("item,choice\n{key},equivalent\n0,different\n", r"q\.csv:3: no item '0'"),
    ("item,case,choice\n{key},c1,yes\n", r"q\.csv:2 \(c1\): choice 'yes'"),
    ("item\n{key}\n", r"q\.csv:1: the column choice"),
    ("", r"q\.csv:1: the columns choice and item"),
])  # fmt: skip
def test_a_wrong_csv_row_is_named_and_nothing_is_taken(
    session: Session, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "q.csv"
    path.write_text(text.replace("{key}", session.items[0].key), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        exchange.read(session, path, "ann")
    assert read(session.folder) == []


def test_rows_are_marked_by_the_declared_types_and_whatever_columns_are_called() -> None:
    spec = AnswerSpec(columns=["name", ("price", "decimal", 2)])
    gold = Table(["name", "price"], [("a", 6.9), ("b", 7), ("b", 7), ("c", None)])
    other = Table(
        ["p", "x", "n"], [(Decimal("7.00"), 0, "b"), (Decimal("6.900"), 0, "a"), (9, 0, "c")]
    )
    ours, theirs = side_by_side(gold, other, spec, Policy())
    assert [row for row, common in ours.rows if not common] == [("b", 7), ("c", None)]
    assert [row for row, common in theirs.rows if not common] == [(9, 0, "c")]
    assert theirs.matched == ("price", "", "name")
    assert (ours.total, theirs.total) == (4, 3)


@pytest.fixture
def refuted(tmp_path: Path) -> Session:
    """Two cells with the same refuted prediction; the second one found the rows that show it."""
    known = Counterexample(
        "k2", "c1", "variant-2", 9, minimal=True, kind="other", message="one row too many",
        tables={"users": {"columns": ["id", "name"], "rows": [[n, HOSTILE] for n in range(9)]}},
        difference=DIFFERENCE,
    )  # fmt: skip
    folders = [
        cell(tmp_path / key, record(1, Verdict.REFUTED, counterexample=f"k{key}")) for key in "12"
    ]
    lines = json.dumps(known.to_json()) + "\n"
    (tmp_path / "2" / "counterexamples.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "1" / "counterexamples.jsonl").write_text('{"no": 1}\n', encoding="utf-8")
    return Session(tmp_path, collect(folders), AsRecorded())


def test_the_few_rows_that_refute_a_prediction_are_shown_whatever_cell_found_them(
    refuted: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (item,) = refuted.items
    few = refuted.view(item.key, "ann")["counterexample"]
    assert few["summary"] == "they differ on 9 rows of variant-2"
    (users,) = few["tables"]
    assert (users["name"], users["columns"], users["total"]) == ("users", ["id", "name"], 9)
    assert users["rows"] == [[n, HOSTILE] for n in range(8)]
    assert few["gold"]["rows"] == (((1,), False),)
    assert few["predicted"]["rows"] == (((2,), False),)
    shown = typed(refuted, "q\n", monkeypatch)
    assert "they differ on 9 rows of variant-2" in shown
    assert "\x1b[2J" not in shown
    exchange.write(refuted, tmp_path / "q.csv", "ann")
    assert "users (id | name)" in (tmp_path / "q.csv").read_text(encoding="utf-8")


def test_a_prediction_without_a_counterexample_has_none(session: Session) -> None:
    assert session.view(session.items[0].key, "ann")["counterexample"] is None


@pytest.mark.parametrize("rows", [[], [(1,)], [(1,), (1,)]])
def test_tables_without_columns_or_rows_can_be_shown(rows: list[tuple[int]]) -> None:
    ours, theirs = side_by_side(Table(["n"], rows), Table([], []), AnswerSpec(), Policy())
    assert (ours.total, theirs.total) == (len(rows), 0)
    ours, theirs = side_by_side(Table(["n"], rows), Table(["n"], [(1,)]), AnswerSpec(), Policy())
    assert sum(not common for _, common in theirs.rows) == (not rows)


def raw(server: ReviewServer, request: bytes) -> bytes:
    """What the server answers to these bytes."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as connection:
        connection.sendall(request)
        return b"".join(iter(partial(connection.recv, 65536), b""))


@pytest.mark.parametrize(
    ("length", "body"),
    [("9" * 5000, b"{}"), ("50000", b"[" * 50000), ("", b""), ("-1", b"{}")],
    ids=["huge length", "deep", "no length", "negative length"],
)
def test_no_request_makes_the_server_stumble(
    server: ReviewServer, length: str, body: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    head = (
        f"POST /api/decide HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
        f"X-Review-Secret: {server.secret}\r\nContent-Length: {length}\r\n\r\n"
    )

    assert raw(server, head.encode() + body).startswith(b"HTTP/1.0 400 ")
    assert capfd.readouterr().err == ""


def test_a_connection_that_says_nothing_is_given_up(
    server: ReviewServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.RequestHandlerClass, "timeout", 0.05)

    assert raw(server, b"GET / HT") == b""


def test_a_browser_that_goes_away_is_no_fault(
    server: ReviewServer, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
        # Closing sends a reset, as a killed browser does.
        now = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
        connection.sendall(b"GET /page.js HT")
    ask(server, "/api/queue")

    assert capfd.readouterr().err == ""


def test_blanks_in_a_name_make_no_other_reviewer(server: ReviewServer, session: Session) -> None:
    key = session.items[0].key

    _, made = ask(
        server, "/api/decide", {"key": key, "choice": "different", "reviewer": " ann  lee "}
    )

    assert made["mine"]["reviewer"] == "ann lee"
    _, queue = ask(server, "/api/queue?reviewer=ann%20%20lee")
    assert next(line for line in queue["items"] if line["key"] == key)["mine"] == "different"


@pytest.mark.parametrize("reason", ["'quoted' at the start", "=1+1", "''", "- a dash", "x" * 5000])
def test_csv_that_comes_back_unchanged_decides_nothing(
    session: Session, tmp_path: Path, reason: str
) -> None:
    decided = session.decide(session.items[0].key, "different", "ann", reason=reason)
    exchange.write(session, tmp_path / "queue.csv", "ann")

    assert exchange.read(session, tmp_path / "queue.csv", "ann") == 0
    assert read(tmp_path) == [decided]


@pytest.mark.parametrize("reviewer", ["-ann-", "@bob", "'t Hooft", "=1+1"])
def test_csv_keeps_the_names_of_reviewers(session: Session, tmp_path: Path, reviewer: str) -> None:
    session.decide(session.items[0].key, "different", reviewer)
    exchange.write(session, tmp_path / "queue.csv", reviewer)

    assert exchange.read(session, tmp_path / "queue.csv", "ann") == 0


def test_csv_with_long_and_odd_queries_goes_out_and_comes_back(tmp_path: Path) -> None:
    odd = record(1, query="SELECT '\udc80' " + "x" * 200_000)
    sitting = Session(tmp_path, collect([cell(tmp_path / "a", odd)]), AsRecorded())
    sitting.decide(sitting.items[0].key, "equivalent", "ann")
    path = tmp_path / "queue.csv"

    assert exchange.write(sitting, path, "ann") == 1
    assert exchange.read(sitting, path, "ann") == 0


def test_a_csv_file_that_was_cut_off_is_refused(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "queue.csv"
    exchange.write(session, path, "ann")
    path.write_bytes(path.read_bytes() + b'"half a row')

    with pytest.raises(InputError, match="no CSV table"):
        exchange.read(session, path, "ann")


def test_the_terminal_shows_a_result_without_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Columnless(Laboratory):
        def evidence(self, item: Item) -> Evidence:
            gold, none = Side(("n",), ("n",), (((1,), False),), 1), Side((), (), (((), False),), 1)
            return Evidence(item.telling.instance, "0 columns where 1 is asked for", gold, none)

    items = collect([cell(tmp_path / "a", record(1))])

    shown = typed(Session(tmp_path, items, Columnless()), "q\n", monkeypatch)

    assert "no columns" in shown
