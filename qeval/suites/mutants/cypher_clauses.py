"""Reading the clauses of a Cypher query."""

from qeval.languages.cypher import tokenize, unescaped
from qeval.suites.mutants.cypher_expressions import expression
from qeval.suites.mutants.cypher_patterns import pattern, where
from qeval.suites.mutants.cypher_tree import Cursor, Node, UnknownSyntaxError

_CLAUSES = frozenset({
    "MATCH", "OPTIONAL", "WITH", "RETURN", "UNWIND", "CALL", "UNION", "ORDER", "SKIP", "OFFSET",
    "LIMIT", "FINISH", "USE",
})  # fmt: skip


def read(query: str) -> tuple[str, Node]:
    """The text that the places are in (`query` without Unicode escapes), and its tree.

    Raises `QueryError("syntax_error", …)` where a string, quoted name or comment does not end.
    """
    return unescaped(query), query_body(Cursor(list(tokenize(query))))


def query_body(cursor: Cursor) -> Node:
    """The clauses up to the end, or to the brace that closes a subquery.

    A subquery may begin with a bare pattern, which is read as a MATCH.
    """
    start = cursor.start
    clauses = []
    while cursor.peek() not in ("", "}", ";"):
        before = cursor.at
        try:
            clauses.append(_clause(cursor))
        except UnknownSyntaxError:
            cursor.at = before
            clauses.append(_opaque(cursor))
    cursor.accept(";")
    return cursor.made("query", start, "", clauses)


def _opaque(cursor: Cursor) -> Node:
    start = cursor.start
    first = True
    while cursor.peek() and (first or cursor.peek() not in _CLAUSES):
        if cursor.peek() in ("}", ";"):
            break
        step = cursor.closing() if cursor.peek() in tuple("([{") else 0
        cursor.at += step + 1
        first = False
    return cursor.made("opaque", start)


def _clause(cursor: Cursor) -> Node:
    start, word = cursor.start, cursor.peek()
    readers = {"WITH": _projection, "RETURN": _projection, "UNWIND": _unwind, "UNION": _union,
               "CALL": _call, "ORDER": _page, "SKIP": _page, "OFFSET": _page,
               "LIMIT": _page}  # fmt: skip
    if word in readers:
        return readers[word](cursor)
    if word == "OPTIONAL" and cursor.peek(1) == "CALL":
        return _call(cursor)
    for words in (("OPTIONAL", "MATCH"), ("MATCH",)):
        if cursor.accept(*words):
            return _match(cursor, start, " ".join(words))
    if word not in ("(", "SHORTEST", "ALL", "ANY"):
        raise UnknownSyntaxError(word)
    return _match(cursor, start, "")


def _unwind(cursor: Cursor) -> Node:
    start = cursor.start
    cursor.take("UNWIND")
    value = expression(cursor)
    cursor.take("AS")
    return cursor.made("unwind", start, cursor.name(), [value])


def _union(cursor: Cursor) -> Node:
    start = cursor.start
    cursor.take("UNION")
    word = "ALL" if cursor.accept("ALL") else "DISTINCT"
    cursor.accept("DISTINCT")
    return cursor.made("union", start, word)


def _page(cursor: Cursor) -> Node:
    start = cursor.start
    return cursor.made("paging", start, "", _paging(cursor))


def _match(cursor: Cursor, start: int, word: str) -> Node:
    parts = [pattern(cursor)]
    while cursor.accept(","):
        parts.append(pattern(cursor))
    while cursor.peek() == "USING":
        while cursor.peek() not in ("", "}", "WHERE", *_CLAUSES):
            cursor.at += 1
    parts += where(cursor)
    return cursor.made("match", start, word, parts)


def _projection(cursor: Cursor) -> Node:
    start, word = cursor.start, cursor.peek()
    cursor.take(word)
    parts: list[Node] = []
    place = cursor.start
    if cursor.accept("DISTINCT"):
        parts.append(cursor.made("distinct", place))
    elif cursor.accept("ALL"):
        pass
    while True:
        parts.append(_item(cursor))
        if not cursor.accept(","):
            break
    parts += _paging(cursor)
    parts += where(cursor)
    return cursor.made("projection", start, word, parts)


def _item(cursor: Cursor) -> Node:
    start = cursor.start
    if cursor.accept("*"):
        return cursor.made("star", start)
    value = expression(cursor)
    name = cursor.name() if cursor.accept("AS") else value.word if value.kind == "name" else ""
    return cursor.made("item", start, name, [value])


def _paging(cursor: Cursor) -> list[Node]:
    """ORDER BY, SKIP and LIMIT, where they stand."""
    parts = []
    if cursor.accept("ORDER", "BY"):
        while True:
            start = cursor.start
            value = expression(cursor)
            word = cursor.peek()
            if word in ("ASC", "ASCENDING", "DESC", "DESCENDING"):
                cursor.take(word)
            order = "DESC" if word.startswith("DESC") else "ASC"
            parts.append(cursor.made("sort", start, order, [value]))
            if not cursor.accept(","):
                break
    for words in (("SKIP", "OFFSET"), ("LIMIT",)):
        start, word = cursor.start, cursor.peek()
        if word in words:
            cursor.take(word)
            parts.append(cursor.made("limit", start, word, [expression(cursor)]))
    return parts


def _call(cursor: Cursor) -> Node:
    """A subquery, or a procedure with what it yields."""
    start = cursor.start
    word = "OPTIONAL CALL" if cursor.accept("OPTIONAL") else "CALL"
    cursor.take("CALL")
    parts: list[Node] = []
    if cursor.peek() in ("(", "{"):
        if cursor.peek() == "(":
            cursor.at += cursor.closing() + 1
        cursor.take("{")
        parts.append(query_body(cursor))
        cursor.take("}")
        return cursor.made("subquery", start, word, parts)
    cursor.name()
    while cursor.accept("."):
        cursor.name()
    if cursor.accept("("):
        while not cursor.accept(")"):
            parts.append(expression(cursor))
            cursor.accept(",")
    if cursor.accept("YIELD") and not cursor.accept("*"):
        while True:
            place, name = cursor.start, cursor.name()
            name = cursor.name() if cursor.accept("AS") else name
            parts.append(cursor.made("yield", place, name))
            if not cursor.accept(","):
                break
    parts += where(cursor)
    return cursor.made("procedure", start, word, parts)
