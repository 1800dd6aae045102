"""Several judges as one: each decides on its own, the majority has it."""

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

from qeval.errors import InputError
from qeval.judge.base import Dispute, Judgement, digest_of
from qeval.judge.voting import majority
from qeval.settings import check

if TYPE_CHECKING:
    from qeval.judge.base import Judge
    from qeval.models.base import Model
    from qeval.models.budget import Budget
    from qeval.prompts.base import Prompt
    from qeval.scoring.verdict import Which

_FEWEST = 2


class Panel:
    """The judges of `members`, each by its own configuration; more than half of them decide.

    A judgement on which members contradict each other is `split`: a person should look at it.
    """

    def __init__(
        self,
        *,
        name: str,
        members: Mapping[str, Mapping[str, Any]],
        max_false_accept: float,
        notes: str = "",
    ) -> None:
        from qeval.cells import construct

        chosen = {key: value for key, value in members.items() if value}
        if len(chosen) < _FEWEST:
            raise InputError(f"judge={name} needs at least {_FEWEST} members, not {len(chosen)}")
        self.name = name
        self.max_false_accept: float = check(float, max_false_accept, "judge.max_false_accept")
        self.notes = notes
        self.members: tuple[Judge, ...] = tuple(
            construct(value, f"judge.members.{key}") for key, value in chosen.items()
        )

    def identity(self) -> dict[str, object]:
        """The members' identities."""
        return {"judge": "panel", "members": [member.identity() for member in self.members]}

    @property
    def models(self) -> "tuple[Model, ...]":
        """The models of all members."""
        return tuple(model for member in self.members for model in member.models)

    @property
    def votes(self) -> int:
        """The votes of all members."""
        return sum(member.votes for member in self.members)

    @property
    def claim_rows(self) -> int:
        """The largest row set that is tried."""
        return max(member.claim_rows for member in self.members)

    @property
    def counterexamples(self) -> "Which":
        """The most that any member wants to be shown."""
        wanted = {member.counterexamples for member in self.members}
        return "all" if "all" in wanted else "refuted" if "refuted" in wanted else "none"

    def preflight(self) -> None:
        """What any member lacks, all of it at once."""
        problems = []
        for member in self.members:
            try:
                member.preflight()
            except InputError as error:
                problems.append(str(error))
        if problems:
            raise InputError("\n".join(problems))

    def paid_from(self, budget: "Budget", account: str = "") -> "Panel":
        """The same panel, paid from `budget`. Raises `InputError` where a price is unknown."""
        paid = copy(self)
        paid.members = tuple(member.paid_from(budget, account) for member in self.members)
        return paid

    def decide(self, dispute: Dispute) -> Judgement:
        """Ask every member. Raises `BudgetReachedError`, nothing else."""
        judgements = [member.decide(dispute) for member in self.members]
        return majority(judgements, judge=self.name, identity=digest_of(self))

    def prompts(self, dispute: Dispute) -> "list[tuple[Model, Prompt]]":
        """What would be sent, a prompt per vote of each member."""
        return [each for member in self.members for each in member.prompts(dispute)]

    def close(self) -> None:
        """Release all members."""
        for member in self.members:
            member.close()
