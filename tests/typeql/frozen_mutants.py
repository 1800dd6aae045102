"""Make `goldens/mutants.jsonl.gz` anew: mutated queries with the official parser's verdict.

    QEVAL_TYPEQL_ORACLE=path/to/oracle python -m tests.typeql.frozen_mutants

The oracle reads one JSON string a line and answers `ok` or `no`, a line each. The sample keeps as
many accepted as refused texts, since most mutants are refused.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

from .mutations import mutants
from .oracle import oracle, sources

if TYPE_CHECKING:
    from collections.abc import Sequence

GOLDENS = Path(__file__).parent / "goldens"
EACH = 2000


def sample(texts: Sequence[str], verdicts: Sequence[bool | None]) -> list[tuple[bool, str]]:
    """The first EACH accepted and EACH refused of the different texts."""
    kept: dict[bool, list[tuple[bool, str]]] = {True: [], False: []}
    for text, verdict in dict(zip(texts, verdicts, strict=True)).items():
        if verdict is not None and len(kept[verdict]) < EACH:
            kept[verdict].append((verdict, text))
    return kept[True] + kept[False]


if __name__ == "__main__":
    ask = oracle()
    assert ask is not None, "no oracle"
    texts = list(mutants(sources(), 20_000, seed=20))
    lines = (json.dumps([int(ok), text]) + "\n" for ok, text in sample(texts, ask(texts)))
    with gzip.GzipFile(GOLDENS / "mutants.jsonl.gz", "wb", mtime=0) as out:
        out.write("".join(lines).encode())
