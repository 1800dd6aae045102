"""Loading by a suite's own Cypher statements: of its schema, then of its script."""

import re
from collections.abc import Iterator
from typing import Any

from qeval.engines.base import EngineLostError
from qeval.engines.neo4j.load import counts
from qeval.errors import InputError
from qeval.suite import Instance, Script

_WAIT_S = 120
_PIECE = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|//[^\n]*|/\*.*?\*/|;|[^'\"`/;]+|.", re.DOTALL
)


def run_script(driver: Any, database: str | None, instance: Instance) -> tuple[int, int]:
    """Run schema and script; returns how many nodes and relationships there are then.

    Raises `InputError` with file and line of the statement that Neo4j refuses, `EngineLostError`
    where the server went away.
    """
    from neo4j.exceptions import ClientError, DriverError, Neo4jError

    schema = Script(instance.schema_file or f"schema of {instance.name}", instance.schema)
    try:
        with driver.session(database=database) as session:
            for script in filter(None, (schema, instance.script)):
                for line, statement in statements_of(script.text):
                    try:
                        session.run(statement).consume()
                    except ClientError as error:
                        raise InputError(
                            f"{script.file}:{line}: Neo4j refuses the statement: {error.message}"
                        ) from error
            session.run(f"CALL db.awaitIndexes({_WAIT_S})").consume()
        return counts(driver, database)
    except (DriverError, Neo4jError) as error:
        raise EngineLostError(f"loading {instance.key} into Neo4j failed: {error}") from error


def statements_of(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a script, parted by semicolons, each with its first line (1-based).

    A semicolon in a text, a name or a comment parts nothing.
    """
    line, begin, pieces = 1, 1, list[str]()
    for piece in (*(match[0] for match in _PIECE.finditer(text)), ";"):
        if piece == ";":
            if pieces:
                yield begin, "".join(pieces).strip()
            pieces = []
        elif pieces or (piece.strip() and not piece.startswith(("//", "/*"))):
            if not pieces:
                begin = line + piece[: len(piece) - len(piece.lstrip())].count("\n")
            pieces.append(piece)
        line += piece.count("\n")
