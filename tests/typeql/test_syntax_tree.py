"""What the tree says about a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from qeval.typeql.errors import TypeQLError
from qeval.typeql.syntax import ast, parse_query
from qeval.typeql.syntax.literals import decode_regex, decode_string

if TYPE_CHECKING:
    from collections.abc import Sequence

X, Y, R = ast.Variable("x"), ast.Variable("y"), ast.Variable("r")
ONE, TWO = ast.Literal("integer", "1"), ast.Literal("integer", "2")


def pipeline(text: str) -> ast.Pipeline:
    body = parse_query(text).body
    assert isinstance(body, ast.Pipeline)
    return body


def pattern(text: str) -> ast.Pattern:
    (stage,) = pipeline(f"match {text};").stages
    assert isinstance(stage, ast.Match)
    (only,) = stage.body.patterns
    return only


def value(text: str) -> ast.Expression:
    found = pattern(f"let $x = {text}")
    assert isinstance(found, ast.Assignment)
    return found.value


def definitions(text: str) -> Sequence[ast.Definable]:
    body = parse_query(f"define {text}").body
    assert isinstance(body, ast.Define)
    return body.items


def fetched(text: str) -> ast.FetchValue:
    last = pipeline(f'match $x isa a; fetch {{ "k": {text} }};').fetch
    assert last is not None
    assert isinstance(last.object, ast.FetchObject)
    return last.object.entries[0].value


def thing(*constraints: ast.ThingConstraint) -> ast.ThingStatement:
    return ast.ThingStatement(X, constraints)


def players(*pairs: tuple[ast.TypeRef | ast.ListOf | None, ast.Variable]) -> ast.Players:
    return ast.Players(tuple(ast.RolePlayer(role, player) for role, player in pairs))


A, B = ast.Label("a"), ast.Label("b")
EQUALS_ONE = ast.Comparison("==", ONE)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("$x isa a", thing(ast.Isa(A))),
        ("$x isa! $y", thing(ast.Isa(Y, exact=True))),
        ("$x isa a == 1", thing(ast.Isa(A, comparison=EQUALS_ONE))),
        ("$x isa a 1", thing(ast.Isa(A, value=ONE))),
        ("$x isa a (b: $y)", thing(ast.Isa(A, players=players((B, Y))))),
        ("$x isa a (1)", thing(ast.Isa(A, value=ast.Parenthesis(ONE)))),
        ("$x isa a contains", thing(ast.Isa(A, value=ast.Label("contains")))),
        ("$x, has $y, has a == 1,", thing(ast.Has(None, Y), ast.Has(A, EQUALS_ONE))),
        ("$x has a $y", thing(ast.Has(A, Y))),
        ("$x has $y 1", thing(ast.Has(Y, ONE))),
        ("$x iid 0x1F", thing(ast.Iid("0x1F"))),
        ("$r links ($x, b: $y)", ast.ThingStatement(R, (ast.Links(players((None, X), (B, Y))),))),
        ("a ($x)", ast.RelationStatement(A, players((None, X)))),
        ("$r ($x)", ast.RelationStatement(R, players((None, X)))),
        ("($y: $x) isa a", ast.RelationStatement(None, players((Y, X)), (ast.Isa(A),))),
        ("a:b sub $x", ast.TypeStatement(None, ast.ScopedLabel("a", "b"), (ast.Sub(X),))),
        ("entity $x", ast.TypeStatement("entity", X, ())),
        ("entity, sub! a", ast.TypeStatement(None, ast.Label("entity"), (ast.Sub(A, exact=True),))),
        ("$x relates a as b", ast.TypeStatement(None, X, (ast.Relates(A, B),))),
        ("$x owns a[]", ast.TypeStatement(None, X, (ast.Owns(ast.ListOf(A)),))),
        ("$x is $y", ast.IsStatement(X, Y)),
        ("f($x) == 1", ast.ComparisonStatement(ast.Call("f", (X,)), EQUALS_ONE)),
        (
            "let $x, $y? in f()",
            ast.InStatement((X, ast.Variable("y", optional=True)), ast.Call("f", ())),
        ),
        ("not { $x is $y; }", ast.Negation(ast.Conjunction((ast.IsStatement(X, Y),)))),
        ("not == 1", ast.ComparisonStatement(ast.Label("not"), EQUALS_ONE)),
        (
            "{ $x is $y; } or { $y is $x; }",
            ast.Disjunction(
                (
                    ast.Conjunction((ast.IsStatement(X, Y),)),
                    ast.Conjunction((ast.IsStatement(Y, X),)),
                )
            ),
        ),
    ],
)
def test_patterns(text: str, tree: ast.Pattern) -> None:
    assert pattern(text) == tree


def op(left: ast.Expression, operator: ast.Operator, right: ast.Expression) -> ast.Operation:
    return ast.Operation(operator, left, right)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1 - 2 - 1", op(op(ONE, "-", TWO), "-", ONE)),
        ("1 + 2 * 1 + 2", op(op(ONE, "+", op(TWO, "*", ONE)), "+", TWO)),
        ("1 * 2 % 1", op(op(ONE, "*", TWO), "%", ONE)),
        ("1 ^ 2 ^ 1", op(ONE, "^", op(TWO, "^", ONE))),
        ("1 / 2 ^ 1", op(ONE, "/", op(TWO, "^", ONE))),
        ("(1 + 2) * 1", op(ast.Parenthesis(op(ONE, "+", TWO)), "*", ONE)),
        ("-1 ^ 2", op(ast.Literal("integer", "-1"), "^", TWO)),
        ("1 -2", op(ONE, "-", TWO)),
        ("$x-1", ast.Variable("x-1")),
        ("2024-1-1", op(op(ast.Literal("integer", "2024"), "-", ONE), "-", ONE)),
        ("$x[1] + 2", op(ast.ListIndex(X, ONE), "+", TWO)),
        ("$x[1..2]", ast.ListRange(X, ONE, TWO)),
        ("[1, 2,]", ast.ListNew((ONE, TWO))),
    ],
)
def test_expressions(text: str, tree: ast.Expression) -> None:
    assert value(text) == tree


@pytest.mark.parametrize(
    ("text", "value_type"),
    [
        ("true", "boolean"),
        ("7", "integer"),
        ("+7.5e-3", "double"),
        ("-7.5dec", "decimal"),
        ("'a\\'b'", "string"),
        ("2024-02-30", "date"),
        ("-0044-03-15T12:00", "datetime"),
        ("2024-02-29T10:20:30.5 America/Argentina/La_Rioja", "datetime-tz"),
        ("2024-02-29T10:20+0130", "datetime-tz"),
        ("P1Y2M3DT4H5M6.5S", "duration"),
        ("PT1.5e+3S", "duration"),
    ],
)
def test_literals_keep_their_text(text: str, value_type: ast.ValueTypeName) -> None:
    assert value(text) == ast.Literal(value_type, text)


def test_a_sign_may_stand_apart_from_its_digits() -> None:
    found = value("- 5")
    assert found == ast.Literal("integer", "-5")
    assert tuple(found.span) == (15, 18)


def test_definitions() -> None:
    owns = ast.DefineOwns(A, annotations=(ast.Flag("key"),))
    plays = ast.DefinePlays(ast.ScopedLabel("r", "b"), (ast.Card(ONE, None),))
    relates = ast.DefineRelates(A, B, annotations=(ast.Card(TWO, TWO),))
    field = ast.StructField("a", "integer", optional=True)
    assert definitions(
        "entity a @abstract, sub b; a owns a @key, plays r:b @card(1..);"
        "relation r relates a as b @card(2); struct s: a value integer?; fun sub value;"
    ) == (
        ast.TypeDefinition("entity", A, (ast.Flag("abstract"),), (ast.DefineSub(B),)),
        ast.TypeDefinition(None, A, (), (owns, plays)),
        ast.TypeDefinition("relation", ast.Label("r"), (), (relates,)),
        ast.StructDefinition("s", (field,)),
        ast.TypeDefinition(None, ast.Label("fun"), (), (ast.DefineSub(ast.Label("value")),)),
    )


def test_functions() -> None:
    (found,) = definitions("fun f($x: a, $y: integer?) -> { a }: match $x is $y; return { $x };")
    assert isinstance(found, ast.Function)
    assert found.arguments[1] == ast.Argument(Y, ast.NamedType("integer", optional=True))
    assert found.output == ast.Output((ast.NamedType("a"),), stream=True)
    assert found.body.result == ast.ReturnStream((X,))


def test_undefine_and_redefine() -> None:
    removed = parse_query(
        "undefine @card from a owns b; owns b from a; as a from r relates b; fun f; a; end;"
    )
    assert removed == ast.Query(
        ast.Undefine(
            (
                ast.UndefineAnnotation("card", A, ast.DefineOwns(B)),
                ast.UndefineCapability(ast.DefineOwns(B), A),
                ast.UndefineSpecialise(A, ast.Label("r"), ast.DefineRelates(B)),
                ast.UndefineFunction("f"),
                ast.UndefineType(A),
            )
        ),
        ended=True,
    )
    changed = parse_query("redefine entity a label b; a sub b;").body
    assert changed == ast.Redefine(
        (ast.Relabel("entity", A, B), ast.TypeDefinition(None, A, (), (ast.DefineSub(B),)))
    )


def test_stages() -> None:
    found = pipeline(
        "given $x: a; match $x isa a; sort $x desc, $y; offset 1; limit 2; distinct; require $x;"
        "reduce $r? = max($x), $y = count groupby $x; delete $x of $y; update $x has a 1;"
    )
    assert found.given == ast.Given((ast.Argument(X, ast.NamedType("a")),))
    assert found.stages[1:] == (
        ast.Sort((ast.SortKey(X, descending=True), ast.SortKey(Y))),
        ast.Offset(ONE),
        ast.Limit(TWO),
        ast.Distinct(),
        ast.Require((X,)),
        ast.Reduce(
            (
                ast.Reduction(ast.Variable("r", optional=True), ast.Reducer("max", X)),
                ast.Reduction(Y, ast.Reducer("count")),
            ),
            (X,),
        ),
        ast.Delete((ast.DeleteHas(X, Y),)),
        ast.Update(ast.Conjunction((thing(ast.Has(A, ONE)),))),
    )


def test_a_stage_keyword_may_start_a_pattern() -> None:
    found = pipeline("match $x isa a; select (b: $y); select $x;")
    assert [type(stage) for stage in found.stages] == [ast.Match, ast.Select]


MATCH = ast.Match(ast.Conjunction((ast.IsStatement(X, Y),)))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("$x.a", ast.FetchAttribute(X, A)),
        ("($x.a[])", ast.FetchAttribute(X, A, is_list=True)),
        ("[ $x.a ]", ast.FetchList(ast.FetchAttribute(X, A))),
        ("{ $x.* }", ast.FetchAll(X)),
        ("[ f(1) ]", ast.FetchList(ast.Call("f", (ONE,)))),
        ("[ f(1), 2 ]", ast.ListNew((ast.Call("f", (ONE,)), TWO))),
        ("$x", X),
        ("(1", ONE),
        ("match", ast.Label("match")),
        (
            "(match $x is $y; return count;)",
            ast.FunctionBody((MATCH,), ast.ReturnReduce((ast.Reducer("count"),))),
        ),
        (
            "[ match $x is $y; return last $x; ]",
            ast.FetchList(ast.FunctionBody((MATCH,), ast.ReturnSingle("last", (X,)))),
        ),
        (
            "[ match $x is $y; fetch { $x.* }; ]",
            ast.FetchList(ast.Pipeline((MATCH,), ast.Fetch(ast.FetchAll(X)))),
        ),
    ],
)
def test_fetch(text: str, tree: ast.FetchValue) -> None:
    assert fetched(text) == tree


def test_names_follow_unicode() -> None:
    assert value("$ñandú·1") == ast.Variable("ñandú·1")
    assert value("größe") == ast.Label("größe")
    with pytest.raises(TypeQLError):
        value("$x²")


def test_equality_is_of_meaning_not_of_place() -> None:
    assert parse_query("match $x isa a;") == parse_query("match\n  $x  isa a ; # note")


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        (r'"a\"b\'c\\d"', "a\"b'c\\d"),
        (r"'\b\t\n\f\r'", "\b\t\n\f\r"),
        (r'"\u0041\u{1F600}\u{41}"', "A😀A"),
    ],
)
def test_string_escapes(text: str, decoded: str) -> None:
    assert decode_string(text) == decoded


@pytest.mark.parametrize(
    "text",
    [r'"\x41"', r'"\u12"', r'"\u{}"', r'"\u{1234567}"', r'"\ud800"', r'"\u{110000}"', r'"\u{+1}"'],
)
def test_wrong_escapes_parse_but_have_no_value(text: str) -> None:
    assert value(text) == ast.Literal("string", text)
    with pytest.raises(TypeQLError) as caught:
        decode_string(text)
    assert caught.value.codes == ("TQL06", "TQL0", "LIT5")


def test_a_pattern_keeps_its_backslashes() -> None:
    assert decode_regex(r'"a\"b\\d\w"') == r'a"b\\d\w'
