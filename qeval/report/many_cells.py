"""Several cells side by side: a row each, in as few tables as the terminal's width allows."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from qeval.choices import GROUPS, labelled
from qeval.report.figures import (
    LEVELS,
    MEASURES,
    cost,
    counted,
    dash,
    interval,
    plain_grid,
    share,
    tokens,
)
from qeval.report.reference import account, figure
from qeval.scoring.metrics import HEADLINE

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid

    from qeval.results import CellResult

Column = tuple[str, list[str]]
"""A title, and the text of each cell in the order of the cells."""

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


def print_cells(console: "Console", cells: Sequence["CellResult"]) -> None:
    """Print a row a cell; what all have in common is said once, above."""
    absent = dash(console)
    identity, common = _identity(cells)
    spent, also_common = _spent(cells, absent)
    common += also_common
    console.print(f"{len(cells)} cells", style="bold")
    if common:
        console.print("in all of them: " + ", ".join(common))
    best = max((c.headline for c in cells if c.headline is not None), default=None)
    leading = [best is not None and cell.headline == best for cell in cells]
    measured = [*_measures(cells, absent), *_published(cells, absent), *_levels(cells, absent)]
    for columns in _fitting(console, identity, [*measured, *spent]):
        console.print(_filled(columns, leading))
        console.print()
    console.print("what these words mean: qeval explain")
    for source in dict.fromkeys(account(c) for c in cells if figure(c, "composite") is not None):
        console.print(source)


def _identity(cells: Sequence["CellResult"]) -> tuple[list[Column], list[str]]:
    """The columns that tell the cells apart, and what is the same in all of them."""
    rows = [{group: labelled(cell.header).get(group, "") for group in GROUPS} for cell in cells]
    for row in rows:
        row["judge"] = "" if row["judge"] == "none" else row["judge"]
    ran = _engines_by_language(rows)
    if ran:
        rows = [{**row, "engine": ""} for row in rows]
    varying = [group for group in GROUPS if len({row[group] for row in rows}) > 1]
    settings = [_leaves(cell.header.get("config", {})) for cell in cells]
    swept = _swept(rows, settings)
    columns = [
        (_title(group), [row[group] for row in rows])
        for group in varying or ([] if swept else ["model"])
    ]
    columns += [(key, [str(leaves.get(key, "")) for leaves in settings]) for key in swept]
    same = [group for group in GROUPS if group not in varying and rows[0][group]]
    return columns, [*(f"{_title(g)} {rows[0][g]}" for g in same), *filter(None, [ran])]


def _engines_by_language(rows: Iterable[Mapping[str, str]]) -> str:
    """`sql on postgres 18, typeql on …`; "" unless engines differ by language and by it alone."""
    engines: dict[str, set[str]] = {}
    for row in rows:
        engines.setdefault(row["language"], set()).add(row["engine"])
    told = [f"{name} on {next(iter(found))}" for name, found in engines.items() if len(found) == 1]
    several = len(set().union(*engines.values())) > 1
    return ", ".join(told) if several and len(told) == len(engines) else ""


def _swept(
    rows: Sequence[Mapping[str, str]], settings: Sequence[Mapping[str, object]]
) -> list[str]:
    """Dotted keys whose values differ between cells that made the same choices."""
    alike: dict[tuple[str, ...], list[Mapping[str, object]]] = {}
    for row, leaves in zip(rows, settings, strict=True):
        alike.setdefault(tuple(row.values()), []).append(leaves)
    return list(
        dict.fromkeys(
            key
            for several in alike.values()
            for key in chain(*several)
            if any(leaves.get(key) != several[0].get(key) for leaves in several)
        )
    )


def _leaves(node: Mapping[str, object], path: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in node.items():
        if isinstance(value, Mapping):
            found |= _leaves(value, f"{path}{key}.")
        else:
            found[f"{path}{key}"] = value
    return found


def _measures(cells: Sequence["CellResult"], absent: str) -> list[Column]:
    """Counts and scores; stability, repair and copying where some cell measured them."""
    overall = [cell.metrics.overall for cell in cells]
    columns = [("n", [counted(metrics) for metrics in overall])]
    for metric, title in MEASURES.items():
        if any(metric in metrics for metrics in overall):
            columns.append((title, [share(metrics, metric, absent) for metrics in overall]))
            if metric == HEADLINE:
                columns.append(("95 %", [interval(m, metric, absent) for m in overall]))
    if any(cell.metrics.before_repair for cell in cells):
        before = [share(cell.metrics.before_repair, HEADLINE, absent) for cell in cells]
        columns.append(("before repair", before))
    further = [{**cell.metrics.stability, **cell.metrics.behaviour} for cell in cells]
    columns += [
        (title, [share(metrics, name, absent) for metrics in further])
        for name, title in FURTHER.items()
        if any(name in metrics and metrics[name].numerator for metrics in further)
    ]
    return columns


def _published(cells: Sequence["CellResult"], absent: str) -> list[Column]:
    columns = []
    for metric in ("composite", HEADLINE):
        values = [figure(cell, metric) for cell in cells]
        if any(value is not None for value in values):
            texts = [absent if value is None else f"{value:.3f}" for value in values]
            columns.append((f"{MEASURES[metric]} (published)", texts))
    return columns


def _levels(cells: Sequence["CellResult"], absent: str) -> list[Column]:
    """The headline by difficulty, where there are several."""
    levels = [level for level in LEVELS if any(level in c.metrics.by_difficulty for c in cells)]
    if len(levels) <= 1:
        return []
    return [
        (level, [share(c.metrics.by_difficulty.get(level, {}), HEADLINE, absent) for c in cells])
        for level in levels
    ]


def _spent(cells: Sequence["CellResult"], absent: str) -> tuple[list[Column], list[str]]:
    """Columns of errors and cost; one that says one thing in every row is said once instead."""
    columns = [
        ("errors", [str(cell.errors + cell.records_missing) for cell in cells]),
        ("tokens", [tokens(cell, absent) for cell in cells]),
        ("cost", [cost(cell) for cell in cells]),
    ]
    common = [
        f"{title} {'unknown' if texts[0] == absent else texts[0]}"
        for title, texts in columns
        if len(set(texts)) == 1
    ]
    return [(title, texts) for title, texts in columns if len(set(texts)) > 1], common


def _fitting(
    console: "Console", identity: list[Column], rest: Iterable[Column]
) -> list[list[Column]]:
    """As few tables as the terminal's width allows; each begins with the cells' identity."""
    from rich.measure import Measurement

    unbounded = console.options.update(max_width=10_000)
    tables = [list(identity)]
    for column in rest:
        wider = [*tables[-1], column]
        width = Measurement.get(console, unbounded, _filled(wider)).maximum
        if width > console.width and len(tables[-1]) > len(identity):
            tables.append([*identity, column])
        else:
            tables[-1] = wider
    return tables


def _filled(columns: Sequence[Column], leading: Sequence[bool] = ()) -> "Grid":
    """A table of the columns; the rows of `leading` cells are bold."""
    from rich.text import Text

    grid = plain_grid()
    words = {*GROUPS, _title("prompt_strategy")}
    for title, _ in columns:
        grid.add_column(
            title,
            justify="left" if title in words else "right",
            overflow="fold",
            no_wrap=title not in words,
        )
    for place, row in enumerate(zip(*(texts for _, texts in columns), strict=True)):
        bold = place < len(leading) and leading[place]
        grid.add_row(*map(Text, row), style="bold" if bold else "")
    return grid


def _title(group: str) -> str:
    return "strategy" if group == "prompt_strategy" else group
