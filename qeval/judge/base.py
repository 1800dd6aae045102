"""What the pipeline asks of a judge, whichever it is: a dispute goes in, a judgement comes out.

A judge looks at a prediction that ran and differs from the gold, and says whether it is another
right answer to the question. Its word can make a verdict `equivalent`; it never touches what
execution found.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from qeval.data.model import TableModel
    from qeval.languages.base import Language
    from qeval.models.base import Model
    from qeval.models.budget import Budget
    from qeval.prompts.base import Prompt
    from qeval.scoring.verdict import Which
    from qeval.suite import Case

Label = Literal["equivalent", "different", "unscored"]
"""`unscored`: the judge gave no usable answer, or its votes disagree. It is never a guess."""

Ground = Literal["", "same_rows", "another_reading"]
"""Why a vote is `equivalent`: equal rows on all data, or a question that allows both answers."""

Outcome = Literal["confirmed", "refuted", "untried"]
"""What came of a row set that is said to tell two queries apart (`refuted`: it does not)."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A result as a judge sees it: a bounded prefix of printable cells, and the true row count."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two queries for one question, and what is known of them; a judge never learns which is gold.

    `gold_result` and `predicted_result` are from the same data set, the first on which the two
    differ; None where results are withheld. `counterexample` is a small data set in words that
    tells them apart (or None), `differing` the name of the instance on which they were seen to
    differ ("" where none is known): evidence that they do not return the same rows on all data.
    `tables` are the neutral tables that a row set may fill.
    """

    case: "Case"
    question: str
    reference_date: str
    language: "Language"
    schema: str
    gold: str
    predicted: str
    tables: "tuple[TableModel, ...]" = ()
    gold_result: Shown | None = None
    predicted_result: Shown | None = None
    difference: Mapping[str, Any] | None = None
    counterexample: str | None = None
    differing: str = ""


RowSet = Sequence[Mapping[str, Any]]
"""Rows by neutral table: `[{"table": str, "columns": [str], "rows": [[cell]]}]`."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One answer of one judge.

    `row_set` is the data that is said to tell the queries apart (with `different` only).
    `swapped`: the prediction was shown first. `attempts` counts the answers it took; `raw` is the
    last one, untouched, while tokens, cost (US dollars, None: unknown) and seconds are sums.
    `failed`: the judge could not be asked, so the vote says nothing and is asked for again.
    """

    label: Label
    reason: str = ""
    ground: Ground = ""
    row_set: RowSet | None = None
    swapped: bool = False
    judge: str = ""
    raw: str = ""
    finish_reason: str = ""
    attempts: int = 1
    prompt_digest: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    cached: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """What trying a judge's row set told: `rows` were loaded, and both queries were run on them."""

    outcome: Outcome
    message: str = ""
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge (or a panel of them) decided on one prediction.

    `split`: votes contradict each other, a person should look. `contradicted`: a vote claimed
    equal rows on all data although an instance shows otherwise, and does not count. `judge` and
    `identity` (16 hex digits) name who decided; `claim` is what came of the row set that was given
    with `different`, None where there was none to try.
    """

    label: Label
    votes: tuple[Vote, ...] = ()
    split: bool = False
    contradicted: bool = False
    claim: Claim | None = None
    judge: str = ""
    identity: str = ""

    @property
    def failed(self) -> bool:
        """Whether it has no label because the judge could not be asked (network, key, budget)."""
        return self.label == "unscored" and any(vote.failed for vote in self.votes)

    @property
    def reason(self) -> str:
        """The words of the first vote for the label, else of the first vote."""
        fitting = [vote for vote in self.votes if vote.label == self.label] or self.votes
        return fitting[0].reason if fitting else ""

    @property
    def row_set(self) -> RowSet | None:
        """The first row set that a vote gave."""
        return next((vote.row_set for vote in self.votes if vote.row_set), None)

    @property
    def to_review(self) -> bool:
        """Whether a person must look at it, sampled or not."""
        return self.split or self.contradicted

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dictionary; `from_json` reads it back unchanged."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Judgement":
        """Rebuild a judgement; unknown keys of a newer version are refused with `TypeError`."""
        values = dict(data)
        values["votes"] = tuple(Vote(**vote) for vote in values.get("votes", ()))
        if values.get("claim") is not None:
            values["claim"] = Claim(**values["claim"])
        return cls(**values)


@runtime_checkable
class Judge(Protocol):
    """Built by Hydra from `conf/judge/<name>.yaml`; cheap to build and safe for threads."""

    name: str
    max_false_accept: float
    """The largest upper end of the false-accept interval with which its word makes headlines."""
    notes: str

    @property
    def votes(self) -> int:
        """How many answers a decision takes."""
        ...

    @property
    def claim_rows(self) -> int:
        """How many rows a row set may have to be tried; 0: none is tried."""
        ...

    @property
    def counterexamples(self) -> "Which":
        """Of which predictions it is shown the few rows that tell them from the gold."""
        ...

    @property
    def models(self) -> "tuple[Model, ...]":
        """The models that are asked, for planning."""
        ...

    def identity(self) -> dict[str, object]:
        """All that can change a decision (models, prompt, votes, bounds); never a key."""
        ...

    def preflight(self) -> None:
        """Raise `InputError` naming what is missing (environment variable, file) before work."""
        ...

    def decide(self, dispute: Dispute) -> Judgement:
        """Look at one dispute. What goes wrong becomes an `unscored` vote.

        Raises `BudgetReachedError`, nothing else.
        """
        ...

    def prompts(self, dispute: Dispute) -> "Sequence[tuple[Model, Prompt]]":
        """What would be sent, a prompt per vote."""
        ...

    def paid_from(self, budget: "Budget", account: str = "") -> "Judge":
        """The same judge, its calls paid from `budget` (`account`: for whom).

        Raises `InputError` where a price is unknown.
        """
        ...

    def close(self) -> None:
        """Release what the judge holds. Safe to call twice."""
        ...


def digest_of(judge: Judge) -> str:
    """The identity as 16 hex digits: the name of the judge's card."""
    text = json.dumps(judge.identity(), sort_keys=True, ensure_ascii=False, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
