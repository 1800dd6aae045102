"""Words of questions and identifiers, as the search for schema items and examples sees them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

_HAN = re.compile(r"[一-鿿]+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Za-z][a-z]*|\d+")
_MIN_WORD = 2
_STOP = frozenset(
    re.findall(
        r"\w+",
        """
a an the of in on at by for to from with without and or not no is are was were be been do does did
has have had how many much what which who whose when where that this these those it its their
there them they all each every any as per than more most least less only also both give list show
find return name names id ids number total count sorted sort ascending descending first last date
reference e g iso one two three same other into out count counts
""",
    )
)


@lru_cache(maxsize=20_000)
def words(text: str) -> tuple[str, ...]:
    """Stems of the English words and pairs of Chinese characters, in order, with repetitions.

    `camelCase`, `snake_case` and `kebab-case` are cut into words.
    """
    found = []
    for run in re.findall(r"[A-Za-z0-9]+", text):
        for word in _WORD.findall(run):
            lower = word.lower()
            if len(lower) >= _MIN_WORD and lower not in _STOP:
                found.append(_stem(lower))
    for run in _HAN.findall(text):
        found += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
    return tuple(found)


class Glossary:
    """What identifiers are called in a question's language: `{"order line": ["订单行"], …}`.

    A text is read from left to right, the longest term first; a term counts as the words of its
    identifier. Of what no term covers, words in Latin letters count as in `words`; the rest is
    read only where the text holds no term at all.
    """

    def __init__(self, terms: Mapping[str, Sequence[str]]) -> None:
        self._named: dict[str, tuple[str, ...]] = {}
        for identifier, called in terms.items():
            for term in called:
                self._named[term] = (*self._named.get(term, ()), *words(identifier))
        longest = sorted(self._named, key=lambda term: (-len(term), term))
        self._terms = re.compile("|".join(map(re.escape, longest)) or r"(?!)")
        self._kept: dict[str, tuple[str, ...]] = {}

    def words(self, text: str) -> tuple[str, ...]:
        """The words of identifiers that `text` names, and its other words."""
        if text not in self._kept:
            found = [word for term in self._terms.findall(text) for word in self._named[term]]
            others = words(self._terms.sub(" ", text))
            self._kept[text] = (*found, *(w for w in others if w.isascii() or not found))
        return self._kept[text]


def bm25(documents: Iterable[Iterable[str]]) -> Any:
    """An index of texts given as words; `get_scores(words)` gives each text's score."""
    import bm25s

    index = bm25s.BM25(method="lucene")
    # An empty document or corpus has no words to count; a word that nobody asks for does no harm.
    index.index([list(document) or ["\0"] for document in documents], show_progress=False)
    return index


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")
