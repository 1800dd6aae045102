"""What a judge did to a result and what its word is worth: shown beside every number it touches."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qeval.judge.cards import Trust
    from qeval.results import CellResult
    from qeval.scoring.metrics import MetricValue


def judging(cells: Sequence["CellResult"]) -> Iterator[str]:
    """A line for what each judge said in all of the cells, and one for each card behind it."""
    judges = dict.fromkeys(cell.trust.identity for cell in cells if cell.trust is not None)
    for identity in judges:
        own = [cell for cell in cells if cell.trust and cell.trust.identity == identity]
        counts: dict[str, int] = {}
        for cell in own:
            for name, count in cell.metrics.judgements.items():
                counts[name] = counts.get(name, 0) + count
        cards = {(trust.why, cell.header["config"]["language"]["name"]): trust
                 for cell in own if (trust := cell.trust) is not None}  # fmt: skip
        name = next(iter(cards.values())).judge
        yield f"judge {name}: {_said(counts)}"
        for (_, language), trust in cards.items():
            yield f"  {language}: {card_line(trust)}"


def card_line(trust: "Trust") -> str:
    """What calibration found, and whether scores may rest on it."""
    standing = "calibrated" if trust.accepted else "NOT CALIBRATED, so no headline rests on it"
    line = f"{standing} ({trust.why})"
    entry = trust.entry
    if entry is None:
        return line
    rates = {
        "false accepts of the chain": entry.chain.false_accept,
        "false refuses alone": entry.alone.false_refuse,
        "unscored in runs": entry.in_runs.unscored,
    }
    told = [f"{name} {_rate(value)}" for name, value in rates.items() if value is not None]
    kappa = entry.alone.kappa
    if kappa is not None:
        told.append(f"kappa alone {kappa.value:.2f} ({kappa.low:.2f} to {kappa.high:.2f})")
    return f"{line}; on {entry.alone.n} pairs of {entry.suite}: {', '.join(told)}"


def _said(counts: dict[str, int]) -> str:
    labels = ("equivalent", "different", "unscored")
    asked = sum(counts.get(label, 0) for label in labels)
    if not asked:
        return "nothing to look at"
    parts = [f"{counts[label]} {label}" for label in labels if label in counts]
    further = {
        "split": "with contradicting votes",
        "contradicted": "claimed against the data",
        "failed": "not asked yet",
    }
    parts += [f"{counts[name]} {words}" for name, words in further.items() if name in counts]
    claims = {name: counts.get(f"claim_{name}", 0) for name in ("confirmed", "refuted", "untried")}
    if any(claims.values()):
        parts.append(f"row sets {claims['confirmed']} confirmed of {sum(claims.values())}")
    return f"{asked} looked at, {', '.join(parts)}"


def _rate(value: "MetricValue") -> str:
    return (
        f"{value.numerator:.0f} of {value.denominator} "
        f"({100 * value.low:.1f} to {100 * value.high:.1f} %)"
    )
