"""Properties read of nodes and relationships that never have them: `c.sku` of a (:Customer).

Neo4j answers null to them and warns only of names that nothing bears at all; in SQL and TypeQL the
same slip is an unknown column or attribute. So that it counts the same, it is a `schema_error` here
too, but only where no doubt is left: the variable's labels stand in the pattern that binds it, no
other thing in the query bears its name, and no node with these labels (and any subtype's) could
have the property. Everything else is left to the server.

This reads tokens (`qeval.languages.cypher`), not a tree: what it does not understand, it lets pass.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from qeval.engines.base import QueryError
from qeval.languages.cypher import Token, tokenize

_CLAUSES = frozenset({
    "MATCH", "OPTIONAL", "WITH", "RETURN", "UNWIND", "UNION", "WHERE", "ORDER", "SKIP", "OFFSET",
    "LIMIT", "CALL", "FINISH",
})  # fmt: skip
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True)
class GraphModel:
    """What a mapping says: the properties that bearers of each label and type may have."""

    labels: Mapping[str, frozenset[str]]
    types: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, mapping: Mapping[str, Any]) -> "GraphModel":
        """From a suite's mapping; empty for an empty one."""
        labels: dict[str, set[str]] = {}
        for table, entry in (mapping.get("nodes") or {}).items():
            bearers, names = [entry["label"]], set((entry.get("properties") or {}).values())
            for subtype in (mapping.get("subtypes") or {}).values():
                if subtype["of"] == table:
                    bearers.append(subtype["label"])
                    names.update((subtype.get("properties") or {}).values())
            for values in (mapping.get("lists") or {}).values():
                if values["of"] == table:
                    names.add(values["property"])
            for label in bearers:
                labels.setdefault(label, set()).update(names)
        types: dict[str, set[str]] = {}
        for entry in mapping.get("relationships") or []:
            names = set((entry.get("properties") or {}).values())
            types.setdefault(entry["type"], set()).update(names)
        return cls(
            {name: frozenset(names) for name, names in labels.items()},
            {name: frozenset(names) for name, names in types.items()},
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """All property names there are."""
        return frozenset().union(*self.labels.values(), *self.types.values())


@dataclass(frozen=True, slots=True)
class _Known:
    """What is sure of a variable: how its pattern names it, and what it may have."""

    shown: str
    properties: frozenset[str]


_Scope = dict[str, _Known | None]  # None: bound, but of unknown labels


def refuse_misplaced_properties(query: str, model: GraphModel) -> None:
    """Raise `schema_error` for the first property that its bearer can't have."""
    if not model.labels:
        return
    tokens = list(tokenize(query))
    if any(token.word == "CALL" for token in tokens) or _has_quantified_path(tokens):
        return  # variables that come from elsewhere, or are lists outside
    for token, known in _Reader(tokens, model).misplaced():
        owners = sorted(name for name, has in model.labels.items() if _name(token) in has)
        owners += sorted(name for name, has in model.types.items() if _name(token) in has)
        raise QueryError(
            "schema_error",
            f"{known.shown} has no property `{_name(token)}`; it belongs to {', '.join(owners)}",
            code="qeval.misplaced_property",
            line=token.line,
            column=token.column,
        )


class _Reader:
    """One pass over the tokens of a query, with the variables that are in scope."""

    def __init__(self, tokens: Sequence[Token], model: GraphModel) -> None:
        self._tokens = tokens
        self._model = model
        self._ambiguous = _ambiguous_names(tokens)
        self._scope: _Scope = {}
        self._outer: list[_Scope | None] = []  # None: a bracket that opens no scope
        self._after_with: list[tuple[int, _Scope]] = []

    def misplaced(self) -> Iterator[tuple[Token, _Known]]:
        """Property names that their bearers can't have, in the order of the query."""
        at = 0
        while at < len(self._tokens):
            if self._after_with and self._after_with[-1][0] <= at:
                self._scope = self._after_with.pop()[1]
            token = self._tokens[at]
            if token.text == "(":
                self._outer.append(None)
                at, known = self._pattern(at, ")", "(:%s)", self._model.labels)
                yield from self._keys(at, known)
                continue
            if token.text == "[" and self._text(at - 1) in ("-", "<-"):
                self._outer.append(None)
                at, known = self._pattern(at, "]", "[:%s]", self._model.types)
                yield from self._keys(at, known)
                continue
            if token.text in "[{":
                self._outer.append(dict(self._scope))
            elif token.text in _CLOSE and self._outer:
                saved = self._outer.pop()
                self._scope = self._scope if saved is None else saved
            elif token.word == "UNION":
                self._scope = dict(next((one for one in self._outer[::-1] if one is not None), {}))
            elif token.word == "WITH" and self._text(at - 1) not in (".", ":"):
                if self._word(at - 1) not in ("STARTS", "ENDS"):
                    self._after_with.append(self._carried(at))
            else:
                yield from self._accesses(at)
            at += 1

    def _pattern(
        self, at: int, end: str, form: str, having: Mapping[str, frozenset[str]]
    ) -> tuple[int, _Known | None]:
        """Read `(name:Label` or `[name:TYPE` at `at`; where it goes on, and what is sure."""
        at += 1
        variable = None
        if self._is_name(at) and (
            self._text(at + 1) in (":", "{", "*", end) or self._word(at + 1) in ("WHERE", "IS")
        ):
            variable = _name(self._tokens[at])
            at += 1
        known, after = None, at
        if self._text(at) == ":":
            known, after = self._labels(at, end, form, having)
        if variable is not None:
            known = self._bind(variable, None if self._is_list(after, end) else known)
        return after, known

    def _labels(
        self, at: int, end: str, form: str, having: Mapping[str, frozenset[str]]
    ) -> tuple[_Known | None, int]:
        """Read a label expression at `at`; where it goes on, and what is sure.

        Nothing is sure of negations and wildcards, of what is in brackets or computed, and of what
        is no pattern but a predicate: (n:A OR n:B).
        """
        names, start = [], at
        while self._text(at) not in (end, "{", "*") and self._word(at) != "WHERE":
            if at >= len(self._tokens):
                return None, start
            token = self._tokens[at]
            if token.kind == "parameter":
                break
            if token.kind in ("word", "quoted") and self._text(at - 1) in (":", "|", "&"):
                names.append(_name(token))
            elif token.text not in (":", "|", "&"):
                return None, start
            at += 1
        if not names or any(name not in having for name in names):
            return None, at
        return _Known(form % "|".join(names), frozenset().union(*(having[n] for n in names))), at

    def _bind(self, variable: str, known: _Known | None) -> _Known | None:
        if variable in self._ambiguous:
            return None
        if variable not in self._scope:
            self._scope[variable] = known
            return known
        before = self._scope[variable]
        if before is not None and known is not None and known != before:
            both = before.properties | known.properties
            self._scope[variable] = _Known(before.shown, both)
        return self._scope[variable]

    def _is_list(self, at: int, end: str) -> bool:
        """Whether a relationship's variable holds a list: `*1..3`, `]->+`, `]-{1,3}`."""
        if end == ")":
            return False
        if self._text(at) == "*":
            return True
        close = next((n for n in range(at, len(self._tokens)) if self._text(n) == "]"), at)
        return self._text(close + 1) in ("-", "->") and self._text(close + 2) in ("+", "*", "{")

    def _keys(self, at: int, known: _Known | None) -> Iterator[tuple[Token, _Known]]:
        """Keys of the map that stands at `at` in a pattern."""
        if known is None or self._text(at) != "{":
            return
        depth = 0
        for here in range(at, len(self._tokens)):
            text = self._text(here)
            depth += (text in _OPEN) - (text in _CLOSE)
            if depth == 0:
                return
            if depth == 1 and text in ("{", ",") and self._text(here + 2) == ":":
                yield from self._unless_had(here + 1, known)

    def _accesses(self, at: int) -> Iterator[tuple[Token, _Known]]:
        """`v.name` and `v {.name, …}` at `at`."""
        if not self._is_name(at) or self._text(at - 1) == ".":
            return
        known = self._scope.get(_name(self._tokens[at]))
        if known is None or _name(self._tokens[at]) in self._ambiguous:
            return
        if self._text(at + 1) == ".":
            end = at + 3
            while self._text(end) == ".":
                end += 2
            if self._text(end) != "(":  # else a function of that namespace
                yield from self._unless_had(at + 2, known)
        elif self._text(at + 1) == "{":
            depth = 0
            for here in range(at + 1, len(self._tokens)):
                text = self._text(here)
                depth += (text in _OPEN) - (text in _CLOSE)
                if depth == 0:
                    return
                if depth == 1 and text in ("{", ",") and self._text(here + 1) == ".":
                    yield from self._unless_had(here + 2, known)

    def _unless_had(self, at: int, known: _Known) -> Iterator[tuple[Token, _Known]]:
        if self._is_name(at):
            token = self._tokens[at]
            if _name(token) in self._model.names and _name(token) not in known.properties:
                yield token, known

    def _carried(self, at: int) -> tuple[int, _Scope]:
        """Where the items of the WITH at `at` end, and the scope that they leave."""
        depth, start, end = 0, at + 1, at + 1
        items: list[Sequence[Token]] = []
        while end < len(self._tokens):
            token = self._tokens[end]
            if depth == 0 and (token.text in _CLOSE or self._ends_items(end)):
                break
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
            if depth == 0 and token.text == ",":
                items.append(self._tokens[start:end])
                start = end + 1
            end += 1
        items.append(self._tokens[start:end])
        carried: _Scope = {}
        for item in items:
            plain = item[1:] if item and item[0].word == "DISTINCT" else item
            if len(plain) == 1 and plain[0].text == "*":
                carried |= self._scope
            elif len(plain) == 1 and _name(plain[0]) in self._scope:
                carried[_name(plain[0])] = self._scope[_name(plain[0])]
        return end, carried

    def _ends_items(self, at: int) -> bool:
        if self._tokens[at].word not in _CLAUSES or self._text(at - 1) in (".", ":", "{", ","):
            return False
        return self._word(at - 1) not in ("STARTS", "ENDS", "AS")

    def _is_name(self, at: int) -> bool:
        return 0 <= at < len(self._tokens) and self._tokens[at].kind in ("word", "quoted")

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _word(self, at: int) -> str:
        return self._tokens[at].word if 0 <= at < len(self._tokens) else ""


def _ambiguous_names(tokens: Sequence[Token]) -> set[str]:
    """Names that something else than a pattern's element may bear somewhere in the query."""
    found = set()
    texts = ["", *(token.text for token in tokens), "", ""]
    words = ["", *(token.word for token in tokens), "", ""]
    for at, token in enumerate(tokens, 1):
        if token.kind not in ("word", "quoted"):
            continue
        alias = words[at - 1] in ("AS", "YIELD")
        element = words[at + 1] == "IN" and texts[at - 1] in ("(", "[", ",")
        path = texts[at + 1] == "=" and (texts[at - 1] in ("(", ",") or words[at - 1] == "MATCH")
        if alias or element or path:
            found.add(_name(token))
    return found


def _has_quantified_path(tokens: Sequence[Token]) -> bool:
    """Whether there is something like `((a)-[r]->(b)){1,3}`, whose variables are lists outside."""
    opened = []
    for at, token in enumerate(tokens):
        if token.text == "(":
            opened.append(at)
        elif token.text == ")" and opened:
            start = opened.pop()
            after = tokens[at + 1].text if at + 1 < len(tokens) else ""
            if after in ("+", "*", "{") and tokens[start + 1].text == "(":
                return True
    return False


def _name(token: Token) -> str:
    return token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text
