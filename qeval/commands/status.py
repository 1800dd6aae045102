"""`qeval status`: which warm engines there are, since when, and what they hold."""

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from qeval.exit_codes import ExitCode

if TYPE_CHECKING:
    from qeval.engines.warm import WarmServer


def main(argv: Sequence[str]) -> int:
    """Show a table (or JSON lines) of the warm engines."""
    parser = argparse.ArgumentParser(prog="qeval status", description="Show the warm engines.")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    options = parser.parse_args(argv)

    from qeval.engines.warm import running

    rows = [_facts(server) for server in running()]
    if options.format == "json":
        import json
        import sys

        sys.stdout.writelines(json.dumps(row) + "\n" for row in rows)
    else:
        _show(rows)
    return ExitCode.DONE


def _facts(server: "WarmServer") -> dict[str, object]:
    return {
        "engine": server.engine,
        "version": server.version,
        "pid": server.pid,
        "up_s": round(time.time() - server.since),
        "memory_mb": round(server.memory_bytes() / 2**20),
        "holds": _held(server),
        "address": server.address,
        "log": server.log,
    }


def _held(server: "WarmServer") -> list[str] | None:
    """Keys of the loaded instances; None where the server does not say."""
    from qeval.cells import build_engine, compose
    from qeval.configuration import plain
    from qeval.engines.warm import KeepsWarm
    from qeval.errors import QevalError

    try:
        engine = build_engine(plain(compose([f"engine={server.engine}"]))["engine"])
        return engine.holds(server) if isinstance(engine, KeepsWarm) else None
    except QevalError:
        return None


def _show(rows: Sequence[dict[str, object]]) -> None:
    from datetime import timedelta

    from rich.table import Table

    from qeval.report.console import output

    console = output()
    if not rows:
        console.print("nothing is up; qeval up starts an engine and keeps it")
        return
    table = Table("engine", "version", "pid", "up", "memory", "holds")
    for row in rows:
        table.add_row(
            str(row["engine"]),
            str(row["version"]),
            str(row["pid"]),
            str(timedelta(seconds=float(str(row["up_s"])))),
            f"{row['memory_mb']} MB",
            _listed(row["holds"]),
        )
    console.print(table)
    for row in rows:
        console.print(f"{row['engine']} log: {row['log']}", soft_wrap=True)


def _listed(held: object) -> str:
    if not isinstance(held, list):
        return "does not answer"
    return "\n".join(held) or "nothing yet"
