"""Copying: literals and conditions of a prediction that only a shown example asks for.

Two kinds of marks are read from queries, alike in all three languages: literals (quoted text,
dates, numbers above 9) and conditions (a column, an operator, a literal or a NULL check). A mark
of a prediction counts as copied when a shown example has it and neither the question nor the
case's gold does.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_LITERAL = re.compile(r"'((?:[^'\\]|''|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|(?<![\w.$-])(\d[\d.:T-]*)")
_CONDITION = re.compile(
    r"([A-Za-z_][\w-]*)\s*(<>|!=|<=|>=|==|=|<|>|:|\bIS\s+NOT\s+NULL\b|\bIS\s+NULL\b|\bI?LIKE\b"
    r"|\bCONTAINS\b|\bSTARTS\s+WITH\b|\bhas\b)\s*('(?:[^']|'')*'|\"[^\"]*\"|-?\d[\d.:T-]*|true\b"
    r"|false\b)?",
    re.IGNORECASE,
)
_HAS = re.compile(r"\bhas\s+([\w-]+)\s+(==|!=|<=|>=|<|>)?\s*('[^']*'|\"[^\"]*\"|-?\d[\d.:T-]*)")
_SAME = {"==": "=", ":": "=", "!=": "<>", "": "="}
_COMMENT = re.compile(r"--[^\n]*|//[^\n]*|/\*.*?\*/", re.DOTALL)


def copied(prediction: str, question: str, gold: str, shown: Iterable[str]) -> tuple[str, ...]:
    """The literals and conditions of `prediction` that come from the golds of shown examples."""
    theirs = frozenset().union(*(marks(query) for query in shown))
    suspects = marks(prediction) & theirs - marks(gold)
    asked = question.lower()
    return tuple(sorted(mark for mark in suspects if not _asked_for(mark, asked)))


@lru_cache(maxsize=4096)
def marks(query: str) -> frozenset[str]:
    """Literals and conditions of a query, lower-case and without aliases or variables."""
    text = _COMMENT.sub(" ", query)
    found = set()
    for single, double, number in _LITERAL.findall(text):
        literal = (single or double or number).strip(".:").lower()
        if len(literal) > 1:  # a single digit says nothing by itself
            found.add(literal)
    for name, operator, literal in _CONDITION.findall(text):
        null_check = operator.lower().startswith("is")
        if null_check or literal:
            found.add(_condition(name, operator, "" if null_check else literal))
    for name, operator, literal in _HAS.findall(text):
        found.add(_condition(name, operator, literal))
    return frozenset(found)


def _condition(name: str, operator: str, literal: str) -> str:
    sign = " ".join(operator.lower().split())
    value = literal.strip("'\"").lower()
    return " ".join(filter(None, (name.lower(), _SAME.get(sign, sign), value)))


_OPERATORS = frozenset(
    ("=", "<>", "<", "<=", ">", ">=", "like", "ilike", "contains", "starts with", "has")
)
_CHECKS = ("is null", "is not null", "= true", "= false")


def _asked_for(mark: str, question: str) -> bool:
    """Whether the question says the mark's literal; of a check without one, the column's name."""
    for check in _CHECKS:
        if mark.endswith(f" {check}"):
            name = mark.removesuffix(f" {check}")
            return any(word in question for word in re.split(r"[_-]", name) if len(word) > 2)  # noqa: PLR2004
    _, _, rest = mark.partition(" ")
    operator = next((o for o in _OPERATORS if rest.startswith(f"{o} ")), None)
    literal = rest.removeprefix(f"{operator} ") if operator else mark
    return re.search(rf"(?<![\w.]){re.escape(literal)}(?!\w)", question) is not None
