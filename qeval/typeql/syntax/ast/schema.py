"""What define, redefine and undefine hold, and a query as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from typing import Literal as OneOf

from qeval.typeql.syntax.ast.names import Kind, Label, Node, ScopedLabel
from qeval.typeql.syntax.ast.pipeline import Function, Pipeline

if TYPE_CHECKING:
    from qeval.typeql.syntax.ast.annotations import Annotation
    from qeval.typeql.syntax.ast.values import Literal


@dataclass(frozen=True, slots=True)
class DefineSub(Node):
    """`sub type`."""

    type: Label
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class DefineAlias(Node):
    """`alias name`: parsed, not implemented."""

    label: Label
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class DefineValue(Node):
    """`value string`; the name is a value type's or, for structs, any label."""

    value_type: str
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class DefineOwns(Node):
    """`owns attribute`, `owns attribute[]` (`is_list`)."""

    attribute: Label
    is_list: bool = False
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class DefinePlays(Node):
    """`plays relation:role`."""

    role: ScopedLabel
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class DefineRelates(Node):
    """`relates role [as other]`; with `is_list` both carry `[]`."""

    role: Label
    specialises: Label | None = None
    is_list: bool = False
    annotations: tuple[Annotation, ...] = ()


Capability: TypeAlias = (
    DefineSub | DefineAlias | DefineValue | DefineOwns | DefinePlays | DefineRelates
)


@dataclass(frozen=True, slots=True)
class TypeDefinition(Node):
    """`[kind] label [annotations] capability, …`; in `redefine` exactly one
    annotation list or capability.
    """

    kind: Kind | None
    label: Label
    annotations: tuple[Annotation, ...] = ()
    capabilities: tuple[Capability, ...] = ()


@dataclass(frozen=True, slots=True)
class StructField(Node):
    """`name value type`, `name value type?`."""

    name: str
    value_type: str
    optional: bool = False
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class StructDefinition(Node):
    """`struct name: field, …`: parsed, not implemented."""

    name: str
    fields: tuple[StructField, ...]
    annotations: tuple[Annotation, ...] = ()


Definable: TypeAlias = TypeDefinition | Function | StructDefinition


@dataclass(frozen=True, slots=True)
class Define(Node):
    """`define definable …`, possibly empty."""

    items: tuple[Definable, ...]


@dataclass(frozen=True, slots=True)
class Relabel(Node):
    """`redefine [kind] old label new`."""

    kind: Kind | None
    old: Label | ScopedLabel
    new: Label


@dataclass(frozen=True, slots=True)
class Redefine(Node):
    """`redefine redefinable …`, possibly empty."""

    items: tuple[TypeDefinition | Relabel | Function, ...]


AnnotationName: TypeAlias = OneOf[
    "abstract",
    "card",
    "cascade",
    "distinct",
    "doc",
    "independent",
    "key",
    "meta",
    "range",
    "regex",
    "subkey",
    "unique",
    "values",
]


@dataclass(frozen=True, slots=True)
class UndefineAnnotation(Node):
    """`@name from label [capability]`; `meta_key` is the argument of `@meta("key")`."""

    annotation: AnnotationName
    type: Label
    capability: Capability | None = None
    meta_key: Literal | None = None


@dataclass(frozen=True, slots=True)
class UndefineCapability(Node):
    """`owns name from person`."""

    capability: Capability
    type: Label


@dataclass(frozen=True, slots=True)
class UndefineSpecialise(Node):
    """`as parent from relation relates role`."""

    specialised: Label
    type: Label
    relates: DefineRelates


@dataclass(frozen=True, slots=True)
class UndefineFunction(Node):
    """`fun name`."""

    name: str


@dataclass(frozen=True, slots=True)
class UndefineStruct(Node):
    """`struct name`."""

    name: str


@dataclass(frozen=True, slots=True)
class UndefineType(Node):
    """`label`."""

    label: Label


Undefinable: TypeAlias = (
    UndefineAnnotation
    | UndefineCapability
    | UndefineSpecialise
    | UndefineFunction
    | UndefineStruct
    | UndefineType
)


@dataclass(frozen=True, slots=True)
class Undefine(Node):
    """`undefine undefinable; …`, possibly empty."""

    items: tuple[Undefinable, ...]


@dataclass(frozen=True, slots=True)
class Query(Node):
    """One whole query; `ended` tells whether it closed with `end;`."""

    body: Pipeline | Define | Redefine | Undefine
    ended: bool = False
