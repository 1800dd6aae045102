"""The answer of a query."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from qeval.typeql.concepts import Concept


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows of concepts, or documents if the query ends in ``fetch``.

    ``columns`` are the names of the variables, sorted; each row has a concept, or None where there
    is none, for every column. ``documents`` hold what JSON can; then ``columns`` are the keys that
    each has, none where they depend on the data. ``truncated``: there are more, but they were not
    asked for (``cut`` of :meth:`Database.query`).
    """

    kind: Literal["rows", "documents"]
    columns: tuple[str, ...] = ()
    rows: list[tuple[Concept | None, ...]] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    truncated: bool = False
