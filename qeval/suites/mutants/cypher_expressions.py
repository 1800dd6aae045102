"""Reading the expressions of a Cypher query, by falling precedence."""

from collections.abc import Callable

from qeval.suites.mutants.cypher_patterns import is_arrow, labels, path
from qeval.suites.mutants.cypher_tree import Cursor, Node, UnknownSyntaxError

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_TYPE_WORDS = ("NOT", "NULL", "TIME", "DATETIME", "NODE", "VALUE")
_QUANTIFIERS = ("ALL", "ANY", "NONE", "SINGLE")


def expression(cursor: Cursor) -> Node:
    """Read an expression: OR, XOR, AND (kinds of these names, with all their operands), NOT, …."""
    return _chain(
        cursor, "OR", lambda one: _chain(one, "XOR", lambda two: _chain(two, "AND", _negation))
    )


def _chain(cursor: Cursor, word: str, operand: Callable[[Cursor], Node]) -> Node:
    start = cursor.start
    parts = [operand(cursor)]
    while cursor.accept(word):
        parts.append(operand(cursor))
    return parts[0] if len(parts) == 1 else cursor.made(word.lower(), start, word, parts)


def _negation(cursor: Cursor) -> Node:
    start = cursor.start
    if cursor.accept("NOT"):
        inner = _negation(cursor)
        return cursor.made("not", start, "NOT", [inner])
    return _comparison(cursor)


def _comparison(cursor: Cursor) -> Node:
    """`a < b`: operands and `operator` parts in turn."""
    start = cursor.start
    parts = [_predicate(cursor)]
    while cursor.peek() in _COMPARISONS:
        place = cursor.start
        word = cursor.take(cursor.peek())
        parts += [cursor.made("operator", place, word), _predicate(cursor)]
    if cursor.peek() == "<-" and len(parts) == 1:  # a <-1
        raise UnknownSyntaxError("<-")
    return parts[0] if len(parts) == 1 else cursor.made("comparison", start, "", parts)


def _predicate(cursor: Cursor) -> Node:
    start = cursor.start
    left = _sum(cursor)
    while True:
        place = cursor.start
        for words in (("STARTS", "WITH"), ("ENDS", "WITH"), ("CONTAINS",), ("IN",), ("=~",)):
            if cursor.accept(*words):
                operator = cursor.made("operator", place, " ".join(words))
                right = _sum(cursor)
                left = cursor.made("predicate", start, operator.word, [left, operator, right])
                break
        else:
            if cursor.peek() != "IS":
                return left
            left = _is(cursor, start, left)


def _is(cursor: Cursor, start: int, left: Node) -> Node:
    cursor.take("IS")
    negated = cursor.accept("NOT")
    if cursor.accept("NULL"):
        return cursor.made("null-check", start, "IS NOT NULL" if negated else "IS NULL", [left])
    if not (cursor.accept("::") or cursor.accept("TYPED")):
        cursor.name()  # NORMALIZED, NFC NORMALIZED
        cursor.accept("NORMALIZED")
        return cursor.made("predicate", start, "IS", [left])
    cursor.name()
    if cursor.peek() == "<":  # LIST<INTEGER>
        while not cursor.accept(">"):
            cursor.at += 1
    while cursor.peek() in _TYPE_WORDS or cursor.accept("WITHOUT", "TIMEZONE"):
        cursor.at += cursor.peek() in _TYPE_WORDS
    return cursor.made("predicate", start, "IS ::", [left])


def _sum(cursor: Cursor) -> Node:
    return _left(cursor, ("+", "-", "||"), lambda one: _left(one, ("*", "/", "%"), _power))


def _power(cursor: Cursor) -> Node:
    return _left(cursor, ("^",), _sign)


def _left(cursor: Cursor, signs: tuple[str, ...], operand: Callable[[Cursor], Node]) -> Node:
    start = cursor.start
    parts = [operand(cursor)]
    while cursor.peek() in signs:
        place = cursor.start
        parts += [cursor.made("operator", place, cursor.take(cursor.peek())), operand(cursor)]
    return parts[0] if len(parts) == 1 else cursor.made("arithmetic", start, "", parts)


def _sign(cursor: Cursor) -> Node:
    start = cursor.start
    if cursor.peek() in ("-", "+"):
        word = cursor.take(cursor.peek())
        inner = _sign(cursor)
        return cursor.made("sign", start, word, [inner])
    return _postfix(cursor)


def _postfix(cursor: Cursor) -> Node:
    start = cursor.start
    node = _atom(cursor)
    while True:
        if cursor.peek() == "." and cursor.kind(1) in ("word", "quoted"):
            cursor.take(".")
            node = cursor.made("property", start, cursor.name(), [node])
        elif cursor.peek() == "[":
            cursor.take("[")
            bounds = [] if cursor.peek() == ".." else [expression(cursor)]
            if cursor.accept("..") and cursor.peek() != "]":
                bounds.append(expression(cursor))
            cursor.take("]")
            node = cursor.made("index", start, "", [node, *bounds])
        elif cursor.peek() == ":" and node.kind in ("name", "group", "property"):
            node = cursor.made("label-check", start, "", [node, labels(cursor)])
        else:
            return node


def _atom(cursor: Cursor) -> Node:
    kind = cursor.kind()
    if kind in ("string", "number", "parameter"):
        start = cursor.start
        cursor.at += 1
        return cursor.made(kind, start, cursor.tokens[cursor.at - 1].text)
    if kind == "word":
        return _keyword(cursor) or _named(cursor)
    if kind == "quoted":
        return _named(cursor)
    opened = {"(": _parenthesised, "[": _list, "{": mapping}.get(cursor.peek())
    if opened is None:
        raise UnknownSyntaxError(cursor.peek() or "the end")
    return opened(cursor)


def _keyword(cursor: Cursor) -> Node | None:
    """What a keyword begins, if the next word is one here."""
    word, after = cursor.peek(), cursor.peek(1)
    if word in ("TRUE", "FALSE", "NULL"):
        start = cursor.start
        cursor.at += 1
        return cursor.made("null" if word == "NULL" else "boolean", start, word)
    if word == "CASE":
        return _case(cursor)
    if word in ("EXISTS", "COUNT", "COLLECT") and after == "{":
        return _subquery(cursor)
    if word in _QUANTIFIERS and after == "(" and cursor.peek(3) == "IN":
        return _quantified(cursor)
    return _reduce(cursor) if word == "REDUCE" and after == "(" else None


def _parenthesised(cursor: Cursor) -> Node:
    start = cursor.start
    if is_arrow(cursor, cursor.closing() + 1):
        parts = path(cursor).parts
        return cursor.made("pattern", start, "", parts)
    cursor.take("(")
    inner = expression(cursor)
    cursor.take(")")
    return cursor.made("group", start, "", [inner])


def _list(cursor: Cursor) -> Node:
    """A list, a list comprehension or a pattern comprehension."""
    start = cursor.start
    cursor.take("[")
    if cursor.kind() == "word" and cursor.peek(1) == "IN" and _is_comprehension(cursor):
        parts = _over(cursor)
        if cursor.accept("|"):
            parts.append(expression(cursor))
        cursor.take("]")
        return cursor.made("comprehension", start, "", parts)
    named = cursor.kind() in ("word", "quoted") and cursor.peek(1) == "="
    opening = 2 if named else 0
    if cursor.peek(opening) == "(" and is_arrow(cursor, cursor.closing(opening) + 1):
        cursor.at += opening
        parts = [path(cursor)]
        place = cursor.start
        if cursor.accept("WHERE"):
            parts.append(cursor.made("condition", place, "", [expression(cursor)]))
        cursor.take("|")
        parts.append(expression(cursor))
        cursor.take("]")
        return cursor.made("comprehension", start, "", parts)
    parts = []
    while not cursor.accept("]"):
        parts.append(expression(cursor))
        if cursor.peek() != "]":
            cursor.take(",")
    return cursor.made("list", start, "", parts)


def _is_comprehension(cursor: Cursor) -> bool:
    """`[x IN xs WHERE …]`, `[x IN xs | …]` or `[x IN xs]`, rather than `[x IN xs, true]`."""
    depth, ahead = 0, 0
    while True:
        text = cursor.peek(ahead) if cursor.kind(ahead) in ("sign", "word") else "_"
        if not text or (not depth and text in ("]", "|", "WHERE")):
            return bool(text)
        if not depth and text == ",":
            return False
        depth += (text in tuple("([{")) - (text in tuple(")]}"))
        ahead += 1


def _over(cursor: Cursor) -> list[Node]:
    """`x IN xs WHERE condition`: variable, list, condition."""
    start = cursor.start
    parts = [cursor.made("variable", start, cursor.name())]
    cursor.take("IN")
    parts.append(expression(cursor))
    place = cursor.start
    if cursor.accept("WHERE"):
        parts.append(cursor.made("condition", place, "", [expression(cursor)]))
    return parts


def _quantified(cursor: Cursor) -> Node:
    start, word = cursor.start, cursor.peek()
    cursor.at += 1
    cursor.take("(")
    parts = _over(cursor)
    cursor.take(")")
    return cursor.made("quantified", start, word, parts)


def _reduce(cursor: Cursor) -> Node:
    start = cursor.start
    cursor.take("REDUCE", "(")
    cursor.name()
    cursor.take("=")
    parts = [expression(cursor)]
    cursor.take(",")
    parts += _over(cursor)
    cursor.take("|")
    parts.append(expression(cursor))
    cursor.take(")")
    return cursor.made("reduce", start, "", parts)


def _case(cursor: Cursor) -> Node:
    start = cursor.start
    cursor.take("CASE")
    parts = [] if cursor.peek() == "WHEN" else [expression(cursor)]
    while cursor.accept("WHEN"):
        parts.append(expression(cursor))
        while cursor.accept(","):
            parts.append(expression(cursor))
        cursor.take("THEN")
        parts.append(expression(cursor))
    if cursor.accept("ELSE"):
        parts.append(expression(cursor))
    cursor.take("END")
    return cursor.made("case", start, "", parts)


def _subquery(cursor: Cursor) -> Node:
    """EXISTS { … }, COUNT { … } or COLLECT { … }, with the query in it."""
    from qeval.suites.mutants.cypher_clauses import query_body

    start, word = cursor.start, cursor.peek()
    cursor.at += 1
    cursor.take("{")
    parts = [query_body(cursor)]
    cursor.take("}")
    return cursor.made("subquery", start, word, parts)


def _named(cursor: Cursor) -> Node:
    """A variable, a map projection, or a call of a function."""
    start = cursor.start
    dotted = 1
    while cursor.peek(dotted) == "." and cursor.kind(dotted + 1) in ("word", "quoted"):
        dotted += 2
    if cursor.peek(dotted) != "(":
        name = cursor.name()
        if cursor.peek() == "{":
            return cursor.made("projected", start, name, [mapping(cursor)])
        return cursor.made("name", start, name)
    name = "".join(token.text for token in cursor.tokens[cursor.at : cursor.at + dotted]).lower()
    cursor.at += dotted
    cursor.take("(")
    parts: list[Node] = []
    place = cursor.start
    if cursor.accept("DISTINCT"):
        parts.append(cursor.made("distinct", place))
    if cursor.peek() == "*" and cursor.peek(1) == ")":
        place = cursor.start
        cursor.take("*")
        parts.append(cursor.made("star", place))
    while cursor.peek() != ")":
        parts.append(expression(cursor))
        if cursor.peek() != ")":
            cursor.take(",")
    cursor.take(")")
    return cursor.made("call", start, name, parts)


def mapping(cursor: Cursor) -> Node:
    """`{key: value, .key, .*, name}`; kind `map` with parts of kind `entry`, the key its word."""
    start = cursor.start
    cursor.take("{")
    parts = []
    while cursor.peek() != "}":
        place = cursor.start
        if cursor.accept("."):
            if not cursor.accept("*"):
                cursor.name()
            parts.append(cursor.made("entry", place))
        else:
            key = cursor.name()
            value = [expression(cursor)] if cursor.accept(":") else []
            parts.append(cursor.made("entry", place, key, value))
        if cursor.peek() != "}":
            cursor.take(",")
    cursor.take("}")
    return cursor.made("map", start, "", parts)
