"""What there is to review: the disputed predictions of finished cells, each once."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qeval.journal import read_journal
from qeval.judge.base import Judgement
from qeval.record import InstanceOutcome, Record
from qeval.review.standing import executed_verdict, is_disputable, item_of


@dataclass(slots=True)
class Item:
    """One question, its gold and one predicted query that ran and gave other rows.

    `record` is the first one seen with them, `folder` its cell. `judgements` are what different
    judges said, `models` who wrote the query; several cells may bring the same item. `shrunk` are
    the cells that sought a counterexample, each with its key there.
    """

    key: str
    suite: str
    language: str
    folder: Path
    record: Record
    folders: list[Path] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    shrunk: list[tuple[Path, str]] = field(default_factory=list)

    @property
    def case_id(self) -> str:
        """The case that was asked."""
        return self.record.case_id

    @property
    def telling(self) -> InstanceOutcome:
        """The outcome of the first instance on which the rows differ."""
        outcomes = self.record.outcomes
        return next((o for o in outcomes if o.difference is not None), outcomes[-1])

    @property
    def verdict(self) -> str:
        """What execution alone says."""
        return str(executed_verdict(self.record))

    @property
    def judged(self) -> str:
        """The judges' label; `split` where they contradict each other, "" without a judge."""
        labels = {judgement.label for judgement in self.judgements}
        return "split" if len(labels) > 1 else next(iter(labels), "")

    @property
    def is_disputed(self) -> bool:
        """Whether votes or judges contradict each other, or the evidence a judge."""
        return self.judged == "split" or any(said.to_review for said in self.judgements)


def collect(folders: Iterable[Path]) -> list[Item]:
    """The items of cell folders in the order of case, language and key.

    Raises `InputError` for a damaged journal.
    """
    found: dict[str, Item] = {}
    for folder in folders:
        header, records = read_journal(folder)
        config = header.get("config", {})
        for record in records:
            if is_disputable(record) and record.outcomes:
                item = found.setdefault(
                    item_of(record),
                    Item(item_of(record), _name(config, "suite"), _name(config, "language"),
                         folder, record),
                )  # fmt: skip
                _add(item, folder, record, _name(config, "model"))
    return sorted(found.values(), key=lambda i: (i.suite, i.case_id, i.language, i.key))


def _add(item: Item, folder: Path, record: Record, model: str) -> None:
    if folder not in item.folders:
        item.folders.append(folder)
    if model not in item.models:
        item.models.append(model)
    if record.counterexample:
        item.shrunk.append((folder, record.counterexample))
    said = record.judgement
    known = {judgement.identity for judgement in item.judgements}
    if said is not None and not said.failed and said.identity not in known:
        item.judgements.append(said)


def _name(config: dict[str, Any], group: str) -> str:
    value = config.get(group)
    return str(value.get("name", "")) if isinstance(value, dict) else str(value or "")
