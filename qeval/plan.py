"""`--dry-run`: cells, calls, tokens and money of a sweep before anything is spent."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qeval.cells import Cell, build_cell
from qeval.choices import NAMING, labelled
from qeval.judge.planning import JudgePlan, plan_judge
from qeval.models.base import Request
from qeval.models.budget import price_per_call
from qeval.models.cache import CachedModel, request_key
from qeval.models.tokens import answer_tokens_of, counter
from qeval.prompts.base import FollowsUp
from qeval.prompts.budget import check_window, measure, warning

if TYPE_CHECKING:
    from omegaconf import DictConfig
    from rich.table import Table

_ERROR_TOKENS = 120  # that an error adds to a follow-up, about


@dataclass(frozen=True, slots=True)
class CellPlan:
    """What one cell would ask. `cost_usd` is an upper bound; None: the price is unknown.

    `calls` are first answers that are not in the cache, `most_calls` with all follow-ups. Tokens
    are of these calls; `answer_tokens` at most (None: no limit is known). What a judge may cost is
    apart, in `judge`.
    """

    name: str
    cases: int
    repeats: int
    calls: int
    most_calls: int
    in_cache: int
    prompt_tokens: int
    exact: bool
    answer_tokens: int | None
    cost_usd: float | None
    warning: str
    judge: JudgePlan = field(default_factory=JudgePlan)


def plan_cell(cell: Cell) -> CellPlan:
    """Render every prompt and count; nothing is started, nobody is asked.

    Raises `InputError` for a prompt above the model's window.
    """
    model = cell.model.model if isinstance(cell.model, CachedModel) else cell.model
    count = counter(model)
    rounds = cell.strategy.repair_rounds if isinstance(cell.strategy, FollowsUp) else 0
    longest = answer_tokens_of(model)
    calls = in_cache = tokens = 0
    cost: float | None = 0.0
    largest = (0, "")
    for case in cell.cases:
        prompt = cell.strategy.render(case, cell.suite, cell.language)
        check_window(cell, case.id, prompt)
        size = measure(prompt, count)
        if size.tokens > largest[0]:
            largest = (size.tokens, warning(size, count))
        for repeat in range(cell.repeats):
            request = Request(prompt, case, cell.language.name, repeat)
            if isinstance(cell.model, CachedModel) and (
                cell.model.responses.get(request_key(model, request)) is not None
            ):
                in_cache += 1
                continue
            calls += 1
            for follow_up in range(rounds + 1):
                asked = size.tokens + follow_up * ((longest or 0) + _ERROR_TOKENS)
                tokens += asked
                price = price_per_call(model, asked)
                cost = None if cost is None or price is None else cost + price
    return CellPlan(
        name=_name(cell),
        cases=len(cell.cases),
        repeats=cell.repeats,
        calls=calls,
        most_calls=calls * (rounds + 1),
        in_cache=in_cache,
        prompt_tokens=tokens,
        exact=count.exact and not rounds,
        answer_tokens=None if longest is None else longest * calls * (rounds + 1),
        cost_usd=cost if calls else 0.0,
        warning=largest[1],
        judge=plan_judge(cell),
    )


def _name(cell: Cell) -> str:
    options = labelled({"config": cell.composed})
    judge = [] if cell.judge is None else [f"judge {cell.judge.name}"]
    return " · ".join([*(options.get(group, "") for group in NAMING), *judge])


def dry_run(configs: Sequence["DictConfig"]) -> list[CellPlan]:
    """Validate all cells, plan them and print the table. Raises `InputError`."""
    cells = [build_cell(config) for config in configs]
    try:
        plans = [plan_cell(cell) for cell in cells]
    finally:
        for cell in cells:
            cell.model.close()
    _show(plans, cells[0].composed["limits"].get("budget_usd"))
    return plans


def _show(plans: Sequence[CellPlan], budget_usd: float | None) -> None:
    from qeval.report.console import output

    console = output()
    judged = any(plan.judge.calls for plan in plans)
    known_usd = sum(plan.cost_usd or 0.0 for plan in plans)
    known_usd += sum(plan.judge.cost_usd or 0.0 for plan in plans)
    console.print(_table(plans, judged=judged))
    console.print(f"\n{_totals(plans, known_usd)}", soft_wrap=True)
    if judged:
        calls = sum(plan.judge.calls for plan in plans)
        tokens = sum(plan.judge.prompt_tokens for plan in plans)
        console.print(
            f"judges in it: at most {calls:,} further calls with about {tokens:,} prompt tokens, "
            "as if every prediction differed; votes that can't be used are asked for once more, "
            "which is not in it",
            soft_wrap=True,
        )
    warnings = [f"{plan.name}: {plan.warning}" for plan in plans if plan.warning]
    if budget_usd is not None and known_usd > budget_usd:
        warnings.append(f"limits.budget_usd={budget_usd:g} may end this sweep before it is done")
    for said in dict.fromkeys(warnings):
        console.print(f"! {said}", style="yellow", soft_wrap=True)
    console.print("Nothing was asked or run. Money is an upper bound: answers of full length.")


def _table(plans: Sequence[CellPlan], *, judged: bool) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("cell", overflow="fold")
    names = ["cases", "calls", "in cache", "tokens in", "tokens out", "money"]
    for name in [*names, *(["judge calls", "judge money"] if judged else [])]:
        table.add_column(name, justify="right", no_wrap=True)
    for plan in plans:
        most = f"–{plan.most_calls:,}" if plan.most_calls > plan.calls else ""
        table.add_row(
            plan.name,
            f"{plan.cases:,}" + (f" × {plan.repeats}" if plan.repeats > 1 else ""),
            f"{plan.calls:,}{most}",
            f"{plan.in_cache:,}",
            ("" if plan.exact else "about ") + f"{plan.prompt_tokens:,}",
            _at_most(plan.answer_tokens),
            money_text(plan.cost_usd),
            *([f"≤ {plan.judge.calls:,}", money_text(plan.judge.cost_usd)] if judged else []),
        )
    return table


def _totals(plans: Sequence[CellPlan], known_usd: float) -> str:
    unpriced = sum(None in (plan.cost_usd, plan.judge.cost_usd) for plan in plans)
    answers = [plan.answer_tokens for plan in plans]
    longest = None if None in answers else sum(a for a in answers if a is not None)
    return (
        f"{_cells(len(plans))}, {sum(plan.calls for plan in plans):,} calls"
        f" (at most {sum(plan.most_calls for plan in plans):,}), "
        f"{sum(plan.in_cache for plan in plans):,} answers in the cache; "
        f"{sum(plan.prompt_tokens for plan in plans):,} prompt tokens, "
        f"answers {_at_most(longest)}; {money_text(known_usd)}"
        + (f", and {_cells(unpriced)} whose price is unknown" if unpriced else "")
    )


def _cells(count: int) -> str:
    return f"{count} cell" if count == 1 else f"{count} cells"


def _at_most(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"≤ {tokens:,}"


def money_text(usd: float | None) -> str:
    """An upper bound in US dollars, or *unknown*."""
    if usd is None:
        return "unknown"
    return "$0" if usd == 0 else f"≤ ${usd:,.4f}" if usd < 1 else f"≤ ${usd:,.2f}"
