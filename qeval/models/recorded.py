"""A model that repeats the answers of a finished cell: re-scoring asks nobody anything."""

from collections.abc import Iterable, Mapping

from qeval.models.base import Generation, ModelError, Request, Usage
from qeval.record import Record, Round


class RecordedModel:
    """Answers each (case, repeat) with what its record holds; keeps the original's identity."""

    def __init__(
        self,
        name: str,
        identity: Mapping[str, object] | None = None,
        records: Iterable[Record] = (),
    ) -> None:
        self.name = name
        self._identity = dict(identity or {})
        self._records = {(record.case_id, record.repeat): record for record in records}

    def identity(self) -> dict[str, object]:
        """The identity that the original model had."""
        return self._identity

    def preflight(self) -> None:
        """Nothing can be missing: the answers are in memory."""

    def generate(self, request: Request) -> Generation:
        """The recorded answer. Raises `ModelError` where the original had none."""
        record = self._records.get((request.case.id, request.repeat))
        if record is None or record.kind == "model":
            raise ModelError("the journal holds no answer to this case", retryable=False)
        said = _round(record, request.round) if request.round or record.rounds else record
        return Generation(
            text=said.raw,
            finish_reason=said.finish_reason,
            reasoning=record.reasoning if said in (record, *record.rounds[-1:]) else None,
            usage=Usage(said.prompt_tokens, said.completion_tokens, said.cost_usd),
            seconds=said.generation_s or 0.0,
            cached=True,
            served_by=record.served_by,
            sent=record.sent,
            is_query=record.extraction == "as given",
        )

    def close(self) -> None:
        """Nothing is held."""


def _round(record: Record, number: int) -> Round:
    """One answer of a conversation; the last one again where it now goes on for longer."""
    if not record.rounds:
        raise ModelError("the journal holds no answer to this follow-up", retryable=False)
    return record.rounds[min(number, len(record.rounds) - 1)]
