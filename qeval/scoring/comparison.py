"""Comparing a prediction's table with the gold's: `compare`.

The rules in full are in docs/comparison.md. In short: columns are assigned jointly, names decide
nothing, rows are a bag of typed cells, and order counts only where the case declares it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from qeval.errors import did_you_mean
from qeval.scoring.assignment import Assignment, Undecided
from qeval.scoring.coercion import Coercion, view_of
from qeval.scoring.difference import Difference
from qeval.scoring.explain import Case, explain
from qeval.scoring.matching import Blocks, Expected, Matcher, runs
from qeval.scoring.spec import AnswerSpec, Column, Policy
from qeval.scoring.table import Table
from qeval.scoring.tolerant import find
from qeval.scoring.values import Map, Node, canonical


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of `compare`.

    `equal`: strictly the asked columns and rows. `relaxed_equal`: they are all there, with further
    columns around them or inside whole nodes. `inconclusive`: both tables are empty, which says
    nothing about the query; another instance must decide. `mapping[j]` is the index of the
    predicted column that is the answer's column j (None unless equal); `relaxed_mapping` names the
    same where only the relaxed view holds (`u.name` is a property of column `u`).
    `difference` is None if and only if `equal`.
    """

    equal: bool
    relaxed_equal: bool
    inconclusive: bool = False
    difference: Difference | None = None
    mapping: Assignment | None = None
    relaxed_mapping: tuple[str, ...] | None = None


class UndeclaredError(ValueError):
    """The gold's table is not what the case declares: `compare` can't judge anything by it."""


_DEFAULT_SPEC = AnswerSpec()
_DEFAULT_POLICY = Policy()


def compare(
    gold: Table,
    predicted: Table,
    spec: AnswerSpec = _DEFAULT_SPEC,
    policy: Policy = _DEFAULT_POLICY,
) -> Comparison:
    """Compare a prediction's table with the gold's.

    Both take plain Python or drivers' values. Cost: near linear in rows. Raises `UndeclaredError`
    (a `ValueError`) when `spec` doesn't fit the gold: other columns, an unknown order key.
    """
    try:
        return _compare(gold, predicted, spec, policy)
    except RecursionError:
        deep = Difference("undecided", "values are nested too deeply to be compared")
        return Comparison(equal=False, relaxed_equal=False, difference=deep)


def _compare(gold: Table, predicted: Table, spec: AnswerSpec, policy: Policy) -> Comparison:
    gold_columns = canonical_columns(gold)
    columns = canonical_columns(predicted)
    expected = expect(gold, gold_columns, spec, policy)
    if spec.all_ties:
        expected = _as_listed(expected, len(predicted))
    preferred = _by_name(expected.names, predicted.columns) or tuple(range(len(expected.names)))
    inconclusive = not expected.size and not len(predicted)
    undecided = False
    if len(columns) == len(expected.names) and len(predicted) == expected.rows:
        try:
            mapping = _match(expected, columns, len(predicted), preferred)
        except Undecided:
            undecided = True
        else:
            if mapping is not None:
                return Comparison(
                    equal=True, relaxed_equal=True, inconclusive=inconclusive, mapping=mapping
                )
    relaxed = None if undecided else _relaxed(expected, predicted, columns)
    case = Case(expected, predicted.columns, columns, len(predicted), preferred)
    return Comparison(
        equal=False,
        relaxed_equal=relaxed is not None,
        inconclusive=inconclusive,
        difference=explain(case, relaxed=relaxed is not None, undecided=undecided),
        relaxed_mapping=relaxed,
    )


def expect(
    gold: Table, columns: Sequence[Sequence[Any]], spec: AnswerSpec, policy: Policy
) -> Expected:
    """Bring a gold's columns into the declared order and decide how each is read."""
    declared = spec.columns or tuple(Column(name) for name in gold.columns)
    if len(declared) != len(gold.columns):
        raise UndeclaredError(
            f"the answer declares {len(declared)} columns "
            f"({', '.join(c.name for c in declared)}), but the gold returned "
            f"{len(gold.columns)} ({', '.join(gold.columns)})"
        )
    names = [column.name for column in declared]
    places = _by_name(names, gold.columns) or range(len(names))
    ordered = tuple(columns[place] for place in places)
    coercions = tuple(
        Coercion.of_gold(view_of(column, values, policy), policy, values)
        for column, values in zip(declared, ordered, strict=True)
    )
    for key in spec.order_by:
        if names.count(key.column) != 1:
            hint = did_you_mean(key.column, names)
            raise UndeclaredError(
                f"`order_by` names {key.column!r}, which is not one of the answer's columns "
                f"{', '.join(names)}.{hint}"
            )
    order = tuple(names.index(key.column) for key in spec.order_by)
    return Expected(tuple(names), ordered, coercions, order, spec.top_k, len(gold))


def _as_listed(expected: Expected, rows: int) -> Expected:
    """Ask for every row tied with the k-th, where the prediction lists just as many."""
    if expected.size <= expected.rows or rows == expected.rows:
        return expected
    keys = [expected.coercions[c].keys(expected.columns[c]) for c in expected.order]
    kept = Blocks.of(runs(keys, expected.size) if keys else None, expected).kept
    return replace(expected, top_k=kept) if rows == kept else expected


def canonical_columns(table: Table) -> list[Sequence[Any]]:
    """The columns of a table, each a sequence of canonical values."""
    if not table.rows:
        return [()] * len(table.columns)
    return [canonical.column(values) for values in zip(*table.rows, strict=True)]


def _plain_name(name: str) -> str:
    return name.casefold().replace("-", "_").lstrip("?$")


def _by_name(names: Sequence[str], others: Sequence[str]) -> tuple[int, ...] | None:
    """Where each of `names` is among `others`, if every name is there exactly once."""
    plain = [_plain_name(name) for name in names]
    places = {_plain_name(name): i for i, name in enumerate(others)}
    if len(places) != len(others) or len(set(plain)) != len(plain):
        return None
    return tuple(places[name] for name in plain) if set(plain) <= set(places) else None


def _match(
    expected: Expected, columns: Sequence[Sequence[Any]], rows: int, preferred: Assignment
) -> Assignment | None:
    if not expected.names:
        return () if rows == expected.rows else None
    return find(Matcher(expected, columns, preferred))


def _relaxed(
    expected: Expected, predicted: Table, columns: Sequence[Sequence[Any]]
) -> tuple[str, ...] | None:
    """The names of the columns and properties that hold the whole answer, if there are any."""
    names, wide = expand(predicted.columns, columns)
    if len(wide) < len(expected.names) or len(predicted) != expected.rows:
        return None
    if len(wide) == len(columns) == len(expected.names):
        return None
    preferred = _by_name(expected.names, names) or ()
    try:
        found = _match(expected, wide, len(predicted), preferred)
    except Undecided:
        return None
    return None if found is None else tuple(names[c] for c in found)


def expand(
    names: Sequence[str], columns: Sequence[Sequence[Any]]
) -> tuple[list[str], list[Sequence[Any]]]:
    """Columns followed by one for each property of columns that hold whole nodes or maps."""
    wide_names, wide = list(names), list(columns)
    for name, values in zip(names, columns, strict=True):
        classes = set(map(type, values)) - {type(None)}
        if classes not in ({Node}, {Map}):
            continue
        inside = [dict(() if v is None else getattr(v, "properties", v)) for v in values]
        for inner in sorted({key for properties in inside for key in properties}):
            wide_names.append(f"{name}.{inner}")
            wide.append([properties.get(inner) for properties in inside])
    return wide_names, wide
