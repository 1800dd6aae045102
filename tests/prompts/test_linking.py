"""Schema linking keeps what golds need, cuts what they don't, and stays connected."""

import re
import shutil
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from qeval.errors import InputError
from qeval.prompts.schema import document
from qeval.prompts.schema.linking import Linker, LinkingSettings
from qeval.prompts.template import linker
from qeval.prompts.words import Glossary, words
from qeval.suites import load_suite

SUITE = load_suite("ecommerce")
SETTINGS = LinkingSettings(least=2, share=0.1)


@pytest.mark.parametrize("asked", SUITE.question_languages)
@pytest.mark.parametrize("language", SUITE.languages)
def test_linking_keeps_99_percent_and_cuts_40_percent_of_easy_schemas(
    language: str, asked: str
) -> None:
    schema = document(language, SUITE.schema_text[language])
    find = linker(SUITE, language, asked)
    needed = kept = easy = full = 0
    for case in SUITE.cases:
        names = find.link(case.question[asked], SETTINGS)
        scope = case.scope.get(language, ())
        needed += len(scope)
        kept += sum(name in names for name in scope)
        if case.difficulty == "easy":
            easy += len(schema.text(0, names))
            full += len(schema.text(0))
    assert kept >= 0.99 * needed
    assert easy <= 0.6 * full


@pytest.mark.parametrize("language", SUITE.languages)
def test_linking_does_as_well_on_examples_it_has_not_seen(language: str) -> None:
    """The rules were chosen on the example bank, each example left out of what is learnt."""
    schema = document(language, SUITE.schema_text[language])
    for asked in SUITE.question_languages:
        needed = kept = 0
        for left_out in SUITE.examples:
            others = [e for e in SUITE.examples if e is not left_out and language in e.gold]
            solved = [(e.question[asked], e.gold[language]) for e in others]
            find = Linker(schema, solved, SUITE.glossary.get(asked))
            names = find.link(left_out.question[asked], SETTINGS)
            for item in find.candidates:
                if re.search(rf"(?<![\w-]){item.name}(?![\w-])", left_out.gold.get(language, "")):
                    needed += 1
                    kept += item.name in names
        assert needed > 60
        assert kept >= 0.99 * needed


def test_a_glossary_names_what_a_question_in_another_language_needs() -> None:
    schema = document(
        "sql",
        "CREATE TABLE fruit (id int PRIMARY KEY);\n"
        "CREATE TABLE fruit_crates (id int PRIMARY KEY, fruit int REFERENCES fruit (id));\n"
        "CREATE TABLE harbours (id int PRIMARY KEY);\n",
    )
    glossary = {"fruit": ["水果"], "fruit crate": ["水果箱", "果箱"], "harbour": ["港口"]}
    find = Linker(schema, glossary=glossary)
    assert find.link("有多少个港口?", LinkingSettings(1, 0.1)) == {"harbours"}
    assert find.link("哪些果箱是空的?", LinkingSettings(1, 0.9)) == {"fruit_crates"}
    assert find.link("什么?", SETTINGS) == {item.name for item in schema.items}


def test_the_longest_term_is_read_first() -> None:
    glossary = Glossary({"fruit": ["水果"], "fruit crate": ["水果箱"], "box": ["箱"]})
    assert glossary.words("水果箱和水果 ABC") == ("fruit", "crate", "fruit", "abc")
    assert glossary.words("天气") == words("天气")


def test_a_glossary_that_is_none_is_explained(tmp_path: Path) -> None:
    folder = tmp_path / "company"
    shutil.copytree(Path(__file__).parent / "company", folder)
    head = folder / "suite.yaml"
    head.write_text(head.read_text() + "glossary: {zh: words.yaml}\n")
    for text in ("- 水果\n", "fruit: 水果\n", "fruit: [1]\n"):
        (folder / "words.yaml").write_text(text)
        with pytest.raises(InputError, match=r"words\.yaml: .*expected `identifier: \[term"):
            load_suite(folder)
    (folder / "words.yaml").write_text("employee: [雇员]\n")
    assert load_suite(folder).glossary == {"zh": {"employee": ("雇员",)}}


@pytest.mark.parametrize("language", SUITE.languages)
def test_what_is_kept_is_connected_and_closed(language: str) -> None:
    schema = document(language, SUITE.schema_text[language])
    links = {item.name: item.links for item in schema.items}
    details = {item.name for item in schema.items if item.detail}
    find = linker(SUITE, language, "en")
    for case in SUITE.cases:
        names = find.link(case.question["en"], SETTINGS)
        assert schema.closed(names) == names
        assert _reachable(names - details, links) == names - details


def _reachable(names: frozenset[str], links: Mapping[str, frozenset[str]]) -> frozenset[str]:
    found = {min(names)}
    while more := {near for name in found for near in links[name] & names} - found:
        found |= more
    return frozenset(found)


def test_a_question_without_known_words_keeps_everything() -> None:
    schema = document("sql", SUITE.schema_text["sql"])
    names = Linker(schema).link("Zebra?", SETTINGS)
    assert names == {item.name for item in schema.items}


def test_tables_between_are_kept() -> None:
    schema = document(
        "sql",
        "CREATE TABLE apples (id int PRIMARY KEY);\n"
        "CREATE TABLE crates (id int PRIMARY KEY, apple int REFERENCES apples (id));\n"
        "CREATE TABLE ships (id int PRIMARY KEY, crate int REFERENCES crates (id));\n"
        "CREATE TABLE ports (id int PRIMARY KEY);\n",
    )
    assert Linker(schema).link("Which ships carry apples?", SETTINGS) == {
        "apples", "crates", "ships",
    }  # fmt: skip


@pytest.mark.parametrize("language", SUITE.languages)
def test_both_forms_name_every_item_and_the_short_one_is_shorter(language: str) -> None:
    schema = document(language, SUITE.schema_text[language])
    long, short = schema.text(0), schema.text(1)
    assert len(short) < 0.85 * len(long)
    for item in schema.items:
        assert item.name in long
        assert item.name in short


def test_compact_tables_hold_types_keys_and_values() -> None:
    (line,) = (
        line
        for line in document("sql", SUITE.schema_text["sql"]).text(1).splitlines()
        if line.startswith("digital_products(")
    )
    assert line == (
        "digital_products(product_id integer PK -> products.id, file_size_mb integer, "
        "license text? /* 'single-user', 'family', 'classroom' */)"
    )


def test_a_typeql_summary_tells_inheritance_roles_and_cardinalities() -> None:
    text = """define
  attribute name, value string;
  attribute tier, value string @values('a', 'b');
  entity person, owns name @card(0..2), plays work:doer @card(1);
  entity boss sub person, owns tier @key;
  relation work, relates doer @card(1..);
"""
    schema = document("typeql", text)
    lines = schema.text(1).splitlines()
    assert "entity person: name string @card(0..2), plays work:doer @card(1)" in lines
    assert "entity boss sub person: tier string @values('a', 'b') @key" in lines
    assert "relation work: relates doer (person) @card(1..)" in lines
    assert schema.closed({"boss"}) == {"boss", "person", "name", "tier"}


def test_a_schema_nobody_can_read_is_shown_whole() -> None:
    for language in ("sql", "cypher", "typeql", "gremlin"):
        schema = document(language, "once upon a time")
        assert schema.text(0) == "once upon a time"
        assert not list(pairwise(schema.items))
