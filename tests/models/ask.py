"""What the model tests share: a case, requests about it, and models built from their YAML."""

from collections.abc import Mapping
from typing import Any

from qeval.cells import compose, construct
from qeval.configuration import plain
from qeval.models.base import Request
from qeval.prompts.base import Message, Prompt
from qeval.scoring.spec import AnswerSpec
from qeval.suite import Case

GOLD = {"sql": "SELECT count(*) FROM users", "cypher": "MATCH (u:User) RETURN count(u)"}


def case(case_id: str = "easy-01", gold: Mapping[str, str] | None = None) -> Case:
    question = {"en": f"How many users are there ({case_id})?", "zh": "有多少用户？"}
    return Case(case_id, "easy", question, gold or GOLD, AnswerSpec())


def request(
    case_id: str = "easy-01",
    *,
    language: str = "sql",
    repeat: int = 0,
    text: str | None = None,
    system: str = "You write queries.",
) -> Request:
    asked = case(case_id)
    messages = (Message("system", system), Message("user", text or asked.question["en"]))
    return Request(Prompt(messages, "template"), asked, language, repeat)


def model(name: str, *overrides: str) -> Any:
    """The model of `conf/model/<name>.yaml`, as a command line would build it."""
    words = [f"model={name}", *(f"model.{word}" if word[0] != "+" else word for word in overrides)]
    return construct(plain(compose(words))["model"], "model")
