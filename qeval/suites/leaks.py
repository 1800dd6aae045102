"""No few-shot example may give a case away."""

import re
from collections.abc import Iterator

from qeval.suite import Case, Example, Suite

_WORD = re.compile(r"[一-鿿]|\w+")
_OWN_NAMES = re.compile(r"\bas \w+|\b[a-z_]\w*\.(?=[a-z_])|\$\w+|(?<=[(\[])[a-z_]\w*(?=:)")


def leaks(suite: Suite, largest_share: float) -> Iterator[tuple[str, str]]:
    """(example id, account) of every example too near to a case.

    Too near: the same question; the same gold in any language but for case, white space and the
    names it chooses itself (aliases, variables); or questions that share more than
    `largest_share` of their words (Jaccard index of the sets of lower-case words; a Chinese
    character is a word).
    """
    for example in suite.examples:
        for case in suite.cases:
            found = account(example, case, largest_share)
            if found:
                yield example.id, f"{found} case {case.id}"


def account(example: Example, case: Case, largest_share: float) -> str:
    """How an example gives a case away, empty if it does not; see `leaks`."""
    for language, query in example.gold.items():
        if _skeleton(query) == _skeleton(case.gold.get(language, "")):
            return f"has the same {language} gold as"
    for language, question in example.question.items():
        ours, theirs = _words(question), _words(case.question.get(language, ""))
        share = len(ours & theirs) / max(1, len(ours | theirs))
        if share > largest_share:
            return f"shares {share:.0%} of the words ({language}) with"
    return ""


def _skeleton(query: str) -> str:
    """A gold with its literals, without the names that it chooses itself."""
    return " ".join(_OWN_NAMES.sub(" ", " ".join(query.lower().split())).split())


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
