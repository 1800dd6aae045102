"""Advice for the habits of other languages that end in a syntax error.

A hint is a guess from the tokens around the fault. It never changes the verdict.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from qeval.typeql.syntax.grammar.expressions import COMPARATORS
from qeval.typeql.syntax.grammar.names import RESERVED
from qeval.typeql.syntax.grammar.patterns import FOLLOWING

_TOKEN: Final = re.compile(r"\$?[^\W\d][\w-]*|\$\w*|\d+|```|:=|<>|&&|\|\||/\*|--|//|\*\*|==|\s+|.")
_REACH: Final = 200
_KEYWORDS: Final = (
    RESERVED
    | FOLLOWING
    | COMPARATORS.keys()
    | {"groupby", "let", "count", "sum", "min", "max", "mean", "median", "std", "value", "label"}
)

_WORDS: Final = {
    "get": "'get' is TypeQL 2; choose columns with 'select $a, $b;' or documents with 'fetch {…};'",
    "rule": "rules are TypeQL 2; write a function: 'fun name($x: type) -> { type }: match …;'",
    "aggregate": "aggregate with 'reduce $n = count;'",
    "where": "conditions are statements of 'match': '$x has age $a; $a > 3;'",
    "filter": "conditions are statements of 'match': '$x has age $a; $a > 3;'",
    "having": "to filter groups, 'match' again after 'reduce': 'reduce …; match $n > 1;'",
    "group": "group inside reduce: 'reduce $n = count groupby $x;'",
    "skip": "write 'offset 10;'",
    "and": "statements are joined by ';', constraints of one variable by ','",
    "or": "'or' joins blocks: '{ … } or { … };'",
    "not": "'not' takes a block: 'not { … };'",
    "optional": "write 'try { … };'",
    "exists": "a pattern alone asserts that something exists; for none write 'not { … };'",
    "forall": "write 'not { … not { … }; };'",
    "null": "absence is 'not { $x has attribute $a; };'",
    "between": "write two comparisons: '$x >= 1; $x <= 5;'",
    "in": "'in' only follows 'let $x'; for alternatives write '{ $x == 1; } or { $x == 2; };'",
    "avg": "the reducer is 'mean($x)'",
    "average": "the reducer is 'mean($x)'",
    "case": "there is no conditional expression; use '{ … } or { … };'",
    "if": "there is no conditional expression; use '{ … } or { … };'",
    "mod": "the remainder is '$a % $b'",
    "ilike": "'contains' ignores case; 'like' takes a regular expression",
    "starts": "write '$x like \"^start\"'",
    "ends": "write '$x like \"end$\"'",
    "as": "columns can't be renamed; 'let $new = $old;' in 'match' gives another name",
    "return": "'return' ends a function; a query ends with 'select' or 'fetch'",
    "nulls": "None always sorts first ascending and last descending",
    "with": "attributes are told by 'has': '$x has name \"Ada\"'",
    "groupby": "'groupby' belongs to 'reduce', before its ';'",
    "dec": "decimals end in 'dec', in lower case",
    "type": "a thing's type is '$x isa type'; a subtype is '$t sub type'",
}
_SYMBOLS: Final = {
    "=": "'==' compares; '=' only assigns, in 'let' and 'reduce'",
    ":=": "assign with '='",
    "<>": "'!=' is the comparator",
    "&&": "statements are joined by ';'",
    "||": "'or' joins blocks: '{ … } or { … };'",
    "&": "statements are joined by ';'",
    "**": "the power is '$a ^ 2'",
    "?": "variables start with '$', also those of values",
    "```": "leave out the code fence",
    "/*": "comments start with '#'",
    "--": "comments start with '#'",
    "//": "comments start with '#', and division is '/'",
    "\ufeff": "the text starts with a byte order mark",
    "\xa0": "a no-break space is no white space to TypeQL",
}


class Around(NamedTuple):
    """The tokens near a fault: two before it, itself and the one behind it."""

    earlier: str
    before: str
    here: str
    after: str


def tokens_around(text: str, offset: int) -> Around:
    """The solid tokens around `offset`; empty where there are none."""
    start = max(0, offset - _REACH)
    earlier, before = ["", "", *_solid(text[start:offset])][-2:]
    here, after = [*_solid(text[offset : offset + _REACH]), "", ""][:2]
    return Around(earlier, before, here, after)


def _solid(text: str) -> list[str]:
    # White space of other scripts is shown: it may be the fault.
    return [token for token in _TOKEN.findall(text) if token.strip(" \t\r\n")]


def hint(around: Around, expected: str) -> str | None:
    """What the writer may have meant, or None."""
    for word in (around.here, around.before):
        if word not in _KEYWORDS and word.lower() in _KEYWORDS:
            return f"keywords are lower-case: '{word.lower()}'"
    return (
        _about_fetch(around, expected)
        or _about_reduce(around)
        or _about_stages(around, expected)
        or _about_variables(around)
        or _about_statements(around, expected)
        or _SYMBOLS.get(around.before + around.here)
        or _SYMBOLS.get(around.here)
        or (_SYMBOLS.get(around.before) if around.before != "=" else None)
        or _about_numbers(around)
        or _WORDS.get(around.here.lower())
        or _WORDS.get(around.before.lower())
        or _about_ends(around, expected)
    )


def _about_fetch(around: Around, expected: str) -> str | None:
    earlier, before, here, _ = around
    if before == "fetch" or (earlier == "fetch" and here == ":"):
        return "documents have keys: 'fetch { \"name\": $x.name };'"
    if expected == "a key in quotes" or (expected == "'.*'" and here != "."):
        return "each entry has a key in quotes: '\"name\": $x.name'"
    if expected == "'*'":
        return "each entry has a key in quotes: '\"name\": $x.name'; only '*' stands without"
    if before == "." and here == "*":
        return "all attributes stand in braces of their own: '\"all\": { $x.* }'"
    if before == "*":
        return "'{ $x.* }' takes nothing else into its braces"
    return None


def _about_reduce(around: Around) -> str | None:
    earlier, before, here, _ = around
    if "by" in {here, before}:
        return "write 'sort $x desc;' and 'reduce $n = count groupby $x;'"
    if before == "distinct" or (here == "distinct" and before in {"select", "("}):
        return "'distinct' is a stage of its own: 'select $x; distinct; reduce $n = count;'"
    if here == ")" and earlier == "count":
        return "count rows with 'count', the bound values of a variable with 'count($x)'"
    if before == "reduce":
        return "each result has a name: 'reduce $n = count, $top = max($x);'"
    return None


def _about_stages(around: Around, expected: str) -> str | None:
    _, before, here, _ = around
    if here == "*" and before == "select":
        return "name the variables, as in 'select $a, $b;', or leave 'select' out"
    if before == "sort" and here in {"asc", "desc"}:
        return "the order stands behind the variable: 'sort $x desc;'"
    if before in {"sort", "select", "require", "groupby"} and here.isidentifier():
        return f"variables start with '$': '{before} ${here};'"
    if expected.startswith("the end") and (here in FOLLOWING or here == "groupby"):
        return _WORDS.get(here) or "a query is one pipeline; nothing follows its 'fetch' or 'end;'"
    return None


def _about_variables(around: Around) -> str | None:
    _, before, here, after = around
    if here == "." and before.startswith("$"):
        return "'$x.attribute' stands only in fetch; in match write '$x has attribute $a;'"
    if here == "-" and after.startswith("$"):
        return "only numbers take a sign: write '0 - $x'"
    if here in {"isa", "has"} and before.isidentifier():
        return f"variables start with '$': '${before} {here} …'"
    if here.startswith("$_"):
        return "a variable's name starts with a letter or a digit; '$_' alone is anonymous"
    return None


def _about_statements(around: Around, expected: str) -> str | None:
    if expected.startswith("':' and the variable"):
        return "a role and its player are written 'role: $player'"
    if around.here in COMPARATORS and expected == "';'":
        return "a comparison is a statement of its own: '$x has age $a; $a > 3;'"
    return None


def _about_numbers(around: Around) -> str | None:
    _, before, here, _ = around
    if before.isdigit() and re.fullmatch(r"[eE]-?\d+", here):
        return "an exponent needs a fraction before it: '1.0e5'"
    if here == "." and (before.isdigit() or not before.isidentifier()):
        return "a fraction needs digits on both sides: '0.5'"
    return None


def _about_ends(around: Around, expected: str) -> str | None:
    earlier, before, here, _ = around
    if not expected.endswith("';'") or not earlier:
        return None
    if before == ",":
        return "',' joins constraints of one variable; between statements stands ';'"
    if here in {"", "}"} or here in FOLLOWING or here.startswith("$"):
        return f"a ';' is missing after '{before}'"
    return None
