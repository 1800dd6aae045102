"""The TypeQL 3.12 parser: text in, a tree of `qeval.typeql.syntax.ast` out.

The verdict is the grammar's alone, as in TypeDB: a text that parses may still hold unknown labels,
reserved words used as names or literals that have no value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast import Query


def parse_query(text: str) -> Query:
    """The one query that `text` is; raises TypeQLError (TQL03) for anything else."""
    raise NotImplementedError


def parse_queries(text: str) -> tuple[Query, ...]:
    """The queries that follow one another in `text`, split where `end;` or the grammar ends one."""
    raise NotImplementedError
