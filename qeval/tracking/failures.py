"""The failed queries of a cell as a table: for MLflow's own view, and as a page of its own."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from qeval.equivalence.counterexample import Counterexample, of_record
from qeval.record import Record

COLUMNS = (
    "case",
    "verdict",
    "question",
    "prediction",
    "gold",
    "message",
    "difference",
    "counterexample",
    "difficulty",
    "tags",
)
CELL_LIMIT = 4000  # characters; whole answers are in records.jsonl
PAGE_LIMIT = 500  # cases on the page; a browser should still open it

_NONE: Mapping[str, Counterexample] = {}


def table(
    records: Sequence[Record], known: Mapping[str, Counterexample] = _NONE
) -> dict[str, list[Any]]:
    """`{"columns": […], "data": [[…], …]}`, the form in which MLflow shows and compares tables.

    `known` are the cell's counterexamples by key.
    """
    return {"columns": list(COLUMNS), "data": [_row(record, known) for record in records]}


def _row(record: Record, known: Mapping[str, Counterexample]) -> list[str]:
    found = of_record(record, known)
    return [
        record.case_id + (f" #{record.repeat + 1}" if record.repeat else ""),
        verdict_text(record),
        cut(record.question),
        cut(prediction(record)),
        cut(record.gold),
        cut(message(record)),
        cut(difference_text(record)),
        "" if found is None else cut(counterexample_text(found)),
        record.difficulty,
        ", ".join(record.tags),
    ]


def verdict_text(record: Record) -> str:
    """`wrong_result: duplicates`: the verdict and, where it has one, its sub-class."""
    kind = record.kind if record.kind != record.verdict else ""
    return f"{record.verdict}: {kind}" if kind else str(record.verdict)


def prediction(record: Record) -> str:
    """The extracted query, or what the model said instead."""
    if record.query is not None:
        return record.query
    return f"(no query) {record.raw}" if record.raw else "(empty answer)"


def message(record: Record) -> str:
    """What engine or comparison said, with the engine's own code."""
    code = f"[{record.code}] " if record.code else ""
    return code + record.message if record.message else code.strip()


def difference_text(record: Record) -> str:
    """The account of differing rows of the instance that decided, one fact a line."""
    for outcome in reversed(record.outcomes):
        if outcome.difference:
            where = "" if outcome.instance == "base" else f"on {outcome.instance}\n"
            return where + "\n".join(_facts(outcome.difference))
    return ""


def counterexample_text(found: Counterexample) -> str:
    """The few rows on which prediction and gold differ, and how they differ there."""
    if found.difference is None:
        return f"{found.text()}\n{found.message}" if found.message else found.text()
    return "\n".join([found.text(), *_facts(found.difference)])


def _facts(difference: Mapping[str, Any]) -> list[str]:
    """Which predicted column was taken for which, and the rows; "·": not compared, no column."""
    columns = difference.get("columns") or []
    mapping = difference.get("mapping") or list(columns)
    lines = []
    if columns:
        taken = [
            name if name == other else f"{name} (from {other})" if other else f"{name} (no column)"
            for name, other in zip(columns, mapping, strict=True)
        ]
        lines.append(f"columns: {' | '.join(taken)}")
    for side, title in (("missing", "rows missing"), ("extra", "rows too many")):
        rows = difference.get(side) or []
        count = difference.get(f"{side}_count") or len(rows)
        if count:
            shown = f", {len(rows)} shown" if len(rows) < count else ""
            lines.append(f"{title} ({count}{shown}):")
            for row in rows:
                known = len(mapping) == len(row)
                cells = zip(row, mapping if known else row, strict=True)
                parts = [_plain(cell) if other or not known else "·" for cell, other in cells]
                lines.append("  " + " | ".join(parts))
    return lines


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return " | ".join(map(_plain, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_plain(item)}" for key, item in value.items())
    return json.dumps(value, ensure_ascii=False, default=str)


def cut(text: str, limit: int = CELL_LIMIT) -> str:
    """At most `limit` characters, saying how long the whole is."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … [cut, {len(text):,} characters]"


def page(title: str, rows: Sequence[Sequence[str]], total: int) -> str:
    """A self-contained HTML page of a table's rows, `total` being all cases of the cell."""
    shown = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    counts = Counter(row["verdict"].partition(":")[0] for row in shown)
    tally = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    lead = f"{len(shown)} of {total} cases failed: {tally}." if shown else "No case failed."
    if len(shown) > PAGE_LIMIT:
        lead += f" The first {PAGE_LIMIT} are shown; records.jsonl has all."
    body = "\n".join(_article(row) for row in shown[:PAGE_LIMIT])
    return document(title, f"<p>{escape(lead)}</p>\n{body}")


def document(title: str, body: str) -> str:
    """A page that needs nothing but itself, light or dark as the reader's system is."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def _article(row: Mapping[str, str]) -> str:
    text = {name: escape(value) for name, value in row.items()}
    kind = text["verdict"].partition(":")[0]
    badge = f'<span class="verdict {kind}">{text["verdict"]}</span>'
    parts = [
        f"<h2>{text['case']}{badge}<small>{text['difficulty']}</small></h2>",
        f'<p class="question">{text["question"]}</p>',
        '<div class="pair">',
        f"<div><h3>prediction</h3><pre>{text['prediction']}</pre></div>",
        f"<div><h3>gold</h3><pre>{text['gold']}</pre></div></div>",
    ]
    if text["message"]:
        parts.append(f'<p class="message">{text["message"]}</p>')
    if text["difference"]:
        parts.append(f"<h3>rows that differ</h3><pre>{text['difference']}</pre>")
    if text["counterexample"]:
        parts.append(f"<h3>counterexample</h3><pre>{text['counterexample']}</pre>")
    return "<article>" + "\n".join(parts) + "</article>"


_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:1.5rem auto;padding:0 1rem}
h1{font-size:1.35rem}h2{font-size:1.05rem;margin:0}
h3{font-size:.75rem;margin:.6rem 0 .2rem;font-weight:600;opacity:.7;text-transform:uppercase}
article{border:1px solid #8886;border-radius:6px;padding:.8rem 1rem;margin:1rem 0}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr));gap:0 1rem}
pre{background:#8881;padding:.5rem .7rem;border-radius:4px;margin:0;white-space:pre-wrap;
overflow-wrap:anywhere;font-size:.85rem}
.question{margin:.3rem 0}.message{margin:.6rem 0 0;overflow-wrap:anywhere}
.verdict{font-size:.8rem;font-weight:600;border-radius:4px;padding:.1rem .5rem;margin:0 .6rem;
background:#c6282826;border:1px solid #c6282880}
.verdict.infra_error,.verdict.gold_error{background:#8883;border-color:#8886}
small{font-weight:400;opacity:.7}
table{border-collapse:collapse;width:100%}
th,td{padding:.35rem .6rem;border-bottom:1px solid #8884;text-align:left;vertical-align:top;
white-space:nowrap}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}
"""
