"""The rewrite kit: queries that answer as their golds do on any data, and the check that they do.

A suite's folder may hold `rewrites/<language>.yaml`, valid by `schemas/rewrites.schema.json`. A
rewrite must be equivalent to its gold under the schema's constraints, whatever the data: one that
an instance tells from its gold is a wrong rewrite, or proof of a wrong verdict.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from qeval.engines.base import QueryError
from qeval.errors import did_you_mean
from qeval.suite import Suite
from qeval.suites.check import Bench, Problem
from qeval.suites.crosschecks import Misplaced, refuse
from qeval.suites.documents import read_document
from qeval.suites.trials import Candidate, TrialSettings, try_all

FOLDER = "rewrites"
LEAST = 3  # rewrites of each gold

_COMMENTS = {"sql": r"--[^\n]*|/\*.*?\*/", "cypher": r"//[^\n]*|/\*.*?\*/", "typeql": r"\#[^\n]*"}
_WORDS = (
    r"(?P<word>'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"
    r"|\d+(?:\.\d+)?|[$]?\w+(?:-\w+)*|[<>!=:]+|\S)"
)
_NOISE = frozenset({"as", "inner", "outer", "asc", ";"})


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A gold in other words; `kind` is the slug of the rule, e.g. join-to-exists."""

    case: str
    language: str
    kind: str
    query: str


@dataclass(frozen=True, slots=True)
class RewriteReport:
    """What a check of rewrites found; it is passed when `problems` is empty.

    `golds`: cases with a gold in the language. `empty`: rewrites whose tables were empty, as the
    gold's, on every instance, which is no evidence.
    """

    language: str
    golds: int
    rewrites: tuple[Rewrite, ...]
    executions: int
    empty: tuple[Rewrite, ...]
    problems: tuple[Problem, ...]

    @property
    def cases(self) -> int:
        """Cases that have any rewrite."""
        return len({rewrite.case for rewrite in self.rewrites})

    @property
    def kinds(self) -> Counter[str]:
        """How many rewrites follow each rule."""
        return Counter(rewrite.kind for rewrite in self.rewrites)


def read_rewrites(
    folder: Path, suite: Suite, language: str, *, fresh: bool = False
) -> tuple[Rewrite, ...]:
    """The rewrites of a language in `<suite folder>/rewrites/<language>.yaml`, if there are any.

    Raises `InputError` naming file, line and key of every fault.
    """
    file = folder / FOLDER / f"{language}.yaml"
    if not file.exists():
        return ()
    document = read_document(file, "rewrites", fresh=fresh)
    golds = [case.id for case in suite.cases if language in case.gold]
    known = {case.id for case in suite.cases}
    faults: list[Misplaced] = []
    for index, entry in enumerate(document["rewrites"]):
        name = entry["case"]
        if name not in golds:
            message = (
                f"case {name!r} has no {language} gold"
                if name in known
                else f"the suite has no case {name!r}.{did_you_mean(name, golds)}"
            )
            faults.append((file, ("rewrites", index, "case"), message))
    refuse(faults)
    return tuple(
        Rewrite(entry["case"], language, entry["kind"], entry["query"].strip())
        for entry in document["rewrites"]
    )


def check_rewrites(
    suite: Suite,
    bench: Bench,
    rewrites: Sequence[Rewrite],
    instances: Sequence[str],
    settings: TrialSettings,
    *,
    on_instance: Callable[[str], None] | None = None,
) -> RewriteReport:
    """Run all rewrites on `instances` and judge them as predictions are judged.

    Checked as well: every gold in the language has at least `LEAST` rewrites, each passes the
    language's safety check, and each says something else than the gold and the other rewrites
    (`same_text`). Raises `EngineLostError`, and `QevalError` for a gold that fails.
    """
    language = bench.language.name
    problems = [*_text_problems(suite, language, rewrites)]
    safe = []
    for rewrite in rewrites:
        try:
            bench.language.check_safety(rewrite.query)
            safe.append(rewrite)
        except QueryError as error:
            account = f"{rewrite.kind}: {error.message}"
            problems.append(Problem(rewrite.case, language, "", error.kind, account))
    candidates = [Candidate(rewrite.case, rewrite.query) for rewrite in safe]
    bare = set(range(len(safe)))  # places of the rewrites without any row so far
    for name in instances:
        if on_instance is not None:
            on_instance(name)
        trials = try_all(suite, bench, name, candidates, settings)
        for place, (rewrite, trial) in enumerate(zip(safe, trials, strict=True)):
            if trial.kind != "equal":
                account = f"{rewrite.kind}: {trial.message}"
                problems.append(Problem(rewrite.case, language, name, trial.kind, account))
            if not trial.empty:
                bare.discard(place)
    return RewriteReport(
        language,
        sum(language in case.gold for case in suite.cases),
        tuple(rewrites),
        len(safe) * len(instances),
        tuple(safe[place] for place in sorted(bare)),
        tuple(problems),
    )


def _text_problems(suite: Suite, language: str, rewrites: Sequence[Rewrite]) -> Iterator[Problem]:
    few: list[str] = []
    for case in suite.cases:
        if language not in case.gold:
            continue
        own = [rewrite for rewrite in rewrites if rewrite.case == case.id]
        if len(own) < LEAST:
            few.append(f"{case.id} {len(own)}")
        earlier = [("the gold", case.gold[language])]
        for rewrite in own:
            for name, text in earlier:
                if same_text(language, text, rewrite.query):
                    account = f"{rewrite.kind}: says the same as {name}, at most other names"
                    yield Problem(case.id, language, "", "same", account)
            earlier.append((f"the rewrite {rewrite.kind}", rewrite.query))
    if few:
        account = f"{len(few)} golds have fewer than {LEAST} rewrites: {', '.join(few)}"
        yield Problem("(all)", language, "", "few", account)


def same_text(language: str, first: str, second: str) -> bool:
    """Whether two queries are the same text but for layout, case, noise and names.

    Noise are words that may be left out, such as AS. Where the texts differ in a word, one of the
    two must be a name of its own, one that the other text has nowhere, and always stand for the
    same word of the other.
    """
    ours, theirs = _tokens(language, first), _tokens(language, second)
    if len(ours) != len(theirs):
        return False
    only_ours, only_theirs = set(ours) - set(theirs), set(theirs) - set(ours)
    meanings: dict[tuple[str, bool], str] = {}
    for our, their in zip(ours, theirs, strict=True):
        if our != their and not (_is_name(our) and _is_name(their)):
            return False
        if our in only_ours:
            agrees = meanings.setdefault((our, True), their) == their
        elif their in only_theirs:
            agrees = meanings.setdefault((their, False), our) == our
        else:
            agrees = our == their
        if not agrees:
            return False
    return True


def _is_name(word: str) -> bool:
    return word[0].isalpha() or word[0] in "$_"


def _tokens(language: str, query: str) -> list[str]:
    comment = _COMMENTS.get(language, r"\Z")
    matches = re.finditer(f"{comment}|{_WORDS}", query, re.DOTALL)
    found = [match["word"] for match in matches if match["word"]]
    words = [token if token[0] in "'\"`" else token.lower() for token in found]
    return [word for word in words if word not in _NOISE]
