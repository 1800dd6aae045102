"""`qeval prompt`: exactly what would be sent for one case, without asking a model."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from qeval.errors import InputError, did_you_mean
from qeval.exit_codes import ExitCode

if TYPE_CHECKING:
    from qeval.models.tokens import TokenCounter
    from qeval.prompts.base import Prompt
    from qeval.prompts.budget import PromptSize


def main(argv: Sequence[str]) -> int:
    """Render the case's prompt in the composed cell and count its tokens."""
    parser = argparse.ArgumentParser(
        prog="qeval prompt",
        description="Show what would be sent for one case, with token counts. No model is asked.",
    )
    parser.add_argument("case", help="the case's id, e.g. ec-e01")
    parser.add_argument("overrides", nargs="*", metavar="key=value")
    parser.add_argument("--json", action="store_true", help="messages and counts as JSON")
    options = parser.parse_intermixed_args(argv)

    from qeval.cells import build_cell, compose
    from qeval.models.tokens import counter
    from qeval.prompts.budget import check_window, measure

    cell = build_cell(compose(options.overrides))
    case = next((case for case in cell.suite.cases if case.id == options.case), None)
    if case is None:
        ids = [case.id for case in cell.suite.cases]
        raise InputError(
            f"suite {cell.suite.name!r} has no case {options.case!r}."
            f"{did_you_mean(options.case, ids)} Cases: {ids[0]} … {ids[-1]}"
        )
    if cell.language.name not in case.gold:
        raise InputError(f"case {case.id} has no {cell.language.name} gold: it is not asked there")
    prompt = cell.strategy.render(case, cell.suite, cell.language)
    try:
        count = counter(cell.model)
        size = measure(prompt, count)
        if options.json:
            _as_json(prompt, size, count)
        else:
            _as_text(prompt, size, count, f"{cell.name} · {case.id}")
        check_window(cell, case.id, prompt)
    finally:
        cell.model.close()
    return ExitCode.DONE


def _as_text(prompt: "Prompt", size: "PromptSize", count: "TokenCounter", title: str) -> None:
    from rich.table import Table

    from qeval.prompts.budget import warning
    from qeval.report.console import output

    console = output()
    for message in prompt.messages:
        console.print(f"──── {message.role}", style="bold cyan")
        console.print(message.content, soft_wrap=True)
    console.print()
    console.print(title, style="bold", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    table.add_column("part")
    table.add_column("tokens" if count.exact else "tokens (estimate)", justify="right")
    for name, tokens in size.parts.items():
        table.add_row(name, f"{tokens:,}")
    table.add_row("as sent", f"{size.tokens:,}", style="bold")
    console.print(table)
    shown = f"schema shown: {prompt.schema}" if prompt.schema else ""
    facts = [f"counted by {count.how}", shown, f"template {prompt.template_hash}"]
    facts += [f"examples {', '.join(prompt.examples)}"] if prompt.examples else []
    console.print("; ".join(filter(None, facts)), soft_wrap=True)
    if said := warning(size, count):
        console.print(f"! {said}", style="bold yellow", soft_wrap=True)


def _as_json(prompt: "Prompt", size: "PromptSize", count: "TokenCounter") -> None:
    json.dump(
        {
            "messages": [[message.role, message.content] for message in prompt.messages],
            "digest": prompt.digest,
            "template_hash": prompt.template_hash,
            "examples": list(prompt.examples),
            "schema": prompt.schema,
            "tokens": size.tokens,
            "parts": dict(size.parts),
            "exact": count.exact,
            "counted_by": count.how,
        },
        sys.stdout,
        ensure_ascii=False,
        indent=1,
    )
    sys.stdout.write("\n")
