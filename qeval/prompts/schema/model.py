"""A schema cut into items that can be shown, left out and joined; whatever the language."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from qeval.errors import InputError, did_you_mean

LONG, SHORT = 0, 1
GENERIC = {"long": LONG, "short": SHORT}
"""Names of the two forms that work in every language."""


@dataclass(frozen=True, slots=True)
class Item:
    """A table, node label, relationship type, entity or relation.

    `names` are the identifiers in it (its own first), `comment` what people wrote beside them.
    `texts` is what prompts show, long form first. `links` are items it can be joined with, `needs`
    those without which its text can't be read (a supertype, the ends of a relationship). An item
    that `joins` connects others: it is shown when they are. A `detail` (an attribute) belongs to
    those that need it and is never looked for by itself.
    """

    name: str
    names: tuple[str, ...]
    texts: tuple[str, str]
    comment: str = ""
    links: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    joins: bool = False
    detail: bool = False
    section: str = ""


def both_ways(items: Sequence[Item]) -> Iterator[Item]:
    """The items with links back to those that link to them."""
    for item in items:
        back = {other.name for other in items if item.name in other.links}
        yield replace(item, links=item.links | back)


@dataclass(frozen=True, slots=True)
class SchemaDocument:
    """What a prompt can show of a schema. `forms` are its two forms' names, long then short.

    `whole` is the text as the suite has it: the long form of everything. `heads` begin the text
    of each form; `sections` name, per form, the heading above the items of a section. A text that
    no parser understands has no items: it can only be shown whole.
    """

    language: str
    whole: str
    forms: tuple[str, str] = ("long", "short")
    items: tuple[Item, ...] = ()
    heads: tuple[str, str] = ("", "")
    sections: Mapping[str, str] = field(default_factory=dict)

    def form(self, name: str) -> int:
        """The index of a form by its own or its generic name. Raises `InputError`."""
        if name in GENERIC:
            return GENERIC[name]
        if name in self.forms:
            return self.forms.index(name)
        known = (*self.forms, *GENERIC)
        raise InputError(
            f"prompt_strategy.schema_form={name}: {self.language} has {', '.join(known)}."
            + did_you_mean(name, known)
        )

    def text(self, form: int, shown: Collection[str] | None = None) -> str:
        """The items named in `shown` (None: all of them) in one form."""
        if shown is None and form == LONG:
            return self.whole.strip()
        if not self.items:
            raise InputError(
                f"the {self.language} schema of this suite can't be read item by item; use "
                "prompt_strategy.schema=full and schema_form=long"
            )
        lines = [self.heads[form]] if self.heads[form] else []
        section = ""
        for item in self.items:
            if shown is not None and item.name not in shown:
                continue
            if item.section != section:
                section = item.section
                lines.append(self.sections.get(section, section))
            if item.texts[form]:
                lines.append(item.texts[form])
        return "\n".join(lines).strip()

    def closed(self, names: Collection[str]) -> frozenset[str]:
        """The items named, and all that they need to be read."""
        by_name = {item.name: item for item in self.items}
        found: set[str] = set()
        waiting = [name for name in names if name in by_name]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += [need for need in by_name[name].needs if need in by_name]
        return frozenset(found)
