"""A judge that repeats what a finished cell's journal holds: re-scoring asks nobody anything."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from qeval.judge.base import Dispute, Judge, Judgement

if TYPE_CHECKING:
    from qeval.models.base import Model
    from qeval.models.budget import Budget
    from qeval.prompts.base import Prompt
    from qeval.record import Record
    from qeval.scoring.verdict import Which


class RecordedJudge:
    """Says of each prediction what its record holds; keeps the original's identity.

    A prediction that was not judged then is `unscored` without a vote.
    """

    def __init__(
        self, judge: Judge, identity: Mapping[str, object], records: "Iterable[Record]"
    ) -> None:
        self.name = judge.name
        self.notes = judge.notes
        self.max_false_accept = judge.max_false_accept
        self.votes = judge.votes
        self.claim_rows = judge.claim_rows
        self.counterexamples: Which = "none"
        self.models: tuple[Model, ...] = ()
        self._identity = dict(identity)
        self._said = {
            (record.case_id, record.query): record.judgement
            for record in records
            if record.judgement is not None and not record.judgement.failed
        }

    def identity(self) -> dict[str, object]:
        """The identity that the original judge had."""
        return self._identity

    def preflight(self) -> None:
        """Nothing can be missing: the judgements are in memory."""

    def decide(self, dispute: Dispute) -> Judgement:
        """The recorded judgement."""
        known = self._said.get((dispute.case.id, dispute.predicted))
        return known or Judgement("unscored", judge=self.name)

    def prompts(self, _dispute: Dispute) -> "Sequence[tuple[Model, Prompt]]":
        """Nothing is sent."""
        return ()

    def paid_from(self, _budget: "Budget", _account: str = "") -> "RecordedJudge":
        """Nothing is paid."""
        return self

    def close(self) -> None:
        """Nothing is held."""
