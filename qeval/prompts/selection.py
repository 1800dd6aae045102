"""Which solved examples a prompt shows."""

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from qeval.errors import InputError
from qeval.prompts.words import bm25, words
from qeval.suite import Case, Example, Suite
from qeval.suites.leaks import account

SELECTIONS = ("fixed", "random", "similar", "diverse")


def select_examples(
    suite: Suite,
    case: Case,
    *,
    language: str,
    question_language: str,
    shots: int,
    selection: str,
    seed: int,
    largest_overlap: float,
) -> tuple[Example, ...]:
    """`shots` examples of the suite's bank that give nothing of the case away.

    `fixed`: the first ones of the bank; `random`: drawn per case from `seed`; `similar`: the
    questions nearest to the case's (BM25), nearest last, beside the question; `diverse`: those
    that together show the most patterns (tags). The same choice on every machine. An example is
    left out for a case when it has the same gold or more than `largest_overlap` of its words (see
    `qeval.suites.leaks`). Raises `InputError` when too few are left.
    """
    if not shots:
        return ()
    fit = [
        example
        for example in _bank(suite, language, question_language)
        if not _leaks(suite.content_hash, example, case, largest_overlap)
    ]
    if len(fit) < shots:
        raise InputError(
            f"prompt_strategy.shots={shots}, but suite {suite.name!r} has only {len(fit)} examples "
            f"in {language} and {question_language!r} that give nothing of case {case.id} away"
        )
    asked = case.question[question_language]
    questions = tuple(example.question[question_language] for example in fit)
    match selection:
        case "random":
            drawn = random.Random(f"{seed}/{case.id}")  # noqa: S311
            return tuple(drawn.sample(fit, shots))
        case "similar":
            scores = _index(questions).get_scores(list(words(asked)))
            ranked = sorted(range(len(fit)), key=lambda place: (-scores[place], place))
            return tuple(fit[place] for place in reversed(ranked[:shots]))
        case "diverse":
            return tuple(_diverse(fit, shots))
    return tuple(fit[:shots])


def _diverse(fit: Sequence[Example], shots: int) -> list[Example]:
    chosen: list[Example] = []
    shown: set[str] = set()
    left = list(fit)
    while len(chosen) < shots:
        # `max` keeps the first of equals: the bank's order decides.
        best = max(left, key=lambda example: (len(set(example.tags) - shown), -len(example.tags)))
        if not set(best.tags) - shown:
            shown.clear()  # every pattern was shown: begin again with those left
            best = max(left, key=lambda example: len(example.tags))
        left.remove(best)
        chosen.append(best)
        shown |= set(best.tags)
    return chosen


_leaky: dict[tuple[str, str, str, float], bool] = {}


def _leaks(suite: str, example: Example, case: Case, largest_overlap: float) -> bool:
    key = (suite, example.id, case.id, largest_overlap)
    if key not in _leaky:
        _leaky[key] = bool(account(example, case, largest_overlap))
    return _leaky[key]


def _bank(suite: Suite, language: str, question_language: str) -> list[Example]:
    return [
        example
        for example in suite.examples
        if language in example.gold and question_language in example.question
    ]


@lru_cache(maxsize=256)
def _index(questions: tuple[str, ...]) -> Any:
    return bm25(map(words, questions))
