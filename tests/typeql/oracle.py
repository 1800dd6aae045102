"""The official TypeQL parser as an oracle, where this machine has one.

Either `QEVAL_TYPEQL_ORACLE` names a program that reads one JSON string a line and answers `ok` or
`no`, a line each; or `type_bridge_core`, whose wheel carries the parser, can be imported.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HERE = Path(__file__).parent
GOLDENS = HERE / "goldens"


# The wheel's parser is that of TypeQL 3.14, which also knows `1e5` and `a::b()`; and it refuses a
# comma behind a label that is the name of a kind, which no official grammar does.
_BEYOND = re.compile(r"::|[0-9][eE]|(?:entity|relation|attribute)\s*,")


def oracle() -> Callable[[Sequence[str]], list[bool | None]] | None:
    """A function from texts to verdicts, or None if there is no official parser here.

    The verdict on a text is None where that parser is known to differ from TypeQL 3.12.
    """
    program = os.environ.get("QEVAL_TYPEQL_ORACLE")
    if program:
        return lambda texts: _ask(program, texts)
    try:
        core = importlib.import_module("type_bridge_core")
    except ImportError:
        return None
    return lambda texts: [_accepted(core._typeql_queries_equivalent, text) for text in texts]


def _ask(program: str, texts: Sequence[str]) -> list[bool | None]:
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    answers = done.stdout.split()
    assert len(answers) == len(texts)
    return [answer == "ok" for answer in answers]


def _accepted(compare: Callable[[str, str], object], text: str) -> bool | None:
    if _BEYOND.search(text):
        return None
    try:
        compare(text, text)
    except ValueError as error:
        # What it parses and can't compare is called an unsupported construct.
        return "syntax" not in str(error)
    return True


def cases() -> list[dict[str, object]]:
    """The recorded cases of a real server."""
    with gzip.open(GOLDENS / "cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def samples() -> list[str]:
    """Queries that hold every construct of the grammar."""
    return (HERE / "syntax_samples.tql").read_text(encoding="utf-8").split("# ---\n")


def sources() -> list[str]:
    """What mutations start from: the recorded queries and single statements of the samples."""
    return [str(case["query"]) for case in cases()] + 2 * list(_pieces())


def _pieces() -> Iterator[str]:
    schemas = [path.read_text(encoding="utf-8") for path in sorted(GOLDENS.glob("*.schema.tql"))]
    for text in [*samples(), *schemas]:
        yield text
        # A fault in a long query mostly meets an earlier one, so single statements stand alone.
        clause = re.match(r"\w+", text)
        for statement in re.findall(r"[^;]*;", text):
            yield f"{clause[0] if clause else 'match'} {statement.strip()}"
