"""A judge's card: what calibration found its word to be worth, and whether it may make headlines.

Cards are `<runs_dir>/judges/<identity>.json`. A card belongs to one identity (models, prompt,
votes); its entries belong to the pairs they were measured on.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qeval.atomic import write_atomically
from qeval.errors import InputError
from qeval.judge.base import Judge, digest_of
from qeval.judge.figures import Figures
from qeval.scoring.metrics import MetricValue

if TYPE_CHECKING:
    from qeval.suite import Suite

FOLDER = "judges"
BUILT_IN = "ecommerce"
"""The suite whose pairs speak for suites that have none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What was found on the pairs of one suite in one language.

    `pairs` is the digest of the suite's own pairs; `left_out` of them were not asked about, `extra`
    of a user's own and `reviewed` cases that people decided were. `alone`: the judge's word on
    queries without results. `in_runs`: its word on disputes as a run has them, with results that
    differ; `own`: the same on the suite's own pairs alone. `chain`: instances, then judge: what is
    accepted in the end; `instances` what they alone say.
    """

    suite: str
    language: str
    pairs: str
    engine: str
    alone: Figures
    in_runs: Figures
    own: Figures
    chain: Figures
    instances: Figures
    left_out: int = 0
    extra: int = 0
    reviewed: int = 0
    failed: int = 0

    @property
    def deciding(self) -> MetricValue | None:
        """The false accepts that decide: in runs, on own pairs or on all, where they look worse.

        So pairs that a user or reviewers add can tell against a judge, and many easy ones can't
        tell for it. None where it gave no different pair (of the suite's, if it has any) a label.
        """
        own, every = self.own.false_accept, self.in_runs.false_accept
        if own is None or every is None:
            return None if self.pairs else every
        return max(own, every, key=lambda found: found.high)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready; `from_json` reads it back."""
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            **{name: getattr(self, name).to_json() for name in _FIGURES},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Entry":
        """Read an entry. Raises `KeyError` and `TypeError` for what is none."""
        values: dict[str, Any] = {name: data[name] for name in _PLAIN}
        values |= {name: Figures.from_json(data[name]) for name in _FIGURES}
        return cls(**values)


_PLAIN = ("suite", "language", "pairs", "engine", "left_out", "extra", "reviewed", "failed")
_FIGURES = ("alone", "in_runs", "own", "chain", "instances")


@dataclass(frozen=True, slots=True)
class Card:
    """All entries of one judge; `facts` is its identity in full."""

    judge: str
    identity: str
    facts: Mapping[str, Any]
    entries: tuple[Entry, ...] = ()

    def entry(self, suite: str, language: str) -> Entry | None:
        """What was measured on a suite's pairs in a language."""
        found = (e for e in self.entries if (e.suite, e.language) == (suite, language))
        return next(found, None)


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether a judge's word may make headline scores, and why; `entry` is what speaks for it."""

    judge: str
    identity: str
    accepted: bool
    why: str
    entry: Entry | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON-ready, for summaries."""
        return {
            "name": self.judge,
            "identity": self.identity,
            "accepted": self.accepted,
            "why": self.why,
            "card": None if self.entry is None else self.entry.to_json(),
        }


def card_file(runs_dir: Path, identity: str) -> Path:
    """Where the card of an identity is."""
    return runs_dir / FOLDER / f"{identity}.json"


def read_card(runs_dir: Path, identity: str) -> Card | None:
    """The card of a judge; None where it was never calibrated. Raises `InputError` if damaged."""
    path = card_file(runs_dir, identity)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        entries = tuple(Entry.from_json(entry) for entry in data["entries"])
        return Card(data["judge"], data["identity"], data["facts"], entries)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} is no judge's card ({type(error).__name__}: {error}); delete it and run qeval "
            "judge calibrate again: what was asked is not asked twice"
        ) from None


def write_card(runs_dir: Path, judge: Judge, entry: Entry) -> Path:
    """Put an entry on the judge's card, in place of an older one of the same suite and language.

    Raises `IncompleteError` where the card can't be written.
    """
    from filelock import FileLock

    identity = digest_of(judge)
    path = card_file(runs_dir, identity)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{path}.lock"):
        before = read_card(runs_dir, identity)
        kept = [
            other
            for other in (before.entries if before else ())
            if (other.suite, other.language) != (entry.suite, entry.language)
        ]
        entries = sorted([*kept, entry], key=lambda e: (e.suite, e.language))
        card = {
            "judge": judge.name,
            "identity": identity,
            "facts": judge.identity(),
            "entries": [each.to_json() for each in entries],
        }
        text = json.dumps(card, ensure_ascii=False, indent=1, default=str)
        write_atomically(path, text + "\n")
    return path


def pairs_digest(folder: Path, suite: "Suite", language: str) -> str | None:
    """What a card's entry belongs to: a suite's pairs, questions and golds; None without pairs."""
    from qeval.judge.calibration_set import set_file

    file = set_file(folder, language)
    if not file.is_file():
        return None
    asked = [
        [case.id, case.question, case.gold[language]]
        for case in suite.cases
        if language in case.gold
    ]
    digest = hashlib.sha256(json.dumps(asked, ensure_ascii=False).encode())
    digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def trust_of(judge: Judge, runs_dir: Path, suite: "Suite", folder: Path, language: str) -> Trust:
    """Hold a judge's card against its limit; a card of other pairs than today's says nothing.

    Without a card no limit is loose enough.
    `folder` is the suite's. A suite on which it was never calibrated and that has no pairs of its
    own is served by the entry on the built-in suite's. Raises `InputError` for a damaged card.
    """
    from qeval.suites import load_suite
    from qeval.suites.loader import suite_folder

    identity = digest_of(judge)
    asked = f"qeval judge calibrate judge={judge.name} lang={language}, with the same settings"
    # Cells that are scored again stand one folder below those that they came from.
    card = read_card(runs_dir, identity) or read_card(runs_dir.absolute().parent, identity)
    whose, belongs = suite.name, pairs_digest(folder, suite, language)
    entry = None if card is None else card.entry(whose, language)
    if belongs is None and entry is None:
        whose = BUILT_IN
        belongs = pairs_digest(suite_folder(BUILT_IN), load_suite(BUILT_IN), language)
        entry = None if card is None else card.entry(whose, language)
    if entry is None:
        return Trust(judge.name, identity, accepted=False, why=f"it has no card: {asked}")
    if entry.pairs != (belongs or ""):
        why = f"its card is on other pairs or questions than {whose} has now: {asked}"
        return Trust(judge.name, identity, accepted=False, why=why, entry=entry)
    if entry.failed:
        why = f"{entry.failed} pairs of its card could not be asked about: {asked}"
        return Trust(judge.name, identity, accepted=False, why=why, entry=entry)
    found, unscored = entry.deciding, entry.in_runs.unscored
    silent = ""
    if unscored is not None and unscored.numerator:
        silent = f", {unscored.numerator:.0f} of {unscored.denominator} unscored"
    if found is None:
        why = f"its card has no different pair to which it gave a label in runs{silent}"
        return Trust(judge.name, identity, accepted=False, why=why, entry=entry)
    said = f"{found.numerator:.0f} of {found.denominator} false accepts, at most {found.high:.1%}"
    fits = found.high <= judge.max_false_accept
    limit = f"judge.max_false_accept={judge.max_false_accept:g}"
    return Trust(
        judge.name,
        identity,
        accepted=fits,
        why=f"{said}, {'within' if fits else 'above'} {limit}{silent}",
        entry=entry,
    )
