"""A cap on money for a whole sweep: reserved before each call, settled after it."""

import threading
from typing import Any

from qeval.errors import InputError, QevalError
from qeval.models.base import Generation, Model, ModelError, Request
from qeval.models.cache import CachedModel
from qeval.models.tokens import answer_tokens_of, counter

_MARGIN = 1.25  # on a prompt whose tokens are estimated
_DUST = 1e-9  # US dollars that sums of floats may be off
_FREE = ("gold", "replay", "local")


class BudgetReachedError(QevalError):
    """The next call might cost more than is left; the sweep ends (exit code 3)."""


class Budget:
    """US dollars that a sweep may spend. Safe for threads."""

    def __init__(self, limit_usd: float, spent_usd: float = 0.0) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self._reserved = 0.0
        self._change = threading.Condition()
        self._over = False

    def reserve(self, usd: float) -> None:
        """Set aside what a call costs at most.

        Waits while calls in flight may still turn out cheaper. Raises `BudgetReachedError` when
        nothing is in flight and it does not fit, and from then on for every call.
        """
        with self._change:
            while not self._over and self.spent_usd + self._reserved + usd > self.limit_usd + _DUST:
                if self._reserved <= 0:
                    self._over = True
                    self._change.notify_all()
                    break
                self._change.wait()
            if self._over:
                raise BudgetReachedError
            self._reserved += usd

    def settle(self, reserved_usd: float, spent_usd: float) -> None:
        """Give back what was set aside and count what was spent."""
        with self._change:
            self._reserved -= reserved_usd
            if self._reserved < _DUST:
                self._reserved = 0.0
            self.spent_usd += spent_usd
            self._change.notify_all()


class BudgetedModel:
    """A model whose every call is paid from a budget."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self.model = model
        self.name = model.name
        self.budget = budget

    def identity(self) -> dict[str, object]:
        """The model's own: money changes no answer."""
        return self.model.identity()

    def preflight(self) -> None:
        """The model's own; and its price must be known."""
        self.model.preflight()

    def generate(self, request: Request) -> Generation:
        """Reserve, ask, settle. Raises `BudgetReachedError` and what the model raises."""
        bound = cost_bound(self.model, request)
        if bound is None:
            raise ModelError(f"{self.name}: its price is unknown", retryable=False)
        self.budget.reserve(bound)
        try:
            generation = self.model.generate(request)
        except BaseException:
            self.budget.settle(bound, 0.0)
            raise
        cost = generation.usage.cost_usd
        self.budget.settle(bound, bound if cost is None else cost)
        return generation

    def close(self) -> None:
        """Release the model."""
        self.model.close()

    def __getattr__(self, name: str) -> Any:
        """Whatever else the model offers."""
        if name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)


def budgeted(model: Model, budget: Budget) -> Model:
    """The model paid from `budget`; answers out of the cache stay free.

    Raises `InputError` where the model's price is unknown: a cap can't be kept then.
    """
    inner = model.model if isinstance(model, CachedModel) else model
    if price_per_call(inner) is None:
        raise InputError(
            f"limits.budget_usd: the price of model={inner.name} is unknown. State it: "
            "model.price={input: …, output: …} (US dollars per million tokens), and "
            "model.params.max_tokens"
        )
    paid = BudgetedModel(inner, budget)
    return CachedModel(paid, model.responses) if isinstance(model, CachedModel) else paid


def price_per_call(model: Model, prompt_tokens: int = 0) -> float | None:
    """US dollars of one call at most; None: unknown."""
    fixed = getattr(model, "usd_per_call", None)
    if fixed is not None:
        return float(fixed)
    adapter = model.identity().get("adapter")
    if adapter in _FREE:
        return 0.0
    stated = getattr(model, "usd_per_mtok", None)
    price = stated() if stated is not None else None
    return None if price is None else price.cost(prompt_tokens, answer_tokens_of(model))


def cost_bound(model: Model, request: Request) -> float | None:
    """What a request costs at most: its prompt, and an answer of the greatest length."""
    if price_per_call(model) in (None, 0.0) or getattr(model, "usd_per_call", None) is not None:
        return price_per_call(model)
    count = counter(model)
    tokens = count.messages(request.prompt.messages)
    return price_per_call(model, tokens if count.exact else round(tokens * _MARGIN))
