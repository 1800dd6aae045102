"""Cypher: the static read-only check, on the language's own tokens.

The first of two walls: the read transaction and the server's configuration are the second. No
Cypher parser exists for Python, so this reads tokens: strings, quoted names, comments, parameters
and numbers can't be mistaken for keywords, and a word counts as a clause only where a clause can
stand. What is in doubt is left to the server, which refuses writes in a read transaction.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from qeval.engines.base import QueryError
from qeval.languages.base import Described, check_text

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|//[^\n\r]*|/\*.*?\*/)
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<quoted>`(?:[^`]|``)*`)
  | (?P<parameter>\$(?:\w+|`(?:[^`]|``)*`))
  | (?P<number>(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?
      |\.\d+(?:[eE][+-]?\d+)?)\w*)
  | (?P<word>[^\W\d]\w*)
  | (?P<sign>\.\.|<>|<=|>=|=~|\+=|\|\||::|->|<-|.)
    """,
    re.VERBOSE | re.DOTALL,
)

_WRITES = {
    "CREATE": "CREATE writes data or schema",
    "INSERT": "INSERT writes data",
    "MERGE": "MERGE writes data",
    "SET": "SET writes data",
    "DELETE": "DELETE writes data",
    "DETACH": "DETACH DELETE writes data",
    "NODETACH": "NODETACH DELETE writes data",
    "REMOVE": "REMOVE writes data",
    "FOREACH": "FOREACH writes data",
    "LOAD": "LOAD CSV reads files or the network",
}
_COMMANDS = {
    "USE": "USE chooses another database",
    "SHOW": "SHOW answers about the server, not the data",
    "TERMINATE": "TERMINATE ends other transactions",
    "EXPLAIN": "EXPLAIN answers no question",
    "PROFILE": "PROFILE answers no question",
    "DROP": "DROP changes the schema or the server",
    "ALTER": "ALTER changes the server",
    "GRANT": "GRANT changes privileges",
    "DENY": "DENY changes privileges",
    "REVOKE": "REVOKE changes privileges",
    "RENAME": "RENAME changes the server",
    "START": "START changes the server",
    "STOP": "STOP changes the server",
    "ENABLE": "ENABLE changes the server",
    "DRYRUN": "DRYRUN changes the server",
    "DEALLOCATE": "DEALLOCATE changes the server",
    "REALLOCATE": "REALLOCATE changes the server",
    "USING": "USING PERIODIC COMMIT writes in batches",
}
_READING_PROCEDURES = re.compile(
    r"db\.(labels|relationshiptypes|propertykeys|schema\.(visualization|nodetypeproperties|"
    r"reltypeproperties)|index\.(fulltext|vector)\.query(nodes|relationships))",
)
_SERVER_NAMESPACES = (
    "db",
    "dbms",
    "tx",
    "apoc",
    "gds",
    "jwt",
    "cdc",
    "genai",
    "n10s",
    "fleetmanagement",
)
# Where one of these precedes, a word names something: n.set, :Create, (set), AS load, $use.
_NAMES_AFTER = frozenset({".", ":", "|", "&", "!", "(", ",", "[", "=", "+", "-", "*", "/", "%", "^",
                          "<", ">", "<=", ">=", "<>", "=~", "+=", "::", "..", "||"})  # fmt: skip
_NAMES_AFTER_WORDS = frozenset({
    "AS", "YIELD", "BY", "WHERE", "AND", "OR", "XOR", "NOT", "IN", "RETURN", "WITH", "DISTINCT",
    "UNWIND", "THEN", "ELSE", "WHEN", "CASE", "CONTAINS", "STARTS", "ENDS", "LIMIT", "SKIP",
    "OFFSET", "IS",
})  # fmt: skip
# Where one of these follows, a word is a variable, a property key or a function, not a clause.
_NAMES_BEFORE = frozenset({".", ",", ")", "]", "=", "<>", "<", ">", "<=", ">=", "=~", "+", "-", "*",
                           "/", "%", "^", ":", "|", "::", "||", "}"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A token that is no white space; `text` as written, `word` in capitals for plain words.

    `start` is its offset in the unescaped query.
    """

    kind: str
    text: str
    line: int
    column: int
    start: int = 0

    @property
    def word(self) -> str:
        """The plain word in capitals, empty for everything else."""
        return self.text.upper() if self.kind == "word" else ""


class Cypher(Described):
    """Neo4j's Cypher 5. Built from `conf/language/cypher.yaml`."""

    comments = ("//",)
    # Clocks, chance, internal ids, and escapes that may spell any of them.
    volatile = re.compile(
        r"\brand\b|random|\btimestamp\b|\.\s*(?:transaction|statement|realtime)\b"
        r"|\b(?:date|time|datetime|localtime|localdatetime)\s*\(\s*(?:\)|\{\s*timezone)"
        r"|\belementId\b|\bid\s*\(|\\u",
        re.IGNORECASE,
    )

    def check_safety(self, query: str) -> None:
        """Accept one query that only reads.

        Raises `QueryError`: `unsafe` for writes, administration, files and network, procedures
        beyond the built-in reading ones, EXPLAIN and PROFILE, and several statements;
        `syntax_error` where a string, name or comment does not end, for half characters and for an
        empty query.
        """
        check_text(query)
        tokens = list(tokenize(query))
        while tokens and tokens[-1].text == ";":
            tokens.pop()
        if not tokens:
            raise QueryError("syntax_error", "the query holds no statement")
        for index, token in enumerate(tokens):
            if token.text == ";":
                _refuse(token, "several statements; only one is allowed")
            if token.kind == "word":
                _check_word(tokens, index)


def tokenize(query: str) -> Iterator[Token]:
    """The tokens of a query, without white space and comments.

    Neo4j replaces Unicode escapes before it reads anything else, so that is done here as well.
    Raises `QueryError("syntax_error", …)` where a string, quoted name or comment does not end.
    """
    text = unescaped(query)
    line, start = 1, 0
    for found in _TOKEN.finditer(text):
        kind, piece = found.lastgroup or "sign", found[0]
        column = found.start() - start + 1
        if kind == "sign" and (piece in "'\"`" or text.startswith("/*", found.start())):
            what = {"`": "quoted name", "/": "comment"}.get(piece, "string")
            raise QueryError(
                "syntax_error",
                f"the {what} that begins here does not end",
                line=line,
                column=column,
            )
        if kind != "space":
            yield Token(kind, piece, line, column, found.start())
        breaks = piece.count("\n")
        if breaks:
            line += breaks
            start = found.start() + piece.rfind("\n") + 1


def unescaped(query: str) -> str:
    """The query with its Unicode escapes replaced, as Neo4j reads it."""
    return _UNICODE.sub(lambda found: chr(int(found[1], 16)), query)


_UNICODE = re.compile(r"\\u+([0-9a-fA-F]{4})")


def _check_word(tokens: Sequence[Token], index: int) -> None:
    token = tokens[index]
    word = token.word
    if word in _WRITES:
        if _is_clause(tokens, index):
            _refuse(token, _WRITES[word])
    elif word in _COMMANDS:
        if _begins_query(tokens, index):
            _refuse(token, _COMMANDS[word])
    elif word == "CALL":
        _check_call(tokens, index)
    elif word == "TRANSACTIONS" and _ends_subquery(tokens, index):
        _refuse(token, "CALL { … } IN TRANSACTIONS commits in batches")


def _ends_subquery(tokens: Sequence[Token], index: int) -> bool:
    """Whether `} IN TRANSACTIONS` or `} IN 3 CONCURRENT TRANSACTIONS` ends at `index`."""
    if _word(tokens, index - 1) not in ("IN", "CONCURRENT"):
        return False
    return any(token.text == "}" for token in tokens[max(0, index - 4) : index])


def _is_clause(tokens: Sequence[Token], index: int) -> bool:
    """Whether a writing word begins a clause here, by what stands before and after it."""
    before = tokens[index - 1] if index else Token("sign", "", 1, 1)
    after = tokens[index + 1] if index + 1 < len(tokens) else Token("sign", ".", 1, 1)
    if after.text in _NAMES_BEFORE or before.text in _NAMES_AFTER:
        return False
    needed = {"FOREACH": "(", "LOAD": "CSV", "DETACH": "DELETE", "NODETACH": "DELETE"}
    if tokens[index].word in needed:
        return after.text.upper() == needed[tokens[index].word]
    return before.word not in _NAMES_AFTER_WORDS


def _begins_query(tokens: Sequence[Token], index: int) -> bool:
    """Whether a command word stands where a query or a part of one begins."""
    after = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if not after or after in _NAMES_BEFORE:
        return False
    if tokens[index].word == "USING":
        return _word(tokens, index + 1) == "PERIODIC"
    before = tokens[index - 1] if index else None
    if before is None or before.text in ("{", "}"):
        return True
    if before.word in ("UNION", "ALL", "EXPLAIN", "PROFILE"):
        return True
    return _only_options(tokens, index)


def _only_options(tokens: Sequence[Token], end: int) -> bool:
    """Whether only `CYPHER 5 runtime=slotted …` stands before `end`."""
    if _word(tokens, 0) != "CYPHER":
        return False
    rest = [token for token in tokens[1:end] if token.kind != "number"]
    return len(rest) % 3 == 0 and all(rest[n].text == "=" for n in range(1, len(rest), 3))


def _check_call(tokens: Sequence[Token], index: int) -> None:
    token = tokens[index]
    before = tokens[index - 1] if index else None
    if before is not None and (
        before.text in (".", ":", "|", "&") or before.word in ("AS", "YIELD")
    ):
        return
    name = _procedure(tokens, index + 1)
    namespace = name.partition(".")[0]
    if not name or "." not in name or namespace not in _SERVER_NAMESPACES:
        return  # a subquery, or a procedure that the server must know
    if not _READING_PROCEDURES.fullmatch(name):
        _refuse(token, f"the procedure {name} does more than read the graph")


def procedures(query: str) -> list[str]:
    """Names of the procedures that a query calls, in lower case, without the reading built-ins."""
    tokens = list(tokenize(query))
    called = []
    for index, token in enumerate(tokens):
        if token.word == "CALL":
            name = _procedure(tokens, index + 1)
            if name and not _READING_PROCEDURES.fullmatch(name):
                called.append(name)
    return called


def _procedure(tokens: Sequence[Token], start: int) -> str:
    """The dotted name that begins at `start`, in lower case and without quotes; "" for none."""
    pieces: list[str] = []
    for place in range(start, len(tokens)):
        token = tokens[place]
        is_name = token.kind in ("word", "quoted")
        if not (token.text == "." if len(pieces) % 2 else is_name):
            break
        quoted = token.kind == "quoted"
        pieces.append(token.text[1:-1].replace("``", "`") if quoted else token.text)
    return "".join(pieces).lower()


def _word(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].word if 0 <= index < len(tokens) else ""


def _refuse(token: Token, why: str) -> NoReturn:
    raise QueryError("unsafe", why, line=token.line, column=token.column)
