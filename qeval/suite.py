"""A suite: cases with their golds, and the instances of data they are asked about.

Loading and validating a suite from its folder is in `qeval.suites`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from qeval.data.model import Dataset
from qeval.scoring.spec import AnswerSpec

Difficulty = Literal["easy", "medium", "hard"]


@dataclass(frozen=True, slots=True)
class Case:
    """One question with a gold per language and the declared shape of its answer.

    `question` and `gold` are keyed by question language (`en`, `zh`) and query language.
    `scope` lists, per language, the tables/labels/types that the gold needs; `gold_level` says how
    hard a gold is where that is two steps off the case's difficulty. `pattern` is the one
    family of questions that the case stands for; `tags` are all patterns and traps in it.
    """

    id: str
    difficulty: Difficulty
    question: Mapping[str, str]
    gold: Mapping[str, str]
    answer: AnswerSpec
    tags: tuple[str, ...] = ()
    source: str = ""
    pattern: str = ""
    empty_ok: bool = False
    scope: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: str = ""
    gold_level: Mapping[str, Difficulty] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Example:
    """A solved question for few-shot prompts; never one of the cases."""

    id: str
    question: Mapping[str, str]
    gold: Mapping[str, str]
    answer: AnswerSpec
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Instance:
    """One data set of a suite as one language's engine loads it.

    `key` names the content: it changes with the data, the schema or the mapping, and is safe as a
    database name (`[a-z0-9_]`, at most 60 characters). `dataset()` generates the rows, so an
    engine that already holds `key` never pays for it. One that is `ad_hoc` holds a few rows for a
    few queries and is dropped after them (`Engine.drop`); engines keep nothing of it.

    Data may also come from a `script`, which the engine runs after the schema, or be `existing`
    in a database of the user's own, which is only read. Then the rows are known to the engine
    alone: `dataset()` raises `InputError`, and the instance is not `tabular`.
    """

    key: str
    name: str  # "base", "variant-1", …
    schema: str  # the language's schema text (DDL, constraints, define query)
    mapping: Mapping[str, Any]  # how neutral tables become nodes/relations; {} for SQL
    dataset: Callable[[], Dataset]
    ad_hoc: bool = False
    script: "Script | None" = None
    existing: "Existing | None" = None
    schema_file: str = ""  # where `schema` was read from, for messages

    @property
    def tabular(self) -> bool:
        """Whether the rows are known as neutral tables."""
        return self.script is None and self.existing is None


@dataclass(frozen=True, slots=True)
class Script:
    """Statements that load an instance, run by the engine's owner; `file` is for messages."""

    file: str
    text: str


@dataclass(frozen=True, slots=True)
class Existing:
    """A database of the user's own as a suite declares it; nothing is ever written to it.

    `uri`, `user` and `password` may be `$NAME` for an environment variable, and passwords must be.
    """

    uri: str
    database: str | None = None
    schemas: tuple[str, ...] = ("public",)  # of PostgreSQL, in the order of the search path
    user: str | None = None
    password: str | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """All cases of a suite, its example bank, and its instances by language and name."""

    name: str
    version: str
    content_hash: str
    reference_date: str
    cases: tuple[Case, ...]
    examples: tuple[Example, ...]
    languages: tuple[str, ...]
    instance: Callable[[str, str], Instance]  # (language, instance name) -> Instance
    schema_text: Mapping[str, str]  # by language, as shown in prompts
    instances: tuple[str, ...] = ("base",)  # names that `instance` knows
    question_languages: tuple[str, ...] = ("en",)  # in which every case is asked
    check_difficulty: bool = False  # whether labels must be what the golds say
    # By question language: what the schema's identifiers are called in it, for schema linking.
    glossary: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
