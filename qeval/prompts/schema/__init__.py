"""Schemas as prompts show them: whole or in part, in the forms people use for each language."""

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from qeval.prompts.schema.model import Item, SchemaDocument

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Item", "SchemaDocument", "document"]

_PARSED = ("sql", "cypher", "typeql")  # languages with a module here that has `parse`


@lru_cache(maxsize=64)
def document(language: str, text: str) -> SchemaDocument:
    """The schema text of a suite, cut into items. An unknown language is shown whole."""
    if language not in _PARSED:
        return SchemaDocument(language, text)
    parse: Callable[[str], SchemaDocument] = import_module(f"{__name__}.{language}").parse
    return parse(text)
