"""No few-shot example may give a case away."""

import re
from collections.abc import Iterator

from qeval.suite import Case, Example, Suite

_WORD = re.compile(r"[一-鿿]|\w+")


def leaks(suite: Suite, largest_share: float) -> Iterator[tuple[str, str]]:
    """(example id, account) of every example too near to a case.

    Too near: the same gold but for case and white space in any language, or questions that share
    more than `largest_share` of their words (Jaccard index of the sets of lower-case words; a
    Chinese character is a word).
    """
    for example in suite.examples:
        for case in suite.cases:
            found = account(example, case, largest_share)
            if found:
                yield example.id, f"{found} case {case.id}"


def account(example: Example, case: Case, largest_share: float) -> str:
    """How an example gives a case away, empty if it does not; see `leaks`."""
    for language, query in example.gold.items():
        if _flat(query) == _flat(case.gold.get(language, "")):
            return f"has the same {language} gold as"
    for language, question in example.question.items():
        ours, theirs = _words(question), _words(case.question.get(language, ""))
        share = len(ours & theirs) / max(1, len(ours | theirs))
        if share > largest_share:
            return f"shares {share:.0%} of the words ({language}) with"
    return ""


def _flat(query: str) -> str:
    return " ".join(query.lower().split())


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
