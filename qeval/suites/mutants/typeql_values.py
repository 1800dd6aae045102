"""Near misses of values and of what is made of them: literals, attributes, aggregates, order."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from qeval.suites.mutants.base import Mutant
from qeval.suites.mutants.near_literals import beside
from qeval.suites.mutants.typeql_schema import types_of
from qeval.suites.mutants.typeql_scopes import Block, Reading, Routine, names, nodes
from qeval.suites.mutants.typeql_text import (
    Edit,
    account,
    changed,
    dropped,
    edited,
    erased,
    replaced,
    source,
    without_item,
)
from qeval.typeql.schema import Type
from qeval.typeql.syntax import ast

_SWAPPED = {"sum": ("mean", "count"), "mean": ("sum",), "min": ("max",), "max": ("min",),
            "median": ("mean",), "std": ("mean",)}  # fmt: skip
_NUMBER = re.compile(r"(?P<number>-?\d+(?:\.\d+)?)(?P<suffix>dec)?")


def literals(reading: Reading, block: Block) -> Iterator[Mutant]:
    """Literals changed: numbers and dates by one up and down, one admitted value for another."""
    text = reading.text
    for pattern in block.patterns:
        for node in nodes(pattern, into_blocks=False):
            for literal, attribute, is_regex in _literals_in(reading, block, node):
                for other in _neighbours(literal, attribute, is_regex=is_regex):
                    yield changed("literal", text, pattern, replaced(literal, other))


def _literals_in(
    reading: Reading, block: Block, node: ast.Node
) -> Iterator[tuple[ast.Literal, Type | None, bool]]:
    """The literals right below a node, with the attribute type each is compared with."""
    match node:
        case ast.Has(ast.Label(label), ast.Literal() as literal):
            yield literal, reading.schema.find(label), False
        case ast.Has(ast.Label(label), ast.Comparison(word, ast.Literal() as literal)):
            yield literal, reading.schema.find(label), word == "like"
        case ast.ComparisonStatement(left, ast.Comparison(word, ast.Literal() as literal)):
            name = left.name if isinstance(left, ast.Variable) else None
            yield literal, _attribute(reading, block, name), word == "like"
        case ast.Assignment(_, ast.Literal() as literal):
            yield literal, None, False
        case ast.Call(_, arguments):
            yield from ((item, None, False) for item in arguments if isinstance(item, ast.Literal))
        case ast.Operation(_, left, right):
            yield from ((item, None, False) for item in (left, right)
                        if isinstance(item, ast.Literal))  # fmt: skip


def _attribute(reading: Reading, block: Block, name: str | None) -> Type | None:
    """The attribute type of a variable, if it is plain."""
    if name is None:
        return None
    types = types_of(name, reading.bounds(block.patterns), block.known)
    found = reading.schema.members(types) if types > 0 else []
    return found[0] if len(found) == 1 else None


def _neighbours(literal: ast.Literal, attribute: Type | None, *, is_regex: bool) -> Iterator[str]:
    text = literal.text
    if literal.value_type == "boolean":
        yield "false" if text == "true" else "true"
    elif literal.value_type == "string":
        yield from _other_strings(text, attribute, is_regex=is_regex)
    elif literal.value_type in ("date", "datetime"):
        moment = datetime.fromisoformat(text)
        for days in (1, -1):
            yield (moment + timedelta(days=days)).isoformat()[: len(text)]
    elif literal.value_type == "duration":
        first = re.search(r"\d+", text)
        assert first is not None
        for count in (int(first[0]) + 1, int(first[0]) - 1):
            yield f"{text[: first.start()]}{count}{text[first.end() :]}"
    elif found := _NUMBER.fullmatch(text):
        yield from (f"{other}{found['suffix'] or ''}" for other in beside(found["number"]))


def _other_strings(text: str, attribute: Type | None, *, is_regex: bool) -> Iterator[str]:
    quote, inner = text[0], text[1:-1]
    if is_regex and inner.startswith("^"):
        yield f"{quote}{inner[1:]}{quote}"
    admitted = attribute.limits.values if attribute is not None and attribute.limits else None
    if admitted and inner in admitted:
        values = list(admitted)
        yield f"{quote}{values[(values.index(inner) + 1) % len(values)]}{quote}"
    else:
        yield f"{quote}{inner}x{quote}"


def attributes(reading: Reading, block: Block) -> Iterator[Mutant]:
    """Attributes read as another of the same value type that the same things own."""
    for statement in block.patterns:
        if not isinstance(statement, ast.ThingStatement | ast.RelationStatement):
            continue
        for atom in statement.constraints:
            if not isinstance(atom, ast.Has) or not isinstance(atom.type, ast.Label):
                continue
            attribute = reading.schema.find(atom.type.name)
            owners = reading.schema.members(max(0, reading.owners(block, statement, atom)))
            owned = dict.fromkeys(other for owner in owners for other in owner.owns)
            for other in owned:
                if attribute not in (None, other) and other.value_type == attribute.value_type:
                    edit = replaced(atom.type, other.label)
                    yield changed("attribute", reading.text, statement, edit)


def stages(reading: Reading, routine: Routine) -> Iterator[Mutant]:
    """Changes to the stages behind a match, and to what a function returns."""
    text = reading.text
    for index, stage in enumerate(routine.stages):
        match stage:
            case ast.Distinct():
                yield dropped("distinct", text, stage, erased(text, *stage.span))
            case ast.Sort(keys):
                for key in keys:
                    word = "" if key.descending else " desc"
                    edit = replaced(key, source(text, key.variable) + word)
                    yield changed("sort", text, stage, edit)
            case ast.Limit(count) | ast.Offset(count):
                for other in (int(count.text) + 1, int(count.text) - 1):
                    yield changed("limit", text, stage, replaced(count, str(other)))
            case ast.Reduce():
                yield from _aggregates(reading, stage, [item.reducer for item in stage.reductions])
                yield from _grouping(reading, routine, index, stage)
    if isinstance(routine.node, ast.Function):
        result = routine.node.body.result
        if isinstance(result, ast.ReturnReduce):
            yield from _aggregates(reading, result, result.reducers)


def _aggregates(
    reading: Reading, scene: ast.Reduce | ast.ReturnReduce, reducers: Sequence[ast.Reducer]
) -> Iterator[Mutant]:
    for reducer in reducers:
        text = reading.text
        if reducer.variable is None:
            continue
        begin = reducer.span.begin
        for other in _SWAPPED.get(reducer.name, ()):
            edit = Edit(begin, begin + len(reducer.name), other)
            yield changed("aggregate", text, scene, edit)
        if reducer.name == "count":
            yield changed("aggregate", text, scene, replaced(reducer, "count"))


def _grouping(
    reading: Reading, routine: Routine, index: int, stage: ast.Reduce
) -> Iterator[Mutant]:
    """Keys dropped that no later stage needs; without any left there is one group of all."""
    later = names(*routine.stages[index + 1 :])
    if isinstance(routine.node, ast.Function):
        later |= names(routine.node.body.result)
    elif routine.node.fetch is not None:
        later |= names(routine.node.fetch)
    for place, key in enumerate(stage.groupby):
        if key.name in later:
            continue
        if len(stage.groupby) > 1:
            edit = without_item(stage.groupby, place)
        else:
            edit = Edit(stage.reductions[-1].span.end, key.span.end)
        yield changed("grouping", reading.text, stage, edit)


def recursions(reading: Reading) -> Iterator[Mutant]:
    """Calls of the schema's recursive functions that go but one step."""
    own = {function.name for function in reading.query.functions}
    for call in nodes(reading.query):
        if not isinstance(call, ast.Call) or call.name in own:
            continue
        function = reading.functions.get(call.name)
        cut = _cut_short(reading.definitions, function) if function is not None else None
        if function is None or cut is None:
            continue
        name = f"{call.name}-once"
        head = cut.replace(call.name, name, 1)
        begin, end = reading.query.span.begin, call.span.begin + len(call.name)
        edits = [Edit(begin, begin, f"with {head}\n"), Edit(call.span.begin, end, name)]
        change = f"{account(reading.text, call)} without its recursive step"
        yield Mutant("path-length", change, edited(reading.text, edits))


def _cut_short(definitions: str, function: ast.Function) -> str | None:
    """The text of a function without the branches in which it calls itself; None if it has none."""
    begin = function.span.begin
    edits = []
    for node in nodes(function):
        branches = node.branches if isinstance(node, ast.Disjunction) else ()
        for index, branch in enumerate(branches):
            inner = nodes(branch)
            if any(isinstance(part, ast.Call) and part.name == function.name for part in inner):
                edit = without_item(branches, index)
                edits.append(Edit(edit.begin - begin, edit.end - begin))
    return edited(source(definitions, function), edits) if len(edits) == 1 else None
