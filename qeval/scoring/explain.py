"""Finding out how a prediction that isn't equal differs: the kinds of `difference.Kind`.

Each kind is a weaker comparison that does hold, found with the same joint assignment of columns
as the comparison itself, so that no kind is told because columns were paired wrongly.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from qeval.scoring.assignment import Assignment, Relation, Undecided
from qeval.scoring.coercion import Coercion, View, is_number, scaled
from qeval.scoring.difference import SAMPLE_ROWS, Difference, Kind
from qeval.scoring.matching import Expected, Matcher
from qeval.scoring.tolerance import all_matched, is_measured
from qeval.scoring.tolerant import TolerantPass, find

LARGE = 20_000
"""Rows above which only the cheap kinds are tried: a person won't read that table anyway."""

_FACTORS = (100, 0.01, 1000, 0.001, 10, 0.1, 60, 1 / 60, 3600, 1 / 3600, 1e6, 1e-6)
"""Percent, thousands, tenths, minutes, hours, millions: what columns are mistaken by."""

_NULLISH_PAIRS = 300  # rows a side that are paired to see whether only nulls differ


@dataclass(frozen=True, slots=True)
class Case:
    """A gold and the columns of a prediction that isn't equal to it (canonical values)."""

    expected: Expected
    names: Sequence[str]
    columns: Sequence[Sequence[Any]]
    rows: int
    preferred: Assignment = ()

    @property
    def width(self) -> int:
        """How many columns the answer has."""
        return len(self.expected.names)

    def matches(
        self,
        expected: Expected,
        columns: Sequence[Sequence[Any]] | None = None,
        relation: Relation = "equal",
    ) -> bool:
        """Whether a weaker comparison holds."""
        matcher = Matcher(
            expected, self.columns if columns is None else columns, self.preferred, relation
        )
        try:
            return find(matcher) is not None
        except Undecided:
            return False


def explain(case: Case, *, relaxed: bool, undecided: bool) -> Difference:
    """Tell the first kind that fits, with a sample of the rows that differ."""
    mapping = _best_guess(case)
    kind = _kind(case, mapping, relaxed=relaxed, undecided=undecided)
    missing, extra = _leftovers(case, mapping) if kind != "extra_columns" else ([], [])
    return Difference(
        kind=kind,
        message=_message(kind, case, len(missing), len(extra), relaxed=relaxed),
        columns=case.expected.names,
        mapping=tuple("" if c is None else case.names[c] for c in mapping),
        missing=tuple(missing[:SAMPLE_ROWS]),
        extra=tuple(extra[:SAMPLE_ROWS]),
        missing_count=len(missing),
        extra_count=len(extra),
    )


def _kind(case: Case, mapping: Sequence[int | None], *, relaxed: bool, undecided: bool) -> Kind:
    """The first kind that fits, in the order of `difference.Kind`."""
    expected, rows, width = case.expected, case.rows, len(case.columns)
    bag = replace(expected, order=(), top_k=None)
    small = rows <= LARGE and expected.size <= LARGE
    alike = rows == expected.rows and small
    complete = tuple(c for c in mapping if c is not None)

    def within() -> bool:
        return case.matches(bag, relation="inside")

    checks: tuple[tuple[Kind, Callable[[], bool]], ...] = (
        ("undecided", lambda: undecided),
        ("extra_columns", lambda: relaxed),
        ("empty", lambda: not rows and expected.size > 0),
        ("missing_columns", lambda: width < case.width),
        ("extra_columns", lambda: not rows),
        ("order", lambda: rows == expected.rows and bool(expected.order) and within()),
        ("duplicates", lambda: small and _is_doubled(case, bag)),
        ("subset", lambda: rows < expected.rows and within()),
        ("superset", lambda: rows > expected.rows and _holds_more(case)),
        ("case_or_space", lambda: alike and _reads_alike(case, _folded)),
        ("type", lambda: alike and _reads_alike(case, _as_text)),
        ("scale", lambda: alike and _is_scaled(case, complete)),
        ("null", lambda: alike and _only_nulls_differ(case, complete)),
        ("other", lambda: True),
    )
    return next(kind for kind, fits in checks if fits())


def _holds_more(case: Case) -> bool:
    return case.matches(_required(case.expected), relation="around")


def _reads_alike(case: Case, read: Callable[[Any], Any]) -> bool:
    return case.matches(_reread(case.expected, read), [list(map(read, c)) for c in case.columns])


def _required(expected: Expected) -> Expected:
    """As a bag, the rows that no right prediction lacks: without a choice among ties."""
    bag = replace(expected, order=(), top_k=None)
    if expected.top_k is None or expected.size <= expected.rows:
        return bag
    matcher = Matcher(expected, ())
    blocks = matcher.blocks([matcher.gold_keys[j] for j in expected.order])
    kept = [i for i in range(blocks.kept) if not blocks.gold or blocks.gold[i] != blocks.spare]
    columns = tuple([values[i] for i in kept] for values in expected.columns)
    return replace(bag, columns=columns, size=len(kept))


def _is_doubled(case: Case, bag: Expected) -> bool:
    """Whether both tables have the same distinct rows."""
    if len(case.columns) != case.width:
        return False
    gold = list(dict.fromkeys(zip(*bag.columns, strict=True)))
    other = list(dict.fromkeys(zip(*case.columns, strict=True)))
    if len(gold) == bag.size and len(other) == case.rows:
        return False
    distinct = replace(bag, columns=tuple(zip(*gold, strict=True)), size=len(gold))
    return len(gold) == len(other) and case.matches(distinct, list(zip(*other, strict=True)))


def _reread(expected: Expected, read: Callable[[Any], Any]) -> Expected:
    """The gold with every cell read in a more forgiving way."""
    coercions = tuple(Coercion(View("mixed"), c.policy) for c in expected.coercions)
    columns = tuple(list(map(read, values)) for values in expected.columns)
    return replace(expected, columns=columns, coercions=coercions)


def _folded(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_folded, value))
    return " ".join(value.casefold().split()) if isinstance(value, str) else value


_NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.ASCII)


def _as_text(value: Any) -> Any:
    """What a value would be if it were written down and read again by a careless program."""
    if value is None or is_number(value):
        return value
    if isinstance(value, tuple) and len(value) == 1:
        return _as_text(value[0])
    text = value.isoformat() if isinstance(value, date) else str(value)
    text = text.strip().casefold().replace("+00:00", "").replace(" ", "t")
    text = text.removesuffix("t00:00:00")
    if text in ("true", "false"):
        return int(text == "true")
    if _NUMERAL.fullmatch(text):
        number = Decimal(text)
        return float(number) if "." in text or "e" in text else int(number)
    return text


def _is_scaled(case: Case, mapping: Assignment) -> bool:
    """Whether numbers agree after one factor a column, or after rounding to fewer decimals."""
    gold_columns: list[Sequence[Any]] = []
    columns: list[Sequence[Any]] = []
    coercions: list[Coercion] = []
    changed = False
    for j, c in enumerate(mapping):
        gold, other = case.expected.columns[j], case.columns[c]
        reading = case.expected.coercions[j]
        if Counter(reading.keys(gold)) != Counter(reading.keys(other)):
            found = _rescaled(gold, other)
            if found is not None:
                gold, other = found
                changed = True
                reading = Coercion(View("float", relative=1e-6), reading.policy)
        gold_columns.append(gold)
        columns.append(other)
        coercions.append(reading)
    expected = replace(case.expected, columns=tuple(gold_columns), coercions=tuple(coercions))
    return changed and case.matches(expected, columns)


def _rescaled(
    gold: Sequence[Any], other: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]] | None:
    """Both columns brought to one scale, or None where no single step does it."""
    if not (_is_numeric(gold) and _is_numeric(other)):
        return None
    mine = sorted(float(v) for v in gold if v is not None)
    theirs = sorted(float(v) for v in other if v is not None)
    if len(mine) != len(theirs):
        return None
    for factor in _FACTORS:
        if all(abs(a - b * factor) <= 1e-6 * abs(a) for a, b in zip(mine, theirs, strict=True)):
            return gold, [None if v is None else float(v) * factor for v in other]
    decimals = max(map(_decimals, gold)), max(map(_decimals, other))
    coarse = min(decimals)
    if decimals[0] == decimals[1]:
        return None
    for rounding in (_rounded, _truncated):
        left, right = [[rounding(v, coarse) for v in values] for values in (gold, other)]
        if Counter(left) == Counter(right):
            return left, right
    return None


def _is_numeric(values: Sequence[Any]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(is_number(value) and is_measured(value) for value in given)


def _decimals(value: Any) -> int:
    if value is None or isinstance(value, int):
        return 0
    exponent = Decimal(f"{value:.15g}" if isinstance(value, float) else value).normalize()
    return max(0, -int(exponent.as_tuple().exponent))


def _rounded(value: Any, decimals: int) -> Hashable:
    return None if value is None else scaled(value, decimals)


def _truncated(value: Any, decimals: int) -> Hashable:
    if value is None:
        return None
    exact = Decimal(f"{value:.15g}" if isinstance(value, float) else value)
    return int(exact.scaleb(decimals))


def _only_nulls_differ(case: Case, mapping: Assignment) -> bool:
    """Whether rows that differ pair up so that wherever cells differ one of them is null."""
    missing, extra = _leftovers(case, mapping, keyed=True)
    if len(missing) != len(extra) or not 0 < len(missing) <= _NULLISH_PAIRS:
        return False

    def fits(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
        return all(x == y or x is None or y is None for x, y in zip(a, b, strict=True))

    return all_matched(extra, missing, fits)


def _best_guess(case: Case) -> list[int | None]:
    """The predicted column that each answer column most likely stands for.

    By the share of common values, then by name, then by place; greedy, for showing only.
    """
    matcher = Matcher(case.expected, case.columns)
    scores: list[tuple[float, int, int]] = []
    names = [name.casefold() for name in case.names]
    for j, keys in enumerate(matcher.gold_keys):
        bag = Counter(keys[:LARGE])
        for c, values in enumerate(case.columns):
            other = Counter(matcher.readings[matcher.views[j]].keys(values[:LARGE]))
            common = sum((bag & other).values()) / max(1, len(keys[:LARGE]))
            named = names[c] == case.expected.names[j].casefold()
            scores.append((common + 0.5 * named + 0.01 * (c == j), j, c))
    chosen: list[int | None] = [None] * case.width
    used: set[int] = set()
    for _, j, c in sorted(scores, key=lambda s: (-s[0], s[1], s[2])):
        if chosen[j] is None and c not in used:
            chosen[j] = c
            used.add(c)
    return chosen


def _leftovers(
    case: Case, mapping: Sequence[int | None], *, keyed: bool = False
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Gold rows that the prediction lacks and rows it has too many; `keyed`: as exact keys."""
    if None in mapping:
        chosen = [(j, c) for j, c in enumerate(mapping) if c is not None]
        kept = replace(
            case.expected,
            names=tuple(case.expected.names[j] for j, _ in chosen),
            columns=tuple(case.expected.columns[j] for j, _ in chosen),
            coercions=tuple(case.expected.coercions[j] for j, _ in chosen),
            order=(),
        )
        if not chosen:
            return list(zip(*case.expected.columns, strict=True)), []
        narrow = replace(case, expected=kept)
        missing, extra = _leftovers(narrow, [c for _, c in chosen], keyed=keyed)
        return [_spread(r, mapping) for r in missing], [_spread(r, mapping) for r in extra]
    complete = [c for c in mapping if c is not None]
    expected = case.expected
    matcher = Matcher(expected, case.columns)
    tolerant = TolerantPass(matcher)
    pairs = [tolerant.pair(j, c, expected.size) for j, c in enumerate(complete)]
    gold_keys = list(zip(*(pair.gold for pair in pairs), strict=True))
    other_keys = list(zip(*(pair.predicted for pair in pairs), strict=True))
    required = Counter(gold_keys)
    if expected.top_k is not None:
        blocks = matcher.blocks([matcher.gold_keys[j] for j in expected.order])
        numbers = blocks.gold or [0] * blocks.kept
        required = Counter(
            key for key, number in zip(gold_keys, numbers, strict=False) if number != blocks.spare
        )
    lacking = required - Counter(other_keys)
    spare = Counter(other_keys) - Counter(gold_keys)
    gold_rows: Any = gold_keys if keyed else list(zip(*expected.columns, strict=True))
    columns = [case.columns[c] for c in complete]
    other_rows: Any = other_keys if keyed else list(zip(*columns, strict=True))
    return _picked(gold_rows, gold_keys, lacking), _picked(other_rows, other_keys, spare)


def _spread(row: tuple[Any, ...], mapping: Sequence[int | None]) -> tuple[Any, ...]:
    cells = iter(row)
    return tuple("" if c is None else next(cells) for c in mapping)


def _picked(rows: Sequence[Any], keys: Sequence[Any], wanted: Counter[Any]) -> list[Any]:
    """The rows of the wanted keys, each as often as it is wanted, in the table's order."""
    left = dict(wanted)
    picked = []
    for row, key in zip(rows, keys, strict=True):
        if left.get(key, 0):
            left[key] -= 1
            picked.append(row)
    return picked


def _message(kind: Kind, case: Case, missing: int, extra: int, *, relaxed: bool) -> str:
    asked, given = case.width, len(case.columns)
    verb = "is" if case.expected.rows == 1 else "are"
    rows = f"{_count(case.rows, 'row')} where {_count(case.expected.rows, 'row')} {verb} right"
    both = f"{missing} of the gold's rows missing, {extra} too many"
    texts: dict[Kind, str] = {
        "undecided": "the columns are too alike to be told apart within the bound on the work",
        "extra_columns": (
            f"the asked {_count(asked, 'column')} are there"
            if relaxed
            else f"{_count(asked, 'column')} asked for"
        )
        + f", but {given} returned",
        "empty": f"no rows where {_count(case.expected.rows, 'row')} {verb} right",
        "missing_columns": f"{_count(given, 'column')} where {asked} are asked for",
        "order": "the right rows in another order than asked for",
        "duplicates": f"the right distinct rows, repeated differently: {rows}",
        "subset": f"{rows}: {missing} missing, none wrong",
        "superset": f"{rows}: {extra} too many, none missing",
        "case_or_space": "text differs in case or blanks only",
        "type": "values are the same if written down, but of another type",
        "scale": "numbers differ by a factor or in rounding only",
        "null": "cells differ only where one side is null",
        "other": f"rows differ: {both}" if case.rows == case.expected.rows else f"{rows}; {both}",
    }
    text = texts[kind]
    if given > asked and kind not in ("extra_columns", "undecided"):
        text += f"; {_count(given - asked, 'column')} more than asked for"
    return text


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
