"""A cell folder as MLflow sees it: parameters, tags, metrics, and whether it has changed."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from qeval.choices import NAMING, chosen, labelled
from qeval.equivalence.counterexample import COUNTEREXAMPLES
from qeval.errors import InputError
from qeval.journal import JOURNAL, asked_for
from qeval.record import Record
from qeval.review.standing import read_reviewed
from qeval.scoring.metrics import HEADLINE

FORMAT = "1"
"""Part of the digest: raise it when runs of older releases should be logged anew."""

PARAM_LIMIT = 6000  # MLflow's: longer values are cut there without a word
UNLOGGED = ("hydra", "tracking", "runs_dir", "workers", "backend", "share_runs", "review")
"""Where and how fast it ran: they differ between resumes, and are in config.yaml anyway."""


@dataclass(frozen=True)
class LoggedCell:
    """One finished cell read back from disk. `digest` changes with anything that is logged."""

    folder: Path
    header: Mapping[str, Any]
    records: Sequence[Record]
    summary: Mapping[str, Any]
    digest: str

    @property
    def key(self) -> str:
        """The cell's hash: runs are found again by it."""
        return str(self.header["key"])

    @property
    def name(self) -> str:
        """Model, language, strategy, difficulty: what tells the rows of a sweep apart."""
        options = labelled(self.header)
        return " · ".join(options[group] for group in NAMING if group in options)

    @cached_property
    def choices(self) -> dict[str, str]:
        """The chosen option of each configuration group, and the engine as it ran."""
        return chosen(self.header)

    @property
    def complete(self) -> bool:
        """Whether every case has a verdict about the model."""
        return bool(self.summary.get("complete", False))

    @property
    def failed(self) -> list[Record]:
        """Records a person may want to look at, errors of our own machinery last."""
        bad = [r for r in self.records if not r.verdict.right]
        return sorted(bad, key=lambda record: not record.verdict.counted)

    @property
    def span_ms(self) -> tuple[int | None, int | None]:
        """When the first and the last record were finished, in ms since the epoch."""
        times = sorted(t for t in map(_milliseconds, self.records) if t is not None)
        if not times:
            return None, None
        first = min(self.records, key=lambda r: r.finished_at or "~")
        return times[0] - round(1000 * (first.generation_s or 0.0)), times[-1]


def read_cell(folder: Path) -> LoggedCell:
    """Read what the journal and `summary.json` say. Raises `InputError` naming what is wrong."""
    header, records = read_reviewed(folder)
    if "key" not in header:
        raise InputError(f"{folder / JOURNAL} has no header line: it is not a cell's journal")
    path = folder / "summary.json"
    try:
        text = path.read_bytes()
        summary = json.loads(text)
    except FileNotFoundError:
        raise InputError(
            f"{folder} has no summary.json: its cell never ended; run the same command again"
        ) from None
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); `qeval rescore` writes it again") from None
    digest = hashlib.sha256(FORMAT.encode() + text)
    digest.update((folder / JOURNAL).read_bytes())
    if (folder / COUNTEREXAMPLES).is_file():
        digest.update((folder / COUNTEREXAMPLES).read_bytes())
    asked = asked_for(header, records)
    return LoggedCell(folder, header, asked, summary, digest.hexdigest()[:32])


def parameters(cell: LoggedCell) -> dict[str, str]:
    """The flattened configuration, versions and hashes; each value fits MLflow's limit."""
    config = dict(cell.header.get("config", {}))
    found = {
        key: value
        for key, value in _flat({k: v for k, v in config.items() if k not in UNLOGGED}, config)
        if not key.endswith("_target_")
    }
    for group, option in cell.choices.items():
        found.pop(f"{group}.name", None)
        found[group] = option
    for part, prefix in (("versions", "version"), ("hashes", "hash"), ("model", "model.identity")):
        values = cell.header.get(part)
        if isinstance(values, Mapping):
            found.update(_flat(values, {}, f"{prefix}."))
    found.pop("model.identity.name", None)
    found["instances"] = ", ".join(map(str, cell.header.get("instances", ())))
    return {_name(key): _bounded(value) for key, value in found.items() if value != ""}


def tags(cell: LoggedCell, sweep: str) -> dict[str, str]:
    """What runs are searched by; plain group names, so that a filter reads `tags.model = 'x'`."""
    usd = cell.summary.get("metrics", {}).get("cost", {}).get("usd")
    versions = cell.header.get("versions", {})
    return {
        **cell.choices,
        "qeval.kind": "cell",
        "qeval.cell_key": cell.key,
        "qeval.sweep": sweep,
        "qeval.folder": cell.folder.name.replace("'", "_"),  # a search can't quote quotes
        "qeval.version": str(versions.get("qeval", "")),
        "cost": "unknown" if usd is None else f"${usd:.4f}" if usd else "$0",
        "complete": "yes" if cell.complete else "no",
        **_judge_tags(cell.summary.get("judge")),
    }


def _judge_tags(judge: Mapping[str, Any] | None) -> dict[str, str]:
    if not judge:
        return {}
    return {
        "judge.identity": str(judge.get("identity", "")),
        "judge.calibrated": "yes" if judge.get("accepted") else "no",
        "judge.card": str(judge.get("why", "")),
    }


def metrics(cell: LoggedCell) -> dict[str, float]:
    """Every number that was measured, under names MLflow takes; what was not is absent.

    `execution_accuracy` is over all counted cases, `execution_accuracy.easy` over the easy ones;
    `.low` and `.high` bound the 95 % interval, `.n` is the denominator (by difficulty for the
    headline only: a row is costly in MLflow, and `summary.json` has all). `verdict/…` are counts,
    `tag/…` the execution accuracy by tag, `latency/…` seconds, `tokens/…` sums.
    """
    measured = cell.summary.get("metrics", {})
    found = {**_shares(measured), **_counts(measured), "records": len(cell.records)}
    found |= _card(cell.summary.get("judge") or {})
    # People read these numbers in a browser; summary.json has every digit.
    return {_name(n): round(float(value), 6) for n, value in found.items() if value is not None}


def _card(judge: Mapping[str, Any]) -> dict[str, Any]:
    """What calibration found of the judge that the scores rest on."""
    card = judge.get("card") or {}
    parts = {
        "false_accept": card.get("in_runs", {}).get("false_accept"),
        "chain_false_accept": card.get("chain", {}).get("false_accept"),
        "false_refuse": card.get("alone", {}).get("false_refuse"),
        "unscored": card.get("in_runs", {}).get("unscored"),
        "kappa": card.get("alone", {}).get("kappa"),
    }
    found: dict[str, Any] = {}
    for name, numbers in parts.items():
        found.update(_metric(f"judge_card/{name}", numbers))
    return found


def _shares(measured: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    overall = measured.get("overall", {})
    for metric in sorted(overall, key=lambda name: name != HEADLINE):  # MLflow keeps the order
        found.update(_metric(metric, overall[metric]))
    for level, group in measured.get("by_difficulty", {}).items():
        for metric, numbers in group.items():
            name = f"{metric}.{level}"
            whole = _metric(name, numbers)
            found.update(whole if metric == HEADLINE else {name: whole.get(name)})
    for part in ("stability", "behaviour"):
        for metric, numbers in measured.get(part, {}).items():
            found.update(_metric(metric, numbers))
    for metric, numbers in measured.get("before_repair", {}).items():
        found[f"before_repair/{metric}"] = numbers.get("value")
    for tag, group in measured.get("by_tag", {}).items():
        found[f"tag/{tag}"] = (group.get(HEADLINE) or {}).get("value")
    return found


def _counts(measured: Mapping[str, Any]) -> dict[str, Any]:
    found = {f"verdict/{verdict}": n for verdict, n in measured.get("verdicts", {}).items()}
    found |= {f"layer/{layer}": n for layer, n in measured.get("layers", {}).items()}
    found |= {f"judge/{said}": n for said, n in measured.get("judgements", {}).items()}
    found["cases"] = measured.get("cases")
    tokens = measured.get("tokens", {})
    both = found["tokens/prompt"], found["tokens/completion"] = (
        tokens.get("prompt"),
        tokens.get("completion"),
    )
    found["tokens/total"] = None if None in both else sum(both)
    found["cost_usd"] = measured.get("cost", {}).get("usd")
    for part in ("generation_s", "execution_s"):
        for at in ("p50", "p95"):
            found[f"latency/{part}.{at}"] = measured.get(part, {}).get(at)
    return found


def _metric(name: str, numbers: object) -> dict[str, float]:
    if not isinstance(numbers, Mapping) or numbers.get("value") is None:
        return {}
    found = {name: numbers["value"]}
    for suffix, key in ((".low", "low"), (".high", "high"), (".n", "denominator")):
        if numbers.get(key) is not None:
            found[name + suffix] = numbers[key]
    return found


_REFERENCE = re.compile(r"\$\{([A-Za-z_][\w.]*)\}")


def _flat(
    value: Mapping[Any, Any], root: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield from _flat(inner, root, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _text(inner, root)


def _text(value: object, root: Mapping[str, Any]) -> str:
    if isinstance(value, str):
        found = _REFERENCE.fullmatch(value)
        return _text(_looked_up(found[1], root, value), {}) if found else value
    return json.dumps(value, ensure_ascii=False, default=str)


def _looked_up(path: str, root: Mapping[str, Any], otherwise: str) -> object:
    node: object = root
    for part in path.split("."):
        if not isinstance(node, Mapping) or part not in node:
            return otherwise
        node = node[part]
    return node


def _bounded(text: str) -> str:
    if len(text) <= PARAM_LIMIT:
        return text
    end = f" … [cut, {len(text)} characters; whole in config.yaml]"
    return text[: PARAM_LIMIT - len(end)] + end


def _name(text: str) -> str:
    """A name MLflow accepts: no doubled, leading or trailing slashes or dots, 250 characters."""
    clean = re.sub(r"[^\w.\-:/ ]", "_", text)
    clean = re.sub(r"/[./]*|\.{2,}", lambda found: found[0][0], clean)
    return clean.strip("/.")[:250] or "_"


def _milliseconds(record: Record) -> int | None:
    try:
        return round(datetime.fromisoformat(record.finished_at).timestamp() * 1000)
    except ValueError:
        return None
