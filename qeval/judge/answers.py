"""What a judge must answer, and reading it: exactly that, or it is no answer."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from qeval.judge.base import Ground, Label, RowSet

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MENU: Mapping[str, tuple[Label, Ground]] = {
    "same_rows": ("equivalent", "same_rows"),
    "another_reading": ("equivalent", "another_reading"),
    "different": ("different", ""),
}
"""The words a judge may say, and what each means."""

_CELL = {"type": ["string", "number", "boolean", "null"]}
_ROW_SET = {
    "type": ["array", "null"],
    "description": "With different: rows on which the queries answer differently.",
    "items": {
        "type": "object",
        "properties": {
            "table": {"type": "string"},
            "columns": {"type": "array", "items": {"type": "string"}},
            "rows": {"type": "array", "items": {"type": "array", "items": _CELL}},
        },
        "required": ["table", "columns", "rows"],
        "additionalProperties": False,
    },
}


def answer_schema(*, claims: bool, reason_characters: int | None = None) -> dict[str, Any]:
    """The JSON schema of an answer; `claims`: with a row set.

    Within what providers' strict modes take (every key required, nothing further allowed), if the
    reason has no bound.
    """
    bound = {} if reason_characters is None else {"maxLength": reason_characters}
    properties = {
        "reason": {
            "type": "string",
            "description": "What decides it, in at most three sentences.",
            **bound,
        },
        "answer": {"type": "string", "enum": list(MENU)},
        **({"row_set": _ROW_SET} if claims else {}),
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL | re.IGNORECASE)
_LONGEST = 100_000  # characters of an answer that are looked at


@dataclass(frozen=True, slots=True)
class Answer:
    """A judge's answer as read."""

    label: Label
    ground: Ground
    reason: str
    row_set: RowSet | None


class UnusableError(ValueError):
    """The text is not an answer; the message says why, for the judge to mend it."""


def read_answer(text: str, *, claims: bool = True) -> Answer:
    """Read an answer: one JSON object by its schema, at most in one code fence; no other text.

    Nothing is searched for and nothing is guessed: a word of the menu somewhere in a sentence is
    no answer. Raises `UnusableError`.
    """
    bare = text.strip()
    fenced = _FENCE.fullmatch(bare)
    if len(bare) > _LONGEST:
        raise UnusableError(f"the answer has more than {_LONGEST} characters")
    try:
        value = json.loads(
            fenced[1] if fenced else bare, object_pairs_hook=_once, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"not one JSON object: {error}") from None
    fault = next(iter(_validator(claims).iter_errors(value)), None)
    if fault is not None:
        where = "/".join(str(step) for step in fault.path)
        raise UnusableError(f"{where + ': ' if where else ''}{fault.message[:200]}")
    label, ground = MENU[value["answer"]]
    row_set = value.get("row_set") if label == "different" else None
    return Answer(label, ground, value["reason"].strip(), row_set or None)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


@cache
def _validator(claims: bool) -> "Validator":  # noqa: FBT001
    from jsonschema import Draft202012Validator

    return Draft202012Validator(answer_schema(claims=claims))
