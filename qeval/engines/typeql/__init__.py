"""TypeQL in this process, or on a TypeDB server where one is configured."""

from collections.abc import Mapping
from typing import Any

from qeval.engines.base import Engine
from qeval.engines.typeql.embedded import EmbeddedTypeqlEngine

__all__ = ["EmbeddedTypeqlEngine", "choose_engine"]


def choose_engine(*, server: Mapping[str, Any], **embedded: Any) -> Engine:
    """The engine of `conf/engine/typeql.yaml`: a TypeDB server if `server.uri` names one."""
    if server["uri"] is None:
        return EmbeddedTypeqlEngine(**embedded)
    from qeval.engines.typedb import TypedbEngine

    return TypedbEngine(**{key: value for key, value in server.items() if key != "_target_"})
