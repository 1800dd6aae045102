"""How models really answer, and the query that must come out of it, to the letter."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.engines.base import QueryError
from qeval.extraction import extract


@dataclass
class Hints:
    name: str
    title: str
    fences: tuple[str, ...]
    keywords: tuple[str, ...]
    comments: tuple[str, ...]

    def check_safety(self, query: str) -> None:
        raise QueryError("unsafe", query)


SQL = Hints(
    "sql", "SQL", ("sql", "postgresql", "postgres", "pgsql"),
    ("SELECT", "WITH", "VALUES", "TABLE", "INSERT", "UPDATE", "DELETE", "DROP"), ("--",),
)  # fmt: skip
CYPHER = Hints(
    "cypher", "Cypher", ("cypher", "neo4j"),
    ("MATCH", "OPTIONAL", "WITH", "UNWIND", "CALL", "RETURN", "CREATE", "MERGE"), ("//",),
)  # fmt: skip
TYPEQL = Hints(
    "typeql", "TypeQL", ("typeql", "tql"), ("MATCH", "WITH", "FETCH", "INSERT"), ("#",),
)  # fmt: skip

Q = "SELECT name FROM users WHERE id = 7"
MULTI = "SELECT u.name,\n       count(*) AS n\nFROM users u\n\nGROUP BY u.name\nORDER BY n DESC;"
C = "MATCH (u:User)-[:PLACED]->(o:Order)\nRETURN u.name, count(o) AS n"
TC = "match\n# Ada's own\n  $u isa user;\n\n# her name\n  $u has name $n;\nselect $n;"
T = 'match\n  $u isa user, has name $n;\n  $n == "Ada";\nselect $n;'

FIELD: list[tuple[str, Hints, str, str]] = [
    # what it is, language, the answer, the query
    ("fence", SQL, f"```sql\n{Q}\n```", Q),
    ("fence with talk around", SQL,
     f"Here you go:\n\n```sql\n{Q};\n```\n\nIt returns names.", Q + ";"),
    ("fence, upper-case tag", SQL, f"```SQL\n{Q}\n```", Q),
    ("fence, dialect tag", SQL, f"```postgresql\n{Q}\n```", Q),
    ("fence without tag", SQL, f"```\n{Q}\n```", Q),
    ("fence with a strange tag", SQL, f"```code\n{Q}\n```", Q),
    ("tildes", SQL, f"~~~sql\n{Q}\n~~~", Q),
    ("four tildes", SQL, f"~~~~\n{Q}\n~~~~\nDone.", Q),
    ("four backticks", SQL, f"````sql\n{Q}\n````", Q),
    ("unclosed at the end", SQL, f"Sure.\n```sql\n{Q}", Q),
    ("unclosed, then talk", SQL, f"```sql\n{Q};\n\nThis query returns the name.", Q + ";"),
    ("indented in a list", SQL, f"1. Query:\n\n   ```sql\n   {Q}\n   ```\n", Q),
    ("closed on the query's line", SQL, f"```sql\n{Q}```", Q),
    ("closed on the query's line, talk after", SQL, f"```sql\n{Q};```\nand that is it", Q + ";"),
    ("all on one line", SQL, f"```sql {Q}```", Q),
    ("all on one line in a sentence", SQL, f"The query is ```{Q}``` as asked.", Q),
    ("query begins on the fence's line", SQL, f"```sql {Q}\nLIMIT 3\n```", Q + "\nLIMIT 3"),
    ("untagged, query on the fence's line", SQL, f"```{Q}\nLIMIT 3\n```", Q + "\nLIMIT 3"),
    ("tag on the first line inside", SQL, f"```\nsql\n{Q}\n```", Q),
    ("attributes after the tag", SQL, f'```sql title="a.sql"\n{Q}\n```', Q),
    ("pandoc braces", SQL, f"```{{.sql}}\n{Q}\n```", Q),
    ("windows line ends", SQL, f"Here:\r\n```sql\r\n{Q}\r\n```\r\n", Q),
    ("blank lines inside", SQL, f"```sql\n\n{MULTI}\n\n```", MULTI),
    ("comment first in the fence", SQL,
     f"```sql\n-- users by id\n{Q}\n```", f"-- users by id\n{Q}"),
    ("block comment first", SQL, f"```sql\n/* a\nb */\n{Q}\n```", f"/* a\nb */\n{Q}"),
    ("hash comment in TypeQL", TYPEQL, f"```\n# names\n{T}\n```", f"# names\n{T}"),
    ("draft, then corrected", SQL,
     f"```sql\nSELECT 1\n```\nWait, that misses the filter. Corrected:\n```sql\n{Q}\n```", Q),
    ("steps, the last is whole", SQL,
     f"First the users:\n```sql\nSELECT * FROM users\n```\nThen the filter:\n```sql\n{Q}\n```", Q),
    ("alternative after the answer", SQL,
     f"```sql\n{Q}\n```\nAlternatively, you could write:\n```sql\nSELECT 1\n```", Q),
    ("two alternatives", SQL,
     f"```sql\n{Q}\n```\nAlternatively:\n```sql\nSELECT 1\n```\nor so:\n```sql\nSELECT 2\n```", Q),
    ("alternative in Chinese", SQL,
     f"```sql\n{Q}\n```\n\n也可以这样写：\n```sql\nSELECT 1\n```", Q),
    ("for another wish", SQL,
     f"```sql\n{Q}\n```\nIf you want all users:\n\nIf you do:\n```sql\nSELECT 1\n```", Q),
    ("explained in pieces", SQL,
     f"```sql\n{Q}\n```\n### Explanation\n```sql\nSELECT name\n```\ntakes the name", Q),
    ("fragment after the answer", SQL,
     f"```sql\n{Q}\n```\nThe filter is:\n```sql\nWHERE id = 7\n```", Q),
    ("its output shown", SQL, f"```sql\n{Q}\n```\nResult:\n```\n name\n------\n Ada\n```", Q),
    ("its output as text block first", SQL,
     f"Expected:\n```text\nname\nAda\n```\n\n```sql\n{Q}\n```", Q),
    ("other language after", SQL,
     f"```sql\n{Q}\n```\nIn Python:\n```python\ncur.execute(sql)\n```", Q),
    ("shell block before", SQL, f"```bash\npsql shop\n```\n```sql\n{Q}\n```", Q),
    ("invents the next question", SQL,
     f"```sql\n{Q}\n```\n\nQuestion: How many?\n```sql\nSELECT count(*) FROM users\n```", Q),
    ("final answer announced", SQL,
     f"```sql\nSELECT 1\n```\nAlternatively I could join.\n\nFinal query:\n```sql\n{Q}\n```", Q),
    ("thinking first", SQL,
     f"<think>\nMaybe ```sql\nSELECT 1\n```?\n</think>\n\n```sql\n{Q}\n```", Q),
    ("only the end of thinking", SQL, f"Perhaps SELECT 1.\n</think>\n{Q}", Q),
    ("thinking, then bare", SQL, f"<think>hm SELECT</think>{Q}", Q),
    ("channel marks", SQL,
     f"<|channel|>analysis<|message|>SELECT 1<|end|><|channel|>final<|message|>{Q}", Q),
    ("bare", SQL, Q, Q),
    ("bare with blank lines", SQL, f"\n\n{MULTI}\n", MULTI),
    ("bare, lower case", SQL, "select count(*) from users", "select count(*) from users"),
    ("bare with a comment first", SQL, f"-- the name\n{Q}", f"-- the name\n{Q}"),
    ("bare in brackets", SQL, "(SELECT 1) UNION (SELECT 2)", "(SELECT 1) UNION (SELECT 2)"),
    ("bare, explained after", SQL, f"{Q};\n\nThis query returns the name of user 7.", Q + ";"),
    ("bare, explained right after", SQL, f"{Q};\nThis query returns the name.", Q + ";"),
    ("bare, explained on its line", SQL, f"{Q}; This query returns the name.", Q + ";"),
    ("bare, explained in Chinese", SQL, f"{Q};\n这个查询返回名字。", Q + ";"),
    ("bare, bullets after", SQL, f"{MULTI}\n\n- `u.name` is the name\n- it is sorted", MULTI),
    ("bare, lower-case sentence after", SQL, f"{Q}\n\nthis returns the name of the user.", Q),
    ("bare, note after", SQL, f"{Q}\n\n**Note**: names may repeat.", Q),
    ("bare, sentence before", SQL, f"Here is the query you need:\n\n{Q}", Q),
    ("bare, sentence before that starts like one", SQL,
     f"With this query you get the name.\n\n{Q}", Q),
    ("bare, 'Select the …' before", SQL, f"Select the name of the user like this:\n\n{Q}", Q),
    ("label", SQL, f"Answer: {Q}", Q),
    ("label in bold", SQL, f"**SQL Query:** {Q}", Q),
    ("label on its own line", SQL, f"SQLQuery:\n{Q}\nSQLResult: 3", Q + "\nSQLResult: 3"),
    ("label in Chinese", SQL, f"查询：{Q}", Q),
    ("final answer label after drafts", SQL,
     f"Let me think. A draft:\nSELECT 1 FROM x;\nNo good.\n\nFinal answer: {Q}", Q),
    ("invents a question, bare", SQL, f"{Q};\n\nQuestion: And how many?\nSELECT 1", Q + ";"),
    ("closing mark only", SQL, f"{Q}\n```\n\nThis query returns names.", Q),
    ("closing mark only, next question", SQL,
     f"{Q}\n```\n\nQuestion: x?\n", Q),
    ("inline backticks", SQL, f"Use `{Q}` for that.", Q),
    ("inline, several", SQL, f"Not `id` but `{Q}` does it; `users` is the table.", Q),
    ("JSON", SQL, '{"query": "SELECT \\"name\\"\\nFROM users"}', 'SELECT "name"\nFROM users'),
    ("JSON by the language's name", SQL, '{"sql": "SELECT 1", "confidence": 0.9}', "SELECT 1"),
    ("JSON with real line breaks", SQL, '{"query": "SELECT 1\nFROM t"}', "SELECT 1\nFROM t"),
    ("JSON in a fence", SQL, '```json\n{"query": "SELECT 1"}\n```', "SELECT 1"),
    ("JSON and talk", SQL, '{"query": "SELECT 1"}\n\nDone.', "SELECT 1"),
    ("XML tag", SQL, f"<reasoning>easy</reasoning><query>\n{Q}\n</query>", Q),
    ("XML tag with a fence", SQL, f"<answer>\n```sql\n{Q}\n```\n</answer>", Q),
    ("XML tag with a sentence", SQL, f"<answer>The query is: {Q}</answer>", Q),
    ("smart quotes stay", SQL, "```sql\nSELECT ‘a’ FROM t\n```", "SELECT ‘a’ FROM t"),
    ("entities stay", SQL, "```sql\nSELECT a FROM t WHERE a &lt; 3\n```",
     "SELECT a FROM t WHERE a &lt; 3"),
    ("a semicolon and a sentence in a string", SQL,
     "SELECT 'Hello; This is fine' AS a", "SELECT 'Hello; This is fine' AS a"),
    ("a blank line and a sentence in a string", SQL,
     "SELECT 'a\n\nThis is fine.' AS a", "SELECT 'a\n\nThis is fine.' AS a"),
    ("two statements stay two", SQL, "```sql\nSELECT 1; DROP TABLE users;\n```",
     "SELECT 1; DROP TABLE users;"),
    ("a write is found too", SQL, "DROP TABLE users", "DROP TABLE users"),
    ("a misspelt query in a fence", SQL, "```sql\nSLECT 1\n```", "SLECT 1"),
    ("a misspelt query in a bare fence", SQL, "Here:\n```\nSLECT 1\n```", "SLECT 1"),
    ("cypher fence", CYPHER, f"```cypher\n{C}\n```", C),
    ("cypher bare", CYPHER, f"{C}\n\nThis counts the orders of every user.", C),
    ("cypher with a map", CYPHER, "MATCH (u)\nRETURN {\n  name: u.name,\n  note: 'x'\n} AS m",
     "MATCH (u)\nRETURN {\n  name: u.name,\n  note: 'x'\n} AS m"),
    ("cypher with quoted names", CYPHER,
     "MATCH (n:`My Label`) RETURN n", "MATCH (n:`My Label`) RETURN n"),
    ("cypher, sentence with Match", CYPHER, f"Match the users first.\n\n{C}", C),
    ("cypher comment", CYPHER, f"// users\n{C}", f"// users\n{C}"),
    ("typeql fence", TYPEQL, f"```typeql\n{T}\n```", T),
    ("typeql bare", TYPEQL, T, T),
    ("typeql bare, explained", TYPEQL, f"{T}\n\nThis selects the names.", T),
    ("typeql bare, comment first", TYPEQL, f"# the names\n{T}", f"# the names\n{T}"),
    ("typeql bare, comments inside", TYPEQL, TC, TC),
    ("typeql bare, comments inside, talk around", TYPEQL,
     f"Here you are:\n\n{TC}\n\nThis selects the user's names, as Ada's query should.", TC),
    ("typeql bare, heading after", TYPEQL, f"{T}\n\n# Explanation\nIt selects the names.", T),
    ("typeql bare, lower-case heading after", TYPEQL, f"{T}\n\n# why\nthis is what you want.", T),
    ("typeql bare, second heading after", TYPEQL, f"{T}\n## Notes\n$u is the user", T),
    ("typeql bare, another query after", TYPEQL, f"{T}\n\n# Without the name\n{TC}", T),
    ("heading after SQL is no comment", SQL, f"{Q};\n# Another\nSELECT 1", Q + ";"),
    ("cypher, dashes are no comment", CYPHER,
     "MATCH (a)\nWHERE EXISTS { (a)--(b) }\nRETURN a\n\nThis works: a) it reads, b) it returns.",
     "MATCH (a)\nWHERE EXISTS { (a)--(b) }\nRETURN a"),
    ("a quote in a block comment", SQL,
     "SELECT 1 /* the user's */\nFROM t\n\nThis is the user's.",
     "SELECT 1 /* the user's */\nFROM t"),
    ("a cast that looks like a label", SQL, "SELECT\nresult::int\nFROM t",
     "SELECT\nresult::int\nFROM t"),
    ("typeql inside a sentence block", TYPEQL, f"Here it is:\n\n{T}\n\n* `$u` is the user", T),
    ("byte-order mark", SQL, f"\ufeff{Q}", Q),
]  # fmt: skip

NOTHING: list[tuple[str, Hints, str, str, str]] = [
    # what it is, language, the answer, finish reason, the rule
    ("empty", SQL, "", "stop", "empty"),
    ("white space", SQL, " \n\t", "stop", "empty"),
    ("empty fence", SQL, "```sql\n```", "stop", "no_query"),
    ("refusal", SQL, "I'm sorry, but I can't help with that.", "stop", "refusal"),
    ("refusal in Chinese", SQL, "抱歉，我无法回答。", "stop", "refusal"),
    ("prose", SQL, "The users table has 1,000 rows.", "stop", "no_query"),
    ("prose that starts like a query", SQL, "With joy I tell you: 42 users.", "stop", "no_query"),
    ("prose in lower case", SQL, "select the users from the table and count them.", "stop",
     "no_query"),
    ("code of another kind", SQL, "```python\nprint(1)\n```", "stop", "no_query"),
    ("a query inside a program", SQL, '```python\nq = """\nSELECT 1 FROM t\n"""\n```', "stop",
     "no_query"),
    ("JSON without a query", SQL, '{"query": null}', "stop", "empty"),
    ("JSON, empty query", SQL, '{"query": ""}', "stop", "empty"),
    ("thinking that never ended", SQL, f"<think>\nSo ```sql\n{Q}\n```", "stop", "no_query"),
    ("thinking cut off", SQL, f"<think>\nSo {Q}", "length", "truncated"),
    ("nothing after thinking", SQL, f"<think>{Q}</think>\n", "stop", "no_query"),
    ("fence cut off", SQL, f"```sql\n{Q}", "length", "truncated"),
    ("draft whole, answer cut off", SQL, f"```sql\nSELECT 1\n```\nBetter:\n```sql\n{Q}", "length",
     "truncated"),
    ("bare cut off", SQL, Q, "length", "truncated"),
    ("JSON cut off", SQL, '{"query": "SELECT na', "length", "truncated"),
    ("tag cut off", SQL, f"<query>{Q}", "length", "truncated"),
    ("prose cut off", SQL, "Let me think about the", "length", "truncated"),
    ("filtered", SQL, "", "content_filter", "filtered"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "answer", "query"), [row[1:] for row in FIELD], ids=[row[0] for row in FIELD]
)
def test_the_query_comes_out_to_the_letter(language: Hints, answer: str, query: str) -> None:
    assert extract(answer, language, "stop").query == query


@pytest.mark.parametrize(
    ("language", "answer", "finish", "rule"),
    [row[1:] for row in NOTHING],
    ids=[row[0] for row in NOTHING],
)
def test_an_answer_without_a_query_says_why(
    language: Hints, answer: str, finish: str, rule: str
) -> None:
    found = extract(answer, language, finish)
    assert (found.query, found.rule) == (None, rule)
    assert found.reason


def test_a_closed_block_counts_though_the_talk_after_it_was_cut() -> None:
    found = extract(f"```sql\n{Q}\n```\n\nThis query ret", SQL, "length")
    assert found.query == Q


def test_a_bare_query_counts_though_the_talk_after_it_was_cut() -> None:
    assert extract(f"{Q};\n\nThis query ret", SQL, "length").query == Q + ";"


def test_the_reason_tells_which_of_several_blocks_was_taken() -> None:
    answer = f"```sql\nSELECT 1\n```\nActually:\n```sql\n{Q}\n```"
    assert extract(answer, SQL).reason == "block 2 of 2"


WORDS = st.sampled_from(
    ["name", "u.id", "count(*)", "'a b'", "'it''s'", '"Weird Name"', "12", "t", "1 + 2", "'-- x'"]
)
QUERIES = st.builds(
    lambda columns, table, tail: f"SELECT {', '.join(columns)}\nFROM {table}{tail}",
    st.lists(WORDS, min_size=1, max_size=4),
    st.sampled_from(["users", "public.orders o", "(SELECT 1) AS s"]),
    st.sampled_from(
        [
            "",
            ";",
            "\nWHERE a = 'The End; Or Not'",
            "\n\nORDER BY 1",
            " -- all of them",
            "\nLIMIT 3;",
        ]
    ),
)
BEFORE = st.sampled_from(
    [
        "",
        "Sure!\n\n",
        "Here is the query:\n",
        "Let me think.\n\nWith joins it is easy.\n\n",
        "好的：\n",
    ]
)
AFTER = st.sampled_from(
    [
        "",
        "\n\nThis returns what you asked for.",
        "\n\n**Explanation**\n- it reads a table",
        "\n\nNote: I can't run it.",
        "\n\n这个查询返回结果。",
    ]
)


@given(QUERIES, BEFORE, AFTER, st.sampled_from(["```sql\n{}\n```", "~~~\n{}\n~~~", "```\n{}\n```"]))
def test_noise_around_a_block_does_not_touch_the_query(
    query: str, before: str, after: str, frame: str
) -> None:
    assert extract(before + frame.format(query) + after, SQL).query == query


@given(QUERIES, BEFORE, AFTER)
def test_noise_around_a_bare_query_does_not_touch_it(query: str, before: str, after: str) -> None:
    assert extract(before + query + after, SQL).query == query


PIECES = st.sampled_from(
    [
        "```", "```sql", "~~~", "\n", "\n\n", " ", "SELECT", "select", " a ", "FROM t", ";", "`",
        "<think>", "</think>", "<query>", "</query>", "Answer:", "The ", "--", "'", '"', "{", "}",
        "Alternatively", "Question:", "(", ")", "MATCH", "match $x", "/*", "*/", "\r\n", "1. ",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from(["stop", "length"]))
def test_whatever_comes_the_query_is_a_piece_of_it(text: str, finish: str) -> None:
    for language in (SQL, CYPHER, TYPEQL):
        found = extract(text, language, finish)
        assert found.rule
        if found.query is None:
            assert found.reason
        else:
            assert found.query
            assert found.query == found.query.strip()
            assert found.query in text or found.rule == "json"


@given(st.text(max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    found = extract(text, SQL)
    assert found.query is None or found.query in text


def test_long_answers_take_no_time_worth_mentioning() -> None:
    for text in (
        "```" * 20_000,
        "SELECT (" * 20_000,
        "<think>" * 20_000,
        "a" * 500_000,
        "-- " * 50_000,
        "SELECT 1\n\n" + "-- a\n\n" * 20_000,
        "match $u isa user;\n" + "# a note\n" * 20_000,
        "match $u isa user;\n" + "# a note\n$u has name $n;\n" * 10_000,
    ):
        for language in (SQL, CYPHER, TYPEQL):
            extract(text, language)
