"""A slow evaluator of patterns, obviously right: it tries every binding of every variable.

It knows nothing of the engine but its instances. Patterns are small trees of their own
(:class:`Pattern`) that can be written as TypeQL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from qeval.typeql.store import Attribute, Object, Relation, Store, Thing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qeval.typeql.schema import Type

Env = dict[str, Any]


@dataclass(frozen=True)
class Isa:
    var: str
    label: str
    exact: bool = False

    def text(self) -> str:
        return f"${self.var} isa{'!' if self.exact else ''} {self.label};"


@dataclass(frozen=True)
class Has:
    owner: str
    label: str
    attribute: str

    def text(self) -> str:
        return f"${self.owner} has {self.label} ${self.attribute};"


@dataclass(frozen=True)
class HasValue:
    owner: str
    label: str
    op: str
    value: int

    def text(self) -> str:
        return f"${self.owner} has {self.label} {self.op} {self.value};"


@dataclass(frozen=True)
class Links:
    """``relation`` None stands for a relation without a variable."""

    relation: str | None
    players: tuple[tuple[str | None, str], ...]

    def text(self) -> str:
        inside = ", ".join(f"{role}: ${var}" if role else f"${var}" for role, var in self.players)
        return f"${self.relation} links ({inside});" if self.relation else f"bond ({inside});"


@dataclass(frozen=True)
class Compare:
    left: str
    op: str
    right: str | int

    def text(self) -> str:
        right = f"${self.right}" if isinstance(self.right, str) else str(self.right)
        return f"${self.left} {self.op} {right};"


@dataclass(frozen=True)
class Same:
    left: str
    right: str

    def text(self) -> str:
        return f"${self.left} is ${self.right};"


Statement = Isa | Has | HasValue | Links | Compare | Same


@dataclass(frozen=True)
class Pattern:
    statements: tuple[Statement, ...] = ()
    ors: tuple[tuple[Pattern, ...], ...] = ()
    nots: tuple[Pattern, ...] = ()
    tries: tuple[Pattern, ...] = field(default=())

    def text(self) -> str:
        parts = [statement.text() for statement in self.statements]
        parts += [" or ".join(f"{{ {one.text()} }}" for one in either) + ";" for either in self.ors]
        parts += [f"not {{ {inner.text()} }};" for inner in self.nots]
        parts += [f"try {{ {inner.text()} }};" for inner in self.tries]
        return " ".join(parts)

    def variables(self) -> list[str]:
        """Return the variables of the statements themselves, in order."""
        names: list[str] = []
        for statement in self.statements:
            match statement:
                case Isa(var=var) | HasValue(owner=var):
                    names.append(var)
                case Has():
                    names += [statement.owner, statement.attribute]
                case Links():
                    names += [var for _, var in statement.players]
                    names += [statement.relation] if statement.relation else []
                case Compare():
                    names += [n for n in (statement.left, statement.right) if isinstance(n, str)]
                case Same():
                    names += [statement.left, statement.right]
        return list(dict.fromkeys(names))


def solve(store: Store, pattern: Pattern, given: Env) -> Iterator[Env]:
    """Yield every binding that satisfies a pattern, extending ``given``; some more than once."""
    things: list[Thing] = [thing for things in store.objects.values() for thing in things]
    things += [a for values in store.attributes.values() for a in values.values()]
    names = [name for name in pattern.variables() if name not in given]
    for choice in product(things, repeat=len(names)):
        env = {**given, **dict(zip(names, choice, strict=True))}
        if all(_holds(store, statement, env) for statement in pattern.statements):
            yield from _nested(store, pattern, env)


def _nested(store: Store, pattern: Pattern, env: Env) -> Iterator[Env]:
    envs = [env]
    for branches in pattern.ors:
        envs = [more for one in envs for branch in branches for more in solve(store, branch, one)]
    for inner in pattern.nots:
        envs = [one for one in envs if next(solve(store, inner, one), None) is None]
    for inner in pattern.tries:
        extended = []
        for one in envs:
            found = list(solve(store, inner, one))
            empty = {name: None for name in inner.variables() if name not in one}
            extended += found or [{**one, **empty}]
        envs = extended
    yield from envs


def _holds(  # noqa: PLR0911 - one a kind
    store: Store, statement: Statement, env: Env
) -> bool:
    match statement:
        case Isa():
            type_ = env[statement.var].type
            labels = [type_.label] if statement.exact else _labels(type_)
            return statement.label in labels
        case Has():
            attribute = env[statement.attribute]
            owned = _owned(env[statement.owner], statement.label)
            return any(attribute is other for other in owned)
        case HasValue():
            owned = _owned(env[statement.owner], statement.label)
            return any(_compared(a.value, statement.op, statement.value) for a in owned)
        case Compare():
            left, right = env[statement.left], statement.right
            right = env[right] if isinstance(right, str) else right
            if not isinstance(left, Attribute) or not isinstance(right, Attribute | int):
                return False
            other = right.value if isinstance(right, Attribute) else right
            return _compared(left.value, statement.op, other)
        case Same():
            return env[statement.left] is env[statement.right]
        case Links():
            if statement.relation is not None:
                return _linked(env[statement.relation], statement, env)
            return any(
                _linked(relation, statement, env)
                for things in store.objects.values()
                for relation in things
                if "bond" in _labels(relation.type)
            )


def _linked(relation: Any, statement: Links, env: Env) -> bool:
    """Tell whether different edges of a relation can stand for all players written."""
    if not isinstance(relation, Relation):
        return False
    edges = [(role, end) for role, ends in relation.players.items() for end in ends]
    for chosen in product(range(len(edges)), repeat=len(statement.players)):
        if len(set(chosen)) == len(chosen) and all(
            edges[index][1] is env[var] and name in (None, edges[index][0].name)
            for index, (name, var) in zip(chosen, statement.players, strict=True)
        ):
            return True
    return False


def _owned(owner: Any, label: str) -> list[Attribute]:
    if not isinstance(owner, Object):
        return []
    return [a for type_, owned in owner.has.items() if label in _labels(type_) for a in owned]


def _labels(type_: Type | None) -> list[str]:
    return [] if type_ is None else [type_.label, *_labels(type_.parent)]


def _compared(left: Any, op: str, right: Any) -> bool:
    return bool(
        {
            "==": left == right,
            "!=": left != right,
            "<": left < right,
            ">": left > right,
        }[op]
    )
