"""Asking a model for one case: once, or until its query runs, where errors go back to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from qeval.engines.base import QueryError
from qeval.extraction import extract
from qeval.languages.base import Language
from qeval.models.base import Generation, ModelError, Request
from qeval.prompts.base import FollowsUp, Prompt, Trial
from qeval.record import Round
from qeval.suite import Case

if TYPE_CHECKING:
    from qeval.bench import Bench
    from qeval.cells import Cell


@dataclass(frozen=True, slots=True)
class Conversation:
    """All answers to one question; `rounds` is empty where nothing can go back."""

    generations: tuple[Generation, ...]
    rounds: tuple[Round, ...] = ()
    follow_ups: tuple[Prompt, ...] = ()

    @property
    def last(self) -> Generation:
        """The answer that counts."""
        return self.generations[-1]

    def facts(self) -> dict[str, object]:
        """What the record keeps: the last answer, and tokens, cost and seconds of all."""
        last, usages = self.last, [generation.usage for generation in self.generations]
        return {
            "raw": last.text,
            "reasoning": last.reasoning,
            "finish_reason": last.finish_reason,
            "prompt_tokens": total(usage.prompt_tokens for usage in usages),
            "completion_tokens": total(usage.completion_tokens for usage in usages),
            "cost_usd": total(usage.cost_usd for usage in usages),
            "generation_s": sum(generation.seconds for generation in self.generations),
            "cached": all(generation.cached for generation in self.generations),
            "served_by": last.served_by,
            "sent": dict(last.sent),
            "rounds": self.rounds,
        }


def converse(cell: "Cell", case: Case, repeat: int, prompt: Prompt, bench: "Bench") -> Conversation:
    """Ask; and while the query fails and rounds are left, show the error and ask again.

    A query is parsed, planned and run with one row on the base instance; its gold plays no part.
    Raises `ModelError` and `EngineLostError`.
    """
    language = cell.language
    strategy = cell.strategy
    generation = _ask(cell, Request(prompt, case, language.name, repeat))
    if not isinstance(strategy, FollowsUp) or not strategy.repair_rounds:
        return Conversation((generation,))
    generations = [generation]
    prompts = [prompt]
    query, trial = try_out(cell, generation, bench)
    rounds = [_round(generation, prompt, query, trial)]
    for number in range(1, strategy.repair_rounds + 1):
        if not trial.failed:
            break
        prompts.append(strategy.follow_up(prompts[-1], generation.text, trial, language))
        generation = _ask(cell, Request(prompts[-1], case, language.name, repeat, number))
        generations.append(generation)
        query, trial = try_out(cell, generation, bench)
        rounds.append(_round(generation, prompts[-1], query, trial))
    return Conversation(tuple(generations), tuple(rounds), tuple(prompts[1:]))


def _ask(cell: "Cell", request: Request) -> Generation:
    generation: Any = cell.model.generate(request)
    if isinstance(generation, Generation):
        return generation
    raise ModelError(
        f"the model gave {type(generation).__name__} where qeval.models.base.Generation is wanted",
        retryable=False,
    )


def query_in(generation: Generation, language: Language) -> tuple[str | None, str, str]:
    """The query in an answer (or None), the rule that found it, and why there is none."""
    if generation.is_query:
        return generation.text or None, "as given", "the answer is empty"
    found = extract(generation.text, language, generation.finish_reason)
    return found.query, found.rule, found.reason


def try_out(cell: "Cell", generation: Generation, bench: "Bench") -> tuple[str | None, Trial]:
    """Parse, plan and run an answer's query with at most one row. Raises `EngineLostError`."""
    query, _, reason = query_in(generation, cell.language)
    if query is None:
        return None, Trial("no_query", reason)
    instance = cell.suite.instance(cell.language.name, "base")
    limits = replace(cell.limits, max_rows=1)

    def attempt() -> None:
        cell.language.check_safety(query)
        bench.engine.check(query, instance)
        bench.engine.execute(query, instance, limits)

    try:
        bench.lasting(attempt)
    except QueryError as error:
        where = f" (line {error.line}, column {error.column})" if error.line else ""
        return query, Trial(error.kind, error.message + where)
    return query, Trial("fine")


def _round(generation: Generation, prompt: Prompt, query: str | None, trial: Trial) -> Round:
    return Round(
        raw=generation.text,
        query=query,
        kind=trial.kind,
        message=trial.message,
        finish_reason=generation.finish_reason,
        prompt_digest=prompt.digest,
        prompt_tokens=generation.usage.prompt_tokens,
        completion_tokens=generation.usage.completion_tokens,
        cost_usd=generation.usage.cost_usd,
        generation_s=generation.seconds,
        cached=generation.cached,
    )


N = TypeVar("N", int, float)


def total(values: Iterable[N | None]) -> N | None:
    """The sum, or None (unknown) as soon as one is."""
    known: Sequence[N | None] = list(values)
    if any(value is None for value in known):
        return None
    found: N = sum(value for value in known if value is not None)
    return found
