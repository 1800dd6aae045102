"""A prompt strategy made of one template file and the factors that its YAML sets."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qeval.errors import InputError, did_you_mean
from qeval.languages.base import Language
from qeval.prompts.base import Message, Prompt, Trial
from qeval.prompts.rendering import BlockTemplate, block_template
from qeval.prompts.schema import document
from qeval.prompts.schema.linking import Linker, LinkingSettings
from qeval.prompts.schema.model import LONG
from qeval.prompts.selection import SELECTIONS, select_examples
from qeval.settings import typed
from qeval.suite import Case, Example, Suite

TEMPLATES = Path(__file__).parent / "templates"
NOTES = Path(__file__).parent / "notes"
SCHEMAS = ("none", "full", "linked", "oracle", "auto")
ANSWER_FORMS = ("fence", "json")
_KEPT_OPENINGS = 256
_LINKING = {"least": 2, "share": 0.1}


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a prompt shows of the schema: how much (`kind`), and as which text."""

    kind: str
    text: str = ""
    samples: str = ""


class TemplateStrategy:
    """Renders a Jinja template with the blocks `system`, `user`, `assistant` and `repair`.

    `system` is the first turn; each solved example is a `user` and an `assistant` turn, and the
    case's question is the last `user` turn. `repair` answers a query that failed. `template` is a
    file below `templates/<question_language>/`, or a path to a user's own file (which may extend
    the shipped `_base.jinja`). What a template sees is listed in docs/strategies.md; the other
    arguments are the factors explained in `conf/prompt_strategy/base/template.yaml`.
    """

    def __init__(
        self,
        name: str,
        template: str,
        shots: int = 0,
        question_language: str = "en",
        *,
        selection: str = "fixed",
        selection_seed: int = 0,
        largest_overlap: float = 0.75,
        schema: str = "none",
        schema_form: str = "long",
        linking: Mapping[str, Any] = _LINKING,
        auto_tokens: int = 2000,
        sample_values: int = 0,
        notes: bool = False,
        answer_form: str = "fence",
        source_language: str | None = None,
        with_question: bool = True,
        repair_rounds: int = 0,
    ) -> None:
        for key, value in (
            ("shots", shots), ("repair_rounds", repair_rounds), ("sample_values", sample_values),
        ):  # fmt: skip
            if not isinstance(value, int) or value < 0:
                raise InputError(f"prompt_strategy.{key} must be 0 or more, not {value!r}")
        _one_of("selection", selection, SELECTIONS)
        _one_of("schema", schema, SCHEMAS)
        _one_of("answer_form", answer_form, ANSWER_FORMS)
        self.name = name
        self.shots = shots
        self.question_language = question_language
        self.selection = selection
        self.selection_seed = selection_seed
        self.largest_overlap = largest_overlap
        self.schema = schema
        self.schema_form = schema_form
        self.linking = typed(LinkingSettings, linking, "prompt_strategy.linking.")
        self.auto_tokens = auto_tokens
        self.sample_values = sample_values
        self.notes = notes
        self.answer_form = answer_form
        self.source_language = source_language
        self.with_question = with_question
        self.repair_rounds = repair_rounds
        self._template = _find(template, question_language)
        self._openings: dict[tuple[object, ...], tuple[Message, ...]] = {}
        self._linkers: dict[tuple[str, str], Linker] = {}

    @property
    def template_hash(self) -> str:
        """Names the template files (12 hex digits)."""
        return self._template.hash

    def identity(self) -> dict[str, object]:
        """The factors that matter, and hashes of the template and of the notes shown."""
        selection: list[object] = [self.selection, self.largest_overlap]
        if self.selection == "random":
            selection.append(self.selection_seed)
        schema: list[object] = [self.schema]
        if self.schema != "none":
            schema += [self.schema_form, self.sample_values]
        if self.schema in ("linked", "auto"):
            schema += [self.linking.least, self.linking.share]
        if self.schema == "auto":
            schema.append(self.auto_tokens)
        return {
            "name": self.name,
            "template_hash": self.template_hash,
            "shots": self.shots,
            "question_language": self.question_language,
            "selection": selection if self.shots else None,
            "schema": schema,
            "notes": _notes_hash(self.question_language) if self.notes else None,
            "answer_form": self.answer_form,
            "source": [self.source_language, self.with_question] if self.source_language else None,
            "repair_rounds": self.repair_rounds,
        }

    def render(self, case: Case, suite: Suite, language: Language) -> Prompt:
        """Render all turns. Raises `InputError` where the template asks for what is not there."""
        if self.question_language not in case.question:
            raise InputError(f"case {case.id} has no question in {self.question_language!r}")
        examples = self._examples(case, suite, language.name)
        if self.schema == "auto":
            whole = self._render(case, suite, language, examples, "full")
            if rough_tokens(whole) <= self.auto_tokens:
                return whole
            return self._render(case, suite, language, examples, "linked")
        return self._render(case, suite, language, examples, self.schema)

    def follow_up(self, prompt: Prompt, answer: str, trial: Trial, language: Language) -> Prompt:
        """The same conversation with the model's answer and the error it ran into."""
        said = self._template.block(
            "repair", language=language, kind=trial.kind, message=trial.message,
            answer_form=self.answer_form,
        )  # fmt: skip
        if not said:
            raise InputError(
                f"{self._template.path}: repair_rounds={self.repair_rounds} needs a block `repair`"
            )
        turns = (*prompt.messages, Message("assistant", answer), Message("user", said))
        parts = {**prompt.parts, "repair": prompt.parts.get("repair", "") + answer + said}
        return Prompt(turns, prompt.template_hash, prompt.examples, parts, prompt.schema)

    def _render(
        self,
        case: Case,
        suite: Suite,
        language: Language,
        examples: Sequence[Example],
        kind: str,
    ) -> Prompt:
        shown = self._shown(kind, case, suite, language.name)
        facts: dict[str, object] = {
            "language": language,
            "reference_date": suite.reference_date,
            "schema_text": shown.text,
            "samples_text": shown.samples,
            "notes_text": self._notes(language.name),
            "answer_form": self.answer_form,
            "source": self._source(language.name),
            "with_question": self.with_question,
        }
        asked = self._template.block("user", **facts, **self._turn(case))
        opening = self._opening(suite, language.name, examples, shown, facts)
        notes = str(facts["notes_text"])
        schema = "\n".join(filter(None, (shown.text, shown.samples)))
        system = "".join(turn.content for turn in opening if turn.role == "system")
        for text in (notes, shown.text.strip(), shown.samples):
            system = system.replace(text, "") if text else system
        parts = {
            "instructions": system,
            "notes": notes,
            "schema": schema,
            "examples": "\n".join(turn.content for turn in opening if turn.role != "system"),
            "question": asked,
        }
        return Prompt(
            messages=(*opening, Message("user", asked)),
            template_hash=self.template_hash,
            examples=tuple(example.id for example in examples),
            parts={name: text for name, text in parts.items() if text},
            schema=shown.kind,
        )

    def _opening(
        self,
        suite: Suite,
        language: str,
        examples: Sequence[Example],
        shown: _Shown,
        facts: Mapping[str, object],
    ) -> tuple[Message, ...]:
        """Every turn before the case's own: many cases of a cell share it, so it is kept."""
        ids = tuple(example.id for example in examples)
        key = (suite.content_hash, language, facts["reference_date"], shown, ids)
        kept = self._openings.get(key)
        if kept is None:
            turns = [Message("system", self._template.block("system", **facts))]
            for example in examples:
                solved = {**self._turn(example), "query": example.gold[language]}
                turns.append(Message("user", self._template.block("user", **facts, **solved)))
                answer = self._template.block("assistant", **facts, **solved)
                turns.append(Message("assistant", answer))
            kept = tuple(turn for turn in turns if turn.content)
            if len(self._openings) >= _KEPT_OPENINGS:
                self._openings.clear()
            self._openings[key] = kept
        return kept

    def _turn(self, entry: Case | Example) -> dict[str, object]:
        """What a question's turn shows: of a case never its gold in the language asked for."""
        turn: dict[str, object] = {
            "question": entry.question[self.question_language],
            "tags": entry.tags if isinstance(entry, Example) else (),
            "source_query": "",
        }
        if self.source_language is not None:
            if self.source_language not in entry.gold:
                raise InputError(
                    f"prompt_strategy.source_language={self.source_language}: {entry.id} has no "
                    f"{self.source_language} gold to translate from"
                )
            turn["source_query"] = entry.gold[self.source_language]
        return turn

    def _source(self, language: str) -> object:
        if self.source_language is None:
            return None
        if self.source_language == language:
            raise InputError(
                f"prompt_strategy.source_language={self.source_language}: the query would be "
                f"translated from {language} into itself"
            )
        return {"name": self.source_language, "title": _title(self.source_language)}

    def _examples(self, case: Case, suite: Suite, language: str) -> tuple[Example, ...]:
        return select_examples(
            suite,
            case,
            language=language,
            question_language=self.question_language,
            shots=self.shots,
            selection=self.selection,
            seed=self.selection_seed,
            largest_overlap=self.largest_overlap,
        )

    def _shown(self, kind: str, case: Case, suite: Suite, language: str) -> _Shown:
        if kind == "none":
            return _Shown("none")
        schema = document(language, suite.schema_text.get(language, ""))
        form = schema.form(self.schema_form)
        names: frozenset[str] | None = None
        if kind == "oracle":
            if language not in case.scope:
                raise InputError(
                    f"prompt_strategy.schema=oracle: case {case.id} declares no {language} scope"
                )
            names = schema.closed(case.scope[language])
        elif kind == "linked" and schema.items:
            linker = self._linker(suite, language)
            names = linker.link(case.question[self.question_language], self.linking)
        elif form == LONG:
            kind = "full"
        samples = ""
        if self.sample_values:
            from qeval.prompts.samples import sample_values

            samples = sample_values(suite, language, self.sample_values, names)
        return _Shown(kind, schema.text(form, names), samples)

    def _linker(self, suite: Suite, language: str) -> Linker:
        key = (suite.content_hash, language)
        if key not in self._linkers:
            self._linkers[key] = linker(suite, language, self.question_language)
        return self._linkers[key]

    def _notes(self, language: str) -> str:
        if not self.notes:
            return ""
        path = NOTES / self.question_language / f"{language}.md"
        if not path.is_file():
            raise InputError(
                f"prompt_strategy.notes=true: there are no notes on {language} in "
                f"{self.question_language!r}"
            )
        return path.read_text(encoding="utf-8").strip()


def linker(suite: Suite, language: str, question_language: str) -> Linker:
    """A linker that knows the suite's schema and learns words from its example bank."""
    solved = [
        (example.question[question_language], example.gold[language])
        for example in suite.examples
        if language in example.gold and question_language in example.question
    ]
    schema = document(language, suite.schema_text.get(language, ""))
    return Linker(schema, solved, suite.glossary.get(question_language))


def rough_tokens(prompt: Prompt) -> int:
    """Tokens by a rule of thumb: four ASCII characters or one other character make one."""
    text = "".join(message.content for message in prompt.messages)
    ascii_only = sum(character.isascii() for character in text)
    return ascii_only // 4 + len(text) - ascii_only


def _find(template: str, question_language: str) -> BlockTemplate:
    folder = TEMPLATES / question_language
    if not folder.is_dir():
        known = ", ".join(sorted(path.name for path in TEMPLATES.iterdir()))
        raise InputError(
            f"there are no templates for question_language={question_language}; it has: {known}"
        )
    own = Path(template)
    path = own if own.is_file() else folder / template
    if not path.is_file():
        raise InputError(f"prompt_strategy.template: no file {template!r} here or in qeval")
    return block_template(path, (folder,))


def _notes_hash(question_language: str) -> str:
    digest = hashlib.sha256()
    for path in sorted((NOTES / question_language).glob("*.md")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _title(language: str) -> str:
    """What prompts call a language: its configuration's word, else its name."""
    import yaml

    from qeval.paths import shipped

    path = shipped("conf") / "language" / f"{language}.yaml"
    if not path.is_file():
        return language
    settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    return str(settings.get("title", language))


def _one_of(key: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise InputError(
            f"prompt_strategy.{key}={value}: expected {', '.join(known)}."
            + did_you_mean(str(value), known)
        )
