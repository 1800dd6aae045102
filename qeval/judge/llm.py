"""A judge that asks a language model: several votes, the order of the two queries taking turns."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from qeval.errors import InputError, did_you_mean
from qeval.judge.answers import UnusableError, answer_schema, read_answer
from qeval.judge.base import Dispute, Judgement, Vote, digest_of
from qeval.judge.blinding import mark_of, sides, swapped_first
from qeval.judge.voting import settled, weighed
from qeval.models.base import Generation, Model, ModelError, Request
from qeval.prompts.base import Message, Prompt
from qeval.scoring.verdict import Which
from qeval.settings import check

if TYPE_CHECKING:
    from qeval.models.budget import Budget
    from qeval.prompts.rendering import BlockTemplate

PROMPTS = Path(__file__).parent / "prompts"
FORMS = ("auto", "chat", "json", "tool")


class LlmJudge:
    """Votes by a model of `conf/model`, whichever it is; answers are cached and paid as others are.

    `model` is that model's configuration. `form`: its `answer_mode`, by which it is made to answer
    in JSON. `result_rows` and `result_characters` bound what is shown of each result, `claim_rows`
    the row set that is asked for and tried (0: none is), `reason_characters` (None: nothing) the
    reason in the schema that the model is held to. `counterexamples`: of which predictions the few
    rows that tell them from the gold are sought and shown. An unusable answer is asked for once
    more.
    """

    def __init__(
        self,
        *,
        name: str,
        model: Mapping[str, Any],
        votes: int,
        seed: int,
        template: str,
        form: str,
        result_rows: int,
        result_characters: int,
        reason_characters: int | None,
        claim_rows: int,
        counterexamples: str,
        max_false_accept: float,
        notes: str = "",
    ) -> None:
        if form not in FORMS:
            raise InputError(
                f"judge.form={form!r}: expected {', '.join(FORMS)}.{did_you_mean(form, FORMS)}"
            )
        for key, value, least in (
            ("votes", votes, 1), ("result_rows", result_rows, 0), ("claim_rows", claim_rows, 0),
            ("result_characters", result_characters, 0),
            ("reason_characters", 1 if reason_characters is None else reason_characters, 1),
        ):  # fmt: skip
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InputError(f"judge.{key} must be {least} or more, not {value!r}")
        self.name = name
        self.votes = votes
        self.seed = seed
        self.form = form
        self.result_rows = result_rows
        self.result_characters = result_characters
        self.claim_rows = claim_rows
        if counterexamples not in get_args(Which):
            raise InputError(
                f"judge.counterexamples={counterexamples!r}: expected {', '.join(get_args(Which))}."
                + did_you_mean(counterexamples, get_args(Which))
            )
        self.counterexamples: Which = counterexamples  # type: ignore[assignment]
        self.max_false_accept: float = check(float, max_false_accept, "judge.max_false_accept")
        self.notes = notes
        self._claims = bool(claim_rows)
        schema = answer_schema(claims=self._claims, reason_characters=reason_characters)
        self.model = _model(model, form, schema)
        self._template = _template(template)

    def identity(self) -> dict[str, object]:
        """The model's identity, the prompt's hash, and how it is asked."""
        return {
            "judge": "llm",
            "model": self.model.identity(),
            "template_hash": self._template.hash,
            "votes": self.votes,
            "seed": self.seed,
            "bounds": [self.result_rows, self.result_characters, self.claim_rows],
            "counterexamples": self.counterexamples,
        }

    @property
    def models(self) -> tuple[Model, ...]:
        """The one model."""
        return (self.model,)

    def preflight(self) -> None:
        """What the model lacks, named as the judge's."""
        try:
            self.model.preflight()
        except InputError as error:
            raise InputError(f"judge={self.name}: {error}") from error

    def paid_from(self, budget: "Budget", account: str = "") -> "LlmJudge":
        """The same judge, its calls paid from `budget`. Raises `InputError` without a price."""
        from copy import copy

        from qeval.models.budget import budgeted

        paid = copy(self)
        paid.model = budgeted(self.model, budget, account)
        return paid

    def decide(self, dispute: Dispute) -> Judgement:
        """Ask for all votes. Raises `BudgetReachedError`, nothing else."""
        votes = [
            weighed(self._vote(dispute, number, swapped=swapped), dispute)
            for number, swapped in enumerate(self._turns(dispute))
        ]
        return settled(votes, judge=self.name, identity=digest_of(self))

    def prompts(self, dispute: Dispute) -> list[tuple[Model, Prompt]]:
        """What would be sent, a prompt per vote."""
        return [
            (self.model, self._prompt(dispute, swapped=swapped)) for swapped in self._turns(dispute)
        ]

    def _turns(self, dispute: Dispute) -> list[bool]:
        """Whether a vote sees the prediction first, for every vote."""
        first = swapped_first(dispute, self.seed)
        return [first ^ bool(number % 2) for number in range(self.votes)]

    def _prompt(self, dispute: Dispute, *, swapped: bool) -> Prompt:
        shown = sides(
            dispute, swapped=swapped, rows=self.result_rows, characters=self.result_characters
        )
        few = dispute.counterexample or ""
        if self.counterexamples == "none" or len(few) > self.result_characters:
            few = ""
        texts = [dispute.question, dispute.schema, few]
        texts += [str(part) for side in shown.values() for part in side.values()]
        facts: dict[str, object] = {
            "language": dispute.language,
            "reference_date": dispute.reference_date,
            "question": dispute.question,
            "schema": dispute.schema.strip(),
            "tables": dispute.tables,
            "claims": self._claims,
            "counterexample": few,
            "differing": dispute.differing,
            "mark": mark_of(*texts),
            **shown,
        }
        return Prompt(
            messages=(
                Message("system", self._template.block("system", **facts)),
                Message("user", self._template.block("user", **facts)),
            ),
            template_hash=self._template.hash,
            parts={"kind": str((dispute.difference or {}).get("kind", ""))},
        )

    def close(self) -> None:
        """Release the model."""
        self.model.close()

    def _vote(self, dispute: Dispute, number: int, *, swapped: bool) -> Vote:
        prompt = self._prompt(dispute, swapped=swapped)
        vote = Vote("unscored", judge=self.name, swapped=swapped, prompt_digest=prompt.digest)
        answers: list[Generation] = []
        fault = ""
        for attempt in (0, 1):
            request = Request(prompt, dispute.case, dispute.language.name, number, attempt)
            try:
                answers.append(self.model.generate(request))
            except ModelError as error:
                fault = f"not asked: {error}"
                return replace(_with_costs(vote, answers), reason=fault, failed=True)
            said = answers[-1].text
            try:
                answer = read_answer(said, claims=self._claims)
            except UnusableError as error:
                fault = str(error)
                again = self._template.block("again", fault=fault, claims=self._claims)
                turns = (*prompt.messages, Message("assistant", said), Message("user", again))
                prompt = replace(prompt, messages=turns)
                continue
            return replace(
                _with_costs(vote, answers),
                label=answer.label,
                ground=answer.ground,
                reason=answer.reason,
                row_set=answer.row_set,
            )
        return replace(_with_costs(vote, answers), reason=f"unusable twice: {fault}")


def _with_costs(vote: Vote, answers: list[Generation]) -> Vote:
    if not answers:
        return replace(vote, attempts=0)
    from qeval.conversation import total

    return replace(
        vote,
        raw=answers[-1].text,
        finish_reason=answers[-1].finish_reason,
        attempts=len(answers),
        prompt_tokens=total(answer.usage.prompt_tokens for answer in answers),
        completion_tokens=total(answer.usage.completion_tokens for answer in answers),
        cost_usd=total(answer.usage.cost_usd for answer in answers),
        seconds=sum(answer.seconds for answer in answers),
        cached=all(answer.cached for answer in answers),
    )


def _model(values: Mapping[str, Any], form: str, schema: Mapping[str, Any]) -> Model:
    """The model behind the user's cache, held to the schema where it has an `answer_mode`."""
    from qeval.cells import construct
    from qeval.models.cache import cached

    held = {"answer_mode": form, "answer_schema": schema} if "answer_mode" in values else {}
    model: Model = cached(construct({**values, **held}, "judge.model"))
    return model


def _template(name: str) -> "BlockTemplate":
    from qeval.prompts.rendering import block_template

    own = Path(name)
    path = own if own.is_file() else PROMPTS / name
    if not path.is_file():
        raise InputError(f"judge.template: no file {name!r} here or in qeval/judge/prompts")
    return block_template(path, (PROMPTS,))
