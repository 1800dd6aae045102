"""What a model costs: its YAML's word, else litellm's table, else unknown (which is not zero)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_TABLE = "model_prices_and_context_window_backup.json"
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens in and out; `source` is `yaml` or `litellm`."""

    input: float
    output: float
    source: str

    def cost(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """US dollars of one call; None where a count is unknown."""
        if prompt_tokens is None or completion_tokens is None:
            return None
        return (prompt_tokens * self.input + completion_tokens * self.output) / _MILLION


def price_of(
    model_id: str, stated: Mapping[str, float] | None = None, base_url: str | None = None
) -> Price | None:
    """The price of a model, or None where nobody knows it.

    `stated` (`input` and `output`, US dollars per million tokens) wins. An own `base_url` makes the
    table's price meaningless. A price of zero in the table means "not by token", so unknown; a
    tiered price is the first tier's.
    """
    if stated is not None:
        return Price(float(stated["input"]), float(stated["output"]), "yaml")
    entry = table_entry(model_id) if base_url is None else None
    if entry is None:
        return None
    tiers = entry.get("tiered_pricing")
    rates = tiers[0] if tiers else entry
    asked, said = rates.get("input_cost_per_token"), rates.get("output_cost_per_token")
    if not asked or not said:
        return None
    return Price(round(asked * _MILLION, 9), round(said * _MILLION, 9), "litellm")


def table_entry(model_id: str) -> Mapping[str, Any] | None:
    """What litellm's own table says of a model (without importing litellm), or None."""
    table = _table()
    if model_id in table:
        return table[model_id]
    provider, _, rest = model_id.partition("/")
    entry = table.get(rest)
    return entry if entry and str(entry.get("litellm_provider", "")).startswith(provider) else None


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    path = Path(spec.origin).with_name(_TABLE)
    if not path.is_file():
        return {}
    table: dict[str, Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return table
