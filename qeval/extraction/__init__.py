"""Cutting the query out of what a model answered; the rule is written down in docs/extraction.md.

The query is never rewritten: it is a piece of the answer as it stands (a JSON string is unescaped,
nothing else).
"""

from qeval.extraction.rule import Extraction, extract

__all__ = ["Extraction", "extract"]
