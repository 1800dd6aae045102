"""Writing a data set as the file that the embedded server loads (`launcher/GraphFile.java`).

Lines of fields that tabs separate: the schema's statements, all names, then blocks of nodes and
relationships. Text is some ten times cheaper to hand over than parameters of Cypher queries.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from qeval.engines.neo4j.mapping import GraphMapping
from qeval.errors import InputError

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_ELEMENT_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", ",": "\\,"})


def write_graph(path: Path, statements: Sequence[str], mapping: GraphMapping) -> tuple[int, int]:
    """Write everything; returns the number of nodes and relationships.

    Raises `InputError` for a mapping that does not fit the data.
    """
    partial = path.with_suffix(".writing")
    with partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_model(statements, mapping))
        numbers: dict[tuple[str, str], dict[Any, int]] = {}
        nodes = relationships = 0
        for batch in mapping.nodes():
            properties = _Properties(batch.kinds)
            file.write(_line("nodes", len(batch.rows), *map(_text, batch.labels)))
            file.write(properties.head)
            made = numbers.setdefault(batch.key, {})
            for row in batch.rows:
                made[row[batch.key[1]]] = nodes
                nodes += 1
                file.write(properties.line(row) + "\n")
        for edges in mapping.relationships():
            properties = _Properties(edges.kinds)
            starts, ends = numbers.get(edges.start, {}), numbers.get(edges.end, {})
            file.write(_line("relationships", len(edges.rows), _text(edges.type)))
            file.write(properties.head)
            for start, end, values in edges.rows:
                try:
                    both = f"{starts[start]}\t{ends[end]}"
                except KeyError as error:
                    raise InputError(
                        f"mapping: a row of {edges.table!r} names {error.args[0]!r}, which no "
                        f"node of {edges.start[0]} or {edges.end[0]} has, as end of {edges.type}"
                    ) from None
                line = properties.line(values)
                file.write(f"{both}\t{line}\n" if line else f"{both}\n")
            relationships += len(edges.rows)
    partial.replace(path)
    return nodes, relationships


def _model(statements: Sequence[str], mapping: GraphMapping) -> Iterator[str]:
    for statement in statements:
        yield _line("schema", _text(statement))
    for word, names in zip(("label", "type", "property"), mapping.names(), strict=True):
        for name in dict.fromkeys(names):
            yield _line(word, _text(name))


class _Properties:
    """How the properties of one block are written, in a fixed order."""

    def __init__(self, kinds: dict[str, str]) -> None:
        self.head = _line(*(f"{_text(name)}:{kind}" for name, kind in kinds.items()))
        self._writers = [(name, _writer(kind)) for name, kind in kinds.items()]

    def line(self, row: dict[str, Any]) -> str:
        return "\t".join(
            "" if (value := row.get(name)) is None else write(value)
            for name, write in self._writers
        )


def _writer(kind: str) -> Callable[[Any], str]:
    if kind == "string[]":
        return _texts
    if kind.endswith("[]"):
        element = _writer(kind.removesuffix("[]"))
        return lambda values: ",".join(map(element, values))
    return _WRITERS[kind]


def _line(*fields: object) -> str:
    return "\t".join(map(str, fields)) + "\n"


def _text(text: str) -> str:
    return text.translate(_ESCAPES) if text else "\\e"


def _texts(texts: Sequence[str]) -> str:
    return ",".join(text.translate(_ELEMENT_ESCAPES) if text else "\\e" for text in texts)


def _float(value: Any) -> str:
    number = float(value)
    if number - number == 0:
        return repr(number)
    return "NaN" if number != number else f"{'-' if number < 0 else ''}Infinity"  # noqa: PLR0124


_WRITERS: dict[str, Callable[[Any], str]] = {
    "bool": lambda value: "true" if value else "false",
    "int": str,
    "float": _float,
    "string": _text,
    "date": lambda value: str(value.isoformat()),
    "datetime": lambda value: str(value.replace(tzinfo=None).isoformat()),
}
