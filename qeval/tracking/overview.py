"""The sweep's own page and table: its cells side by side, best first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from qeval.choices import GROUPS
from qeval.scoring.metrics import HEADLINE
from qeval.tracking.failures import document

MEASURES = (
    (HEADLINE, "execution accuracy"),
    ("execution_accuracy.easy", "easy"),
    ("execution_accuracy.medium", "medium"),
    ("execution_accuracy.hard", "hard"),
    ("execution_accuracy_relaxed", "relaxed"),
    ("robust_accuracy", "robust"),
    ("semantic_equivalence", "semantic"),
    ("composite", "composite"),
    ("valid", "valid"),
    ("syntax_pass", "syntax pass"),
)
ABSENT = "–"  # not measured; a zero would claim that it was
NOTE_ROWS = 30
NAMED_OPTIONS = 3


@dataclass(frozen=True, slots=True)
class CellRun:
    """What the store knows of one cell's run."""

    run_id: str
    name: str
    tags: Mapping[str, str]
    metrics: Mapping[str, float]


def ranked(cells: Sequence[CellRun]) -> list[CellRun]:
    """Best execution accuracy first; cells without one last."""
    return sorted(cells, key=lambda c: (-c.metrics.get(HEADLINE, -1.0), c.name))


def varying(cells: Sequence[CellRun]) -> list[str]:
    """The choices that tell the cells apart (all that are set, for a single cell)."""
    present = [c for c in GROUPS if any(c in cell.tags for cell in cells)]
    if len(cells) <= 1:
        return present
    return [c for c in present if len({cell.tags.get(c) for cell in cells}) > 1] or ["model"]


def _split(cells: Sequence[CellRun]) -> tuple[list[str], list[str]]:
    """What varies, the engine apart: it is long, and mostly follows from the language."""
    choices = varying(cells)
    return [c for c in choices if c != "engine"], [c for c in choices if c == "engine"]


def table(cells: Sequence[CellRun]) -> dict[str, list[Any]]:
    """One row a cell, `{"columns": […], "data": [[…], …]}`; numbers stay numbers."""
    rows = ranked(cells)
    measures = [(key, title) for key, title in MEASURES if any(key in c.metrics for c in rows)]
    columns = [*_titles(GROUPS), "cases", *(title for _, title in measures)]
    columns += ["low", "high", "errors", "tokens", "cost", "run_id"]
    data = [
        [
            *(cell.tags.get(choice, "") for choice in GROUPS),
            int(cell.metrics.get("cases", 0)),
            *(_rounded(cell.metrics.get(key)) for key, _ in measures),
            _rounded(cell.metrics.get("execution_accuracy.low")),
            _rounded(cell.metrics.get("execution_accuracy.high")),
            errors(cell),
            cell.metrics.get("tokens/total"),
            cell.tags.get("cost", "unknown"),
            cell.run_id,
        ]
        for cell in rows
    ]
    return {"columns": columns, "data": data}


def errors(cell: CellRun) -> int:
    """Cases that say nothing about the model: our own machinery or the gold failed."""
    return int(sum(cell.metrics.get(f"verdict/{v}", 0) for v in ("infra_error", "gold_error")))


def note(cells: Sequence[CellRun]) -> str:
    """The comparison as a Markdown table for the run's description."""
    rows = ranked(cells)
    choices, last = _split(rows)
    measures = [(k, t) for k, t in MEASURES if any(k in c.metrics for c in rows)]
    head = [*_titles(choices), *(title for _, title in measures), "cases", *last]
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for cell in rows[:NOTE_ROWS]:
        cells_text = [cell.tags.get(choice, "").replace("|", "\\|") for choice in choices]
        cells_text += [shown(cell.metrics, key) for key, _ in measures]
        cells_text.append(f"{cell.metrics.get('cases', 0):.0f}")
        cells_text += [cell.tags.get(choice, "") for choice in last]
        lines.append(f"| {' | '.join(cells_text)} |")
    if len(rows) > NOTE_ROWS:
        lines.append(f"\n{len(rows) - NOTE_ROWS} more in overview.html.")
    return "\n".join([*lines, "", constants(rows)])


def title(cells: Sequence[CellRun]) -> str:
    """`gpt4, claude2 × sql, cypher × 4 strategies`: what was swept; a run list cuts long names."""
    if len(cells) <= 1:
        return f"1 cell: {cells[0].name}" if cells else "no cell"
    parts = []
    for choice in varying(cells):
        if choice == "engine":  # follows from the language
            continue
        options = list(dict.fromkeys(cell.tags.get(choice, ABSENT) for cell in cells))
        plural = {"prompt_strategy": "strategies", "difficulty": "difficulties"}
        many = f"{len(options)} {plural.get(choice, choice + 's')}"
        parts.append(", ".join(sorted(options)) if len(options) <= NAMED_OPTIONS else many)
    return " × ".join(parts) or f"{len(cells)} cells"


def constants(cells: Sequence[CellRun]) -> str:
    """What all cells have in common, so that the table need not repeat it."""
    if not cells:
        return "No cell has ended yet."
    different = varying(cells) if len(cells) > 1 else []
    same = [c for c in GROUPS if c not in different and cells[0].tags.get(c)]
    facts = ", ".join(
        f"{title} {cells[0].tags[c]}" for c, title in zip(same, _titles(same), strict=True)
    )
    return f"In every cell: {facts}." if facts else ""


def page(heading: str, cells: Sequence[CellRun]) -> str:
    """A self-contained HTML page with the comparison, intervals and error counts."""
    rows = ranked(cells)
    choices, last = _split(rows)
    measures = [(k, t) for k, t in MEASURES if any(k in c.metrics for c in rows)]
    head = "".join(f"<th>{escape(t)}</th>" for t in _titles(choices))
    head += "".join(f'<th class="number">{escape(t)}</th>' for _, t in measures)
    head += "".join(f'<th class="number">{t}</th>' for t in ("cases", "errors", "tokens", "cost"))
    head += "".join(f"<th>{escape(t)}</th>" for t in last)
    body = []
    for cell in rows:
        row = "".join(f"<td>{escape(cell.tags.get(choice, ABSENT))}</td>" for choice in choices)
        row += "".join(_number(_with_interval(cell, key)) for key, _ in measures)
        tokens = cell.metrics.get("tokens/total")
        row += _number(f"{cell.metrics.get('cases', 0):.0f}") + _number(str(errors(cell)))
        row += _number(ABSENT if tokens is None else f"{tokens:,.0f}")
        row += _number(escape(cell.tags.get("cost", "unknown")))
        row += "".join(f"<td>{escape(cell.tags.get(choice, ABSENT))}</td>" for choice in last)
        body.append(f"<tr>{row}</tr>")
    return document(
        heading,
        f"<p>{escape(constants(rows))}</p>\n"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>'
        + "\n".join(body)
        + "</tbody></table></div>\n<p>Intervals are 95 %. Each language is scored against its own "
        f"golds. {ABSENT} was not measured.</p>",
    )


def shown(metrics: Mapping[str, float], key: str) -> str:
    """Three decimals, or the sign for *not measured*."""
    return f"{metrics[key]:.3f}" if key in metrics else ABSENT


def _with_interval(cell: CellRun, key: str) -> str:
    text = shown(cell.metrics, key)
    low, high = cell.metrics.get(f"{key}.low"), cell.metrics.get(f"{key}.high")
    if key != HEADLINE or low is None or high is None:
        return text
    return f"<b>{text}</b> <small>{low:.2f}–{high:.2f}</small>"


def _number(text: str) -> str:
    return f'<td class="number">{text}</td>'


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _titles(choices: Sequence[str]) -> list[str]:
    return [choice.replace("prompt_strategy", "strategy") for choice in choices]
