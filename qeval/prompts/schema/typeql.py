"""TypeQL schemas: `definition` as written, `summary` with attributes, roles and cardinalities."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from qeval.prompts.schema.model import Item, SchemaDocument, both_ways

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast import Function, TypeDefinition

SUMMARY_HEAD = (
    "# type [sub supertype]: attribute value-type [@annotations], …; relation roles (types that "
    "play them)\n# no @card means: an attribute or role is there once or not at all"
)


def parse(text: str) -> SchemaDocument:
    """Cut a define query into entities, relations and functions, with the attributes they own."""
    from qeval.typeql.errors import TypeQLError
    from qeval.typeql.syntax import parse_queries
    from qeval.typeql.syntax.ast import Define, Function, TypeDefinition

    try:
        queries = [getattr(query, "body", query) for query in parse_queries(text)]
    except TypeQLError:
        return SchemaDocument("typeql", text)
    defined = [item for query in queries if isinstance(query, Define) for item in query.items]
    types = _merged(item for item in defined if isinstance(item, TypeDefinition))
    bodies: dict[str, str] = {}
    for item in defined:
        if isinstance(item, TypeDefinition):
            bodies[item.label.name] = bodies.get(item.label.name, "") + _body(text, item)
    reader = _Reader(types, bodies)
    items = [reader.item(definition) for definition in types.values()]
    items += [
        _function(item, text, frozenset(types)) for item in defined if isinstance(item, Function)
    ]
    if not items:
        return SchemaDocument("typeql", text)
    return SchemaDocument(
        "typeql",
        text,
        ("definition", "summary"),
        tuple(both_ways(items)),
        (_top(text) + "define", SUMMARY_HEAD),
    )


class _Reader:
    """Items out of type definitions that refer to each other."""

    def __init__(self, types: "Mapping[str, TypeDefinition]", bodies: Mapping[str, str]) -> None:
        self.types = types
        self.bodies = bodies
        self.players: dict[str, list[str]] = {}
        for name, definition in types.items():
            for played in _capabilities(definition, "DefinePlays"):
                role = f"{played.role.scope}:{played.role.name}"
                self.players.setdefault(role, []).append(name)

    def item(self, definition: "TypeDefinition") -> Item:
        name = definition.label.name
        supertype = self.supertype(definition)
        owned = [str(owns.attribute.name) for owns in _capabilities(definition, "DefineOwns")]
        roles = [str(relates.role.name) for relates in _capabilities(definition, "DefineRelates")]
        plays = [str(p.role.scope) for p in _capabilities(definition, "DefinePlays")]
        players = [who for role in roles for who in self.players.get(f"{name}:{role}", ())]
        up = [supertype] if supertype else []
        return Item(
            name=name,
            names=(name, *owned, *roles),
            texts=(self.bodies[name], self.summary(definition)),
            comment=_comments(self.bodies[name]),
            links=frozenset({*plays, *players, *up}) - {name},
            needs=frozenset({*owned, *up}) - {name},
            joins=self.kind(name) == "relation",
            detail=self.kind(name) == "attribute",
        )

    def summary(self, definition: "TypeDefinition") -> str:
        """One line: attributes with their value types; roles with who plays them.

        An attribute is told where it is owned; only a hierarchy of attributes has own lines.
        """
        name = definition.label.name
        supertype = self.supertype(definition)
        marks = "".join(f" {_source(a)}" for a in definition.annotations)
        line = f"{self.kind(name)} {name}" + (f" sub {supertype}" if supertype else "") + marks
        if self.kind(name) == "attribute":
            return f"{line} {self.value_type(name)}" if supertype or marks else ""
        parts = [
            f"{owns.attribute.name} {self.value_type(owns.attribute.name)}"
            + "".join(f" {_source(a)}" for a in owns.annotations)
            for owns in _capabilities(definition, "DefineOwns")
        ]
        for relates in _capabilities(definition, "DefineRelates"):
            who = "|".join(self.players.get(f"{name}:{relates.role.name}", ()))
            as_role = f" as {relates.specialises.name}" if relates.specialises else ""
            marks = "".join(f" {_source(a)}" for a in relates.annotations)
            parts.append(f"relates {relates.role.name}{as_role} ({who}){marks}")
        for played in _capabilities(definition, "DefinePlays"):
            marks = "".join(f" {_source(a)}" for a in played.annotations)
            if marks:
                parts.append(f"plays {played.role.scope}:{played.role.name}{marks}")
        return line + (": " + ", ".join(parts) if parts else "")

    def kind(self, name: str) -> str:
        definition = self.types.get(name)
        if definition is None:
            return ""
        if definition.kind is not None:
            return str(definition.kind)
        supertype = self.supertype(definition)
        return self.kind(supertype) if supertype else ""

    def supertype(self, definition: "TypeDefinition") -> str | None:
        for sub in _capabilities(definition, "DefineSub"):
            return str(sub.type.name)
        return None

    def value_type(self, name: str) -> str:
        """An attribute's value type, its own or inherited, with the values it may take."""
        definition = self.types.get(name)
        if definition is None:
            return ""
        marks = "".join(f" {_source(a)}" for a in definition.annotations)
        for value in _capabilities(definition, "DefineValue"):
            return str(value.value_type) + "".join(f" {_source(a)}" for a in value.annotations)
        supertype = self.supertype(definition)
        return self.value_type(supertype) + marks if supertype else ""


def _capabilities(definition: "TypeDefinition", kind: str) -> list[Any]:
    return [c for c in definition.capabilities if type(c).__name__ == kind]


def _merged(definitions: "Iterator[TypeDefinition]") -> "dict[str, TypeDefinition]":
    """A type may be defined in several pieces."""
    found: dict[str, TypeDefinition] = {}
    for definition in definitions:
        before = found.get(definition.label.name)
        found[definition.label.name] = (
            definition
            if before is None
            else replace(
                before,
                kind=before.kind or definition.kind,
                annotations=(*before.annotations, *definition.annotations),
                capabilities=(*before.capabilities, *definition.capabilities),
            )
        )
    return found


def _function(function: "Function", text: str, types: frozenset[str]) -> Item:
    import re

    body = _body(text, function)
    used = frozenset(re.findall(r"[\w-]+", body)) & types
    name = function.name
    return Item(
        name, (name,), (body, body.strip()), _comments(body), links=used, needs=used, joins=True
    )


def _body(text: str, node: Any) -> str:
    """An item's source: the comment lines above it, its text, the comment at its end."""
    begin, end = node.span
    line_start = text.rfind("\n", 0, begin) + 1
    above: list[str] = []
    for line in reversed(text[:line_start].split("\n")[:-1]):
        if not line.strip().startswith("#"):
            break
        above.insert(0, line)
    stop = end
    if text[end - 1] != ";":
        stop = text.find(";", end) + 1 or len(text)
    rest = text[stop:].split("\n", 1)[0]
    tail = rest if rest.strip().startswith("#") else ""
    indent = text[line_start:begin] if not text[line_start:begin].strip() else ""
    # The first comment of a file speaks of all of it and stands in the document's head.
    kept = [line for line in above if line not in _top(text)]
    return "".join(f"{line}\n" for line in kept) + indent + text[begin:stop] + tail


def _top(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _comments(body: str) -> str:
    return " ".join(line.partition("#")[2].strip() for line in body.splitlines() if "#" in line)


def _source(annotation: Any) -> str:
    """An annotation as it is written."""
    kind = type(annotation).__name__
    match kind:
        case "Flag":
            return f"@{annotation.name}"
        case "Card" | "Range":
            low = "" if annotation.low is None else _literal(annotation.low)
            high = "" if annotation.high is None else _literal(annotation.high)
            bounds = low if kind == "Card" and low == high else f"{low}..{high}"
            return f"@{kind.lower()}({bounds})"
        case "Values":
            return "@values(" + ", ".join(_literal(value) for value in annotation.values) + ")"
        case "Regex":
            return f"@regex({_literal(annotation.pattern)})"
        case _:
            return f"@{kind.lower()}"


def _literal(value: Any) -> str:
    text = getattr(value, "text", None)
    return str(text if text is not None else getattr(value, "value", value))
