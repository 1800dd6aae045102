"""A tiny suite whose every case asks who earns at least so much: quick to load and to judge."""

from collections.abc import Sequence
from pathlib import Path
from shutil import copytree
from typing import Any

import yaml

SOURCE = Path(__file__).parents[1] / "prompts" / "company"


def gold(salary: int) -> str:
    return f"match $e isa employee, has name $name, has salary $s; $s >= {salary}; select $name;"


def case(salary: int) -> dict[str, Any]:
    return {
        "id": f"co-{salary}",
        "difficulty": "easy",
        "question": {"en": f"Which employees earn at least {salary}?"},
        "gold": {"typeql": gold(salary)},
        "answer": {"columns": [{"name": "name", "type": "string"}]},
    }


def pairs(salaries: Sequence[int]) -> list[dict[str, str]]:
    """Per gold an equivalent query and two different ones, of which base tells one."""
    found = []
    for salary in salaries:
        texts = {
            "same": ("equivalent", f"> {salary - 1}"),
            "strict": ("different", f"> {salary}"),
            "wider": ("different", f">= {salary - 7}"),
        }
        for kind, (label, condition) in texts.items():
            query = gold(salary).replace(f">= {salary}", condition)
            name = f"co-{salary}"
            found.append({"id": f"{name}-{kind}", "case": name, "label": label, "query": query})
    return found


def build(folder: Path, salaries: Sequence[int]) -> Path:
    """The suite in TypeQL, with an instance that tells "wider" pairs, and its calibration set."""
    copytree(SOURCE, folder)
    suite = yaml.safe_load((folder / "suite.yaml").read_text())
    suite["languages"] = {"typeql": suite["languages"]["typeql"]}
    suite["instances"]["variant-1"] = {"folder": "more"}
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite))
    cases = [case(salary) for salary in salaries]
    (folder / "cases.yaml").write_text(yaml.safe_dump({"cases": cases}))
    (folder / "more").mkdir()
    (folder / "more" / "departments.csv").write_text((folder / "departments.csv").read_text())
    others = [f"{n + 10},E{n},1,,{n - 5},,2024-01-01T09:00:00" for n in salaries]
    lines = [(folder / "employees.csv").read_text().strip(), *others]
    (folder / "more" / "employees.csv").write_text("\n".join(lines) + "\n")
    (folder / "calibration").mkdir()
    (folder / "calibration" / "typeql.yaml").write_text(yaml.safe_dump({"pairs": pairs(salaries)}))
    return folder
