"""Loading suites: what a good one yields, and where a broken one says it is broken."""

import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from qeval.errors import InputError
from qeval.paths import shipped
from qeval.scoring import AnswerSpec, Column, OrderKey
from qeval.suites import available, load_suite, select_cases

Edit = Callable[[str, str, str], Path]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def edit(tmp_path: Path) -> Edit:
    """Replace a text that occurs in a file of a copy of the built-in suite."""
    folder = tmp_path / "shop"
    shutil.copytree(shipped("cases") / "ecommerce", folder)

    def replace(file: str, old: str, new: str) -> Path:
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
        return folder

    return replace


def line_number(file: Path, text: str) -> int:
    lines = file.read_text(encoding="utf-8").splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)


def test_the_built_in_suite_has_120_cases_in_equal_parts() -> None:
    suite = load_suite("ecommerce")
    assert "ecommerce" in available()
    assert [len(select_cases(suite, {"levels": [level]})) for level in
            ("easy", "medium", "hard")] == [40, 40, 40]  # fmt: skip
    assert [len(select_cases(suite, {"sources": [source]})) for source in
            ("relational", "graph", "typedb")] == [40, 40, 40]  # fmt: skip
    assert len(suite.examples) >= 60
    assert suite.reference_date == "2025-06-30"
    assert suite.question_languages == ("en", "zh")
    assert suite.instances == ("base", *(f"variant-{n}" for n in range(1, 10)))


def test_a_case_carries_its_metadata() -> None:
    case = select_cases(load_suite("ecommerce"), {"ids": ["ec-e12"]})[0]
    assert case.question["zh"].startswith("标价最高的四件商品")
    assert case.gold["sql"].endswith("FETCH FIRST 4 ROWS WITH TIES")
    assert case.scope["sql"] == ("products",)
    assert case.answer == AnswerSpec(
        (Column("sku", "string"), Column("name", "string"), Column("price", "decimal", scale=2)),
        (OrderKey("price", descending=True),),
        top_k=4,
        all_ties=True,
    )


def test_a_second_load_needs_neither_parser_nor_validator() -> None:
    program = (
        "import sys; from qeval.suites import load_suite; suite = load_suite('ecommerce')\n"
        "print(suite.content_hash, sorted({'yaml', 'jsonschema'} & set(sys.modules)))"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        .stdout.strip().split(" ", 1)
        for _ in range(2)
    )  # fmt: skip
    assert first == [first[0], "['jsonschema', 'yaml']"]
    assert second == [first[0], "[]"]


def test_an_unwritable_cache_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "file"))
    assert load_suite("ecommerce").cases


def test_a_configuration_names_a_suite_by_name_or_path(edit: Edit) -> None:
    folder = edit("suite.yaml", "name: ecommerce", "name: shop")
    assert load_suite({"name": "ecommerce", "path": None}).name == "ecommerce"
    assert load_suite({"name": "any", "path": str(folder)}).name == "shop"


def test_a_suite_can_be_sent_to_another_process() -> None:
    suite = load_suite("ecommerce")
    copy = pickle.loads(pickle.dumps(suite))
    assert copy.instance("sql", "variant-2").key == suite.instance("sql", "variant-2").key


@pytest.mark.parametrize(
    ("file", "old", "new", "same_case_content"),
    [
        ("easy.yaml", "at least 100.00?", "at least 100?", False),
        ("suite.yaml", "{seed: 1}", "{seed: 2}", False),
        ("schema.sql", "-- not unique", "-- maybe twice", False),
        ("easy.yaml", "# Easy:", "# Simple:", True),
        ("easy.yaml", "notes: Prices", "notes: List prices", True),
        ("suite.yaml", 'version: "0.2"', 'version: "0.3"', True),
    ],
)
def test_the_content_hash_follows_content_not_comments(
    edit: Edit, file: str, old: str, new: str, *, same_case_content: bool
) -> None:
    before = load_suite("ecommerce").content_hash
    assert (load_suite(edit(file, old, new)).content_hash == before) is same_case_content


def test_instance_keys_are_database_names_that_follow_content(edit: Edit) -> None:
    before = load_suite("ecommerce")
    after = load_suite(edit("suite.yaml", "{seed: 101,", "{seed: 99,"))
    keys = {before.instance("sql", name).key for name in before.instances}
    assert len(keys) == len(before.instances)
    assert all(key.isascii() and key.replace("_", "").isalnum() and key == key.lower()
               and len(key) <= 60 for key in keys)  # fmt: skip
    assert before.instance("sql", "base").key == after.instance("sql", "base").key
    assert before.instance("sql", "variant-1").key != after.instance("sql", "variant-1").key


@pytest.mark.parametrize(
    ("file", "old", "new", "place", "words"),
    [
        ("easy.yaml", "    difficulty: easy\n", "    dificulty: easy\n", "dificulty: easy",
         ["cases[0].dificulty: unknown key", "Did you mean 'difficulty'?"]),
        ("easy.yaml", "difficulty: easy", "difficulty: simple", "difficulty: simple",
         ["cases[0].difficulty: found 'simple', expected one of easy, medium, hard"]),
        ("easy.yaml", "    source: relational\n", "    source: relational\n    source: graph\n",
         "source: graph", ["key 'source' comes twice"]),
        ("easy.yaml", "type: decimal, scale: 2}", "type: decimal}", "name: price",
         ["cases[0].answer.columns[1]: a decimal column needs its scale"]),
        ("easy.yaml", "{name: sku, type: string}", "{name: sku, type: strng}", "type: strng",
         ["cases[0].answer.columns[0].type", "Did you mean 'string'?"]),
        ("easy.yaml", "{name: sku, type: string}", "{name: sku, type: string, scale: 2}",
         "type: string, scale: 2", ["goes only with type decimal, not string"]),
        ("easy.yaml", "order_by: [{column: products,", "order_by: [{column: product,",
         "column: product,", ["answer.order_by[0]: no answer column 'product'",
                              "Did you mean 'products'?"]),
        ("easy.yaml", "      order_by: [{column: price, descending: true}]\n      top_k: 4",
         "      top_k: 4", "top_k: 4", ["answer.top_k: needs order_by"]),
        ("easy.yaml", "scope: {sql: [products]", "scope: {sql: [product]", "sql: [product]",
         ["scope.sql: 'product' isn't in the sql schema", "Did you mean 'products'?"]),
        ("easy.yaml", "      zh: 哪些", "      fr: 哪些", "fr: 哪些",
         ["cases[0].question: no question in 'zh'", "the suite declares only"]),
        ("medium.yaml", "id: ec-m01", "id: ec-e01", "id: ec-e01",
         ["cases[0].id: 'ec-e01' is already used at easy.yaml:3"]),
        ("hard.yaml", "        - {name: id, type: int}\n        - {name: name, type: string}",
         "        - {name: id, type: int}\n        - {name: id, type: string}",
         "{name: id, type: string}", ["two columns are named 'id'"]),
        ("suite.yaml", "schema: schema.sql", "schema: shema.sql", "sql:",
         ["shema.sql can't be read"]),
        ("suite.yaml", "cases: [easy.yaml", "cases: [esy.yaml", "", ["esy.yaml: can't be read"]),
        ("suite.yaml", "reference_date: 2025-06-30", "reference_date: 2025-06-31",
         "reference_date", ["reference_date", "2025-06-31"]),
        ("suite.yaml", "  base: {seed: 1}", "  bse: {seed: 1}", "instances:",
         ["instances: missing 'base'"]),
        ("easy.yaml", "cases:\n", "cases:\n  - [", "", ["not valid YAML"]),
    ],
)  # fmt: skip
def test_a_broken_file_says_file_line_and_key(
    edit: Edit, file: str, old: str, new: str, *, place: str, words: list[str]
) -> None:
    folder = edit(file, old, new)
    with pytest.raises(InputError) as caught:
        load_suite(folder)
    message = str(caught.value)
    if place:
        assert f"{folder / file}:{line_number(folder / file, place)}:" in message, message
    for part in words:
        assert part in message


def test_every_fault_is_told_at_once(edit: Edit) -> None:
    edit("easy.yaml", "difficulty: easy", "difficulty: simple")
    folder = edit("easy.yaml", "source: relational", "source: sql")
    with pytest.raises(InputError, match=r"(?s)difficulty.*source"):
        load_suite(folder)


def test_an_unknown_suite_language_or_instance_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Did you mean 'ecommerce'"):
        load_suite("ecomerce")
    with pytest.raises(InputError, match=r"no suite\.yaml in this folder"):
        load_suite(tmp_path)
    suite = load_suite("ecommerce")
    with pytest.raises(InputError, match="no language 'gql'"):
        suite.instance("gql", "base")
    with pytest.raises(InputError, match="Did you mean 'variant-1'"):
        suite.instance("sql", "varant-1")


def test_options_a_generator_refuses_are_told(edit: Edit) -> None:
    suite = load_suite(edit("suite.yaml", "base: {seed: 1}", "base: {sed: 1}"))
    with pytest.raises(InputError, match=r"instances\.base: .*sed"):
        suite.instance("sql", "base").dataset()


SHELF = """\
name: shelf
version: "1"
reference_date: 2024-02-29
languages:
  sql: {schema: schema.sql}
data:
  "null": NA
  tables:
    - name: books
      key: [id]
      fields:
        - {name: id, type: int}
        - {name: title, type: string, nullable: true}
        - {name: price, type: decimal, scale: 2, nullable: true}
        - {name: lent, type: bool}
        - {name: read_at, type: datetime, nullable: true}
        - {name: bought_on, type: date}
        - {name: sequel_of, type: int, nullable: true, references: books.id}
instances:
  base: {folder: rows}
cases: [cases.yaml]
"""
CASES = """\
cases:
  - id: s-01
    difficulty: easy
    question: {en: How many books are there?}
    gold: {sql: SELECT count(*) AS books FROM books}
    answer: {columns: [{name: books, type: int}]}
"""
BOOKS = '''\
title,id,price,lent,read_at,bought_on,sequel_of
"Zoë, or ""Z""",1,6.90,true,2024-02-29T23:00:00+01:00,2024-02-29,NA
NA,2,NA,false,NA,2023-12-31,1
'''


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    folder = tmp_path / "shelf"
    (folder / "rows").mkdir(parents=True)
    (folder / "suite.yaml").write_text(SHELF)
    (folder / "cases.yaml").write_text(CASES)
    (folder / "schema.sql").write_text("CREATE TABLE books (id integer)")
    (folder / "rows" / "books.csv").write_text(BOOKS, encoding="utf-8")
    return folder


def test_own_data_comes_from_csv_files(shelf: Path) -> None:
    dataset = load_suite(shelf).instance("sql", "base").dataset()
    assert dataset.reference_date == date(2024, 2, 29)
    assert dataset.rows["books"] == [
        (1, 'Zoë, or "Z"', Decimal("6.90"), True,
         datetime(2024, 2, 29, 22, tzinfo=UTC).replace(tzinfo=None), date(2024, 2, 29), None),
        (2, None, None, False, None, date(2023, 12, 31), 1),
    ]  # fmt: skip


def test_a_gold_in_a_language_the_suite_lacks_is_told(shelf: Path) -> None:
    (shelf / "cases.yaml").write_text(CASES.replace("gold: {", "gold: {cypher: RETURN 1, "))
    with pytest.raises(InputError, match=r"cases\[0\]\.gold.*: the suite has no language 'cypher'"):
        load_suite(shelf)


def test_changed_csv_content_changes_the_key(shelf: Path) -> None:
    before = load_suite(shelf).instance("sql", "base").key
    (shelf / "rows" / "books.csv").write_text(BOOKS.replace("6.90", "6.91"), encoding="utf-8")
    assert load_suite(shelf).instance("sql", "base").key != before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("6.90", "6,90", r"books\.csv:2: found 8 cells, expected 7"),
        ("6.90", "cheap", r"books\.csv:2: price: 'cheap' is no decimal"),
        ("NA,2,", "NA,NA,", r"books\.csv:3: id is missing"),
        ("2023-12-31", "31.12.2023", r"books\.csv:3: bought_on: '31\.12\.2023' is no date"),
        ("false", "no", r"books\.csv:3: lent: 'no' is no bool"),
        ("title,", "titel,", r"books\.csv:1: unknown column 'titel'\. Did you mean 'title'\?"),
        ("sequel_of", "lent", r"books\.csv:1: expected the columns id, title"),
    ],
)
def test_a_broken_csv_file_says_where(shelf: Path, old: str, new: str, message: str) -> None:
    file = shelf / "rows" / "books.csv"
    file.write_text(BOOKS.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_suite(shelf).instance("sql", "base").dataset()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("references: books.id", "references: books.idd", "Did you mean 'books.id'"),
        ("key: [id]", "key: [ids]", "no field 'ids'"),
        ("type: decimal, scale: 2", "type: decimal", "every decimal needs it"),
        ("name: lent", "name: id", "field 'id' is declared twice"),
        ("data:\n", "data:\n  generator: a:b\n", "data"),
    ],
)
def test_broken_field_declarations_say_where(shelf: Path, old: str, new: str, message: str) -> None:
    (shelf / "suite.yaml").write_text(SHELF.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        load_suite(shelf)


def test_a_missing_csv_file_is_told(shelf: Path) -> None:
    (shelf / "rows" / "books.csv").unlink()
    with pytest.raises(InputError, match=r"books\.csv: can't be read"):
        load_suite(shelf)


def test_a_language_can_have_a_mapping_and_a_schema_for_prompts(edit: Edit) -> None:
    folder = edit(
        "suite.yaml",
        "    schema: schema.sql            # what the engine loads; prompts show it too\n",
        "    {schema: schema.sql, mapping: map.yaml, prompt_schema: prompt.sql}\n",
    )
    (folder / "map.yaml").write_text("nodes: {users: {label: User, key: id}}\n")
    shown = "-- as people say it\n" + (folder / "schema.sql").read_text(encoding="utf-8")
    (folder / "prompt.sql").write_text(shown, encoding="utf-8")
    suite = load_suite(folder)
    before = suite.instance("sql", "base")
    assert before.mapping == {"nodes": {"users": {"label": "User", "key": "id"}}}
    assert before.schema.startswith("-- An online shop")
    assert suite.schema_text["sql"] == shown
    (folder / "map.yaml").write_text("nodes: {users: {label: Person, key: id}}\n")
    assert load_suite(folder).instance("sql", "base").key != before.key
    (folder / "map.yaml").write_text("nodes: {users: [}\n")
    with pytest.raises(InputError, match=r"map\.yaml:1: not valid YAML"):
        load_suite(folder)
