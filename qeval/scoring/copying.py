"""Copying: what a prediction has of a shown example and nothing else asks for.

Two kinds of marks are read from queries, alike in all three languages: literals (quoted text,
dates, numbers above 9) and conditions (a column, an operator, a literal or a NULL check). A mark
of a prediction counts as copied when a shown example has it and nothing else explains it: the
case's gold, or the question, also where it says the same in other words (a year for its first and
last day, "half" for 0.5, "more than 4" for `>= 5`). A prediction that is an example's query as a
whole counts too, whatever is in it.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from functools import lru_cache

WHOLE = "the whole query"

_STRING_OR_COMMENT = re.compile(
    r"'((?:[^'\\]|''|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|--[^\n]*|//[^\n]*|\B#\s[^\n]*|/\*.*?\*/",
    re.DOTALL,
)
_HELD = re.compile(r"'(\d+)'")  # a string, by its number, while conditions are read
_VALUE = r"('\d+'|-?\d[\d.:T-]*)"
_NUMBER = re.compile(r"(?<![\w.$'-])(\d[\d.:T-]*)(?!')")
_CONDITION = re.compile(
    r"([A-Za-z_][\w-]*)\s*(<>|!=|<=|>=|==|=|<|>|:|\bIS\s+NOT\s+NULL\b|\bIS\s+NULL\b|\bI?LIKE\b"
    r"|\bCONTAINS\b|\bSTARTS\s+WITH\b|\bhas\b)\s*"
    rf"(?:\b(?:date|datetime|timestamp)\b\s*\(?\s*)?({_VALUE[1:-1]}|true\b|false\b)?",
    re.IGNORECASE,
)
_HAS = re.compile(rf"\bhas\s+([\w-]+)\s+(==|!=|<=|>=|<|>)?\s*{_VALUE}")
_SAME = {"==": "=", ":": "=", "!=": "<>", "": "="}
_MIDNIGHT = re.compile(r"[t ]00:00(?::00(?:\.0+)?)?(?:z|\+00(?::00)?)?$")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_PART = re.compile(r"half|halv|third|quarter|percent|per cent|%|半|分之|成", re.IGNORECASE)
_OPERATORS = ("<>", "<=", ">=", "=", "<", ">", "like", "ilike", "contains", "starts with", "has")
_CHECKS = ("is null", "is not null", "= true", "= false")
_COUNTS = {
    word: number
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "一 二 三 四 五 六 七 八 九 十 十一 十二",
        "once twice",
    )
    for number, word in enumerate(words.split(), start=1)
} | {"两": 2, "second": 2, "third": 3}


def copied(prediction: str, question: str, gold: str, shown: Iterable[str]) -> tuple[str, ...]:
    """The marks of `prediction` that come from the golds of shown examples, sorted.

    `WHOLE` among them: it is an example's query but for white space, case and comments.
    """
    examples = list(shown)
    theirs = frozenset().union(*(marks(query) for query in examples))
    suspects = marks(prediction) & theirs - marks(gold)
    found = {mark for mark in suspects if not _explained(mark, question, gold)}
    own = _plain(prediction)
    if own and own != _plain(gold) and any(own == _plain(query) for query in examples):
        found.add(WHOLE)
    return tuple(sorted(found))


@lru_cache(maxsize=4096)
def marks(query: str) -> frozenset[str]:
    """Literals and conditions of a query, lower-case and without aliases or variables."""
    # A single digit says nothing by itself, only what it is compared with.
    found = {literal for literal in _literals(query) if len(literal) > 1}
    text, strings = _without_strings(query)
    for name, operator, value in [*_CONDITION.findall(text), *_HAS.findall(text)]:
        check = operator.lower().startswith("is")
        # Whether a key is NULL is how joins are asked for rows without a partner.
        if (check and not re.search(r"(?:^|_)(?:id|key)$|Id$", name)) or (value and not check):
            found.add(_condition(name, operator, "" if check else _value(value, strings)))
    return frozenset(found)


@lru_cache(maxsize=4096)
def _literals(query: str) -> frozenset[str]:
    text, strings = _without_strings(query)
    numbers = (number.strip(".:") for number in _NUMBER.findall(text))
    return frozenset(literal for literal in map(_normal, [*strings, *numbers]) if literal)


@lru_cache(maxsize=4096)
def _without_strings(query: str) -> tuple[str, tuple[str, ...]]:
    """The query with each string replaced by its number in quotes, and the strings."""
    strings: list[str] = []

    def hold(found: re.Match[str]) -> str:
        string = found[1] if found[1] is not None else found[2]
        if string is None:
            return " "  # a comment
        strings.append(string)
        return f"'{len(strings) - 1}'"

    return _STRING_OR_COMMENT.sub(hold, query), tuple(strings)


def _value(text: str, strings: tuple[str, ...]) -> str:
    held = _HELD.fullmatch(text)
    return _normal(strings[int(held[1])] if held else text.strip(".:"))


def _normal(literal: str) -> str:
    """Lower-case; midnight of a day is that day."""
    return _MIDNIGHT.sub("", literal.strip().lower())


def _condition(name: str, operator: str, value: str) -> str:
    sign = " ".join(operator.lower().split())
    return " ".join(filter(None, (name.lower(), _SAME.get(sign, sign), value)))


@lru_cache(maxsize=4096)
def _plain(query: str) -> str:
    text, strings = _without_strings(query)
    return _HELD.sub(lambda held: repr(strings[int(held[1])]), "".join(text.lower().split()))


def _explained(mark: str, question: str, gold: str) -> bool:
    """Whether question or gold have the mark's literal, or of a check the column's name."""
    asked = question.lower()
    for check in _CHECKS:
        if mark.endswith(f" {check}"):
            name = mark.removesuffix(f" {check}")
            return any(word in asked for word in re.split(r"[_-]", name) if len(word) > 2)  # noqa: PLR2004
    _, _, rest = mark.partition(" ")
    operator = next((o for o in _OPERATORS if rest.startswith(f"{o} ")), None)
    literal = rest.removeprefix(f"{operator} ") if operator else mark
    if re.search(rf"(?<![\w.]){re.escape(literal)}(?!\w)", asked) or literal in _literals(gold):
        return True
    if _DATE.fullmatch(literal):
        return literal in set(_days_near(asked, gold))
    if re.fullmatch(r"0?\.\d+", literal):
        return _PART.search(asked) is not None
    return literal.isdecimal() and any(abs(int(literal) - n) <= 1 for n in _numbers(asked, gold))


def _days_near(question: str, gold: str) -> Iterator[str]:
    """Days beside those that are named, and the first and last days of years that are."""
    named = {*_DATE.findall(question), *filter(_DATE.fullmatch, _literals(gold))}
    for year in set(_YEAR.findall(question)):
        named |= {f"{year}-01-01", f"{year}-12-31"}
    for day in named:
        try:
            whole = date.fromisoformat(day)
            yield from (str(whole + timedelta(days=step)) for step in (-1, 0, 1))
        except (ValueError, OverflowError):
            continue


def _numbers(question: str, gold: str) -> Iterator[int]:
    """Whole numbers that are said, in figures or words."""
    yield from (int(text) for text in re.findall(r"(?<![\d.])\d{1,9}(?![\d.])", question))
    yield from (int(text) for text in _literals(gold) if text.isdecimal())
    for word, number in _COUNTS.items():
        if re.search(rf"\b{word}\b" if word.isascii() else word, question):
            yield number
