"""Reading the patterns of a Cypher query: paths, nodes, relationships, labels."""

from qeval.suites.mutants.cypher_tree import Cursor, Node, UnknownSyntaxError


def pattern(cursor: Cursor) -> Node:
    """A path with its name and its selector (SHORTEST 1, shortestPath(…)), if it has any.

    Kind `path`: `node`, `rel` and quantified `group` parts; its word is the path's name.
    """
    start = cursor.start
    name = ""
    if cursor.kind() in ("word", "quoted") and cursor.peek(1) == "=":
        name = cursor.name()
        cursor.take("=")
    if cursor.peek() in ("SHORTESTPATH", "ALLSHORTESTPATHS"):
        cursor.at += 1
        cursor.take("(")
        inner = path(cursor)
        cursor.take(")")
        return cursor.made("path", start, name, [inner])
    while cursor.kind() in ("word", "number"):
        if cursor.peek() not in _SELECTORS and cursor.kind() != "number":
            raise UnknownSyntaxError(cursor.peek())
        cursor.at += 1
    parts = path(cursor).parts
    return cursor.made("path", start, name, parts)


_SELECTORS = frozenset({"SHORTEST", "ALL", "ANY", "PATH", "PATHS", "GROUP", "GROUPS"})


def path(cursor: Cursor) -> Node:
    """Nodes and relationships in turn, from a node to a node."""
    start = cursor.start
    parts = [_element(cursor)]
    while cursor.peek() == "(" or is_arrow(cursor):
        parts.append(_element(cursor) if cursor.peek() == "(" else _relationship(cursor))
    if parts[-1].kind == "rel":
        raise UnknownSyntaxError("a relationship without end")
    return cursor.made("path", start, "", parts)


def is_arrow(cursor: Cursor, ahead: int = 0) -> bool:
    """Whether what comes can only be a relationship: `-[`, `--`, `->`, `<-[`, `<--` or `<-->`."""
    return cursor.peek(ahead) in ("-", "<-") and cursor.peek(ahead + 1) in ("[", "-", "->")


def _element(cursor: Cursor) -> Node:
    if cursor.peek(1) == "(" or (cursor.kind(1) == "word" and cursor.peek(2) == "="):
        return _group(cursor)
    start = cursor.start
    cursor.take("(")
    parts = _inside(cursor, ")")
    cursor.take(")")
    return cursor.made("node", start, "", parts)


def _group(cursor: Cursor) -> Node:
    """A path in parentheses, with its condition and how often it is repeated."""
    start = cursor.start
    cursor.take("(")
    parts = [pattern(cursor), *where(cursor)]
    cursor.take(")")
    return cursor.made("group", start, "", [*parts, _quantifier(cursor)])


def _relationship(cursor: Cursor) -> Node:
    """Its parts `head` and `tail` are its ends in the text, so that it can be turned."""
    start = cursor.start
    head = cursor.take("<-" if cursor.peek() == "<-" else "-")
    parts = [cursor.made("head", start, head)]
    if cursor.accept("["):
        parts += _inside(cursor, "]")
        cursor.take("]")
    place = cursor.start
    tail = cursor.take("->" if cursor.peek() == "->" else "-")
    parts.append(cursor.made("tail", place, tail))
    word = {("-", "->"): "->", ("<-", "-"): "<-"}.get((head, tail), "-")
    return cursor.made("rel", start, word, [*parts, _quantifier(cursor)])


def _inside(cursor: Cursor, closing: str) -> list[Node]:
    """Variable, labels or types, steps, properties and condition of a node or relationship."""
    from qeval.suites.mutants.cypher_expressions import mapping

    parts: list[Node] = []
    if cursor.kind() in ("word", "quoted") and cursor.peek() not in ("WHERE", "IS"):
        start = cursor.start
        parts.append(cursor.made("variable", start, cursor.name()))
    if cursor.peek() in (":", "IS"):
        parts.append(labels(cursor))
    if cursor.peek() == "*":
        parts.append(_hops(cursor))
    if cursor.peek() == "{":
        parts.append(mapping(cursor))
    elif cursor.kind() == "parameter":
        cursor.at += 1
    parts += where(cursor)
    if cursor.peek() != closing:
        raise UnknownSyntaxError(cursor.peek())
    return parts


def where(cursor: Cursor) -> list[Node]:
    """A condition (kind `where`), if the next word begins one."""
    from qeval.suites.mutants.cypher_expressions import expression

    start = cursor.start
    if not cursor.accept("WHERE"):
        return []
    return [cursor.made("where", start, "", [expression(cursor)])]


def labels(cursor: Cursor) -> Node:
    """`:A`, `:A&!B`, `IS A`. Kind `labels`; below it `label` with its name as the word."""
    start = cursor.start
    cursor.at += 1
    return cursor.made("labels", start, "", [_either(cursor)])


def _either(cursor: Cursor) -> Node:
    start = cursor.start
    parts = [_both(cursor)]
    while cursor.peek() == "|":
        cursor.take("|")
        cursor.accept(":")
        parts.append(_both(cursor))
    return parts[0] if len(parts) == 1 else cursor.made("label-or", start, "", parts)


def _both(cursor: Cursor) -> Node:
    start = cursor.start
    parts = [_label(cursor)]
    while cursor.peek() in ("&", ":"):
        cursor.at += 1
        parts.append(_label(cursor))
    return parts[0] if len(parts) == 1 else cursor.made("label-and", start, "", parts)


def _label(cursor: Cursor) -> Node:
    start = cursor.start
    if cursor.accept("!"):
        inner = _label(cursor)
        return cursor.made("label-not", start, "", [inner])
    if cursor.accept("("):
        inner = _either(cursor)
        cursor.take(")")
        return cursor.made("label-group", start, "", [inner])
    if cursor.accept("%"):
        return cursor.made("label", start, "%")
    return cursor.made("label", start, cursor.name())


def _hops(cursor: Cursor) -> Node:
    """`*`, `*2`, `*1..`, `*..3`, `*1..3`; the word holds the bounds as `least..most`."""
    start = cursor.start
    cursor.take("*")
    return cursor.made("hops", start, _bounds(cursor, ".."))


def _quantifier(cursor: Cursor) -> Node | None:
    """`+`, `*`, `{2}`, `{1,3}` behind a relationship or a group; the word holds the bounds."""
    start = cursor.start
    if cursor.peek() in ("+", "*"):
        least = "1" if cursor.peek() == "+" else "0"
        cursor.at += 1
        return cursor.made("quantifier", start, f"{least}..")
    if cursor.peek() != "{":
        return None
    cursor.take("{")
    bounds = _bounds(cursor, ",")
    cursor.take("}")
    return cursor.made("quantifier", start, bounds)


def _bounds(cursor: Cursor, between: str) -> str:
    """`2`, `1..`, `..3`, `1..3` or nothing; one number is both bounds."""
    least = most = _number(cursor)
    if cursor.accept(between):
        most = _number(cursor)
    return f"{least}..{most}"


def _number(cursor: Cursor) -> str:
    if cursor.kind() != "number":
        return ""
    cursor.at += 1
    return cursor.tokens[cursor.at - 1].text
