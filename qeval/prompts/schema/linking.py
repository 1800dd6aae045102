"""Schema linking: which part of a schema a question needs, found without looking at its gold.

Every item is a document for BM25: its identifiers, the comments beside it, and the questions of
the example bank whose golds use it. A question in another language than the identifiers' finds
them through the suite's glossary, a list of what each identifier is called.
The best items are kept, and all shortest paths that join them.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from qeval.prompts.schema.model import Item, SchemaDocument
from qeval.prompts.words import Glossary, bm25, words

COMMON = 0.25
"""A word in more than this part of the example questions says nothing about tables."""


@dataclass(frozen=True, slots=True)
class LinkingSettings:
    """`least` items are kept at least, and those that score at least `share` of the best one."""

    least: int
    share: float


class Linker:
    """Finds the items for questions on one schema. `solved` are (question, query) pairs.

    `glossary` says what identifiers are called in the questions' language.
    """

    def __init__(
        self,
        schema: SchemaDocument,
        solved: Sequence[tuple[str, str]] = (),
        glossary: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._words = Glossary(glossary).words if glossary else words
        self.schema = schema
        self.by_name = {item.name: item for item in schema.items}
        self.candidates = [item for item in schema.items if not item.detail]
        self.solved = solved

    def link(self, question: str, settings: LinkingSettings) -> frozenset[str]:
        """Names of the items that the question needs, joined to each other."""
        scores = self.scores(question)
        ranked = sorted(scores, key=lambda name: -scores[name])
        best = scores[ranked[0]] if ranked else 0.0
        if not best:
            return frozenset(self.by_name)  # nothing matches: leave nothing out
        kept = [
            name
            for place, name in enumerate(ranked)
            if scores[name] > 0
            and (place < settings.least or scores[name] >= settings.share * best)
        ]
        return self._whole(self._connected(kept))

    def scores(self, question: str) -> dict[str, float]:
        """BM25 score of every item that can be looked for."""
        asked = [word for word in self._words(question) if word not in self._common]
        if not asked or not self.candidates:
            return {}
        own = self._names_index.get_scores(asked)
        said = self._usage_index.get_scores(asked)
        return {item.name: float(2 * own[i] + said[i]) for i, item in enumerate(self.candidates)}

    @cached_property
    def _common(self) -> frozenset[str]:
        """Words that questions have whatever they are about."""
        counts = Counter(word for question, _ in self.solved for word in set(self._words(question)))
        names = {word for item in self.candidates for name in item.names for word in words(name)}
        common = {word for word, count in counts.items() if count > COMMON * len(self.solved)}
        return frozenset(common - names)

    @cached_property
    def _names_index(self) -> Any:
        return bm25([self._own_words(item) for item in self.candidates])

    @cached_property
    def _usage_index(self) -> Any:
        return bm25([self._usage(item) for item in self.candidates])

    def _own_words(self, item: Item) -> list[str]:
        """Identifiers and comments; the item's own name counts more than its columns'."""
        details = [self.by_name[n] for n in sorted(item.needs) if self.by_name[n].detail]
        texts = [*item.names[:1] * 4, *item.names, item.comment]
        texts += [detail.comment for detail in details]
        return [word for text in texts for word in words(text)]

    def _usage(self, item: Item) -> list[str]:
        used = re.compile(rf"(?<![\w-]){re.escape(item.name)}(?![\w-])")
        return [
            w
            for question, query in self.solved
            if used.search(query)
            for w in self._words(question)
        ]

    def _connected(self, names: Sequence[str]) -> set[str]:
        """The names with all shortest paths between them, from the first (best) one on."""
        chosen = {names[0]}
        for name in names[1:]:
            if name not in chosen:
                chosen |= self._paths(name, chosen) | {name}
        return chosen

    def _paths(self, start: str, goals: set[str]) -> set[str]:
        """All items on shortest paths from `start` to the nearest of `goals`."""
        distance = {start: 0}
        parents: dict[str, list[str]] = {start: []}
        waiting = deque([start])
        reached: list[str] = []
        while waiting:
            name = waiting.popleft()
            if reached and distance[name] >= distance[reached[0]]:
                continue
            for near in sorted(self.by_name[name].links & self.by_name.keys()):
                if near not in distance:
                    distance[near] = distance[name] + 1
                    parents[near] = [name]
                    waiting.append(near)
                    if near in goals and (not reached or distance[near] == distance[reached[0]]):
                        reached.append(near)
                elif distance[near] == distance[name] + 1:
                    parents[near].append(name)
        found: set[str] = set()
        back = list(reached)
        while back:
            name = back.pop()
            if name not in found:
                found.add(name)
                back += parents[name]
        return found

    def _whole(self, names: Iterable[str]) -> frozenset[str]:
        """What the names need to be read, and whatever joins them."""
        chosen = set(self.schema.closed(frozenset(names)))
        for item in self.schema.items:
            ends = item.links & self.by_name.keys()
            if item.joins and ends and (len(ends & chosen) > 1 or ends <= chosen):
                chosen.add(item.name)
        return self.schema.closed(chosen)
