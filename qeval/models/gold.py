"""The model that knows the answers: the self-test of the whole instrument."""

from dataclasses import dataclass

from qeval.models.base import Generation, ModelError, Request, Usage


@dataclass(slots=True)
class GoldModel:
    """Answers every case with its own gold, so anything but 100 % is a fault of the instrument."""

    name: str = "gold"
    notes: str = ""
    cache: bool = False

    def identity(self) -> dict[str, object]:
        """The gold is part of the suite's content hash: nothing else can change an answer."""
        return {"adapter": "gold"}

    def preflight(self) -> None:
        """Nothing can be missing."""

    def generate(self, request: Request) -> Generation:
        """The gold of the asked language, as a query that needs no extraction."""
        gold = request.case.gold.get(request.language)
        if gold is None:
            raise ModelError(
                f"case {request.case.id} has no {request.language} gold", retryable=False
            )
        return Generation(gold, usage=Usage(cost_usd=0.0), served_by="gold", is_query=True)

    def close(self) -> None:
        """Nothing is held."""
