"""Which engine ran which language: said above a grid's table, not in every row of it."""

from collections.abc import Iterable, Mapping


def executed(rows: Iterable[Mapping[str, str]]) -> str:
    """`sql on postgres 18, typeql on …`; "" unless engines differ by language and by it alone."""
    engines: dict[str, set[str]] = {}
    for row in rows:
        engines.setdefault(row["language"], set()).add(row["engine"])
    told = [f"{name} on {next(iter(found))}" for name, found in engines.items() if len(found) == 1]
    several = len(set().union(*engines.values())) > 1
    return ", ".join(told) if several and len(told) == len(engines) else ""
