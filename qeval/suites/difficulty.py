"""How hard a case is, computed from its golds; docs/suite.md states the rule for people.

The SQL gold decides: it says how many tables must be brought together and whether anything is
nested. A graph says some joins as properties and some columns as relationships, so the golds in
Cypher and TypeQL may stand one step off; one that stands two steps off is declared (`gold_level` of
the case).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qeval.suite import Case, Difficulty, Suite

LEVELS: tuple[Difficulty, ...] = ("easy", "medium", "hard")

_LITERAL_OR_COMMENT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|//[^\n]*|#[^\n]*")
_HOP = re.compile(r"-\s*\[[^\]]*\]\s*-|--")
_CYPHER_BLOCK = re.compile(r"\b(?:EXISTS|COUNT|COLLECT|CALL)\s*(?:\([^()]*\)\s*)?\{", re.IGNORECASE)
_CYPHER_NESTING = re.compile(
    r"\[[^\]]*\*[^\]]*\]\s*-"  # a path of any length
    r"|\)\s*\)\s*(?:\{\d*,?\d*\}|[+*]\s*\()|->?\s*(?:\{\d*,?\d*\}|[+*]\s*\()"  # quantified
    r"|\b(?:all|any|none|single|reduce|collect)\s*\(|\[\s*\w+\s+IN\b"  # lists made or searched
    r"|\bUNION\b|\bshortestPath\b",
    re.IGNORECASE,
)
_CYPHER_STAGE = re.compile(r"\b(?:WITH|RETURN)\b", re.IGNORECASE)
_CYPHER_AGGREGATE = re.compile(
    r"\b(?:count|sum|avg|min|max|collect|percentile\w+|stdevp?)\s*\(", re.IGNORECASE
)
_TYPEQL_BLOCK = re.compile(r"\b(?:not|or)\s*\{")
_TYPEQL_RELATION = re.compile(r"\b[\w-]+\s*\(\s*[\w-]+\s*:|\blinks\s*\(")
_TYPEQL_READS = re.compile(r"\bisa\b|\bhas\b|\blinks\b|\b[\w-]+\s*\(\s*[\w-]+\s*:")
_TYPEQL_CALL = re.compile(r"\bwith\s+fun\b|\blet\b[^;=]*(?:\bin\b|=)\s*[a-z][\w-]*\s*\(")


@dataclass(frozen=True, slots=True)
class Shape:
    """What a query does: joins or hops it takes, and whether anything in it is nested."""

    steps: int
    nested: bool

    @property
    def level(self) -> Difficulty:
        """hard: nested; medium: two or more joins or hops; easy: the rest."""
        return "hard" if self.nested else "medium" if self.steps > 1 else "easy"


def shape(language: str, query: str, *, first_k: bool = False) -> Shape | None:
    """The shape of a gold; None for a language that nothing is known of.

    `first_k`: the question asks for the first k with ties, for which Cypher and TypeQL have to
    find the limit's value first; that is no nesting of the question.
    """
    match language:
        case "sql":
            return _sql(query)
        case "cypher":
            return _cypher(query, first_k=first_k)
        case "typeql":
            return _typeql(query, first_k=first_k)
    return None


def computed(case: Case) -> Difficulty | None:
    """The level that the golds say: that of SQL; without SQL the highest of the others."""
    levels = {language: level for language, level in _levels(case).items() if level is not None}
    if "sql" in levels:
        return levels["sql"]
    return max(levels.values(), key=LEVELS.index, default=None)


def mislabelled(suite: Suite) -> Iterator[tuple[str, str, str]]:
    """(case, language, account) of every gold that does not go with the label of its case."""
    for case in suite.cases:
        level = computed(case)
        if "sql" in case.gold and level is not None and level != case.difficulty:
            yield case.id, "sql", f"labelled {case.difficulty}, but its SQL gold is {level}"
        for language, found in _levels(case).items():
            if language == "sql" or found is None:
                continue
            declared = case.gold_level.get(language)
            apart = abs(LEVELS.index(found) - LEVELS.index(case.difficulty))
            if apart > 1 and declared is None:
                account = f"labelled {case.difficulty}, but its {language} gold is {found}"
                yield case.id, language, f"{account}; declare it by gold_level, or change one"
            elif declared is not None and (apart <= 1 or declared != found):
                account = f"declared {declared}, but its {language} gold is {found}"
                yield case.id, language, account


def _levels(case: Case) -> Mapping[str, Difficulty | None]:
    first_k = case.answer.top_k is not None
    found = {lang: shape(lang, gold, first_k=first_k) for lang, gold in case.gold.items()}
    return {language: made.level if made else None for language, made in found.items()}


def _sql(query: str) -> Shape:
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(query, read="postgres")
    joins = len(list(tree.find_all(exp.Join)))
    nested = len(list(tree.find_all(exp.Select))) > 1 or tree.find(exp.Window) is not None
    # One join is a join: only what reads one table is easy.
    return Shape(max(joins, 2) if joins else 0, nested)


def _cypher(query: str, *, first_k: bool) -> Shape:
    """Hops are relationships; nested are subqueries with hops, paths of any length, conditions on
    lists, and what goes on from an aggregate.

    A check that a single relationship is there or missing is what a column may say in a table.
    """
    bare = _LITERAL_OR_COMMENT.sub("''", query)
    blocks = [block for block in _blocks(bare, _CYPHER_BLOCK) if _HOP.search(block)]
    nested = any(len(_HOP.findall(block)) > 1 or "WHERE" in block.upper() for block in blocks)
    nested |= bool(_CYPHER_NESTING.search(bare))
    if not first_k:
        aggregates = [bool(_CYPHER_AGGREGATE.search(s)) for s in _CYPHER_STAGE.split(bare)[1:]]
        goes_on = re.search(r"\bWITH\b.*\bMATCH\b", bare, re.IGNORECASE | re.DOTALL)
        nested |= sum(aggregates) > 1 or goes_on is not None
    return Shape(len(_HOP.findall(bare)), nested)


def _typeql(query: str, *, first_k: bool) -> Shape:
    """Hops are relations; nested are calls of functions, not and or blocks with several relations,
    and what goes on from a reduction with more data.

    A block with one relation alone is what a column may say in a table.
    """
    bare = _LITERAL_OR_COMMENT.sub("''", query)
    blocks = list(_blocks(bare, _TYPEQL_BLOCK))
    relations = len(_TYPEQL_RELATION.findall(bare))
    nested = any(
        len(_TYPEQL_RELATION.findall(block)) > 1 or _TYPEQL_BLOCK.search(block) for block in blocks
    ) or bool(_TYPEQL_CALL.search(bare))
    if not first_k:
        _, *later = re.split(r"\breduce\b", bare)
        nested |= len(later) > 1 or any(map(_TYPEQL_READS.search, later))
    return Shape(relations, nested)


def _blocks(text: str, opening: "re.Pattern[str]") -> Iterator[str]:
    """What stands between the braces that `opening` ends with, nested ones included."""
    for start in opening.finditer(text):
        depth, place = 1, start.end()
        while depth and place < len(text):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            place += 1
        yield text[start.end() : place - 1]
