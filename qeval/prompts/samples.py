"""Sample values for prompts: what the columns of the base instance hold."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from qeval.suite import Suite

_LONGEST = 40  # characters of a value that is worth showing


def sample_values(suite: Suite, language: str, count: int, shown: frozenset[str] | None) -> str:
    """One line per text column: its `count` commonest values on the base instance.

    `shown` names the schema items of the prompt (None: all). Names are those of the language.
    """
    key = (suite.content_hash, language, count)
    if key not in _kept:
        _kept[key] = tuple(_read(suite, language, count))
    return "\n".join(
        f"{owner}.{name}: {values}"
        for owner, name, values in _kept[key]
        if shown is None or owner in shown
    )


_kept: dict[tuple[str, str, int], tuple[tuple[str, str, str], ...]] = {}


def _read(suite: Suite, language: str, count: int) -> Iterator[tuple[str, str, str]]:
    instance = suite.instance(language, "base")
    dataset = instance.dataset()
    names = dict(_names(instance.mapping))
    for table in dataset.tables:
        for place, field in enumerate(table.fields):
            if field.type != "string" or field.references:
                continue
            where = (table.name, field.name)
            if instance.mapping and where not in names:
                continue
            owner, name = names.get(where, where)
            found = Counter(row[place] for row in dataset.rows[table.name] if row[place])
            ranked = sorted(found, key=lambda value: (-found[value], value))[:count]
            values = ", ".join("'" + v[:_LONGEST].replace("'", "''") + "'" for v in ranked)
            if values:
                yield owner, name, values


def _names(mapping: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """(table, column) -> (label or type, property or attribute) out of a language's mapping."""
    owners: dict[str, str] = {}
    entries: list[tuple[str, Mapping[str, Any]]] = []
    for part in mapping.values():
        if isinstance(part, Mapping):
            entries += list(part.items())
        else:
            entries += [(entry["table"], entry) for entry in part]
    for table, entry in entries:
        owner = entry.get("label") or entry.get("type") or owners.get(entry.get("of", ""), "")
        owners.setdefault(table, owner)
        for column, name in (entry.get("properties") or entry.get("attributes") or {}).items():
            yield (table, column), (owner, name)
        if "value" in entry:
            yield (table, entry["value"]), (owner, entry.get("property") or entry["attribute"])
