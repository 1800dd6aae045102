"""What can be told of a sweep before anything is started: trouble, and what is worth a warning."""

import json
from collections.abc import Sequence

from qeval.cells import Cell
from qeval.errors import InputError
from qeval.judge.asking import judge_problems
from qeval.models.base import NeedsCases
from qeval.models.replay import ReplayModel
from qeval.models.tokens import counter, window_of
from qeval.prompts.budget import WARN_ABOVE, check_window, measure, warning
from qeval.prompts.labels import strategy_label
from qeval.prompts.template import rough_tokens
from qeval.results import closing_problems

ASKS_NOBODY = ("gold", "replay", "mock")
"""Adapters that no prompt is sent to, so nothing is waited for."""

_CLEARLY = 0.7  # the rule of thumb for tokens may be off by so much


def warnings_of(cells: Sequence[Cell]) -> list[str]:
    """Long prompts, and predictions of cases that nobody asks."""
    return [*_long_prompts(cells), *_strangers(cells)]


def preflight(cells: Sequence[Cell]) -> None:
    """Ask every model for what it lacks and render a prompt a cell.

    Raises one `InputError` with all trouble, what closing the cells would meet included.
    """
    problems = [*_swept_in_vain(cells), *closing_problems(cells)]
    seen: set[str] = set()
    for cell in cells:
        identity = json.dumps(cell.model.identity(), sort_keys=True, default=repr)
        try:
            # Only a model whose window is known needs every prompt looked at beforehand.
            for case in cell.cases if window_of(cell.model) else cell.cases[:1]:
                prompt = cell.strategy.render(case, cell.suite, cell.language)
                check_window(cell, case.id, prompt)
            if identity not in seen:
                cell.model.preflight()
            problems += judge_problems(cell.judge, seen)
            if isinstance(cell.model, NeedsCases):
                ids = [case.id for case in cell.cases]
                cell.model.preflight_cases(ids, cell.language.name, cell.repeats)
        except InputError as error:
            problems.append(str(error))
        seen.add(identity)
    if problems:
        raise InputError("\n".join(dict.fromkeys(problems)))


def _swept_in_vain(cells: Sequence[Cell]) -> list[str]:
    """What to say of settings that differ between cells, although a sweep has one of them."""
    values = {
        "runs_dir": [cell.composed["runs_dir"] for cell in cells],
        "tracking": [cell.composed["tracking"] for cell in cells],
        "limits.budget_usd": [cell.composed["limits"].get("budget_usd") for cell in cells],
    }
    return [
        f"{name} is one for all cells of a sweep: give it one value, or run several sweeps"
        for name, given in values.items()
        if any(value != given[0] for value in given)
    ]


def _strangers(cells: Sequence[Cell]) -> list[str]:
    """What to say of files of predictions that name cases which the suite lacks."""
    said = [
        cell.model.strangers([case.id for case in cell.suite.cases])
        for cell in cells
        if isinstance(cell.model, ReplayModel)
    ]
    return list(dict.fromkeys(filter(None, said)))


def _long_prompts(cells: Sequence[Cell]) -> list[str]:
    """What to say of cells whose first prompt has more than 2,000 tokens, once a kind of prompt."""
    said: dict[str, str] = {}
    for cell in cells:
        if cell.model.identity().get("adapter") in ASKS_NOBODY:
            continue
        prompt = cell.strategy.render(cell.cases[0], cell.suite, cell.language)
        kind = f"{cell.language.name} · {strategy_label(cell.composed['prompt_strategy'])}"
        # The rule of thumb keeps tokenizers out of runs whose prompts are clearly small.
        if kind in said or rough_tokens(prompt) < WARN_ABOVE * _CLEARLY:
            continue
        count = counter(cell.model)
        found = warning(measure(prompt, count), count)
        if found:
            said[kind] = f"prompts of {kind}: {found}"
    return list(said.values())
