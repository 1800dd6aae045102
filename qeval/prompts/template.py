"""A prompt strategy made of one template file, whose blocks become the turns of a chat."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.errors import InputError
from qeval.languages.base import Language
from qeval.prompts.base import Message, Prompt
from qeval.suite import Case, Example, Suite

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from jinja2.runtime import Context

TEMPLATES = Path(__file__).parent / "templates"


class TemplateStrategy:
    """Renders a Jinja template with the blocks `system`, `user` and `assistant`.

    `system` is the first turn; each solved example is a `user` and an `assistant` turn, and the
    case's question is the last `user` turn. `template` is a file below
    `templates/<question_language>/`, or a path to a user's own file (which may extend the shipped
    `_base.jinja`). The template sees `language`, `reference_date`, `schema_text`, and per turn
    `question` and `query`; nothing of the case's gold. Only `question` is set for the last turn.
    """

    def __init__(
        self, name: str, template: str, shots: int = 0, question_language: str = "en"
    ) -> None:
        if shots < 0:
            raise InputError(f"prompt_strategy.shots must be 0 or more, not {shots}")
        self.name = name
        self.shots = shots
        self.question_language = question_language
        folder = TEMPLATES / question_language
        if not folder.is_dir():
            known = ", ".join(sorted(path.name for path in TEMPLATES.iterdir()))
            raise InputError(
                f"there are no templates for question_language={question_language}; it has: {known}"
            )
        own = Path(template)
        self.path = own if own.is_file() else folder / template
        if not self.path.is_file():
            raise InputError(f"prompt_strategy.template: no file {template!r} here or in qeval")
        self.folders = (self.path.parent, folder)
        self._openings: dict[tuple[str, ...], tuple[Message, ...]] = {}

    def identity(self) -> dict[str, object]:
        """Settings and template hash: what can change a prompt besides suite and question."""
        return {
            "name": self.name,
            "shots": self.shots,
            "question_language": self.question_language,
            "template_hash": self.template_hash,
        }

    def render(self, case: Case, suite: Suite, language: Language) -> Prompt:
        """Render both turns. Raises `InputError` where the template asks for what is not there."""
        from jinja2 import TemplateError

        if self.question_language not in case.question:
            raise InputError(f"case {case.id} has no question in {self.question_language!r}")
        shown = self._examples(case, suite, language.name)
        try:
            asked = Message(
                "user", self._block("user", question=case.question[self.question_language])
            )
            opening = self._opening(suite, language, shown)
        except TemplateError as error:
            raise InputError(f"{self.path}: {error}") from None
        return Prompt(
            messages=(*opening, asked),
            template_hash=self.template_hash,
            examples=tuple(example.id for example in shown),
        )

    def _opening(
        self, suite: Suite, language: Language, shown: Sequence[Example]
    ) -> tuple[Message, ...]:
        """Every turn before the case's own: most cases of a cell share it, so it is kept."""
        key = (suite.content_hash, language.name, *(example.id for example in shown))
        if key not in self._openings:
            facts = {
                "language": language,
                "reference_date": suite.reference_date,
                "schema_text": suite.schema_text.get(language.name, ""),
            }
            turns = [Message("system", self._block("system", **facts))]
            for example in shown:
                solved = {
                    "question": example.question[self.question_language],
                    "query": example.gold[language.name],
                }
                turns.append(Message("user", self._block("user", **facts, **solved)))
                turns.append(Message("assistant", self._block("assistant", **facts, **solved)))
            self._openings[key] = tuple(turn for turn in turns if turn.content)
        return self._openings[key]

    def _examples(self, case: Case, suite: Suite, language: str) -> list[Example]:
        """The first `shots` solved examples, leaving out any that asks the case's own question."""
        fit = [
            example
            for example in suite.examples
            if language in example.gold
            and self.question_language in example.question
            and example.question[self.question_language] != case.question[self.question_language]
        ]
        if len(fit) < self.shots:
            raise InputError(
                f"prompt_strategy.shots={self.shots}, but suite {suite.name!r} has only "
                f"{len(fit)} examples in {language} and {self.question_language!r}"
            )
        return fit[: self.shots]

    def _block(self, name: str, **values: object) -> str:
        blocks = self._blocks.get(name)
        if not blocks:
            return ""
        context = self._template.new_context(values)
        context.blocks = self._blocks
        return "".join(blocks[0](context)).strip()

    @cached_property
    def _blocks(self) -> "dict[str, list[Callable[[Context], Iterator[str]]]]":
        """The template's blocks with those it inherits, nearest first."""
        template = self._template
        blocks = {name: [block] for name, block in template.blocks.items()}
        while parent := _parent(self._environment, template):
            template = self._environment.get_template(parent)
            for name, block in template.blocks.items():
                blocks.setdefault(name, []).append(block)
        return blocks

    @cached_property
    def _environment(self) -> "Environment":
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        return Environment(
            loader=FileSystemLoader(self.folders),
            undefined=StrictUndefined,
            autoescape=False,  # noqa: S701 - prompts are plain text; nothing is HTML here
        )

    @cached_property
    def _template(self) -> "Template":
        return self._environment.get_template(self.path.name)

    @cached_property
    def template_hash(self) -> str:
        """SHA-256 (12 hex digits) over the template and all it extends, imports or includes."""
        from jinja2.meta import find_referenced_templates

        digest = hashlib.sha256()
        waiting, seen = [self.path.name], set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            assert self._environment.loader is not None
            source, _, _ = self._environment.loader.get_source(self._environment, name)
            digest.update(f"{name}\0{source}\0".encode())
            referenced = find_referenced_templates(self._environment.parse(source))
            waiting += sorted(other for other in referenced if other)
        return digest.hexdigest()[:12]


def _parent(environment: "Environment", template: "Template") -> str | None:
    """The name in a template's `{% extends "…" %}`, if it has one."""
    from jinja2.nodes import Const, Extends

    assert environment.loader is not None
    assert template.name is not None
    source, _, _ = environment.loader.get_source(environment, template.name)
    for node in environment.parse(source).find_all(Extends):
        return node.template.value if isinstance(node.template, Const) else None
    return None
