"""Make `artifacts.lock` anew after `fetch.VERSION` was raised.

Run as `python -m qeval.engines.neo4j.relock`.

Resolves Neo4j with all it runs on and a Java compiler from Maven Central (some minutes), and writes
each part's coordinate, SHA-256 and size. For qeval's developers; users only ever read the lock.
"""

import hashlib
from pathlib import Path
from typing import Any

from qeval.engines.neo4j.fetch import COMPILER, VERSION

_WANTED = (f"org.neo4j:neo4j:{VERSION}", f"{COMPILER}3.33.0")  # the last that runs on Java 17
_HEAD = f"""\
# Neo4j Community {VERSION} with everything it runs on, and the compiler of launcher/*.java.
# group:artifact:version[:classifier]  sha256  bytes. Made by: python -m qeval.engines.neo4j.relock
"""


def main() -> None:
    """Resolve, hash, write."""
    from jgo.maven import MavenContext

    context = MavenContext()
    lines = set()
    for coordinate in _WANTED:
        inputs, others = context.resolver.resolve([context.create_dependency(coordinate)])
        needed = [*inputs, *(one for one in others if one.scope in ("compile", "runtime"))]
        lines |= {_line(one.artifact) for one in needed}
    Path(__file__).with_name("artifacts.lock").write_text(_HEAD + "".join(sorted(lines)))


def _line(artifact: Any) -> str:
    content = artifact.resolve().read_bytes()
    parts = (artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier)
    coordinate = ":".join(part for part in parts if part)
    return f"{coordinate} {hashlib.sha256(content).hexdigest()} {len(content)}\n"


if __name__ == "__main__":
    main()
