"""Calibrating a judge: its word on labelled pairs and reviewed cases, held against the truth.

Every query goes through the instances and, where these tell it from the gold, to the judge, as in a
run: that is what its word does to scores. The judge is also asked about every pair without results,
for those of equivalent queries are equal and would give the answer away.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from qeval.bench import Bench
from qeval.errors import InputError
from qeval.journal import AppendFile, read_journal, read_lines
from qeval.judge.asking import ask_judge, dispute_of, out_of_money, try_claim
from qeval.judge.base import Judge, Judgement, Label, digest_of
from qeval.judge.calibration_set import Pair
from qeval.judge.cards import FOLDER, Entry
from qeval.judge.figures import Figures, Judged, Truth, figures
from qeval.models.base import Generation
from qeval.models.budget import BudgetReachedError
from qeval.pipeline import judge_answer, question_of
from qeval.record import Record
from qeval.scoring.verdict import Verdict

if TYPE_CHECKING:
    from qeval.cells import Cell
    from qeval.suite import Case

Condition = Literal["alone", "run"]
Source = Literal["suite", "user", "reviewed"]


@dataclass(frozen=True, slots=True)
class Item:
    """A query whose truth is known, and from whom: a suite's pair, a user's, or reviewers."""

    case: "Case"
    query: str
    truth: Truth
    source: Source
    question: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an item.

    `instances` is their verdict, `final` the one after the judge; `run` is its judgement there
    (None: not asked), `alone` the one without results (None for reviewed items).
    """

    item: Item
    instances: Verdict
    final: Verdict
    run: Judgement | None
    alone: Judgement | None


class Kept:
    """Judgements of one judge on disk: what was asked once is not asked again.

    Raises `InputError` naming a line that is none, and where it can't be written.
    """

    def __init__(self, runs_dir: Path, judge: Judge) -> None:
        folder = runs_dir / FOLDER
        path = folder / f"{digest_of(judge)}.jsonl"
        self._known: dict[str, Judgement] = {}
        for number, line in read_lines(path):
            try:
                self._known[str(line["key"])] = Judgement.from_json(line["judgement"])
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(
                    f"{path}:{number}: no judgement ({type(error).__name__}: {error}). Delete the "
                    "line: its pair is then asked about again"
                ) from None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = AppendFile(path)
        except OSError as error:
            raise InputError(
                f"can't write {path}: {error.strerror or error}. Choose a folder of your own with "
                "runs_dir=…"
            ) from error
        self._lock = Lock()

    def once(self, key: str, decide: Callable[[], Judgement]) -> Judgement:
        """The judgement kept under `key`, else a new one, kept unless the judge failed."""
        known = self._known.get(key)
        if known is not None:
            return known
        made = decide()
        if not made.failed:
            with self._lock:
                self._known[key] = made
                self._file.append({"key": key, "judgement": made.to_json()})
        return made

    def close(self) -> None:
        """Make everything durable."""
        self._file.close()


def items_of(pairs: Sequence[Pair], cell: "Cell", source: Source) -> list[Item]:
    """The pairs as items. Raises `InputError` for a case that the cell does not have."""
    cases = {case.id: case for case in cell.cases}
    suite = {case.id for case in cell.suite.cases}
    items = []
    for pair in pairs:
        if pair.case not in cases and pair.case in suite:
            raise InputError(
                f"pair {pair.id} is about {pair.case}, which is left out; a judge is calibrated "
                "on all pairs: leave difficulty=… and subset=… out (--dry-run tells the cost)"
            )
        if pair.case not in cases:
            raise InputError(f"pair {pair.id}: the suite has no case {pair.case!r}")
        case = cases[pair.case]
        items.append(Item(case, pair.query, pair.label, source, question_of(cell, case)))
    return items


def reviewed_items(runs_dir: Path, cell: "Cell") -> list[Item]:
    """Predictions that reviewers decided without having seen a judge's word.

    Raises `InputError` for a damaged journal.
    """
    from qeval.review.decisions import agreed, read, standing
    from qeval.review.standing import is_disputable, item_of

    said = standing(decision for decision in read(runs_dir) if not decision.saw_judge)
    cases = {case.id: case for case in cell.cases}
    found: dict[str, Item] = {}
    for folder in sorted(runs_dir.glob("*/")) if said else ():
        if not (folder / "journal.jsonl").is_file():
            continue
        for record in read_journal(folder)[1]:
            key = item_of(record) if is_disputable(record) else ""
            case = cases.get(record.case_id)
            choice = agreed(said[key]) if key in said else None
            if case is None or choice not in ("equivalent", "different"):
                continue
            if case.gold[cell.language.name] == record.gold:
                query, truth = str(record.query), choice
                found[key] = Item(case, query, truth, "reviewed", record.question)
    return list(found.values())


def calibrate(
    cell: "Cell",
    bench: Bench,
    items: Sequence[Item],
    kept: Kept,
    workers: int,
    *,
    on_item: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """Put every item before the instances and the cell's judge.

    Raises `BudgetReachedError` when the money is spent, and what the engine raises; what was
    judged until then is kept.
    """

    def one(item: Item) -> Outcome:
        outcome = _examined(cell, bench, item, kept)
        on_item()
        return outcome

    with ThreadPoolExecutor(workers, thread_name_prefix="calibrate") as pool:
        try:
            return list(pool.map(one, items))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _examined(cell: "Cell", bench: Bench, item: Item, kept: Kept) -> Outcome:
    assert cell.judge is not None
    case, language = item.case, cell.language.name
    record = Record(
        case.id, 0, case.difficulty, case.tags, item.question, case.gold[language],
        Verdict.INFRA_ERROR, raw=item.query, engine=bench.label,
    )  # fmt: skip
    generation = Generation(item.query, is_query=True)
    before = judge_answer(cell, case, record, generation, bench)

    def in_run() -> Judgement:
        judged, _ = ask_judge(cell, case, before, bench)
        if out_of_money(judged):
            raise BudgetReachedError
        return judged.judgement or Judgement("unscored")

    run: Judgement | None = None
    if before.verdict in (Verdict.WRONG_RESULT, Verdict.REFUTED):
        run = kept.once(_key(cell, item, "run", bench), in_run)
    final = before.verdict
    if run is not None and run.label == "equivalent":
        final = Verdict.EQUIVALENT
    alone: Judgement | None = None
    if item.source != "reviewed":
        alone = kept.once(_key(cell, item, "alone", bench), lambda: _alone(cell, item, bench))
    return Outcome(item, before.verdict, final, run if run and run.votes else None, alone)


def _alone(cell: "Cell", item: Item, bench: Bench) -> Judgement:
    assert cell.judge is not None
    found = cell.judge.decide(dispute_of(cell, item.case, item.query, question=item.question))
    return replace(found, claim=try_claim(cell, item.case, item.query, found, bench))


def _key(cell: "Cell", item: Item, condition: Condition, bench: Bench) -> str:
    """All that decides a judgement apart from the judge itself."""
    language = cell.language.name
    parts = [
        condition, item.question, item.case.gold[language], item.query, language, bench.label,
        cell.suite.reference_date, cell.suite.schema_text.get(language, ""),
        [cell.suite.instance(language, name).key for name in cell.instances],
    ]  # fmt: skip
    text = json.dumps(parts, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def entry_of(
    cell: "Cell", bench: Bench, outcomes: Sequence[Outcome], pairs: str, left_out: int
) -> Entry:
    """The card's entry. `pairs`: digest of the suite's own pairs; `left_out`: those not asked."""
    asked = [(o.item, o.run) for o in outcomes if o.run is not None]
    alone = [(o.item, o.alone) for o in outcomes if o.alone is not None]
    sources = Counter(outcome.item.source for outcome in outcomes)
    failed = sum(
        any(judgement is not None and judgement.failed for judgement in (o.run, o.alone))
        for o in outcomes
    )
    return Entry(
        suite=cell.suite.name,
        language=cell.language.name,
        pairs=pairs,
        engine=bench.label,
        alone=_figures(alone),
        in_runs=_figures(asked),
        own=_figures([(item, said) for item, said in asked if item.source == "suite"]),
        chain=_figures([(o.item, Judgement(_accepted(o.final))) for o in outcomes]),
        instances=_figures([(o.item, Judgement(_decided(o.instances))) for o in outcomes]),
        left_out=left_out,
        extra=sources["user"],
        reviewed=sources["reviewed"],
        failed=failed,
    )


def _figures(judged: "Sequence[tuple[Item, Judgement]]") -> Figures:
    usable = ((item, judgement) for item, judgement in judged if not judgement.failed)
    return figures([Judged(item.case.id, item.truth, judgement) for item, judgement in usable])


def _accepted(verdict: Verdict) -> Label:
    return "equivalent" if verdict in (Verdict.CORRECT, Verdict.EQUIVALENT) else "different"


def _decided(verdict: Verdict) -> Label:
    return "equivalent" if verdict is Verdict.CORRECT else "different"


def unproven(outcomes: Sequence[Outcome]) -> Iterator[Item]:
    """Pairs labelled equivalent that an instance tells apart: their labels are wrong."""
    for outcome in outcomes:
        equivalent = outcome.item.truth == "equivalent" and outcome.item.source != "reviewed"
        if equivalent and outcome.instances is not Verdict.CORRECT:
            yield outcome.item
