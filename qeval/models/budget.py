"""A cap on money for a whole sweep: reserved before each call, settled after it."""

import threading
from typing import Any

from qeval.errors import InputError, QevalError
from qeval.models.base import Generation, Model, ModelError, Request
from qeval.models.cache import CachedModel
from qeval.models.ledger import Ledger, Place
from qeval.models.tokens import answer_tokens_of, counter

_MARGIN = 1.25  # on a prompt whose tokens are estimated
_DUST = 1e-9  # US dollars that sums of floats may be off
_FREE = ("gold", "replay", "local")
_LOOK_AGAIN_S = 0.2  # other processes settle without telling
_NOWHERE = Place()


class BudgetReachedError(QevalError):
    """The next call might cost more than is left; the sweep ends (exit code 3)."""


class Budget:
    """US dollars that a sweep may spend. Safe for threads; for processes too, through its ledger.

    `spent_usd` is what was spent before; all else is in the ledger. `name` is the account of calls
    that belong to no cell.
    """

    def __init__(
        self,
        limit_usd: float,
        spent_usd: float = 0.0,
        ledger: Ledger | None = None,
        name: str = "",
    ) -> None:
        self.name = name
        self.limit_usd = limit_usd
        self.before_usd = spent_usd
        self.ledger = ledger or Ledger()
        self._change = threading.Condition()
        self._over = False

    @property
    def spent_usd(self) -> float:
        """What is spent for certain; calls in flight are not in it."""
        return self.before_usd + self.ledger.balance().settled_usd

    def reserve(self, usd: float, place: Place = _NOWHERE) -> int:
        """Set aside what a call costs at most; returns the call's number.

        Waits while calls in flight may still turn out cheaper. Raises `BudgetReachedError` when
        nothing is in flight and it does not fit, and from then on for every call.
        """
        left = self.limit_usd - self.before_usd + _DUST
        with self._change:
            while not self._over:
                call = self.ledger.reserve(usd, left, place)
                if call is not None:
                    return call
                self.ledger.bury()
                if self.ledger.balance().in_flight:
                    self._change.wait(_LOOK_AGAIN_S)
                elif (call := self.ledger.reserve(usd, left, place)) is not None:
                    return call
                else:
                    self._over = True
                    self._change.notify_all()
            raise BudgetReachedError

    def settle(self, call: int, spent_usd: float) -> None:
        """Give back what was set aside and count what was spent."""
        self.ledger.settle(call, spent_usd)
        with self._change:
            self._change.notify_all()


class BudgetedModel:
    """A model whose every call is paid from a budget; `account` says for whom."""

    def __init__(self, model: Model, budget: Budget, account: str = "") -> None:
        self.model = model
        self.name = model.name
        self.budget = budget
        self.account = account or budget.name

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
        call = self.budget.reserve(bound, Place(self.account, request.case.id, request.repeat))
        try:
            generation = self.model.generate(request)
        except Exception:
            self.budget.settle(call, 0.0)  # failed calls are not billed
            raise
        cost = generation.usage.cost_usd
        self.budget.settle(call, bound if cost is None else cost)
        return generation

    def close(self) -> None:
        """Release the model."""
        self.model.close()

    def __getattr__(self, name: str) -> Any:
        """Whatever else the model offers."""
        if name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)


def budgeted(model: Model, budget: Budget, account: str = "") -> Model:
    """The model paid from `budget`; answers out of the cache stay free.

    `account` is the key of the cell that asks ("": the budget's own account).

    Raises `InputError` where the model's price is unknown: a cap can't be kept then.
    """
    inner = model.model if isinstance(model, CachedModel) else model
    if price_per_call(inner) is None:
        raise InputError(
            f"limits.budget_usd: the price of model={inner.name} is unknown. State it: "
            "model.price={input: …, output: …} (US dollars per million tokens), and "
            "model.params.max_tokens"
        )
    paid = BudgetedModel(inner, budget, account)
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
    alone = price_per_call(model)
    if alone in (None, 0.0) or getattr(model, "usd_per_call", None) is not None:
        return alone
    count = counter(model)
    tokens = count.messages(request.prompt.messages)
    return price_per_call(model, tokens if count.exact else round(tokens * _MARGIN))
