"""The same review in a terminal: one item after another, one line of answer each."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from qeval.review.session import Session
from qeval.tracking.failures import counterexample_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PROMPT = "[e]quivalent [d]ifferent [u]ndo [j]udge [n]ext [p]revious [q]uit, then a reason: "
MARK = "▸ "
ROWS = 12
"""How many rows of each result fit on a screen."""

_UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"
_CHOICES = {"e": "equivalent", "d": "different", "u": "withdrawn"}


def review(session: Session, reviewer: str, console: "Console") -> int:
    """Ask about every item without a decision of this reviewer; returns how many were given.

    Ends at `q`, at the end of the input, or after the last item.
    """
    given = 0
    place = _first_open(session, reviewer)
    saw_judge = False
    _show(session, place, reviewer, console)
    while place < len(session.items):
        item = session.items[place]
        try:
            word, _, reason = console.input(PROMPT, markup=False).strip().partition(" ")
        except EOFError:
            break
        if word in _CHOICES:
            choice = _CHOICES[word]
            session.decide(item.key, choice, reviewer, reason=reason, saw_judge=saw_judge)
            given += choice != "withdrawn"
            console.print(f"{item.case_id} {item.language}: {choice}", style="bold")
            step = 0 if choice == "withdrawn" else 1
        elif word in ("n", "p"):
            step = 1 if word == "n" else -1
        elif word == "j":
            saw_judge = _show_judge(session, place, reviewer, console) or saw_judge
            continue
        elif word == "q":
            break
        else:
            console.print("a letter of these, please, e.g.: e counts the same orders")
            continue
        if step:
            place = max(0, place + step)
            saw_judge = False
            _show(session, place, reviewer, console)
    return given


def _first_open(session: Session, reviewer: str) -> int:
    lines = session.overview(reviewer)
    return next((place for place, line in enumerate(lines) if line["mine"] is None), 0)


def _show(session: Session, place: int, reviewer: str, console: "Console") -> None:
    from rich.columns import Columns

    if place >= len(session.items):
        console.print("that was the last one")
        return
    item = session.items[place]
    view = session.view(item.key, reviewer)
    kind = f": {view['kind']}" if view["kind"] and view["kind"] != view["verdict"] else ""
    title = f"{place + 1}/{len(session.items)}  {view['case']} · {view['language']}"
    console.rule(f"{title} · {view['verdict']}{kind}", style="cyan")
    console.print(printable(view["question"]), style="bold", markup=False)
    for name in ("gold", "query"):
        console.print("gold" if name == "gold" else "prediction", style="cyan")
        console.print(printable(view[name]), markup=False, soft_wrap=True)
    evidence = view["evidence"]
    facts = [f"on {evidence['instance']}: {evidence['message']}", evidence["note"]]
    console.print(printable(" · ".join(filter(None, facts))), markup=False)
    console.print(Columns([_table("gold", evidence["gold"]), _table("prediction",
                  evidence["predicted"])], padding=(0, 2)))  # fmt: skip
    if any(not common for name in ("gold", "predicted") for _, common in evidence[name]["rows"]):
        console.print(f"{MARK}only this side has the row", style="yellow")
    found = session.counterexample(item)
    if found is not None:
        console.print("counterexample", style="cyan")
        console.print(printable(counterexample_text(found)), markup=False)
    for line in _lines(view):
        console.print(printable(line), markup=False)


def printable(text: str) -> str:
    """Text without what would steer the terminal: models and data may hold escape sequences."""
    return "".join(c if c.isprintable() or c in "\n\t" else _UNPRINTABLE for c in text)


def _lines(view: dict[str, Any]) -> Iterator[str]:
    if view["mine"] is not None:
        yield f"you said: {view['mine']['choice']} {view['mine']['reason']}".rstrip()
    for other in view["others"]:
        yield f"{other['reviewer']} said: {other['choice']} {other['reason']}".rstrip()


def _table(title: str, side: dict[str, Any]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    total = side["total"]
    cut = f", {ROWS} shown" if min(total, len(side["rows"])) > ROWS else ""
    title = f"{title}, {total} row{'' if total == 1 else 's'}{cut}"
    # A table narrower than its title would fold it.
    table = Table(title=title, title_justify="left", min_width=len(title))
    for name in side["columns"]:
        table.add_column(Text(printable(str(name))))
    if not side["columns"]:
        table.add_column("no columns")
    for cells, common in side["rows"][:ROWS]:
        style = "" if common else "yellow"
        mark = "" if common else MARK
        texts = [Text("null" if cell is None else printable(str(cell))) for cell in cells]
        if texts and mark:
            texts[0] = Text(mark) + texts[0]
        table.add_row(*texts, style=style)
    return table


def _show_judge(session: Session, place: int, reviewer: str, console: "Console") -> bool:
    """Print what judges said; whether there was anything."""
    view = session.view(session.items[place].key, reviewer)
    for said in view["judgements"]:
        odd = [name for name in ("split", "contradicted") if said[name]]
        label = f"{said['label']} ({', '.join(odd)})" if odd else said["label"]
        console.print(f"{said['judge']}: {label}", markup=False)
        for vote in said["votes"]:
            console.print(printable(f"  {vote['label']}: {vote['reason']}"), markup=False)
    if not view["judgements"]:
        console.print("no judge was asked")
    return bool(view["judgements"])
