"""Near misses of golds: what is made of a query, what kills it, and the committed summary."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from qeval.cells import Cell, build_cell, build_engine
from qeval.configuration import compose
from qeval.engines.base import Engine
from qeval.errors import InputError
from qeval.suite import Case
from qeval.suites import load_suite
from qeval.suites.check import Bench
from qeval.suites.loader import suite_folder
from qeval.suites.mutants import (
    Equivalent,
    Outcome,
    golds_digest,
    measure,
    mutants,
    mutated_languages,
    read_equivalents,
    read_summary,
    summary_of,
    write_summary,
)
from qeval.suites.trials import TrialSettings

SUITE = load_suite("ecommerce")
FOLDER = suite_folder("ecommerce")
SCHEMA = SUITE.instance("sql", "base").schema


def made(query: str, operator: str) -> set[str]:
    """The mutants an operator makes of a query, in one line each."""
    found = [m for m in mutants("sql", query, SCHEMA) if m.operator == operator]
    return {" ".join(mutant.query.split()) for mutant in found}


@pytest.mark.parametrize(
    ("operator", "query", "expected"),
    [
        ("comparison", "SELECT id FROM users WHERE id < 3", ["SELECT id FROM users WHERE id > 3"]),
        ("comparison", "SELECT id FROM users WHERE id = 3", ["SELECT id FROM users WHERE id <> 3"]),
        ("boundary", "SELECT id FROM users WHERE id < 3", ["SELECT id FROM users WHERE id <= 3"]),
        ("boundary", "SELECT id FROM users WHERE id = 3", []),
        ("filter", "SELECT id FROM users WHERE id < 3", ["SELECT id FROM users"]),
        (
            "attribute",
            "SELECT u.registered_on FROM users AS u ORDER BY u.registered_on",
            ["SELECT u.birth_date FROM users AS u ORDER BY u.birth_date"],
        ),
        ("attribute", "SELECT id, city_id FROM users", []),  # a key and a reference
        (
            "attribute",
            "SELECT q.sku FROM (SELECT sku FROM products) AS q",
            ["SELECT q.sku FROM ( SELECT name AS sku FROM products ) AS q"],
        ),
        (
            "grouping",
            "SELECT u.name, count(*) AS n FROM users AS u GROUP BY u.id, u.name",
            ["SELECT u.name, COUNT(*) AS n FROM users AS u GROUP BY u.name"],
        ),
        ("grouping", "SELECT u.id, u.name, count(*) FROM users AS u GROUP BY u.id, u.name", []),
        ("grouping", "SELECT handle, count(*) FROM users GROUP BY handle, name", []),
        (
            "grouping",
            "SELECT max(n) FROM (SELECT count(*) AS n FROM orders GROUP BY user_id) AS q",
            ["SELECT MAX(n) FROM ( SELECT COUNT(*) AS n FROM orders ) AS q"],
        ),
        (
            "grouping",
            "SELECT sum(count(*)) OVER (ORDER BY id) FROM users GROUP BY id, newsletter",
            [],
        ),
        (
            "grouping",
            "SELECT status, count(*) AS n FROM orders GROUP BY status, coupon ORDER BY n",
            ["SELECT status, COUNT(*) AS n FROM orders GROUP BY status ORDER BY n"],
        ),
        (
            "filter",
            "SELECT id FROM users WHERE id < 3 AND newsletter",
            ["SELECT id FROM users WHERE id < 3", "SELECT id FROM users WHERE newsletter"],
        ),
        (
            "null-check",
            "SELECT id FROM users WHERE id < 3 AND NOT city_id IS NULL",
            ["SELECT id FROM users WHERE id < 3"],
        ),
        (
            "null-check",
            "SELECT COALESCE(discount, 0) AS d FROM order_lines",
            ["SELECT discount AS d FROM order_lines"],
        ),
        (
            "negation",
            "SELECT id FROM users WHERE NOT newsletter",
            ["SELECT id FROM users WHERE newsletter"],
        ),
        ("distinct", "SELECT DISTINCT tag FROM product_tags", ["SELECT tag FROM product_tags"]),
        (
            "distinct",
            "SELECT COUNT(DISTINCT tag) AS n FROM product_tags",
            ["SELECT COUNT(tag) AS n FROM product_tags"],
        ),
        (
            "join",
            "SELECT u.id FROM users AS u LEFT JOIN cities AS c ON c.id = u.city_id",
            ["SELECT u.id FROM users AS u JOIN cities AS c ON c.id = u.city_id"],
        ),
        (
            "join",
            "SELECT u.id FROM users AS u JOIN cities AS c ON c.id = u.city_id",
            ["SELECT u.id FROM users AS u LEFT JOIN cities AS c ON c.id = u.city_id"],
        ),
        # a mandatory key always finds its row; rows without partner are dropped by the condition
        ("join", "SELECT o.id FROM orders AS o JOIN users AS u ON u.id = o.user_id", []),
        (
            "join",
            "SELECT u.id FROM users AS u JOIN cities AS c ON c.id = u.city_id WHERE c.name = 'A'",
            [],
        ),
        (
            "direction",
            "SELECT follower_id FROM follows WHERE followed_id = 3",
            ["SELECT followed_id FROM follows WHERE follower_id = 3"],
        ),
        (
            "direction",
            "SELECT b.name FROM categories AS a, categories AS b WHERE a.id = b.parent_id",
            ["SELECT b.name FROM categories AS a, categories AS b WHERE a.parent_id = b.id"],
        ),
        (
            "role",
            "SELECT follower_id FROM follows WHERE followed_id = 3",
            [
                "SELECT followed_id FROM follows WHERE followed_id = 3",
                "SELECT follower_id FROM follows WHERE follower_id = 3",
            ],
        ),
        (
            "aggregate",
            "SELECT MIN(price) AS a, SUM(weight_g) AS b FROM products",
            [
                "SELECT MAX(price) AS a, SUM(weight_g) AS b FROM products",
                "SELECT MIN(price) AS a, AVG(weight_g) AS b FROM products",
            ],
        ),
        (
            "sort",
            "SELECT id FROM users ORDER BY id DESC FETCH FIRST 3 ROWS WITH TIES",
            ["SELECT id FROM users ORDER BY id ASC FETCH FIRST 3 ROWS WITH TIES"],
        ),
        (
            "limit",
            "SELECT id FROM users ORDER BY id FETCH FIRST 3 ROWS WITH TIES",
            [
                "SELECT id FROM users ORDER BY id FETCH FIRST 2 ROWS WITH TIES",
                "SELECT id FROM users ORDER BY id FETCH FIRST 4 ROWS WITH TIES",
            ],
        ),
        (
            "literal",
            "SELECT id FROM orders WHERE placed_at >= '2025-03-01'",
            [
                "SELECT id FROM orders WHERE placed_at >= '2025-02-28'",
                "SELECT id FROM orders WHERE placed_at >= '2025-03-02'",
            ],
        ),
        (
            "literal",
            "SELECT id FROM products WHERE price = 9.99",
            [
                "SELECT id FROM products WHERE price = 10.00",
                "SELECT id FROM products WHERE price = 9.98",
            ],
        ),
        (
            "subtype",
            "SELECT COUNT(m.user_id) AS n FROM premium_users AS m",
            ["SELECT COUNT(m.id) AS n FROM users AS m"],
        ),
        ("subtype", "SELECT m.tier FROM premium_users AS m", []),  # users have no tier
    ],
)
def test_what_an_operator_makes_of_a_query(operator: str, query: str, expected: list[str]) -> None:
    assert made(query, operator) == set(expected)


def test_mutants_have_names_of_their_own_and_differ() -> None:
    for case in SUITE.cases:
        found = mutants("sql", case.gold["sql"], SCHEMA)
        names = {(mutant.operator, mutant.change) for mutant in found}
        assert found
        assert len(names) == len({mutant.query for mutant in found}) == len(found), case.id


def test_a_language_without_mutator_is_told() -> None:
    assert "sql" in mutated_languages()
    with pytest.raises(KeyError):
        mutants("sparql", "SELECT ?x", "")


@pytest.fixture(scope="module")
def cell() -> Cell:
    return build_cell(compose(["model=gold", "language=sql"]))


@pytest.fixture(scope="module")
def engine(cell: Cell) -> Iterator[Engine]:
    started = build_engine(cell.engine_config)
    started.start()
    yield started
    started.stop()


def one_case(gold: str) -> Case:
    return replace(next(case for case in SUITE.cases if case.id == "ec-e05"), gold={"sql": gold})


def outcomes(
    cell: Cell, engine: Engine, gold: str, declared: tuple[Equivalent, ...] = ()
) -> tuple[dict[str, Outcome], tuple[Equivalent, ...]]:
    suite = replace(SUITE, cases=(one_case(gold),))
    settings = TrialSettings(replace(cell.limits, timeout_s=1.0), cell.policy, workers=2)
    strength = measure(
        suite, Bench(cell.language, engine), ["variant-1"], settings, declared=declared
    )
    found = {f"{outcome.mutant.change}": outcome for outcome in strength.outcomes}
    return found, strength.unneeded


def test_a_mutant_dies_by_another_result_an_error_or_time(cell: Cell, engine: Engine) -> None:
    gold = "SELECT count(*) AS n FROM follows WHERE followed_id = 3 AND since < '2025-07-01'"
    found, _ = outcomes(cell, engine, gold)
    assert found["without followed_id = 3"].by.startswith("variant-1: other: rows differ")
    assert found["without since < '2025-07-01'"].fate == "survived"  # no later date exists
    gold = "SELECT 1 / CASE WHEN 2 > 1 THEN 1 ELSE 0 END AS n"
    found, _ = outcomes(cell, engine, gold)
    assert found["2 > 1 → 2 < 1"].by == "variant-1: runtime_error: division by zero"
    gold = "SELECT count(pg_sleep(0.01)) AS n FROM countries WHERE code = 'DE' AND code <> 'FR'"
    found, _ = outcomes(cell, engine, gold.replace("0.01", "0.2"))
    assert found["without code = 'DE'"].by.startswith("variant-1: timeout")


def test_what_the_engine_refuses_is_no_near_miss(cell: Cell, engine: Engine) -> None:
    found, _ = outcomes(cell, engine, "SELECT min(handle) AS n FROM users WHERE newsletter = true")
    assert found["MIN(handle) → MAX(handle)"].fate == "killed"
    found, _ = outcomes(cell, engine, "SELECT sum(interval '1 day' * id) AS n FROM users")
    assert {outcome.fate for outcome in found.values()} <= {"killed", "invalid"}


def test_a_declared_survivor_is_equivalent_and_any_other_declaration_is_told(
    cell: Cell, engine: Engine
) -> None:
    change = "without since < '2025-07-01'"
    right = Equivalent("ec-e05", "sql", "filter", change, "no later date")
    wrong = Equivalent("ec-e05", "sql", "filter", "without followed_id = 3", "it is killed")
    gold = "SELECT count(*) AS n FROM follows WHERE followed_id = 3 AND since < '2025-07-01'"
    found, unneeded = outcomes(cell, engine, gold, (right, wrong))
    assert (found[change].fate, found[change].by) == ("equivalent", "no later date")
    assert unneeded == (wrong,)


def test_sqlglot_writes_golds_that_answer_the_same(cell: Cell, engine: Engine) -> None:
    """Mutants are written by sqlglot, so an unchanged gold must survive being written by it."""
    import sqlglot

    from qeval.scoring import compare

    instance = SUITE.instance("sql", "variant-1")
    engine.load(instance)
    for case in SUITE.cases:
        query = case.gold["sql"]
        again = sqlglot.parse_one(query, read="postgres").sql("postgres", pretty=True)
        first, second = (engine.execute(text, instance, cell.limits) for text in (query, again))
        assert compare(first.table, second.table, case.answer, cell.policy).equal, case.id


@pytest.mark.parametrize(
    "language", [name for name in SUITE.languages if read_summary(FOLDER, name)]
)
def test_the_committed_summary_belongs_to_the_golds_and_is_strong(language: str) -> None:
    """Measured anew by: qeval check --mutants --record."""
    summary = read_summary(FOLDER, language)
    assert summary is not None
    assert summary["golds"] == golds_digest(SUITE, language), "qeval check --mutants --record"
    assert set(summary["instances"]) == set(SUITE.instances)
    assert summary["share"] >= 0.98
    assert summary["all"]["equivalent"] == len(read_equivalents(FOLDER, language))


def test_sql_is_measured() -> None:
    assert read_summary(FOLDER, "sql") is not None


def test_a_summary_is_read_as_it_was_written(cell: Cell, engine: Engine, tmp_path: Path) -> None:
    suite = replace(SUITE, cases=SUITE.cases[:1])
    settings = TrialSettings(cell.limits, cell.policy)
    strength = measure(suite, Bench(cell.language, engine), ["variant-1"], settings)
    summary = summary_of(suite, strength, ("variant-1",))
    write_summary(tmp_path, "sql", summary)
    assert read_summary(tmp_path, "sql") == summary
    assert summary["cases"] == 1
    assert summary["golds"] != golds_digest(SUITE, "sql")
    assert read_summary(tmp_path, "cypher") is None


def test_a_wrong_declaration_file_is_told(tmp_path: Path) -> None:
    assert read_equivalents(tmp_path, "sql") == ()
    (tmp_path / "mutants").mkdir()
    file = tmp_path / "mutants" / "equivalent.sql.yaml"
    file.write_text("equivalent: [{case: ec-e01}]\n")
    with pytest.raises(InputError, match=r"equivalent\[0\].*operator"):
        read_equivalents(tmp_path, "sql")
    entry = "{case: ec-e01, language: %s, operator: filter, change: x, reason: y}"
    file.write_text(f"equivalent: [{entry % 'cypher'}]\n")
    with pytest.raises(InputError, match="a mutant of cypher, expected one of sql"):
        read_equivalents(tmp_path, "sql")
    file.write_text(f"equivalent: [{entry % 'sql'}]\n")
    assert read_equivalents(tmp_path, "sql") == (Equivalent("ec-e01", "sql", "filter", "x", "y"),)
    file.write_text("other: []\n")
    with pytest.raises(InputError, match="expected a list under the key 'equivalent'"):
        read_equivalents(tmp_path, "sql")
