"""Predictions from a file: evaluate answers that were made elsewhere, without any model."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.errors import InputError, did_you_mean
from qeval.models.base import Generation, ModelError, Request, Usage

if TYPE_CHECKING:
    from qeval.models.predictions import Prediction, Predictions

_SHOWN = 10  # missing cases named in an error; the rest is counted


@dataclass
class ReplayModel:
    """Answers a case with the row of `file` that names it.

    The file is JSON lines (`.jsonl`, `.ndjson`, `.json`) or a table (`.csv`, `.tsv`) with the
    columns `case_id`, optionally `language` and `repeat`, and one of `query` (taken as it is) and
    `raw`/`answer` (the query is extracted). A row without a language answers every language, a row
    without a repeat number every repeat. See `qeval.models.predictions`.
    `missing`: `error` refuses to start when a case has no row; `empty` answers it with an empty
    text (verdict no_query).
    """

    name: str
    file: str | None
    encoding: str = "utf-8"
    missing: str = "error"
    notes: str = ""
    cache: bool = False
    _path: Path = field(init=False, repr=False)

    reads_case = True

    def __post_init__(self) -> None:
        if self.file is None:
            raise InputError(
                "model=replay needs a file of predictions: model.file=predictions.jsonl (or .csv)"
            )
        if self.missing not in ("error", "empty"):
            raise InputError(f"model.missing={self.missing!r}: expected error or empty")
        self._path = Path(self.file).expanduser()

    @cached_property
    def _rows(self) -> "Predictions":
        from qeval.models.predictions import read_predictions

        return read_predictions(self._path, self.encoding)

    def identity(self) -> dict[str, object]:
        """The file's content and how it is read, not its place: a moved file is the same model."""
        return {
            "adapter": "replay",
            "sha256": self._rows.sha256,
            "missing": self.missing,
            **({} if self._rows.encoding == "utf-8" else {"encoding": self._rows.encoding}),
        }

    def preflight(self) -> None:
        """Read the whole file. Raises `InputError` with file and line of what is wrong in it."""
        _ = self._rows

    def preflight_cases(self, case_ids: Sequence[str], language: str, repeats: int) -> None:
        """Check that every asked case has a row. Raises `InputError` naming those without."""
        if self.missing == "empty":
            return
        lacking = [
            case_id if repeats == 1 else f"{case_id} (repeat {repeat})"
            for case_id in case_ids
            for repeat in range(repeats)
            if self._rows.find(case_id, language, repeat) is None
        ]
        if lacking:
            hint = self._hint(case_ids, language)
            raise InputError(
                f"{self._path}: no {language} prediction for {len(lacking)} of "
                f"{len(case_ids) * repeats} cases: {_list(lacking)}.{hint} "
                "Add them, choose fewer cases (difficulty=easy, difficulty.ids=[…]), or set "
                "model.missing=empty to count them as answers without a query."
            )

    def strangers(self, known: Collection[str]) -> str:
        """What to say of ids in the file that are none of the suite's cases; empty: all are."""
        strange = sorted(self._rows.case_ids() - set(known))
        if not strange:
            return ""
        near = did_you_mean(strange[0], known)
        return f"{self._path}: the suite has no such cases: {_list(strange)}; passed over.{near}"

    def _hint(self, case_ids: Sequence[str], language: str) -> str:
        others = sorted(self._rows.case_ids() - set(case_ids))
        languages = {name for _, name, _ in self._rows.rows if name is not None} - {language}
        told = f" The file answers other cases: {_list(others)}." if others else ""
        return told + (
            f" Its other languages are {', '.join(sorted(languages))}." if languages else ""
        )

    def generate(self, request: Request) -> Generation:
        """The recorded answer. Raises `ModelError` where the file has none for this case."""
        row = self._rows.find(request.case.id, request.language, request.repeat)
        if row is None:
            if self.missing == "empty":
                return Generation("", served_by="replay")
            raise ModelError(
                f"{self._path} has no {request.language} prediction for {request.case.id} "
                f"(repeat {request.repeat})",
                retryable=False,
            )
        return _generation(row)

    def close(self) -> None:
        """Forget the rows."""
        self.__dict__.pop("_rows", None)


def _generation(row: "Prediction") -> Generation:
    return Generation(
        row.text,
        finish_reason=row.finish_reason,
        usage=Usage(row.prompt_tokens, row.completion_tokens, row.cost_usd),
        seconds=row.seconds,
        served_by=row.served_by or "replay",
        is_query=row.is_query,
    )


def _list(ids: Iterable[str]) -> str:
    named = list(ids)
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    return ", ".join(named[:_SHOWN]) + more
