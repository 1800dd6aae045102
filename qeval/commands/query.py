"""`qeval query`: run one query on a suite's data, as a prediction would be run."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qeval.exit_codes import ExitCode

if TYPE_CHECKING:
    from qeval.cells import Cell
    from qeval.engines.base import Execution, QueryError


def main(argv: Sequence[str]) -> int:
    """Check, execute and show. Exit status 1 when the query fails, with the verdict's name."""
    parser = argparse.ArgumentParser(
        prog="qeval query",
        description="Run a query on the suite's data under the same checks and limits as a "
        "prediction. Words with = are configuration: suite=…, engine=…, limits.timeout_s=….",
    )
    parser.add_argument("language", help="sql, cypher or typeql")
    parser.add_argument("query", help="the query; - reads it from standard input")
    parser.add_argument("overrides", nargs="*", default=[], metavar="key=value")
    parser.add_argument("--instance", default="base", help="base, variant-1, variant-2, …")
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table")
    parser.add_argument(
        "--max-shown", type=int, default=50, metavar="N", help="rows a table shows (default: 50)"
    )
    options = parser.parse_intermixed_args(argv)

    from qeval.cells import build_engine
    from qeval.commands.up import cell_of
    from qeval.engines.base import QueryError

    query = sys.stdin.read() if options.query == "-" else options.query
    cell = cell_of(options.language, options.overrides)
    instance = cell.suite.instance(cell.language.name, options.instance)
    engine = build_engine(cell.engine_config)
    try:
        cell.language.check_safety(query)
        info = engine.start()
        engine.load(instance)
        engine.check(query, instance)
        execution = engine.execute(query, instance, cell.limits)
    except QueryError as error:
        sys.stderr.write(described(error, query) + "\n")
        return ExitCode.MISSED
    finally:
        engine.stop()
    if options.format != "table":
        from qeval.report.console import data_in_utf8

        data_in_utf8()
    if options.format == "json":
        _as_json(execution)
    elif options.format == "csv":
        _as_csv(execution)
    else:
        _as_table(execution, cell, f"{info} · {options.instance}", options.max_shown)
    return ExitCode.DONE


def described(error: "QueryError", query: str) -> str:
    """The verdict, the engine's message, and the place in the query with a caret under it."""
    code = f" [{error.code}]" if error.code else ""
    text = f"{error.kind}{code}: {error.message}"
    lines = query.splitlines()
    if error.line is None or not 0 < error.line <= len(lines):
        return text
    line = lines[error.line - 1]
    column = error.column or 1
    start = max(0, column - 60)
    shown = line[start : start + 100]
    # A tab stays a tab and a wide character takes two cells, so that the caret stands right.
    pad = "".join(c if c == "\t" else " " * _cells(c) for c in line[start : column - 1])
    head = f"line {error.line}: "
    return f"{text}\n{head}{shown}\n{' ' * len(head)}{pad}^"


def _cells(character: str) -> int:
    from unicodedata import combining, east_asian_width

    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _as_table(execution: "Execution", cell: "Cell", where: str, max_shown: int) -> None:
    from rich.table import Table
    from rich.text import Text

    from qeval.report.console import output

    console = output()
    result = execution.table
    table = Table()
    for name in result.columns:
        table.add_column(Text(name), overflow="fold")
    for row in result.rows[:max_shown]:
        table.add_row(*(_cell(value) for value in row))
    if result.columns:
        console.print(table)
    count = f"{len(result)} row{'' if len(result) == 1 else 's'}"
    if len(result) > max_shown:
        count += f", {max_shown} shown (--max-shown)"
    if execution.truncated:
        count += f"; cut at limits ({cell.limits.max_rows} rows, {cell.limits.max_bytes} bytes)"
    console.print(f"{count} · {execution.seconds * 1000:.0f} ms · {where}")


def _cell(value: Any) -> Any:
    from rich.text import Text

    if value is None:
        return Text("NULL", style="dim")
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return Text(str(value), justify="right" if numeric else "left")


def _as_json(execution: "Execution") -> None:
    import json

    result = execution.table
    json.dump(
        {
            "columns": list(result.columns),
            "rows": [[_plain(value) for value in row] for row in result.rows],
            "seconds": round(execution.seconds, 6),
            "truncated": execution.truncated,
        },
        sys.stdout,
        ensure_ascii=False,
    )
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        from math import isfinite

        return value if isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _as_csv(execution: "Execution") -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(execution.table.columns)
    for row in execution.table.rows:
        writer.writerow(["" if value is None else _plain(value) for value in row])
