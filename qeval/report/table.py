"""The final result table of a sweep, for people: wide or narrow, one cell or a hundred."""

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.equivalence.counterexample import of_record, read_counterexamples
from qeval.exit_codes import ExitCode
from qeval.models.labels import model_label
from qeval.prompts.labels import strategy_label
from qeval.redaction import redact_override
from qeval.report.executed import executed
from qeval.report.judging import judging
from qeval.report.reference import account, figure
from qeval.scoring.verdict import Verdict

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table as Grid

    from qeval.results import CellResult, SweepResult
    from qeval.scoring.metrics import Metrics

CHOICES = ("model", "language", "prompt_strategy", "difficulty", "judge", "suite", "engine")
HEADLINE = "execution_accuracy"
MEASURES = {
    HEADLINE: "accuracy",
    "execution_accuracy_relaxed": "relaxed",
    "robust_accuracy": "robust",
    "semantic_equivalence": "semantic",
    "composite": "composite",
    "semantic_equivalence_uncalibrated": "semantic (uncalibrated)",
    "composite_uncalibrated": "composite (uncalibrated)",
    "valid": "valid",
    "syntax_pass": "syntax",
}
LONG = {HEADLINE: "execution accuracy", "syntax_pass": "syntax pass"}
LAYERS = {
    "failure": "failing to run",
    "base": "base",
    "instances": "variants",
    "judge": "judge",
    "unscored": "nobody (the judge gave no label)",
    "review": "review",
}
LEVELS = ("easy", "medium", "hard")
TOP_FAILURES = 6
LISTED_FOLDERS = 4
SHOWN_ERRORS = 3
SHOWN_COUNTEREXAMPLES = 3
ERROR_LENGTH = 300  # characters of a reason

Column = tuple[str, Callable[["CellResult"], str]]


def print_results(result: "SweepResult", console: "Console | None" = None) -> None:
    """Print the table, the failure classes, the notes and where everything was written."""
    from qeval.report.console import output

    console = output(whole_lines=False) if console is None else console
    if not _unicode(console) and isinstance(console.file, TextIOWrapper):
        console.file.reconfigure(errors="replace")  # a name in another script must not end the run
    console.print()
    if len(result.cells) == 1:
        _print_cell(console, result.cells[0])
    elif result.cells:
        _print_grid(console, result.cells)
    for line in judging(result.cells):
        console.print(line, soft_wrap=True)
    _print_failures(console, result.cells)
    _print_places(console, result)
    for note in result.notes:
        console.print(f"\n! {note}", style="bold yellow")
    if result.exit_code in (ExitCode.INTERRUPTED, ExitCode.INCOMPLETE):
        console.print(f"\n{_resume(result)}", soft_wrap=True)


def _print_cell(console: "Console", cell: "CellResult") -> None:
    """One cell: a metric a row, and the difficulties beside it."""
    absent = _absent(console)
    chosen = _choices(cell)
    title = (" · " if _unicode(console) else " - ").join(chosen[choice] for choice in CHOICES[:4])
    console.print(title, style="bold")
    console.print(_facts(cell))
    levels = [level for level in LEVELS if level in cell.metrics.by_difficulty]
    grid = _grid()
    for name in ("", "all", "95 % interval", *(levels if len(levels) > 1 else ())):
        grid.add_column(name, justify="left" if not name else "right")
    for metric, short in MEASURES.items():
        judged = metric.startswith(("composite", "semantic_equivalence"))
        if judged and metric not in cell.metrics.overall:
            continue
        row = [LONG.get(metric, short), _share(cell.metrics.overall, metric, absent)]
        row.append(_interval(cell.metrics.overall, metric, absent))
        if len(levels) > 1:
            row += [_share(cell.metrics.by_difficulty[lv], metric, absent) for lv in levels]
        grid.add_row(*row, style="bold" if metric == HEADLINE else "")
    counts = [_count(cell.metrics.overall)]
    if len(levels) > 1:
        counts = [counts[0], "", *(_count(cell.metrics.by_difficulty[lv]) for lv in levels)]
    grid.add_row("answers counted", *counts)
    console.print(grid)
    for line in _further(cell):
        console.print(line)
    console.print(_spent(cell))


def _further(cell: "CellResult") -> list[str]:
    """Stability over repeats, what repair changed, and copying from examples: where measured."""
    metrics = cell.metrics
    lines = []
    if metrics.stability:
        shown = ", ".join(
            f"{n.replace('_', ' ')} {m.value:.3f}" for n, m in metrics.stability.items()
        )
        lines.append(f"over repeats: {shown}")
    if HEADLINE in metrics.before_repair and HEADLINE in metrics.overall:
        asked_again = metrics.behaviour["repaired"]
        lines.append(
            f"repair: accuracy {metrics.before_repair[HEADLINE].value:.3f} before, "
            f"{metrics.overall[HEADLINE].value:.3f} after; "
            f"{asked_again.numerator:.0f} of {asked_again.denominator} were asked again"
        )
    refuted = metrics.behaviour.get("refuted_share")
    if refuted is not None and refuted.numerator:
        lines.append(
            f"refuted on variants: {refuted.numerator:.0f} of {refuted.denominator} that base "
            f"accepted, {refuted.value:.3f} ({refuted.low:.2f} to {refuted.high:.2f})"
        )
    copies = metrics.behaviour.get("copy_rate")
    if copies is not None and copies.numerator:
        lines.append(
            f"copied from examples: {copies.numerator:.0f} of {copies.denominator} answers"
        )
    if len(metrics.layers) > 1:
        order = [layer for layer in LAYERS if layer in metrics.layers]
        told = ", ".join(f"{LAYERS[layer]} {metrics.layers[layer]}" for layer in order)
        lines.append(f"decided by: {told}")
    lines.append("what these words mean: qeval explain")
    return lines


def _print_grid(console: "Console", cells: Sequence["CellResult"]) -> None:
    """Several cells: one row each; what all have in common is said once, above."""
    absent = _absent(console)
    rows = {(cell.key, cell.name): _choices(cell) for cell in cells}
    ran = executed(rows.values())
    rows = {key: {**row, "engine": "" if ran else row["engine"]} for key, row in rows.items()}
    varying = [c for c in CHOICES if len({row[c] for row in rows.values()}) > 1]
    settings = _swept_settings(cells, rows)
    same = next(iter(rows.values()))
    common = [f"{_title(c)} {same[c]}" for c in CHOICES if c not in varying and same[c]]
    common += filter(None, [ran])
    console.print(f"{len(cells)} cells", style="bold")
    identity: list[Column] = [
        (_title(c), lambda cell, c=c: rows[cell.key, cell.name][c])  # type: ignore[misc]
        for c in varying or (["model"] if not settings else [])
    ]
    identity += [
        (key, lambda cell, key=key: str(_leaves(cell.header["config"]).get(key, "")))  # type: ignore[misc]
        for key in settings
    ]
    metrics: list[Column] = [("n", lambda cell: _count(cell.metrics.overall))]
    for metric, short in MEASURES.items():
        if any(metric in cell.metrics.overall for cell in cells):
            metrics.append((short, _share_of(metric, absent)))
            if metric == HEADLINE:
                metrics.append(("95 %", lambda c: _interval(c.metrics.overall, HEADLINE, absent)))
    metrics += _further_columns(cells, absent) + _published_columns(cells, absent)
    levels = [lv for lv in LEVELS if any(lv in cell.metrics.by_difficulty for cell in cells)]
    rest: list[Column] = []
    if len(levels) > 1:
        rest += [(level, _share_at(level, absent)) for level in levels]
    rest += [
        ("errors", lambda cell: str(cell.errors + cell.records_missing)),
        ("tokens", lambda cell: _tokens(cell, absent)),
        ("cost", _cost),
    ]
    # A column that says one thing in every row says it above, once.
    for title, text in list(rest):
        if title not in levels and len(said := {text(cell) for cell in cells}) == 1:
            rest.remove((title, text))
            word = said.pop()
            common.append(f"{title} {'unknown' if word == absent else word}")
    if common:
        console.print("in all of them: " + ", ".join(common))
    best = max((c.headline for c in cells if c.headline is not None), default=None)
    for columns in _fitting(console, cells, identity, [*metrics, *rest]):
        console.print(_filled(cells, columns, best))
        console.print()
    console.print("what these words mean: qeval explain")
    shown = [cell for cell in cells if figure(cell, "composite") is not None]
    for account_of_source in dict.fromkeys(map(account, shown)):
        console.print(account_of_source)


FURTHER = {
    "exact_agreement": "same text",
    "verdict_agreement": "same verdict",
    "pass_at_1": "pass@1",
    "pass_at_2": "pass@2",
    "pass_at_3": "pass@3",
    "pass_at_5": "pass@5",
    "pass_at_10": "pass@10",
    "refuted_share": "refuted",
    "repaired": "asked again",
    "copy_rate": "copied",
}


def _further_columns(cells: Sequence["CellResult"], absent: str) -> list[Column]:
    """Stability, repair and copying: a column each where some cell measured it."""

    def both(cell: "CellResult") -> "Metrics":
        return {**cell.metrics.stability, **cell.metrics.behaviour}

    def column(name: str) -> Callable[["CellResult"], str]:
        return lambda cell: _share(both(cell), name, absent)

    found: list[Column] = [
        (title, column(name))
        for name, title in FURTHER.items()
        if any(name in both(cell) and both(cell)[name].numerator for cell in cells)
    ]
    if any(cell.metrics.before_repair for cell in cells):
        found.insert(
            0, ("before repair", lambda c: _share(c.metrics.before_repair, HEADLINE, absent))
        )
    return found


def _published_columns(cells: Sequence["CellResult"], absent: str) -> list[Column]:
    def column(metric: str) -> Callable[["CellResult"], str]:
        def shown(cell: "CellResult") -> str:
            value = figure(cell, metric)
            return absent if value is None else f"{value:.3f}"

        return shown

    return [
        (f"{MEASURES[metric]} (published)", column(metric))
        for metric in ("composite", HEADLINE)
        if any(figure(cell, metric) is not None for cell in cells)
    ]


def _fitting(
    console: "Console", cells: Sequence["CellResult"], identity: list[Column], rest: list[Column]
) -> list[list[Column]]:
    """As few tables as the terminal's width allows; each begins with the cells' identity."""
    from rich.measure import Measurement

    unbounded = console.options.update(max_width=10_000)
    tables = [list(identity)]
    for column in rest:
        wider = [*tables[-1], column]
        width = Measurement.get(console, unbounded, _filled(cells, wider, None)).maximum
        if width > console.width and len(tables[-1]) > len(identity):
            tables.append([*identity, column])
        else:
            tables[-1] = wider
    return tables


def _filled(cells: Sequence["CellResult"], columns: Sequence[Column], best: float | None) -> "Grid":
    grid = _grid()
    words = {*CHOICES, "strategy"}
    for title, _ in columns:
        grid.add_column(
            title,
            justify="left" if title in words else "right",
            overflow="fold",
            no_wrap=title not in words,
        )
    for cell in cells:
        top = best is not None and cell.headline == best
        grid.add_row(*(_plain(text(cell)) for _, text in columns), style="bold" if top else "")
    return grid


def _print_failures(console: "Console", cells: Sequence["CellResult"]) -> None:
    verdicts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for cell in cells:
        verdicts.update(cell.metrics.verdicts)
        kinds.update(cell.metrics.kinds)
    fine = (Verdict.CORRECT, Verdict.EQUIVALENT)
    failed = [(v, n) for v, n in verdicts.most_common() if n and v not in fine]
    if not failed:
        return
    names = {str(verdict) for verdict in Verdict}
    detail = [f"{kind} {n}" for kind, n in kinds.most_common() if kind not in names][:TOP_FAILURES]
    text = ", ".join(f"{verdict} {count}" for verdict, count in failed)
    console.print(f"failures: {text}")
    if detail:
        console.print(f"  of kind: {', '.join(detail)}")
    for line in (*_counterexamples(cells), *_first_errors(cells)):
        console.print(line, soft_wrap=True)


def _counterexamples(cells: Sequence["CellResult"]) -> Iterator[str]:
    """The predictions that fewest rows refute, and how to see these rows."""
    found = []
    for cell in cells:
        if cell.metrics.verdicts.get(Verdict.REFUTED):
            known = read_counterexamples(cell.folder)
            pairs = ((record, of_record(record, known)) for record in cell.records)
            found += [
                (one.rows, str(_near(cell.folder)), record.case_id, one)
                for record, one in pairs
                if one is not None and one.cut and record.verdict is Verdict.REFUTED
            ]
    for rows, folder, case, one in sorted(found, key=lambda f: f[:3])[:SHOWN_COUNTEREXAMPLES]:
        size = "1 row" if rows == 1 else f"{rows} rows"
        yield f"  {case} is refuted by {size} of {one.instance}: qeval explain {folder} {case}"


def _first_errors(cells: Sequence["CellResult"]) -> Iterator[str]:
    """What kept cases from being counted, each reason once: a person has to act on it."""
    reasons: Counter[str] = Counter()
    for cell in cells:
        if cell.errors:
            uncounted = (r for r in cell.records if not r.verdict.counted)
            reasons.update(f"{r.verdict}: {r.message.partition(chr(10))[0]}" for r in uncounted)
    for reason, count in reasons.most_common(SHOWN_ERRORS):
        yield f"  {reason[:ERROR_LENGTH]}" + (f" ({count} times)" if count > 1 else "")


def _print_places(console: "Console", result: "SweepResult") -> None:
    folders = list(dict.fromkeys(cell.folder for cell in result.cells))
    console.print()
    if len(folders) <= LISTED_FOLDERS:
        for folder in folders:
            console.print(f"written: {_near(folder)}/", soft_wrap=True)
    else:
        place = _near(folders[0].parent)
        console.print(f"written: {len(folders)} cell folders in {place}/", soft_wrap=True)
    if result.tracking:
        console.print(f"MLflow:  {result.tracking}", soft_wrap=True)


def _resume(result: "SweepResult") -> str:
    done = sum(cell.done for cell in result.cells)
    total = sum(cell.total for cell in result.cells)
    errors = sum(cell.errors for cell in result.cells)
    what = "interrupted" if result.exit_code is ExitCode.INTERRUPTED else "incomplete"
    program = Path(sys.argv[0]).name
    command = "the same command"
    if program.startswith("qeval"):
        command = shlex.join(["qeval", *map(redact_override, sys.argv[1:])])
    failed = f", {errors} of them failed and are tried again" if errors else ""
    return f"{what}: {done} of {total} cases are recorded{failed}. To go on: {command}"


def _choices(cell: "CellResult") -> dict[str, str]:
    config: Mapping[str, object] = cell.header.get("config", {})
    named = {}
    for group in CHOICES:
        value = config.get(group, "")
        named[group] = str(value.get("name", "")) if isinstance(value, Mapping) else str(value)
    model = config.get("model")
    if isinstance(model, Mapping):
        named["model"] = model_label(model)
    if named["judge"] == "none":
        named["judge"] = ""
    strategy = config.get("prompt_strategy")
    if isinstance(strategy, Mapping):
        named["prompt_strategy"] = strategy_label(strategy)
    named["engine"] = str(cell.header.get("engine", ""))
    return named


def _swept_settings(
    cells: Sequence["CellResult"], rows: Mapping[tuple[str, str], Mapping[str, str]]
) -> list[str]:
    """Dotted keys whose values differ between cells that made the same choices."""
    alike: dict[tuple[str, ...], list[dict[str, object]]] = {}
    for cell in cells:
        choices = tuple(rows[cell.key, cell.name].values())
        alike.setdefault(choices, []).append(_leaves(cell.header.get("config", {})))
    keys: dict[str, None] = {}
    for same in alike.values():
        for key in same[0]:
            if any(other.get(key) != same[0][key] for other in same[1:]):
                keys[key] = None
    return list(keys)


def _leaves(node: Mapping[str, object], path: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in node.items():
        if isinstance(value, Mapping):
            found |= _leaves(value, f"{path}{key}.")
        else:
            found[path + key] = value
    return found


def _facts(cell: "CellResult") -> str:
    chosen = _choices(cell)
    missing = f", {cell.records_missing} missing" if cell.records_missing else ""
    errors = f", {cell.errors} errors" if cell.errors else ""
    cases = f"{cell.done} case{'' if cell.done == 1 else 's'}{missing}{errors}"
    return f"suite {chosen['suite']}, {cases}, executed on {chosen['engine']}"


def _spent(cell: "CellResult") -> str:
    tokens = cell.metrics.tokens
    parts: list[str] = []
    times: list[str] = []
    if tokens.prompt is not None and tokens.completion is not None:
        parts.append(f"tokens {tokens.prompt:,} in, {tokens.completion:,} out")
    else:
        parts.append("tokens unknown")
    parts.append(f"cost {_cost(cell)}")
    for title, latency in (
        ("generation", cell.metrics.generation_s),
        ("execution", cell.metrics.execution_s),
    ):
        if latency.p50 is not None and latency.p95 is not None:
            times.append(f"{title} {_seconds(latency.p50)} (p95 {_seconds(latency.p95)})")
    return "; ".join(parts) + ("\nmedian time a case: " + ", ".join(times) if times else "")


def _seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def _tokens(cell: "CellResult", absent: str) -> str:
    tokens = cell.metrics.tokens
    if tokens.prompt is None or tokens.completion is None:
        return absent
    return f"{tokens.prompt + tokens.completion:,}"


def _cost(cell: "CellResult") -> str:
    """A price, or *unknown*; a local model's 0 is a real zero."""
    usd = cell.metrics.cost.usd
    if usd is None:
        return "unknown"
    return "$0" if usd == 0 else f"${usd:.4f}" if usd < 1 else f"${usd:,.2f}"


def _share_of(metric: str, absent: str) -> Callable[["CellResult"], str]:
    return lambda cell: _share(cell.metrics.overall, metric, absent)


def _share_at(level: str, absent: str) -> Callable[["CellResult"], str]:
    return lambda cell: _share(cell.metrics.by_difficulty.get(level, {}), HEADLINE, absent)


def _share(metrics: "Metrics", metric: str, absent: str) -> str:
    return f"{metrics[metric].value:.3f}" if metric in metrics else absent


def _interval(metrics: "Metrics", metric: str, absent: str) -> str:
    if metric not in metrics:
        return absent
    return f"{metrics[metric].low:.2f}{absent}{metrics[metric].high:.2f}"


def _count(metrics: "Metrics") -> str:
    return str(metrics[HEADLINE].denominator) if HEADLINE in metrics else "0"


def _title(choice: str) -> str:
    return "strategy" if choice == "prompt_strategy" else choice


def _absent(console: "Console") -> str:
    """*Not measured*: a dash, never a zero. Also the dash of intervals."""
    return "–" if _unicode(console) else "-"


def _unicode(console: "Console") -> bool:
    return "utf" in console.encoding.lower()


def _near(path: Path) -> Path:
    try:
        return path.absolute().relative_to(Path.cwd())
    except ValueError:
        return path


def _grid() -> "Grid":
    from rich import box
    from rich.table import Table as Grid

    return Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))


def _plain(text: str) -> "RenderableType":
    from rich.text import Text

    return Text(text)
