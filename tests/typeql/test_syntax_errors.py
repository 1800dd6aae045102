"""What a refused text is told, and that hostile texts are refused quickly."""

from __future__ import annotations

import pickle
import sys
import time

import pytest

from qeval.typeql.errors import TypeQLError
from qeval.typeql.syntax import parse_query


def fault(text: str) -> TypeQLError:
    with pytest.raises(TypeQLError) as caught:
        parse_query(text)
    return caught.value


def test_an_error_names_place_expectation_and_source() -> None:
    error = fault("match\n  $x isa person\n  select $x;")
    assert (error.code, error.line, error.column) == ("TQL03", 3, 10)
    error = fault("match $x isa person, has name $n\nselect $x;")
    assert error.message == (
        "Syntax error at line 2, column 1: expected ';', found 'select'.\n"
        "  2 | select $x;\n"
        "    | ^\n"
        "Hint: a ';' is missing after '$n'"
    )
    assert str(error) == f"[TQL03] {error.message}"


def test_the_caret_stands_below_the_fault_in_long_and_tabbed_lines() -> None:
    line, caret = fault("match\n\t\t$x isa person =;").message.splitlines()[1:3]
    assert line[caret.index("^")] == "="
    assert caret.startswith("    | \t\t")
    line, caret = fault(
        "match " + "$x isa a; " * 1000 + "?" + " $y isa b;" * 50
    ).message.splitlines()[1:3]
    assert len(line) < 300
    assert line[caret.index("^")] == "?"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("match $x isa a; get $x;", "TypeQL 2"),
        ("match $x isa a; fetch $x: name;", "documents have keys"),
        ("match $x isa a; fetch { $x };", "key in quotes"),
        ("match $x isa a; fetch { name: $x.name };", "key in quotes"),
        ('match $x isa a; fetch { "a": $x.* };', "{ $x.* }"),
        ('match $x isa a; fetch { "a": $x.b }; limit 1;', "nothing follows"),
        ("match $x isa a, has b ?n;", "start with '$'"),
        ("define rule r: when { $x isa a; };", "TypeQL 2"),
        ("match $x isa a where $x > 3;", "statements of 'match'"),
        ("select * from a;", "name the variables"),
        ("match $x isa a; select *;", "name the variables"),
        ("match $x isa a; reduce $n = count group by $x;", "groupby"),
        ("match $x isa a; order by $x;", "sort $x"),
        ("match $x isa a; reduce $n = count(distinct $x);", "stage of its own"),
        ("match $x isa a; reduce $n = avg($x);", "mean"),
        ("match $x isa a; reduce count;", "has a name"),
        ("MATCH $x isa a;", "lower-case: 'match'"),
        ("match $x isa a; LIMIT 5;", "lower-case: 'limit'"),
        ("match $x has a $a; $a = 3;", "'==' compares"),
        ("match $x has a $a; $a <> 3;", "'!='"),
        ("match $x has a $a > 3;", "statement of its own"),
        ("match $x.name == 3;", "only in fetch"),
        ("match $x isa a; $x is null;", "absence"),
        ("match not $x isa a;", "'not' takes a block"),
        ("match { $x isa a; } or $x isa b;", "'or' joins blocks"),
        ("match x isa a;", "'$x isa …'"),
        ("match $x isa a; sort x;", "'sort $x;'"),
        ("match $x isa a, $y isa b;", "joins constraints"),
        ("match let $x = -$y;", "0 - $x"),
        ("match let $x = 1e5;", "1.0e5"),
        ("match a (b = $x);", "role: $player"),
        ("```typeql\nmatch $x isa a;\n```", "code fence"),
        ("-- all\nmatch $x isa a;", "comments"),
        ("\ufeffmatch $x isa a;", "byte order mark"),
        ("match $x\u00a0isa a;", "no-break space"),
        ("match $x isa a; optional { $x has b $y; };", "try"),
        ("match $x isa a; return $x;", "'return' ends a function"),
    ],
)
def test_common_habits_get_a_hint(text: str, advice: str) -> None:
    message = fault(text).message
    assert "\nHint: " in message
    assert advice in message.split("\nHint: ")[1]


@pytest.mark.parametrize("text", ["", " \n", "# only a comment", "match", "match $x isa a", ";"])
def test_an_unfinished_text_is_refused_at_its_end_or_start(text: str) -> None:
    assert fault(text).code == "TQL03"


MILLION = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        "match " + "{" * 100_000 + "$x isa a;" + "};" * 100_000,
        "match " + "not { " * 1000 + "$x isa a; " + "}; " * 1000,
        "match " + "(" * MILLION,
        "match let $x = " + "f(" * MILLION,
        "match let $x = " + "$x[" * MILLION,
        "match let $x = " + "1+" * MILLION + "1;",
        "match let $x = 1 " + "^ 2" * MILLION,
        "match let " + "{a:" * MILLION,
        "match $x isa a " + "{a:" * MILLION,
        'match $x isa a; fetch { "a": ' + '{ "a": ' * 100_000,
        "match $x isa a; fetch " + '{ "a": [ match $x isa a; fetch ' * 50_000,
        'match $x == "' + "\\a" * MILLION,
        "match $x " + "$ " * MILLION,
        "match $x == +" + "9" * MILLION,
        "match " + "a:" * MILLION,
        "match $x isa a " + "or " * MILLION,
        "é" * MILLION,
        "#" * MILLION,
    ],
    ids=lambda text: text[:24],
)
def test_hostile_texts_are_refused_at_once(text: str) -> None:
    begin = time.perf_counter()
    assert fault(text).code == "TQL03"
    assert time.perf_counter() - begin < 2


def test_a_long_plain_text_parses_in_time_in_proportion() -> None:
    begin = time.perf_counter()
    parse_query("match " + '$x isa person, has name "Ada";\n' * 30_000)
    assert time.perf_counter() - begin < 10


def test_ninety_levels_parse() -> None:
    parse_query("match " + "{" * 90 + "$x isa a;" + "};" * 90)
    parse_query("match " + "not {" * 90 + "$x isa a;" + "};" * 90)
    parse_query("match let $x = " + "(" * 90 + "1" + ")" * 90 + ";")


def test_a_caller_deep_in_the_stack_gets_an_error_it_can_catch() -> None:
    text = "match " + "{" * 90 + "$x isa a;" + "};" * 90

    def below(levels: int) -> None:
        if levels:
            below(levels - 1)
        else:
            parse_query(text)

    depth = 0
    frame = sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    with pytest.raises(TypeQLError, match="levels deep"):
        below(sys.getrecursionlimit() - depth - 60)


def test_an_error_survives_pickling() -> None:
    error = fault("match $x")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.codes, copy.message, copy.line) == (error.codes, error.message, error.line)
