"""The static check of TypeQL: what is refused, as what, and what must never be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.engines.base import QueryError
from qeval.languages.base import Language
from qeval.languages.typeql import Typeql

TYPEQL = Typeql(
    name="typeql", title="TypeQL 3", fences=["typeql", "tql"], keywords=["MATCH", "WITH"]
)
F = "with fun f($u: user) -> integer: match $u has age $a; return count;"

HARMLESS = [
    "match $u isa user;",
    "match $u isa user; end;",
    "# drop everything; delete $u;\nmatch $u isa user; # insert $u isa user;",
    "match $u isa user, has name 'delete'; $u has note \"insert $x isa user;\";",
    "match $u isa user; select $u; sort $u desc; offset 1; limit 2; distinct; require $u;",
    "match $u isa user; reduce $c = count groupby $u; match $c > 5;",
    "match { $u isa user; } or { $u isa shop; }; not { $u has age 3; }; try { $u has name $n; };",
    "match $u isa user; fetch { 'n': $u.name, 'all': { $u.* }, 'm': [ $u.email ] };",
    "match $u isa user; fetch { 'x': [ match $u has age $a; fetch { 'a': $a }; ] };",
    "match $u isa user; fetch { 'x': ( match $u has age $a; return max($a); ) };",
    f"{F} match $u isa user; f($u) > 3;",
    f"{F} {F.replace('fun f', 'fun g')} match $u isa user; let $n = f($u) + g($u);",
    "match entity $t; $t sub user; $t owns $a;",
    "match $t label user; $t plays $r;",
    "match $insert isa user; $delete isa user;",
    "match $u isa user-delete; $u has insert-date $d;",
    "match $x isa no-such-type;",
    "match $u isa user; reduce $c = count; fetch { 'c': $c };",
    "match $u iid 0x1e00000000000000000000;",
    "match $s like '(a+)+$'; let $s = 'aaaa';",
    "match let $x = 1 + 2 * 3;",
    "match $名 isa user, has name '李😀';",
    "given $n: string; match $u isa user, has name == $n;",
]

UNSAFE = [
    "insert $u isa user;",
    "insert $u isa user; end;",
    "match $u isa user; delete $u;",
    "match $u isa user, has age $a; delete has $a of $u;",
    "match $u isa user; insert $u has age 3;",
    "match $u isa user; update $u has age 3;",
    "put $u isa user, has name 'x';",
    "match $u isa user; put $v isa user;",
    "match $u isa user; insert $v isa user; select $v;",
    "match $u isa user; select $u; distinct; delete $u;",
    "# only reading\nmatch $u isa user; delete $u;",
    "define entity thief;",
    "define attribute a, value string; entity e, owns a;",
    "define fun f() -> integer: match $u isa user; return count;",
    "undefine user;",
    "undefine owns age from user;",
    "redefine user owns age @card(0..2);",
    "match $u isa user; end; match $v isa user; end;",
    "match $u isa user; end; delete $u; end;",
    "match $u isa user; end; define entity e;",
    "match $u isa user; fetch { 'n': $u.name }; match $v isa user;",
    "with fun f() -> integer: match $u isa user; put $v isa user; return count; match $a isa b;",
    "with fun f() -> integer: match $u isa user; delete $u; return count; match let $n = f();",
    "match $u isa user; fetch { 'x': [ match $v isa user; delete $v; fetch { 'y': 1 }; ] };",
    "match $u isa user; fetch { 'x': ( match $v isa user; insert $w isa user; return count; ) };",
]

SYNTAX = {
    "": None,
    "   # nothing but a comment\n": None,
    "SELECT * FROM user;": (1, 1),
    "MATCH $u isa user;": (1, 1),
    "match $u isa user": (1, 18),
    "match $u isa user; get $u;": (1, 24),
    "match $u isa user;\nsort u;": (2, 6),
    "match $u isa user;\n  $u.age > 3;": (2, 5),
    "match $u isa user; fetch { $u };": (1, 31),
    "match $u isa user; limit -1;": (1, 26),
    "match $u isa user; return $u;": (1, 20),
    "match $u isa user; drop $u;": (1, 25),
    "match $u isa user\x00;": (1, 18),
    "match $u isa user, has name '\ud800';": (1, 30),
    "match $u isa user; end; end;": (1, 25),
    "commit;": (1, 1),
}


def refusal(query: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        TYPEQL.check_safety(query)
    return caught.value


def test_it_is_a_language() -> None:
    assert isinstance(TYPEQL, Language)


@pytest.mark.parametrize("query", HARMLESS)
def test_reading_is_let_through(query: str) -> None:
    TYPEQL.check_safety(query)


@pytest.mark.parametrize("query", UNSAFE)
def test_what_writes_is_unsafe(query: str) -> None:
    assert refusal(query).kind == "unsafe"


@pytest.mark.parametrize("query", SYNTAX)
def test_what_does_not_parse_is_a_syntax_error_at_its_place(query: str) -> None:
    error = refusal(query)
    assert (error.kind, error.code) == ("syntax_error", "TQL03")
    place = SYNTAX[query]
    assert (error.line, error.column) == (place or (None, None))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("match $u isa user; delete $u;", "'delete' changes data"),
        ("define entity e;", "'define' changes the schema"),
        ("match $a isa b; end; match $c isa d; end;", "2 queries; only one is allowed"),
    ],
)
def test_the_reason_is_told(query: str, said: str) -> None:
    assert refusal(query).message == said


@pytest.mark.parametrize("opened", ["{", "not {", "match let $x = " + "(" * 5000, "[" * 10_000])
def test_absurd_nesting_is_refused(opened: str) -> None:
    query = "match " + f"{opened} " * 2000 + "$u isa user;"
    assert refusal(query).kind == "syntax_error"


def test_a_megabyte_is_read() -> None:
    TYPEQL.check_safety("match " + "$u isa user;\n" * 30_000)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([q for q in UNSAFE if "fun" not in q and "define" not in q]),
    st.sampled_from(["\n", "  ", "\t# x\n", "\r\n"]),
)
def test_spaces_and_comments_hide_nothing(query: str, space: str) -> None:
    spaced = query.replace(" ", space) if "#" not in query and "'" not in query else query
    assert refusal(spaced + space).kind == "unsafe"


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=80))
def test_any_text_has_a_verdict(text: str) -> None:
    try:
        TYPEQL.check_safety(text)
        verdict = "safe"
    except QueryError as error:
        verdict = error.kind
    assert verdict in ("safe", "syntax_error", "unsafe")
