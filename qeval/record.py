"""One case's outcome in one cell: the line that the journal keeps."""

from dataclasses import dataclass, field, fields, replace
from typing import Any

from qeval.judge.base import Judgement
from qeval.scoring.verdict import Verdict


@dataclass(frozen=True, slots=True)
class InstanceOutcome:
    """What happened on one instance. `kind` is the comparison's sub-class where rows differ.

    `difference` is the bounded, printable account of the rows that differ (or None).
    """

    instance: str
    verdict: Verdict
    relaxed_equal: bool = False
    inconclusive: bool = False
    kind: str = ""
    message: str = ""
    code: str = ""
    rows: int | None = None
    seconds: float | None = None
    difference: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One answer of a conversation in which errors go back to the model.

    `kind` says how its query fared when it was tried without looking at the gold: `fine`,
    `no_query`, or a class of failure with the engine's `message`.
    """

    raw: str
    query: str | None
    kind: str
    message: str = ""
    finish_reason: str = ""
    prompt_digest: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    generation_s: float | None = None
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """All that is known of one case in one cell; plain values only.

    `raw` is the model's answer untouched, `query` what was extracted from it and `executed` the
    text that was sent to the engine (None where nothing was). Seconds are wall time. Where errors
    went back to the model, `rounds` has every answer, `raw` and `query` are the last one's, tokens,
    cost and seconds are sums. `copied` are literals and conditions out of shown examples.
    `counterexample` is the key under which the cell's counterexamples.jsonl has the few rows on
    which prediction and gold differ, if they were looked for and found ("": nothing to look for).
    `judgement` is what a judge said of a prediction that ran and differs (None: nobody was asked).
    `review` is what people said of it (`equivalent`, `different`): reviews have a journal of their
    own and are laid over the records when these are read, so in a cell's journal it is empty.
    """

    case_id: str
    repeat: int
    difficulty: str
    tags: tuple[str, ...]
    question: str
    gold: str
    verdict: Verdict
    outcomes: tuple[InstanceOutcome, ...] = ()
    kind: str = ""
    message: str = ""
    code: str = ""
    raw: str = ""
    reasoning: str | None = None
    finish_reason: str = ""
    query: str | None = None
    executed: str | None = None
    extraction: str = ""
    prompt_digest: str = ""
    template_hash: str = ""
    examples: tuple[str, ...] = ()
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    generation_s: float | None = None
    execution_s: float | None = None
    cached: bool = False
    served_by: str = ""
    sent: dict[str, Any] = field(default_factory=dict)
    engine: str = ""
    attempts: int = 1
    rounds: tuple[Round, ...] = ()
    copied: tuple[str, ...] = ()
    schema_shown: str = ""
    counterexample: str = ""
    judgement: Judgement | None = None
    review: str = ""
    finished_at: str = ""

    @property
    def first_verdict(self) -> Verdict:
        """What the first answer alone would have got."""
        if self.rounds and self.rounds[0].kind != "fine":
            return Verdict(self.rounds[0].kind)
        return self.verdict

    def without_times(self) -> "Record":
        """What another run of the same gives again: all but when it was and how long it took."""
        said = self.judgement
        if said is not None:
            said = replace(said, votes=tuple(replace(vote, seconds=None) for vote in said.votes))
        return replace(
            self,
            outcomes=tuple(replace(outcome, seconds=None) for outcome in self.outcomes),
            rounds=tuple(replace(round_, generation_s=None) for round_ in self.rounds),
            judgement=said,
            generation_s=None,
            execution_s=None,
            finished_at="",
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dictionary; `from_json` reads it back unchanged."""
        values = {name: getattr(self, name) for name in _RECORD_FIELDS}
        values["outcomes"] = [
            {name: getattr(outcome, name) for name in _OUTCOME_FIELDS} for outcome in self.outcomes
        ]
        values["rounds"] = [
            {name: getattr(round_, name) for name in _ROUND_FIELDS} for round_ in self.rounds
        ]
        values["judgement"] = None if self.judgement is None else self.judgement.to_json()
        return values

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Record":
        """Rebuild a record; unknown keys of a newer version are refused with `TypeError`."""
        values = dict(data)
        values["verdict"] = Verdict(values["verdict"])
        values["outcomes"] = tuple(
            InstanceOutcome(**{**o, "verdict": Verdict(o["verdict"])})
            for o in values.get("outcomes", ())
        )
        values["rounds"] = tuple(Round(**given) for given in values.get("rounds", ()))
        if values.get("judgement") is not None:
            values["judgement"] = Judgement.from_json(values["judgement"])
        for name in ("tags", "examples", "copied"):
            values[name] = tuple(values.get(name, ()))
        return cls(**values)


_RECORD_FIELDS = tuple(field.name for field in fields(Record))
_ROUND_FIELDS = tuple(field.name for field in fields(Round))
_OUTCOME_FIELDS = tuple(field.name for field in fields(InstanceOutcome))
